#pragma once
/// What a comparison compares: its rows, what is to be told of the graphs, in which folds, and by which measure.
///
///   const Task task(dataset, "mine.jsonl", options);
///   for (const Spec& row : specs_of(options.models)) task.config(row, true, {});
///   task.baselines()                                          // the rows without a network, judged
#include <map>

#include "compare/compare.hpp"
#include "compare/judge.hpp"
#include "train/config.hpp"

namespace tyche::compare {

/// A row with a network.
struct Spec {
  std::string name, kind;
  bool random = false;  ///< inputs, or roots of a network on pairs
  bool on_pairs = false;
  /// Of a kind whose usual width and layers are dear: those for budgets that have no room for them (0: there are none).
  std::uint32_t width = 0;
  /// Of the budget: a network on pairs has dear epochs.
  [[nodiscard]] double shares() const { return on_pairs ? 3 : 1; }
};

/// With random inputs or roots, or without.
[[nodiscard]] Spec spec_of(const std::string& kind, bool random);
/// The rows of these kinds (none: all), in the order of the portfolio's; throws InputError where it lacks one.
[[nodiscard]] std::vector<Spec> specs_of(const std::vector<std::string>& kinds);

/// Draws whose mean answers, where inputs are random.
inline constexpr std::uint32_t kDraws = 8;

class Task {
 public:
  /// Throws InputError where the graphs have nothing to be told of them, or not by the metric that is asked for, or a
  /// fold has no validation part. Where a split lacks one, options.out gets a split.json with it.
  Task(const datasets::Dataset& dataset, std::string path, const Options& options);

  const datasets::Dataset& dataset;
  std::string path;
  const Options& options;
  std::string split;  ///< empty: folds are made
  std::vector<datasets::Fold> folds;
  Truth truth;
  Metric metric = Metric::accuracy;
  std::string hash;  ///< of the data

  /// Of a row, of its usual size or the smaller one; what neither it nor `more` says is the recipe own's.
  [[nodiscard]] train::RunConfig config(const Spec& spec, bool usual,
                                        const std::map<std::string, nlohmann::json>& more) const;
  /// What was said of the folds' test graphs, judged: `name`, `score`, `low`, `high`, `network`, `bins`, `values`, ….
  [[nodiscard]] nlohmann::ordered_json row(const std::string& name, const std::vector<Said>& said, bool network) const;
  /// No network: what the training part's labels say alone, and linear models on counts. Throws Interrupted.
  [[nodiscard]] std::vector<nlohmann::ordered_json> baselines() const;

 private:
  [[nodiscard]] std::string own_split() const;
  void learn_truth(const train::RunConfig& config);
};

}  // namespace tyche::compare
