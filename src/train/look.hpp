#pragma once
/// Looks into a trained model: what it makes of graphs and nodes before its last layers, and which of them an answer
/// hangs on.
///
///   const NpyMatrix rows = embeddings(checkpoint, set, {.draws = 16});            // graphs × width
///   const Explanation why = explain(*engine, checkpoint, set, 7, {.draws = 1});
///   why.nodes[3], why.without_node[3]
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <vector>

#include "engine/engine.hpp"
#include "graph/io.hpp"
#include "support/npy.hpp"
#include "train/checkpoint.hpp"
#include "train/predict.hpp"

namespace tyche::train {

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
