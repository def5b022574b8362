#pragma once
/// A trained model's answers, averaged over draws of the random features.
///
///   const Checkpoint checkpoint = read_checkpoint("run/fold-0/last.safetensors");
///   const auto answers = predict(*engine, checkpoint, set, {.draws = 16});
///   answers[0].label, answers[0].probability, answers[0].spread
#include <cstdint>
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

}  // namespace tyche::train
