#pragma once
/// A model's parameters as the kernels want them. The flat vector of nn::Layout (PyTorch's [out, in] matrices) is
/// packed once when a trial begins and unpacked after every epoch; Adam works on the packed vector, whose padding has
/// gradient zero and stays zero.
///
/// Every layer is a product [x_0 | x_1] · [W_0 ; W_1] + b: a GraphConv has two terms (root and neighbours), a Linear
/// layer one. Where edges have features a GraphConv has columns beside its input, the sums of these
/// (core/inputs.hpp), whose weights stand below W_1 and whose gradient nobody wants. A layer's weights are
/// stored twice: the master in the packed vector and a derived copy, made again after every Adam step (make_copies()).
/// The master is in forward panels and the copy holds the transposed matrices for the backward pass; only the last
/// convolution under max readout, whose backward pass is sparse and goes by rows, has it the other way round.
#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
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
  std::size_t add(PackedLayer layer) {
    const auto panels = [&](std::size_t depth, std::size_t columns, std::size_t& size) {
      PanelPlace place;
      place.row_stride = kernels_->panel;
      place.count = (columns + place.row_stride - 1) / place.row_stride;
      place.panel_stride = round_up(depth * place.row_stride, kAlign);
      place.offset = size;
      size += place.count * place.panel_stride;
      return place;
    };
    layer.begin = packed_size_;
    if (layer.by_rows) {
      layer.row_stride = padded(layer.in);
      layer.row_size = layer.terms * layer.row_stride + (layer.edge == 0 ? 0 : padded(layer.edge));
      layer.rows = packed_size_;
      packed_size_ += layer.out * layer.row_size;
      layer.forward = panels(layer.terms * layer.in + layer.edge, layer.out, derived_size_);
    } else {
      layer.forward = panels(layer.terms * layer.in + layer.edge, layer.out, packed_size_);
      layer.backward = panels(layer.terms * layer.out, layer.needed, derived_size_);
    }
    layer.bias = packed_size_;
    packed_size_ += padded(layer.out);
    layer.end = packed_size_;
    layers_.push_back(std::move(layer));
    return layers_.size() - 1;
  }
  /// Numbers of the flat vector that stand side by side; returns their place in the packed one.
  std::size_t add_numbers(std::size_t flat, std::size_t count) {
    numbers_.push_back({flat, packed_size_, count});
    packed_size_ += padded(count);
    return numbers_.back().packed;
  }
  [[nodiscard]] const Kernels& kernels() const { return *kernels_; }
  [[nodiscard]] std::span<const PackedLayer> layers() const { return layers_; }
  [[nodiscard]] std::size_t packed_size() const { return packed_size_; }
  [[nodiscard]] std::size_t derived_size() const { return derived_size_; }

  /// Columns a matrix of `width` columns occupies, and the stride between its rows: padded, and never a multiple of 32
  /// floats, so that the rows of a column spread over the sets of a cache.
  [[nodiscard]] std::size_t padded(std::size_t width) const {
    return round_up(width, std::max(kAlign, kernels_->panel));
  }
  [[nodiscard]] std::size_t stride(std::size_t width) const {
    const std::size_t columns = padded(width);
    return columns % (2 * kAlign) == 0 ? columns + kAlign : columns;
  }
  /// Requires `packed` of packed_size() zeros (or an earlier result).
  void pack(std::span<const float> flat, float* packed) const {
    for_each([&](std::size_t from, std::size_t to, std::size_t outputs, std::size_t columns, std::size_t stride) {
      kernels_->transpose(flat.data() + from, columns, outputs, columns, packed + to, stride);
    });
  }
  void unpack(const float* packed, std::span<float> flat) const {
    for_each([&](std::size_t to, std::size_t from, std::size_t outputs, std::size_t columns, std::size_t stride) {
      kernels_->transpose(packed + from, stride, columns, outputs, flat.data() + to, columns);
    });
  }
  /// flat += what unpack() gives; a tensor of several layers gets the sum over them.
  void add_unpacked(const float* packed, std::span<float> flat) const {
    std::vector<float> block;
    for_each([&](std::size_t to, std::size_t from, std::size_t outputs, std::size_t columns, std::size_t stride) {
      block.resize(outputs * columns);
      kernels_->transpose(packed + from, stride, columns, outputs, block.data(), columns);
      for (std::size_t i = 0; i < block.size(); ++i) flat[to + i] += block[i];
    });
  }
  /// Sets those of add_numbers() to zero.
  void clear_numbers(float* packed) const {
    for (const Numbers& own : numbers_) std::fill_n(packed + own.packed, own.count, 0.0f);
  }
  /// The derived copies of one layer.
  void make_copies(const PackedLayer& layer, const float* packed, float* derived) const {
    const PanelPlace& forward = layer.forward;
    const std::size_t terms = layer.terms + (layer.by_rows && layer.edge > 0 ? 1 : 0);  // edges: behind the others
    for (std::size_t t = 0; t < terms; ++t) {
      for (std::size_t p = 0; p < forward.count; ++p) {
        const std::size_t first = p * forward.row_stride;  // of the outputs in this panel
        const std::size_t outputs = std::min(forward.row_stride, layer.out - first);
        const std::size_t in_panel = forward.offset + p * forward.panel_stride + t * layer.in * forward.row_stride;
        if (layer.by_rows) {
          kernels_->transpose(packed + layer.row_of(first) + t * layer.row_stride, layer.row_size, outputs,
                              t < layer.terms ? layer.in : layer.edge, derived + in_panel, forward.row_stride);
          continue;
        }
        for (std::size_t q = 0; q < layer.backward.count; ++q) {
          const PanelPlace& backward = layer.backward;
          const std::size_t inputs = std::min(backward.row_stride, layer.needed - q * backward.row_stride);
          kernels_->transpose(
              packed + in_panel + q * backward.row_stride * forward.row_stride, forward.row_stride, inputs, outputs,
              derived + backward.offset + q * backward.panel_stride + (t * layer.out + first) * backward.row_stride,
              backward.row_stride);
        }
      }
    }
  }

 private:
  static std::size_t round_up(std::size_t value, std::size_t unit) { return (value + unit - 1) / unit * unit; }
  // body(flat index, packed index, outputs, columns, stride) for the weights of a panel's outputs: a matrix [outputs,
  // columns] in the flat vector, its transpose, with this stride, in the packed one. Numbers that stand side by side in
  // both are those of one output.
  template <class Body>
  void for_each(const Body& body) const {
    for (const PackedLayer& layer : layers_) {
      std::size_t row = 0;  // of the part's first column
      for (const PackedPart& part : layer.parts) {
        const std::size_t outputs = layer.by_rows ? 1 : kernels_->panel;
        for (std::size_t j = 0; j < layer.out; j += outputs) {
          const std::size_t packed =
              layer.by_rows ? layer.row_of(j) + row / layer.in * layer.row_stride : layer.forward.index(row, j);
          body(part.flat + j * part.columns, packed, std::min(outputs, layer.out - j), part.columns, outputs);
        }
        row += part.columns;
      }
      if (layer.flat_bias != PackedLayer::kNoBias) body(layer.flat_bias, layer.bias, 1, layer.out, 1);
    }
    for (const Numbers& own : numbers_) body(own.flat, own.packed, 1, own.count, 1);
  }

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
  PackedModel(const nn::ModelConfig& config, const Kernels& kernels, std::span<const nn::Level> levels = {})
      : PackedLayers(kernels), config_(config) {
    const nn::Layout layout = nn::layout(config);
    const auto conv = [&](const std::string& name, std::size_t needed, bool by_rows) {
      const nn::Tensor& rel = layout.at(name + ".lin_rel.weight");
      PackedLayer layer;
      layer.in = rel.shape[1];
      layer.out = rel.shape[0];
      layer.terms = 2;
      layer.edge = config.edge_features;
      layer.parts = {{layout.at(name + ".lin_root.weight").offset, layer.in}, {rel.offset, layer.in}};
      if (layer.edge > 0) layer.parts.push_back({layout.at(name + ".lin_edge.weight").offset, layer.edge});
      layer.flat_bias = layout.at(name + ".lin_rel.bias").offset;
      layer.needed = needed;
      layer.by_rows = by_rows;
      add(std::move(layer));
    };
    for (const nn::Level& level : levels) {
      for (std::size_t l = 0; l < level.convs.size(); ++l) {
        // The first layer's input needs a gradient only in the columns that come from nodes.
        conv(level.convs[l], l > 0 || level.on_nodes ? config.width : 0, false);
      }
    }
    if (!levels.empty()) return;
    // The first layer's input is data and needs no gradient; behind pre-convolutions only their columns do.
    if (config.deterministic_dims() > 0) {
      pre_count_ = 2;
      conv("pre.0", 0, false);
      conv("pre.1", config.pre_hidden, false);
    }
    for (std::uint32_t l = 0; l < config.layers; ++l) {
      const bool last = l + 1 == config.layers;
      conv("convs." + std::to_string(l), l == 0 ? config.deterministic_dims() : config.width,
           last && config.readout == nn::Readout::max);
    }
    for (const char* name : {"head.fc1", "head.fc2", "head.fc3"}) {
      const nn::Tensor& weight = layout.at(std::string(name) + ".weight");
      PackedLayer layer;
      layer.in = layer.needed = weight.shape[1];
      layer.out = weight.shape[0];
      layer.parts = {{weight.offset, layer.in}};
      layer.flat_bias = layout.at(std::string(name) + ".bias").offset;
      add(std::move(layer));
    }
  }
  [[nodiscard]] const nn::ModelConfig& config() const { return config_; }
  [[nodiscard]] std::span<const PackedLayer> pre() const { return layers().first(pre_count_); }
  [[nodiscard]] std::span<const PackedLayer> convs() const { return layers().subspan(pre_count_, config_.layers); }
  [[nodiscard]] std::span<const PackedLayer> head() const { return layers().last(3); }

 private:
  nn::ModelConfig config_;
  std::size_t pre_count_ = 0;
};

}  // namespace tyche::engine::cpu
