#pragma once
/// What a model is: its shape, its parameters by name. How it runs is the engine's business.
///
///   ModelConfig config;                       // the paper's GCN: width 64, 8 layers, ELU, max readout
///   config.rni = 0.5;                         // half of the input dimensions are random
///   const Layout where = layout(config);      // PyTorch's state_dict names, shapes and offsets
///   std::vector<float> parameters = initial_parameters(config, seed, fold);
///
/// Formulas are in docs/models.md.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "graph/units.hpp"
#include "nn/choices.hpp"
#include "nn/random_inputs.hpp"

namespace tyche::nn {

template <>
inline constexpr Names<3> kNames<Activation> = {"activation", {"elu", "tanh", "relu"}};
template <>
inline constexpr Names<2> kNames<Aggregation> = {"aggregation", {"mean", "sum"}};
template <>
inline constexpr Names<3> kNames<Readout> = {"readout", {"max", "mean", "sum"}};
/// The letters are the paper's.
template <>
inline constexpr Names<8> kNames<Distribution> = {
    "distribution", {"normal", "uniform", "xavier-normal", "xavier-uniform", "N", "U", "XN", "XU"}, 4};
[[nodiscard]] inline bool is_xavier(Distribution value) {
  return value == Distribution::xavier_normal || value == Distribution::xavier_uniform;
}
template <>
inline constexpr Names<2> kNames<TwoSets> = {"choice of two-sets", {"edges", "all"}};
template <>
inline constexpr Names<3> kNames<Norm> = {"norm", {"none", "batch", "layer"}};

/// The models; what each of them takes is in nn/kinds.hpp. gcn: pre-convolutions of the deterministic features,
/// `layers` GraphConvs of `width`, readout, MLP. gcn3, gcn2: 1 + `layers` GraphConvs on all 3-node (2-node) sets.
/// gcn123: GraphConvs on nodes, on 2-sets and on connected 3-sets, whose readouts stand side by side. ppgn: `layers`
/// blocks of matrix products per channel. gin: a linear map of the deterministic features, `layers` of GIN, readout and
/// MLP as gcn. sage: the same with layers of GraphSAGE. mp, subgraph, local2, folklore2: messages ReLU(W h + e) between
/// nodes, or between pairs (u, v) along v, along both, or with both halves of a path in each. network: what `network`
/// describes (nn/description.hpp), and is none of them.
struct ModelConfig {
  std::string kind = "gcn";
  std::uint32_t width = 64;
  std::uint32_t layers = 8;        ///< gcn123: on 3-sets; ppgn: blocks
  std::uint32_t pre_hidden = 32;   ///< hidden width of the two GraphConvs on deterministic features
  std::uint32_t head_hidden = 32;  ///< the MLP is width -> width -> head_hidden -> classes
  std::uint32_t classes = 2;
  Unit unit = Unit::graph;           ///< what has a row of outputs: a graph; a node or edge, then nothing is read out
  std::uint32_t input_features = 2;  ///< columns of the deterministic node features
  std::uint32_t embed = 0;           ///< gcn: columns that a linear map makes of the node features first; 0: no map
  std::uint32_t edge_features = 0;   ///< columns of the edges' features; 0: edges have none
  Random random = Random::features;  ///< what is random about the input
  std::uint32_t depth = kLeaf;       ///< of marks and colours: see nn/random_inputs.hpp
  /// Random node features, floor(width * rni) columns: of gcn, gin and sage a share of the width; of gcn123 and ppgn
  /// (as channels on the diagonal) behind the node features.
  double rni = 0;
  Distribution distribution = Distribution::normal;
  /// Fan for the Xavier distributions: random dims + 20 * mean nodes per training graph, a constant of the run (spec of
  /// the data).
  double xavier_fan = 0;
  Activation activation = Activation::elu;
  Aggregation aggregation = Aggregation::mean;
  Readout readout = Readout::max;
  double dropout = 0.5;           ///< after the MLP's first layer, in training; in [0, 1)
  std::uint32_t node_layers = 3;  ///< gcn123: on nodes
  std::uint32_t pair_layers = 2;  ///< gcn123: on 2-sets
  TwoSets two_sets = TwoSets::edges;
  std::uint32_t mlp_depth = 2;   ///< ppgn: layers of each block's MLPs
  bool node_readout = false;     ///< ppgn: sums of rows and the diagonal go to nodes, and an MLP of each to the readout
  Norm norm = Norm::none;        ///< of layers; not on sets
  bool residual = false;         ///< a layer's output is added to its input
  bool virtual_node = false;     ///< gcn, gin, sage, mp: a row per graph that all nodes write to and read
  bool global = false;           ///< networks on pairs: a layer sums over all nodes too
  std::uint32_t roots = 0;       ///< networks on pairs: so many nodes u are drawn in every pass of training; 0: all
  std::uint32_t eval_roots = 0;  ///< the same in tests
  std::uint32_t distance_cut = 5;  ///< networks on pairs: distances from here on are one
  /// The isomorphism types (wl::SetType, ascending) that have an input column each: of 2-sets (gcn2, gcn123), of 3-sets
  /// (gcn3, gcn123). They follow from the data a model is trained on: see set_types_from() in nn/levels.hpp.
  std::vector<std::uint64_t> pair_types;
  std::vector<std::uint64_t> triple_types;
  /// A network as text. Empty for the other kinds, but for one that a description was found to be and whose sizes are
  /// still to be held against the data (nn::fit).
  std::string network;

