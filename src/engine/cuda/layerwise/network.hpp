#pragma once
/// A model as the layer-wise path runs it: matrices, convolutions from one to another, the head, and which parameter
/// gets its gradient from where. Nothing of it depends on the device.
///
///   const Network network(job.model, sets, graphs.shape(), multiprocessors());
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/cuda/layerwise/device_graphs.hpp"
#include "engine/sets/set_data.hpp"
#include "nn/model.hpp"

namespace tyche::engine::TYCHE_CUDA_NS {

/// The values of a space's rows after some layer.
struct MatrixSpec {
  std::size_t space = 0;
  uint32_t columns = 0;
  uint32_t stride = 0;  ///< columns, padded to 16
  bool last = false;    ///< of its level: kept as floats, for the readout
};

/// A GraphConv, or a linear layer.
struct ConvSpec {
  std::size_t in = 0, out = 0;  ///< matrices
  std::size_t link = 0;
  uint32_t in_columns = 0;  ///< padded
  uint32_t out_columns = 0;
  uint32_t in_blocks = 0, out_blocks = 0;
  uint32_t bias = 0;     ///< into the parameters
  uint64_t weights = 0;  ///< into the copies of the weights
  uint64_t slots = 0;    ///< into the gradients' slots
  uint32_t most_slices = 0;
  bool wants_input_gradient = false;
  uint32_t gradient_columns = 0;  ///< of the input, from the first
  bool activated_input = false;   ///< whether an activation made the input
  bool linear = false;            ///< rows see themselves alone: there is no link
  bool activates = true;
  /// GraphConvs where edges have features: the linear layer of these, which is run with this one.
  std::optional<std::size_t> edges{};
  /// gin: what is run before this one and makes its input.
  std::optional<std::size_t> sum{};

  [[nodiscard]] uint32_t units() const { return in_blocks * out_blocks; }
};

/// gin: (1 + ε) h_v + Σ messages, from matrix to matrix.
struct SumSpec {
  std::size_t in = 0, out = 0;
  uint32_t eps = 0;    ///< into the parameters
  uint64_t slots = 0;  ///< into the gradients' slots
  uint32_t most_slices = 0;
  bool wants_input_gradient = false;
  uint32_t gradient_columns = 0;
  bool activated_input = false;
  std::optional<std::size_t> lin{};  ///< where edges have features: the linear layer that makes messages of them
};

struct LevelSpec {
  std::size_t first_matrix = 0;
  std::size_t last_matrix = 0;
  std::size_t first_conv = 0, convs = 0;
  uint32_t below = 0;            ///< nodes of a set, where the level starts from level 0's outputs
  uint32_t gradient_stride = 0;  ///< enough for the gradient of any of its matrices
};

struct Network {
  /// `sets`: null for gcn and gin.
  Network(const nn::ModelConfig& model, const SetData* sets, const blocks::Shape& shape, int multiprocessors);

  std::vector<MatrixSpec> matrices;
  std::vector<ConvSpec> convs;  ///< those of the levels, then those of edge features
  std::vector<SumSpec> sums;
  std::vector<LevelSpec> levels;
  std::size_t parameters = 0;
  uint64_t weights = 0;  ///< elements of a copy of the weights
  uint64_t slots = 0;    ///< floats
  LinearPlaces fc[3] = {};
  FactorPlaces factors{};
  std::vector<Segment> segments;
  std::vector<AdamBlock> blocks;
  // Random columns of the nodes' input (gcn123), or of what follows the pre-convolutions (gcn): matrix, first column,
  // how many.
  std::size_t random_matrix = 0;
  uint32_t random_first = 0, random_count = 0;
  nn::Activation activation = nn::Activation::elu;
  nn::Readout readout = nn::Readout::max;
  /// Where edges have features: their matrix, a row per node (gcn: sums) or per edge (gin).
  std::optional<std::size_t> edge_matrix{};

  /// Words that a plan leaves for slices: one per convolution, then one per sum.
  [[nodiscard]] std::size_t counters() const { return convs.size() + sums.size(); }

 private:
  void add_gin(const nn::ModelConfig& model, const nn::Layout& layout, uint32_t most_slices);
  void add_edge_layers(const nn::ModelConfig& model, const nn::Layout& layout, const std::vector<std::string>& names,
                       uint32_t most_slices);
  void place_conv(ConvSpec& conv, uint32_t in, uint32_t out, uint32_t most_slices);
  [[nodiscard]] Segment segment_of(const ConvSpec& conv, std::size_t index, const nn::Tensor& tensor) const;
  std::size_t add_linear(const nn::Layout& layout, const std::string& name, std::size_t in, std::size_t out,
                         uint32_t most_slices);
  void add_level(const nn::Layout& layout, const std::vector<std::string>& names,
                 const std::vector<std::size_t>& spaces, const std::vector<std::size_t>& links, uint32_t inputs,
                 uint32_t below, uint32_t most_slices);
};

[[nodiscard]] constexpr uint32_t padded16(uint64_t columns) { return static_cast<uint32_t>((columns + 15) / 16 * 16); }

}  // namespace tyche::engine::TYCHE_CUDA_NS
