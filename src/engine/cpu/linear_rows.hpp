#pragma once
/// A linear layer on rows, a chunk at a time.
///
///   const LinearRows layer{kernels, packed_layer, packed, derived};
///   layer.forward(rows, in, out, Finish::activate, nn::Activation::relu);
///   layer.backward(rows, in, d_out, d_in, Finish::derive, nn::Activation::elu, gradient);
#include <cstddef>

#include "engine/cpu/kernels.hpp"
#include "engine/cpu/layer.hpp"
#include "engine/cpu/packed_model.hpp"

namespace tyche::engine::cpu {

struct LinearRows {
  const Kernels& kernels;
  const PackedLayer& layer;
  const float* packed;   ///< parameters
  const float* derived;  ///< their copies

  /// Finish::activate or Finish::add_bias.
  void forward(std::size_t rows, View in, View out, Finish finish, nn::Activation activation) const;
  /// Stores the layer's gradient in `gradient` (packed). d_in, where it has memory, becomes that of the input;
  /// Finish::derive: times the derivative of the activation that made `in`; Finish::store: as it is.
  void backward(std::size_t rows, View in, View d_out, View d_in, Finish finish, nn::Activation activation,
                float* gradient) const;
};

}  // namespace tyche::engine::cpu
