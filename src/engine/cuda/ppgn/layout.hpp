#pragma once
/// Where the parameters of PPGN lie on the device: every layer's weights as out × in with both padded to the groups of
/// channels (a layer on several tensors side by side has each padded), then its bias; the votes last, one slot of
/// gradient being enough for them. What is padding starts as zero and stays zero.
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "engine/cuda/ppgn/tasks.hpp"
#include "nn/model.hpp"

namespace tyche::engine::TYCHE_CUDA_NS {

class PpgnLayout {
 public:
  struct Layer {
    std::size_t weight = 0, bias = 0;
    unsigned stride = 0;  ///< padded inputs
  };
  struct Block {
    std::vector<Layer> mlp[2];
    Layer skip;           ///< of the block's input, then the product
    unsigned inputs = 0;  ///< padded channels of the block's input
  };

  explicit PpgnLayout(const nn::ModelConfig& config);

  [[nodiscard]] const std::vector<Block>& blocks() const { return blocks_; }
  [[nodiscard]] unsigned channels() const { return channels_; }  ///< the width, padded
  [[nodiscard]] unsigned classes() const { return classes_; }
  /// The votes: blocks × classes × 2 · channels() weights, then blocks × bias_stride() biases.
  [[nodiscard]] std::size_t vote_weight() const { return vote_weight_; }
  [[nodiscard]] std::size_t vote_bias() const { return vote_bias_; }
  [[nodiscard]] std::size_t bias_stride() const { return bias_stride_; }
  [[nodiscard]] std::size_t size() const { return size_; }            ///< floats on the device
  [[nodiscard]] std::size_t flat_size() const { return flat_size_; }  ///< floats in nn::layout order

  /// Between nn::layout order and the device's; `device` must be zeros where it is padding.
  void spread(std::span<const float> flat, std::span<float> device) const;
  void gather(std::span<const float> device, std::span<float> flat) const;

 private:
  struct Part {
    std::size_t flat, device, rows, columns, flat_stride, device_stride;
  };
  Layer place(const nn::Layout& layout, const std::string& name, std::span<const unsigned> inputs);
  void place_matrix(const nn::Tensor& tensor, std::size_t at, std::size_t stride, std::span<const unsigned> inputs);

  std::vector<Block> blocks_;
  std::vector<Part> parts_;
  unsigned channels_ = 0, classes_ = 0;
  std::size_t vote_weight_ = 0, vote_bias_ = 0, bias_stride_ = 0, size_ = 0, flat_size_ = 0;
};

}  // namespace tyche::engine::TYCHE_CUDA_NS
