#pragma once
/// A model's parameters as the kernels want them. The flat vector of nn::Layout (PyTorch's [out, in] matrices) is
/// packed once when a trial begins and unpacked after every epoch; Adam works on the packed vector, whose padding has
/// gradient zero and stays zero.
///
/// Every layer is a product [x_0 | x_1] · [W_0 ; W_1] + b: a GraphConv has two terms (root and neighbours), a Linear
/// layer one. Where edges have features a GraphConv has columns beside its input, the sums of these
/// (core/edge_features.hpp), whose weights stand below W_1 and whose gradient nobody wants. A layer's weights are
/// stored twice: the master in the packed vector and a derived copy, made again after every Adam step (make_copies()).
/// The master is in forward panels and the copy holds the transposed matrices for the backward pass; only the last
/// convolution under max readout, whose backward pass is sparse and goes by rows, has it the other way round.
#include <cstddef>
#include <span>
#include <vector>

#include "engine/cpu/kernels.hpp"
#include "nn/levels.hpp"
#include "nn/program.hpp"

namespace tyche::engine::cpu {

/// A (depth × columns) matrix in panels, somewhere in a vector.
struct PanelPlace : PanelShape {
  std::size_t offset = 0;

  [[nodiscard]] std::size_t index(std::size_t row, std::size_t column) const {
    return offset + column / row_stride * panel_stride + row * row_stride + column % row_stride;
  }
  [[nodiscard]] Panels in(const float* vector) const { return {*this, vector + offset}; }
};

/// Columns of a layer's input, and their weights in the flat vector: [out, columns].
struct PackedPart {
  std::size_t flat = 0;
  std::size_t columns = 0;
};

struct PackedLayer {
  std::size_t in = 0;
  std::size_t out = 0;
  std::size_t terms = 1;
  std::size_t edge = 0;           ///< columns of edge sums beside the input; 0: none
  std::vector<PackedPart> parts;  ///< of all terms · in + edge columns, in their order
  std::size_t flat_bias = 0;      ///< kNoBias: zeros
  static constexpr std::size_t kNoBias = nn::kNone;

  bool by_rows = false;
  PanelPlace forward;      ///< terms·in + edge rows, `out` columns; in the packed vector, or derived where by_rows
  PanelPlace backward;     ///< terms·out rows, `needed` columns; derived (none where by_rows)
  std::size_t needed = 0;  ///< how many input columns want a gradient
  /// by_rows: the master; row j of W_t at row_of(j) + t · row_stride, that of the edges' weights behind the last of
  /// them
  std::size_t rows = 0;
  std::size_t row_stride = 0;
  std::size_t row_size = 0;
  std::size_t bias = 0;   ///< in the packed vector
  std::size_t begin = 0;  ///< the layer's part of the packed vector
  std::size_t end = 0;

  [[nodiscard]] std::size_t row_of(std::size_t output) const { return rows + output * row_size; }
};

/// Layers one behind the other in a packed vector, and single numbers.
class PackedLayers {
 public:
  explicit PackedLayers(const Kernels& kernels) : kernels_(&kernels) {}

  /// A layer of which `in`, `out`, `terms`, `edge`, `parts`, `flat_bias`, `needed` and `by_rows` are set; returns its
  /// place in layers().
  std::size_t add(PackedLayer layer);
  /// Numbers of the flat vector that stand side by side; returns their place in the packed one.
  std::size_t add_numbers(std::size_t flat, std::size_t count);

  [[nodiscard]] const Kernels& kernels() const { return *kernels_; }
  [[nodiscard]] std::span<const PackedLayer> layers() const { return layers_; }
  [[nodiscard]] std::size_t packed_size() const { return packed_size_; }
  [[nodiscard]] std::size_t derived_size() const { return derived_size_; }

  /// Columns a matrix of `width` columns occupies, and the stride between its rows: padded, and never a multiple of 32
  /// floats, so that the rows of a column spread over the sets of a cache.
  [[nodiscard]] std::size_t padded(std::size_t width) const;
  [[nodiscard]] std::size_t stride(std::size_t width) const;

  /// Requires `packed` of packed_size() zeros (or an earlier result).
  void pack(std::span<const float> flat, float* packed) const;
  void unpack(const float* packed, std::span<float> flat) const;
  /// flat += what unpack() gives; a tensor of several layers gets the sum over them.
  void add_unpacked(const float* packed, std::span<float> flat) const;
  /// Sets those of add_numbers() to zero.
  void clear_numbers(float* packed) const;
  /// The derived copies of one layer.
  void make_copies(const PackedLayer& layer, const float* packed, float* derived) const;

 private:
  template <class Straight, class Turned>
  void for_each(const Straight& straight, const Turned& turned) const;

  const Kernels* kernels_;
  std::vector<PackedLayer> layers_;
  struct Numbers {
    std::size_t flat, packed, count;
  };
  std::vector<Numbers> numbers_;
  std::size_t packed_size_ = 0;
  std::size_t derived_size_ = 0;
};

/// The layers of a gcn: pre (none or two), convolutions, head (three), in this order. Where there are levels, those of
/// a model on sets: the convolutions of all of them; their head stays flat.
class PackedModel : public PackedLayers {
 public:
  PackedModel(const nn::ModelConfig& config, const Kernels& kernels, std::span<const nn::Level> levels = {});

  [[nodiscard]] const nn::ModelConfig& config() const { return config_; }
  [[nodiscard]] std::span<const PackedLayer> pre() const { return layers().first(pre_count_); }
  [[nodiscard]] std::span<const PackedLayer> convs() const { return layers().subspan(pre_count_, config_.layers); }
  [[nodiscard]] std::span<const PackedLayer> head() const { return layers().last(3); }

 private:
  nn::ModelConfig config_;
  std::size_t pre_count_ = 0;
};

}  // namespace tyche::engine::cpu
