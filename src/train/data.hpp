#pragma once
/// A data set made ready for training: features, classes, folds.
///
///   const datasets::Dataset dataset = datasets::load_dataset("exp");
///   RunConfig config;
///   resolve(config, dataset, "exp");
///   const TrainingData data = prepare(dataset, config);
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "datasets/dataset.hpp"
#include "datasets/folds.hpp"
#include "engine/engine.hpp"
#include "train/config.hpp"
#include "train/objective.hpp"

namespace tyche::train {

/// Fills in what follows from the data (its hash, features, labels or real targets; the model's classes, input
/// features, types of sets and Xavier fan), from the recipe (train/start.hpp) and from other fields (the learning rate
/// where it is 0; with one fold, no graphs set aside), and validates. The fan is taken over all graphs of the data set,
/// not one fold's: the folds of a run share one model. Throws InputError where the data cannot be learned from.
void resolve(RunConfig& config, const datasets::Dataset& dataset, const std::filesystem::path& path);

/// The hash by which a run of this configuration knows its data again: RunConfig::data.hash.
[[nodiscard]] std::string data_hash(const datasets::Dataset& dataset, const RunConfig& config);

/// The folds of a resolved configuration of this data set: made, or read from its split, or from the masks of its file.
/// Of nodes and edges: those of one graph are dealt, of several the graphs are; those without a target are in no part.
/// Throws InputError where the split is gone or says something else.
[[nodiscard]] std::vector<datasets::Fold> folds_of(const datasets::Dataset& dataset, const RunConfig& config);

/// The value of folds.split that stands for the masks that the data itself has.
inline constexpr const char* kMasks = "masks";
/// The folds that the configuration's split says, in units.
[[nodiscard]] std::vector<datasets::Fold> said_folds(const GraphSet& set, const RunConfig& config);

/// After a data set is read, before resolve(): brings its labels where the configuration looks for them (see
/// datasets::types_as_labels).
void take_targets(datasets::Dataset& dataset, const RunConfig& config);

/// What a configuration says of weights, one per graph: that graph g counts in the loss as much as weights[g] graphs.
/// Throws InputError unless there is one for each graph, finite and from 0 on. Empty where all are 1: nobody would see
/// a difference. The weights are no part of the data or of a run's folder, so a run that has some goes on only where
/// they are given again.
[[nodiscard]] std::string weights_hash(std::span<const float> weights, std::uint64_t graphs);

/// Holds a reference to the data set, which must outlive it.
struct TrainingData {
  const datasets::Dataset* dataset = nullptr;
  Graphs seen;                          ///< the graphs as the model sees them
  engine::FeatureBlocks features;       ///< attributes as they are, whatever folds make of them
  engine::FeatureBlocks edge_features;  ///< likewise; none where edges say nothing
  Learned learned;                      ///< graphs, nodes or edges: the units, and what is said of them
  std::vector<std::uint32_t> classes;   ///< of labels: one per unit
  std::vector<float> weights;           ///< how much each unit counts in the loss; none: all alike
  std::vector<datasets::Fold> folds;    ///< of units that have a target
  /// By fold, from its training graphs: of real targets mean and deviation, of labels the classes' weights (none: all
  /// alike).
  std::vector<engine::Standard> standards;
  std::vector<std::vector<float>> class_weights;
  std::vector<InputScale> scales;  ///< of attributes; empty ones where they are not standardised
  /// Models on sets: what engine::prepare_sets() made of view(); null: the engine makes it when it trains.
  std::shared_ptr<const engine::SetData> sets{};
  SetTypes set_types;     ///< recipe own
  bool weighted = false;  ///< messages are multiplied by the weights of edges
  bool subsets = false;   ///< some graphs are CORRUPT, so accuracies are worth splitting

  /// Whether every fold sees inputs of its own.
  [[nodiscard]] bool scaled() const { return !scales.empty() && scales.front() != InputScale{}; }
  /// Real targets where there are no classes. With the inputs that all folds share.
  [[nodiscard]] engine::Data view() const;
  /// With the inputs that a fold sees, or with those that all share.
  [[nodiscard]] engine::Job job(const RunConfig& config, std::optional<std::uint32_t> fold = {}) const;
};

/// By level, the types of sets that these graphs have.
[[nodiscard]] std::vector<std::set<std::uint64_t>> used_set_types(const SetTypes& types,
                                                                  std::span<const std::uint32_t> graphs);

/// Requires a resolved configuration of this data set. `weights`: those of config.data.weights, one per graph. Throws
/// InputError on others, and where contiguous folds (of data without pairs) part the classes: a training part lacks one
/// that others have, or a test part has one alone.
[[nodiscard]] TrainingData prepare(const datasets::Dataset& dataset, const RunConfig& config,
                                   std::span<const float> weights = {});

/// What is odd about the folds that are to be trained, a sentence each: classes that have no graphs to train on, or
/// none to test on; real targets that do not vary, or are missing; node types and edge labels that are tested and were
/// not trained on, types of sets likewise; a network to which all nodes are alike.
[[nodiscard]] std::vector<std::string> fold_warnings(const TrainingData& data, const RunConfig& config);

/// "exp: 1200 graphs, 33 to 73 nodes (mean 48.7), 2 classes (600, 600), 2 node types"
[[nodiscard]] std::string describe(const TrainingData& data, const RunConfig& config);

}  // namespace tyche::train