  /// floor(width * rni)
  [[nodiscard]] std::uint32_t random_dims() const;
  /// gcn, gin, sage: width - random_dims(), the columns that come from the node features; 0: nothing comes from them.
  [[nodiscard]] std::uint32_t deterministic_dims() const { return width - random_dims(); }
  /// gcn123 and ppgn: what a node starts from, its features and then random_dims() random ones.
  [[nodiscard]] std::uint32_t node_inputs() const { return input_features + random_dims(); }
  /// Whether the node features are looked at: always, but for a gcn, gin or sage whose inputs are all random.
  [[nodiscard]] bool uses_features() const;

  /// Whether two tests of a graph differ: by random features, drawn columns or drawn roots.
  [[nodiscard]] bool draws() const { return random_dims() + drawn_columns() + eval_roots > 0; }
  /// Columns drawn for every node in every pass, behind its features: marks or the code of its colour.
  [[nodiscard]] std::uint32_t drawn_columns() const { return nn::drawn_columns(random, depth); }
  /// What the first pre-convolution (gin: the linear map) takes: features and drawn columns.
  [[nodiscard]] std::uint32_t pre_inputs() const { return input_features + drawn_columns(); }

  /// Where its network has rows (nn/program.hpp): whether on sets of nodes (gcn2, gcn3, gcn123), and whether on nodes
  /// and their arcs alone, so that it passes messages along edges. Asked before the data and its sizes are known.
  /// Throws InputError where there is no such kind.
  [[nodiscard]] bool on_sets() const;
  [[nodiscard]] bool on_nodes() const;

  friend bool operator==(const ModelConfig&, const ModelConfig&) = default;
};

/// The kinds there are.
[[nodiscard]] std::vector<std::string> model_kinds();

/// The fan of the Xavier distributions: random dims + 20 * mean nodes per training graph (see docs/models.md).
[[nodiscard]] double xavier_fan(std::uint32_t random_dims, double mean_nodes);

/// Throws InputError that says which value makes no sense and what would: every size at least 1, rni in [0, 1], dropout
/// in [0, 1), a positive fan where a Xavier distribution is used, a known kind, and no option that this kind has no use
/// for (nn/kinds.hpp): an option is never ignored; rni for random features alone, and a depth that fits the kind of
/// random inputs.
void validate(const ModelConfig& config);

/// One tensor of the flat parameter vector. Names and shapes are PyTorch's state_dict (Linear weights are [out, in]):
/// pre.{0,1}, convs.{0..}, level{1,2,3}.{0..}: lin_rel.weight, lin_rel.bias (neighbours), lin_root.weight, and where
/// edges have features lin_edge.weight; head.fc{1,2,3}, mlp{1,2}.{block}.{layer}, skip.{block}, vote.{block}: weight,
/// bias; of gin pre and convs.{0..}.nn.{0,2}: weight, bias, convs.{0..}.eps, and where edges have features
/// convs.{0..}.lin: weight, bias; of sage pre and convs.{0..}: weight, bias. A step that normalises has weight, bias
/// and, by batch, running_mean and running_var: they move with training, but are not learned.
struct Tensor {
  std::string name;
  std::vector<std::size_t> shape;
  std::size_t offset = 0;  ///< into the flat vector
  std::size_t size = 0;
  std::size_t fan_in = 0;  ///< parameters start uniform in ±1/sqrt(fan_in); 0: they start at `start`
  float start = 0;
  bool running = false;  ///< a mean or variance of batches: no gradient, no step of Adam
};

struct Layout {
  std::vector<Tensor> tensors;
  std::size_t size = 0;  ///< floats in all

  /// Those that are learned.
  [[nodiscard]] std::size_t learned() const;

  /// Throws InputError where there is no tensor of this name.
  [[nodiscard]] const Tensor& at(std::string_view tensor_name) const;
};

/// The tensors of a model, in state_dict order. Throws InputError on a configuration that makes no sense.
[[nodiscard]] Layout layout(const ModelConfig& config);

/// Fresh parameters in layout order: tensor t is uniform in ±1/sqrt(fan_in) from the stream
/// derive_key(seed, Purpose::parameter_init, fold, t).
[[nodiscard]] std::vector<float> initial_parameters(const ModelConfig& config, std::uint64_t seed, std::uint32_t fold);

}  // namespace tyche::nn
