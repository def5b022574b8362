#include "engine/cpu/packed_model.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include "nn/levels.hpp"

namespace tyche::engine::cpu {

namespace {
std::size_t round_up(std::size_t value, std::size_t unit) { return (value + unit - 1) / unit * unit; }
}  // namespace

PackedModel::PackedModel(const nn::ModelConfig& config, const Kernels& kernels) : config_(config), kernels_(&kernels) {
  const nn::Layout layout = nn::layout(config);
  flat_size_ = layout.size;
  const auto conv = [&](const std::string& name, std::size_t needed, bool by_rows) {
    const nn::Tensor& rel = layout.at(name + ".lin_rel.weight");
    const std::size_t weights[] = {layout.at(name + ".lin_root.weight").offset, rel.offset};
    const std::size_t bias = layout.at(name + ".lin_rel.bias").offset;
    const std::size_t edge = config.edge_features;
    add_layer(rel.shape[1], rel.shape[0], needed, by_rows, weights, bias, edge,
              edge == 0 ? 0 : layout.at(name + ".lin_edge.weight").offset);
  };
  const auto linear = [&](const std::string& name) {
    const nn::Tensor& weight = layout.at(name + ".weight");
    add_layer(weight.shape[1], weight.shape[0], weight.shape[1], false, std::span(&weight.offset, 1),
              layout.at(name + ".bias").offset);
  };
  if (config.on_sets()) {
    for (const nn::Level& level : nn::levels(config)) {
      for (std::size_t l = 0; l < level.convs.size(); ++l) {
        // The first layer's input needs a gradient only in the columns that come from nodes.
        conv(level.convs[l], l > 0 || level.on_nodes ? config.width : 0, false);
      }
    }
    return;
  }
  if (config.body() != nn::Body::nodes) {
    for (const nn::Tensor& tensor : layout.tensors) {
      constexpr std::string_view kWeight = ".weight";
      if (tensor.name.ends_with(kWeight)) linear(tensor.name.substr(0, tensor.name.size() - kWeight.size()));
    }
    return;
  }
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
  linear("head.fc1");
  linear("head.fc2");
  linear("head.fc3");
}

std::size_t PackedModel::padded(std::size_t width) const { return round_up(width, std::max(kAlign, kernels_->pad)); }

std::size_t PackedModel::stride(std::size_t width) const {
  const std::size_t columns = padded(width);
  return columns % (2 * kAlign) == 0 ? columns + kAlign : columns;
}

void PackedModel::add_layer(std::size_t in, std::size_t out, std::size_t needed, bool by_rows,
                            std::span<const std::size_t> weights, std::size_t bias, std::size_t edge,
                            std::size_t flat_edge) {
  const auto panels = [&](std::size_t depth, std::size_t columns, std::size_t& size) {
    PanelPlace place;
    place.row_stride = kernels_->panel;
    place.count = (columns + place.row_stride - 1) / place.row_stride;
    place.panel_stride = round_up(depth * place.row_stride, kAlign);
    place.offset = size;
    size += place.count * place.panel_stride;
    return place;
  };
  PackedLayer layer;
  layer.in = in;
  layer.out = out;
  layer.terms = weights.size();
  std::copy(weights.begin(), weights.end(), layer.flat_weight);
  layer.flat_bias = bias;
  layer.edge = edge;
  layer.flat_edge = flat_edge;
  layer.needed = needed;
  layer.by_rows = by_rows;
  layer.begin = packed_size_;
  if (by_rows) {
    layer.row_stride = padded(in);
    layer.row_size = layer.terms * layer.row_stride + (edge == 0 ? 0 : padded(edge));
    layer.rows = packed_size_;
    packed_size_ += out * layer.row_size;
    layer.forward = panels(layer.terms * in + edge, out, derived_size_);
  } else {
    layer.forward = panels(layer.terms * in + edge, out, packed_size_);
    layer.backward = panels(layer.terms * out, needed, derived_size_);
  }
  layer.bias = packed_size_;
  packed_size_ += padded(out);
  layer.end = packed_size_;
  layers_.push_back(layer);
}

// move(flat index, packed index) for every weight of a layer.
template <class Move>
void PackedModel::for_each_weight(const PackedLayer& layer, const Move& move) const {
  for (std::size_t t = 0; t < layer.terms; ++t) {
    for (std::size_t j = 0; j < layer.out; ++j) {
      for (std::size_t k = 0; k < layer.in; ++k) {
        const std::size_t packed =
            layer.by_rows ? layer.row_of(j) + t * layer.row_stride + k : layer.forward.index(t * layer.in + k, j);
        move(layer.flat_weight[t] + j * layer.in + k, packed);
      }
    }
  }
  for (std::size_t j = 0; j < layer.out; ++j) {
    for (std::size_t k = 0; k < layer.edge; ++k) {
      const std::size_t packed = layer.by_rows ? layer.row_of(j) + layer.terms * layer.row_stride + k
                                               : layer.forward.index(layer.terms * layer.in + k, j);
      move(layer.flat_edge + j * layer.edge + k, packed);
    }
  }
}

void PackedModel::pack(std::span<const float> flat, float* packed) const {
  for (const PackedLayer& layer : layers_) {
    for_each_weight(layer, [&](std::size_t from, std::size_t to) { packed[to] = flat[from]; });
    for (std::size_t j = 0; j < layer.out; ++j) packed[layer.bias + j] = flat[layer.flat_bias + j];
  }
}

void PackedModel::unpack(const float* packed, std::span<float> flat) const {
  for (const PackedLayer& layer : layers_) {
    for_each_weight(layer, [&](std::size_t to, std::size_t from) { flat[to] = packed[from]; });
    for (std::size_t j = 0; j < layer.out; ++j) flat[layer.flat_bias + j] = packed[layer.bias + j];
  }
}

void PackedModel::make_copies(const PackedLayer& layer, const float* packed, float* derived) const {
  const PanelPlace& forward = layer.forward;
  for (std::size_t t = 0; t < layer.terms; ++t) {
    for (std::size_t p = 0; p < forward.count; ++p) {
      const std::size_t first = p * forward.row_stride;  // of the outputs in this panel
      const std::size_t outputs = std::min(forward.row_stride, layer.out - first);
      const std::size_t in_panel = forward.offset + p * forward.panel_stride + t * layer.in * forward.row_stride;
      if (layer.by_rows) {
        const float* rows = packed + layer.row_of(first) + t * layer.row_stride;
        kernels_->transpose(rows, layer.row_size, outputs, layer.in, derived + in_panel, forward.row_stride);
        if (t > 0 || layer.edge == 0) continue;
        kernels_->transpose(rows + layer.terms * layer.row_stride, layer.row_size, outputs, layer.edge,
                            derived + in_panel + layer.terms * layer.in * forward.row_stride, forward.row_stride);
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

}  // namespace tyche::engine::cpu
