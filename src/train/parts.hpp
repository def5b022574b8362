#pragma once
/// Which part of a run each graph was in, and how good a model is on each part: a score over training graphs is never
/// shown as if it were a result.
///
///   const OwnGraphs own = own_graphs(dataset, checkpoint.config);
///   const std::vector<Part> parts = parts_of(own, dataset, checkpoint.config, checkpoint.fold);
///   const std::vector<PartScores> scores = part_scores(answered, truth, config.data.labels);
///   scores.front()                                        // the headline: of graphs that training did not see
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/dataset.hpp"
#include "datasets/folds.hpp"
#include "train/config.hpp"
#include "train/metrics.hpp"
#include "train/objective.hpp"
#include "train/predict.hpp"

namespace tyche::train {

/// In the order in which their scores stand for a model: the first that has graphs is the headline.
enum class Part : std::uint8_t {
  fresh,  ///< "new": no graph of the run, or in none of the fold's parts
  test,
  validation,
  train,
};

/// "new", "test", "validation", "train".
[[nodiscard]] std::string_view part_name(Part part);
/// Throws InputError that lists the names on any other.
[[nodiscard]] Part parse_part(std::string_view name);

/// The graphs of a run: its folds, and what each graph looks like, by which it is known in another file.
struct OwnGraphs {
  std::string hash;  ///< of the whole data set
  std::vector<datasets::Fold> folds;
  std::vector<std::uint64_t> looks;  ///< one per unit: its graph (nodes as numbered, edges, types, labels of edges,
                                     ///< attributes), and of a node or edge its number there
};

/// Requires the data set that the configuration was resolved with. Throws as folds_of().
[[nodiscard]] OwnGraphs own_graphs(const datasets::Dataset& dataset, const RunConfig& config);

/// The same of a data set that may be another, or whose split may be gone: then nothing, and `why` says it.
[[nodiscard]] std::optional<OwnGraphs> known_graphs(const datasets::Dataset& dataset, const RunConfig& config,
                                                    std::string& why);

/// The part of a fold that each graph was in: by its place where `asked` is the run's own data, else by what it looks
/// like. A copy of several graphs of the run counts as that of the part that training saw most of.
[[nodiscard]] std::vector<Part> parts_of(const OwnGraphs& own, const datasets::Dataset& asked, const RunConfig& config,
                                         std::uint32_t fold);

/// What a fold's model said of a graph, node or edge.
struct Answered {
  std::uint32_t graph = 0;  ///< or node or edge, where those have targets: its number among all
  std::uint32_t fold = 0;
  Part part = Part::fresh;
  Prediction said{};
};

/// Scores over one part, the mean over folds as everywhere else: "accuracy", "balanced_accuracy", "f1", "roc_auc",
/// "average_precision"; of real targets "mae", "rmse", "r2". None where the set has no labels (or targets).
struct PartScores {
  Part part = Part::fresh;
  std::size_t graphs = 0;  ///< or nodes or edges: `unit`
  Unit unit = Unit::graph;
  std::vector<MetricSummary> scores{};
};

/// Of the parts that have graphs, the headline first. `labels`: of the model's classes, for what goes beyond accuracy.
[[nodiscard]] std::vector<PartScores> part_scores(std::span<const Answered> answered, const Learned& truth,
                                                  std::span<const int> labels = {});

/// "parts": {"test": {"graphs": 60, "accuracy": 0.5}, …}, "headline": "test" and the headline's scores at the top; over
/// several folds "accuracy_std" and "folds" stand beside a part's mean.
[[nodiscard]] nlohmann::ordered_json to_json(const std::vector<PartScores>& parts);

/// A line per part. `own`: the graphs are the run's, else copies of them.
[[nodiscard]] std::string to_text(const std::vector<PartScores>& parts, const RunConfig& config, std::uint32_t fold,
                                  bool own);

}  // namespace tyche::train
