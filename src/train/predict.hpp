#pragma once
/// A trained model's answers, averaged over draws of the random features.
///
///   const Checkpoint checkpoint = read_checkpoint("run/fold-0/last.safetensors");
///   const auto answers = predict(*engine, checkpoint, set, {.draws = 16});
///   answers[0].label, answers[0].probability, answers[0].spread
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/engine.hpp"
#include "graph/io.hpp"
#include "support/npy.hpp"
#include "train/checkpoint.hpp"

namespace tyche::train {

struct PredictOptions {
  std::uint32_t draws = 1;
  /// The graphs that are asked about, by index (nodes or edges, where the model gives values of those); nothing: all.
  std::optional<std::vector<std::uint32_t>> graphs = std::nullopt;
  /// Of the draws; nothing: the checkpoint's own, with which draw 0 is the one its last evaluation used.
  std::optional<std::uint64_t> seed = std::nullopt;
  /// Instead of draws: random features (all nodes of all graphs, in order × random dimensions).
  std::optional<NpyMatrix> pinned = std::nullopt;
};

struct Prediction {
  int label = 0;                      ///< as the training data spelled it
  double probability = 0;             ///< of that label: the mean over draws
  double spread = 0;                  ///< of that probability over draws: population standard deviation, 0 for one draw
  std::vector<float> logits;          ///< mean over draws
  std::vector<double> probabilities;  ///< of every class: mean over draws
  std::vector<double> deviations;     ///< of those over draws, as `spread`
  /// Of a model of real targets, which gives these and none of the above: one number per column in the targets' own
  /// unit, the mean over draws, and its population standard deviation over draws.
  std::vector<double> values;  ///< under the binary loss the chance of a 1
  bool binary = false;
  std::vector<double> spreads;
};

/// One per graph, node or edge that is asked about. Node types, edge labels and labels that training did not see are
/// taken as unseen() (features.hpp) says. Throws InputError where the graphs do not fit the model (attributes, another
/// number of targets), or pinned features have the wrong shape or a value that is not finite; `name` stands for their
/// file.
[[nodiscard]] std::vector<Prediction> predict(engine::Engine& engine, const Checkpoint& checkpoint, const GraphSet& set,
                                              const PredictOptions& options, std::string_view name = "features");

/// What models that answered for the same graphs say together: the mean of their probabilities (or values) and logits,
/// and how far they lie apart in place of the spread over draws. `labels`: of the classes; empty: real targets.
[[nodiscard]] std::vector<Prediction> ensemble_of(const std::vector<std::vector<Prediction>>& members,
                                                  const std::vector<int>& labels);

// ---- what a model makes of graphs and nodes before its last layers, and which of them an answer hangs on
//
//   const NpyMatrix rows = embeddings(checkpoint, set, false, {.draws = 16});     // graphs × width
//   const Explanation why = explain(*engine, checkpoint, set, 7, {.draws = 1});
//   why.nodes[3], why.without_node[3]

struct LookOptions {
  std::uint32_t draws = 1;
  std::optional<std::uint64_t> seed = std::nullopt;  ///< of the draws; nothing: the checkpoint's own
  unsigned threads = 0;
};

/// A row per graph (the readout), or per node of all graphs in order (the last layer of nodes): the mean over draws.
/// Throws InputError where the graphs do not fit the model, or it works on sets.
[[nodiscard]] NpyMatrix embeddings(const Checkpoint& checkpoint, const GraphSet& set, bool of_nodes,
                                   const LookOptions& options);

struct Explanation {
  Prediction said;
  /// What is explained: of labels the output of `label` less the mean of the others'; of targets `column`, in its unit.
  int label = 0;
  std::size_t column = 0;            ///< as the set counts them
  double value = 0;                  ///< of targets: what is said of it
  std::vector<double> nodes;         ///< gradient × input of every node, summed over its columns
  std::vector<double> edges;         ///< of every edge, in the order of Graph::edges(); none where edges say nothing
  std::vector<double> without_node;  ///< how much the probability (or the value) falls when the node is left out
  std::vector<double> without_edge;  ///< likewise
};

/// `output`: the label, or the column of the targets, that is asked about; nothing: the label that is said, column 0.
[[nodiscard]] Explanation explain(engine::Engine& engine, const Checkpoint& checkpoint, const GraphSet& set,
                                  std::uint32_t graph, const LookOptions& options,
                                  std::optional<int> output = std::nullopt);

/// "graph", "label" and "probability" (or "column" and "value"), "nodes": [{node, type, gradient_input, left_out}],
/// "edges": [{edge: [u, v], gradient_input, left_out}].
[[nodiscard]] nlohmann::ordered_json to_json(const Explanation& why, const GraphSet& set, std::uint32_t graph);

/// The first two principal components of rows: rows × 2. The sign of each is such that its largest entry is positive.
[[nodiscard]] NpyMatrix two_dimensions(const NpyMatrix& rows);

}  // namespace tyche::train
