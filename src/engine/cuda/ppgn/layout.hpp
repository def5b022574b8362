#pragma once
/// Where the parameters of PPGN lie on the device: every layer's weights as out × in with both padded to the groups of
/// channels (a layer on several tensors side by side has each padded), then its bias; the votes last, one slot of
/// gradient being enough for them. What is padding starts as zero and stays zero.
#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "engine/cuda/ppgn/tasks.hpp"
#include "nn/model.hpp"

namespace tyche::engine::TYCHE_CUDA_NS {

struct PpgnLayout {
  struct Layer {
    std::size_t weight = 0, bias = 0;
    unsigned stride = 0;  ///< padded inputs
  };
  struct Block {
    std::vector<Layer> mlp[2];
    Layer skip;           ///< of the block's input, then the product
    unsigned inputs = 0;  ///< padded channels of the block's input
  };
  struct Part {
    std::size_t flat, device, rows, columns, flat_stride, device_stride;
  };

  explicit PpgnLayout(const nn::ModelConfig& config)
      : channels(ppgn_padded(config.width)), classes(config.classes), bias_stride(ppgn_padded(classes)) {
    const nn::Layout layout = nn::layout(config);
    flat_size = layout.size;
    for (std::uint32_t b = 0; b < config.layers; ++b) {
      const unsigned before = b == 0 ? 1 + config.node_inputs() : config.width;
      const std::string at = std::to_string(b);
      Block& block = blocks.emplace_back();
      block.inputs = ppgn_padded(before);
      for (unsigned m = 0; m < 2; ++m) {
        for (std::uint32_t l = 0; l < config.mlp_depth; ++l) {
          const std::string name = "mlp" + std::to_string(m + 1) + "." + at + "." + std::to_string(l);
          block.mlp[m].push_back(place(layout, name, {l == 0 ? before : config.width}));
        }
      }
      block.skip = place(layout, "skip." + at, {before, config.width});
    }
    const std::size_t inputs = std::size_t{2} * channels;
    vote_weight = size;
    for (std::uint32_t b = 0; b < config.layers; ++b) {
      place_matrix(layout.at("vote." + std::to_string(b) + ".weight"), inputs, {config.width, config.width});
      size += classes * inputs;
    }
    vote_bias = size;
    for (std::uint32_t b = 0; b < config.layers; ++b) {
      parts.push_back({layout.at("vote." + std::to_string(b) + ".bias").offset, size, 1, classes, 0, 0});
      size += bias_stride;
    }
  }

  /// From nn::layout order to the device's; `device` must be zeros where it is padding.
  void spread(std::span<const float> flat, std::span<float> device) const {
    each_row([&](std::size_t from, std::size_t to, std::size_t count) {
      std::copy_n(flat.data() + from, count, device.data() + to);
    });
  }
  void gather(std::span<const float> device, std::span<float> flat) const {
    each_row([&](std::size_t to, std::size_t from, std::size_t count) {
      std::copy_n(device.data() + from, count, flat.data() + to);
    });
  }

  std::vector<Block> blocks;
  std::vector<Part> parts;
  unsigned channels;  ///< the width, padded
  unsigned classes;
  /// The votes: blocks × classes × 2 · channels weights, then blocks × bias_stride biases.
  std::size_t vote_weight = 0, vote_bias = 0, bias_stride;
  std::size_t size = 0;       ///< floats on the device
  std::size_t flat_size = 0;  ///< floats in nn::layout order

 private:
  /// The next place; `inputs`: of the tensors side by side.
  Layer place(const nn::Layout& layout, const std::string& name, std::initializer_list<unsigned> inputs) {
    Layer layer{.weight = size};
    for (const unsigned count : inputs) layer.stride += ppgn_padded(count);
    place_matrix(layout.at(name + ".weight"), layer.stride, inputs);
    layer.bias = size += std::size_t{channels} * layer.stride;
    const nn::Tensor& bias = layout.at(name + ".bias");
    parts.push_back({bias.offset, size, 1, bias.size, 0, 0});
    size += channels;
    return layer;
  }
  void place_matrix(const nn::Tensor& tensor, std::size_t stride, std::initializer_list<unsigned> inputs) {
    std::size_t flat = tensor.offset, at = size;
    for (const unsigned count : inputs) {
      parts.push_back({flat, at, tensor.shape[0], count, tensor.shape[1], stride});
      flat += count;
      at += ppgn_padded(count);
    }
  }
  template <class Body>
  void each_row(const Body& body) const {
    for (const Part& part : parts) {
      for (std::size_t r = 0; r < part.rows; ++r) {
        body(part.flat + r * part.flat_stride, part.device + r * part.device_stride, part.columns);
      }
    }
  }
};

}  // namespace tyche::engine::TYCHE_CUDA_NS
