#include <algorithm>

#include "engine/cuda/ppgn/layout.hpp"

namespace tyche::engine::TYCHE_CUDA_NS {

PpgnLayout::PpgnLayout(const nn::ModelConfig& config) : channels_(ppgn_padded(config.width)), classes_(config.classes) {
  const nn::Layout layout = nn::layout(config);
  flat_size_ = layout.size;
  for (std::uint32_t b = 0; b < config.layers; ++b) {
    Block block;
    const unsigned before = b == 0 ? 1 + config.node_inputs() : config.width;
    block.inputs = ppgn_padded(before);
    const std::string at = std::to_string(b);
    for (unsigned m = 0; m < 2; ++m) {
      for (std::uint32_t l = 0; l < config.mlp_depth; ++l) {
        const unsigned inputs[] = {l == 0 ? before : config.width};
        block.mlp[m].push_back(
            place(layout, "mlp" + std::to_string(m + 1) + "." + at + "." + std::to_string(l), inputs));
      }
    }
    const unsigned joined[] = {before, config.width};
    block.skip = place(layout, "skip." + at, joined);
    blocks_.push_back(std::move(block));
  }
  const unsigned pooled[] = {config.width, config.width};
  const std::size_t inputs = std::size_t{2} * channels_;
  vote_weight_ = size_;
  for (std::uint32_t b = 0; b < config.layers; ++b) {
    place_matrix(layout.at("vote." + std::to_string(b) + ".weight"), size_, inputs, pooled);
    size_ += classes_ * inputs;
  }
  vote_bias_ = size_;
  bias_stride_ = ppgn_padded(classes_);
  for (std::uint32_t b = 0; b < config.layers; ++b) {
    parts_.push_back({layout.at("vote." + std::to_string(b) + ".bias").offset, size_, 1, classes_, 0, 0});
    size_ += bias_stride_;
  }
}

PpgnLayout::Layer PpgnLayout::place(const nn::Layout& layout, const std::string& name,
                                    std::span<const unsigned> inputs) {
  Layer layer;
  for (const unsigned count : inputs) layer.stride += ppgn_padded(count);
  layer.weight = size_;
  place_matrix(layout.at(name + ".weight"), size_, layer.stride, inputs);
  size_ += std::size_t{channels_} * layer.stride;
  layer.bias = size_;
  const nn::Tensor& bias = layout.at(name + ".bias");
  parts_.push_back({bias.offset, size_, 1, bias.size, 0, 0});
  size_ += channels_;
  return layer;
}

void PpgnLayout::place_matrix(const nn::Tensor& tensor, std::size_t at, std::size_t stride,
                              std::span<const unsigned> inputs) {
  std::size_t flat = tensor.offset;
  for (const unsigned count : inputs) {
    parts_.push_back({flat, at, tensor.shape[0], count, tensor.shape[1], stride});
    flat += count;
    at += ppgn_padded(count);
  }
}

void PpgnLayout::spread(std::span<const float> flat, std::span<float> device) const {
  for (const Part& part : parts_) {
    for (std::size_t r = 0; r < part.rows; ++r) {
      std::copy_n(flat.data() + part.flat + r * part.flat_stride, part.columns,
                  device.data() + part.device + r * part.device_stride);
    }
  }
}

void PpgnLayout::gather(std::span<const float> device, std::span<float> flat) const {
  for (const Part& part : parts_) {
    for (std::size_t r = 0; r < part.rows; ++r) {
      std::copy_n(device.data() + part.device + r * part.device_stride, part.columns,
                  flat.data() + part.flat + r * part.flat_stride);
    }
  }
}

}  // namespace tyche::engine::TYCHE_CUDA_NS
