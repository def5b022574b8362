#pragma once
/// What goes into a pass beside the graph: the one place that says which numbers a training pass, a test pass or a
/// call of predict() uses, and that puts them side by side. Models take an Inputs and ask for the columns of a graph.
///
///   const Inputs inputs = training_inputs(trial, epoch);
///   fixed_columns(job, graph, rows, stride);                            // types and attributes
///   drawn_columns(job, inputs, graph, rows + fixed, stride);            // marks or colours, where the model has them
///   random_columns(job.model, inputs, graph, nodes, 0, more, stride);   // the paper's random features
///   dropout_columns(job.model, inputs, graph, factors);
///
/// All of it is keyed by who asks, never by the order of the calls.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/core/job.hpp"
#include "nn/model.hpp"
#include "support/random.hpp"

namespace tyche::engine {

/// What keys a training pass's dropout.
struct DropoutKey {
  std::uint64_t seed = 0;
  std::uint32_t fold = 0;
  std::uint32_t epoch = 0;
};

/// One pass: everything random in it follows from this and a graph's number in the data.
struct Inputs {
  Key key;                            ///< feature_key() of the pass: of random features and of drawn columns
  std::span<const float> pinned;      ///< random features that the caller gives; empty: drawn under the key
  std::optional<DropoutKey> dropout;  ///< none: dropout is off
  bool training = false;              ///< batches are normalised by themselves; roots are those of training
};

/// The training pass of an epoch (1 is the first), and the draw-th test pass after it.
[[nodiscard]] Inputs training_inputs(const Trial& trial, std::uint32_t epoch);
[[nodiscard]] Inputs test_inputs(const Trial& trial, std::uint32_t epoch, std::uint32_t draw);
/// What Engine::predict() and gradient() were asked for; pinned features are of all graphs asked for, in order.
[[nodiscard]] Inputs inputs_of(const Draw& draw);

/// The node features of a graph: row v at out + v * stride, model.input_features columns.
void fixed_columns(const Job& job, std::uint32_t graph, float* out, std::size_t stride);

/// The drawn columns of a graph, marks or the codes of colours: row v at out + v * stride, model.drawn_columns()
/// columns. Drawn afresh: a pass over many graphs has them from engine/core/draw_tables.hpp.
void drawn_columns(const Job& job, const Inputs& inputs, std::uint32_t graph, float* out, std::size_t stride);

/// The random features of a graph: row v at out + v * stride, model.random_dims() columns. `before`: how many nodes the
/// graphs before it have among those that were asked for; looked at only where features are pinned.
void random_columns(const nn::ModelConfig& model, const Inputs& inputs, std::uint32_t graph, std::size_t nodes,
                    std::size_t before, float* out, std::size_t stride);

/// The nodes that pairs begin with, ascending; empty: all. The i-th of K is swapped to place i of all nodes from place
/// i + (word · (nodes - i)) >> 32, where the word is number i % 4 of philox(key, {i / 4, 0, graph, kRootTag}).
inline constexpr std::uint32_t kRootTag = 0x726f6f74;
[[nodiscard]] std::vector<std::uint32_t> roots_of(const nn::ModelConfig& model, const Inputs& inputs,
                                                  std::uint32_t graph, std::size_t nodes);

/// How many rows a graph has in a space of nodes, pairs and the like.
[[nodiscard]] std::size_t rows_in(nn::Space space, const Graph& graph, std::size_t roots, std::size_t arcs);

/// Steps from a node to every node of its graph, `cut` where they are more or there is no way.
void distances_from(const Graph& graph, Node from, std::uint32_t cut, std::span<std::uint32_t> out);

/// What dropout multiplies the hidden values of a graph with: ones where it is off.
void dropout_columns(const nn::ModelConfig& model, const Inputs& inputs, std::uint32_t graph, std::span<float> out);

/// Edge features as engines want them. A GraphConv with edge features is
///
///   z_v = W_root h_v + agg_u (W_nbr h_u + W_edge e_uv) + b = W_root h_v + W_nbr agg_u h_u + W_edge agg_u e_uv + b,
///
/// and agg_u e_uv does not change while a model trains: one row per node, made once, is all that a fast engine needs.
/// gin, whose messages are not linear, looks at every edge (EdgeRows); the reference engine at every arc.
///
/// agg_u e_uv of every node of a graph, the model's mean or sum; zeros for a node without edges.
[[nodiscard]] std::vector<float> edge_sums(const Job& job, std::uint32_t graph);

/// One row per arc, in the order of Graph::adjacency().
[[nodiscard]] std::vector<float> arc_features(const Job& job, std::uint32_t graph);

/// The different rows of edge features that a graph has, each once: bonds are of few kinds, so that a map of them is
/// computed for few rows.
struct EdgeRows {
  std::vector<float> rows;            ///< × model.edge_features, in the order of the edges that show them first
  std::vector<std::uint32_t> row_of;  ///< one per arc
  [[nodiscard]] std::size_t count(std::size_t columns) const { return columns == 0 ? 0 : rows.size() / columns; }
};
[[nodiscard]] EdgeRows edge_rows(const Job& job, std::uint32_t graph);

// Every random number a trial uses, as a pure function of who asks: it does not depend on batching, threads, the order
// of graphs or the engine. docs/models.md has the keying; these plain versions are its definition, and the fast
// engine's vectorised ones agree with them to rounding.
//
//   const Key key = feature_key(seed, fold, epoch, kTrainingPass);
//   random_features(config, key, graph, nodes, out, stride);

/// The forward passes of an epoch: training is one, every test draw another.
inline constexpr std::uint32_t kTrainingPass = 0;
[[nodiscard]] constexpr std::uint32_t test_pass(std::uint32_t draw) { return 1 + draw; }

/// The key of the random features of one forward pass. Epoch 1 is the first.
[[nodiscard]] Key feature_key(std::uint64_t seed, std::uint32_t fold, std::uint32_t epoch, std::uint32_t pass);

/// Whether the distribution is a normal one; else it is uniform.
[[nodiscard]] bool is_normal(const nn::ModelConfig& config);
/// What the distribution is multiplied with: 1, or sqrt(2/fan) (Xavier normal), sqrt(6/fan) (Xavier uniform).
[[nodiscard]] float feature_scale(const nn::ModelConfig& config);

/// The random features of nodes 0 … nodes-1 of a graph: row v at out + v * stride, config.random_dims() columns.
/// Column c of node v is word c % 4 of philox(key, {c / 4, v, graph, 0}) turned into the distribution: uniform words
/// each for itself, as signed numbers over 2^31; normal ones in pairs by Box and Muller (radius from the first word,
/// angle from the second).
void random_features(const nn::ModelConfig& config, Key key, std::uint32_t graph, std::size_t nodes, float* out,
                     std::size_t stride);

/// Two normal variates from two words: sqrt(-2 ln u) (cos, sin)(2π w/2^32) with u = (first + 1/2) / 2^32, so that the
/// largest radius is 6.76.
struct NormalPair {
  double cosine;
  double sine;
};
[[nodiscard]] NormalPair box_muller(std::uint32_t radius_word, std::uint32_t angle_word);

/// What dropout multiplies each of the `out.size()` hidden values of a graph with in an epoch: 0 with probability
/// `rate`, else 1 / (1 - rate).
void dropout_factors(double rate, std::uint64_t seed, std::uint32_t fold, std::uint32_t epoch, std::uint32_t graph,
                     std::span<float> out);

/// The training graphs in the order an epoch visits them.
[[nodiscard]] std::vector<std::uint32_t> epoch_order(std::span<const std::uint32_t> train, std::uint64_t seed,
                                                     std::uint32_t fold, std::uint32_t epoch);

}  // namespace tyche::engine
