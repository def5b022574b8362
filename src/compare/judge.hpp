#pragma once
/// How good answers are, how sure that is, and whether one is better than another on the same graphs. What rows that
/// were judged on the same graphs say together: paired tests, the winner, and plain words.
///
///   const Judged a = judge(Metric::accuracy, truth, answers_a), b = judge(Metric::accuracy, truth, answers_b);
///   paired_p(Metric::accuracy, a.values, b.values)       // that a difference like this is chance
///   holm({0.01, 0.04, 0.2})                              // the same, corrected for how many were asked
///
/// Every metric is the mean of a value per graph. For the area under the ROC curve they are DeLong's: what a graph adds
/// to the area, scaled so that their mean is the area and their variance its own.
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "compare/linear.hpp"
#include "datasets/dataset.hpp"

namespace tyche::compare {

enum class Metric { accuracy, roc_auc, mae };
[[nodiscard]] std::string_view name(Metric metric);
/// Throws InputError that lists the names on any other.
[[nodiscard]] Metric parse_metric(std::string_view text);
[[nodiscard]] inline bool larger_is_better(Metric metric) { return metric != Metric::mae; }

/// What was said of a fold's test graphs: a row of Truth::width() numbers each.
struct Said {
  std::vector<std::uint32_t> graphs;
  std::vector<double> answers;
};

struct Judged {
  double score = 0;
  double low = 0, high = 0;  ///< 95 %: Clopper and Pearson's of an accuracy, else Student's of the values
  std::vector<double> values;
  /// Of labels: the mean distance between the probability of what was said and how often it was right, over ten bins.
  std::optional<double> calibration_error;
  struct Bin {
    double said = 0, right = 0;
    std::uint64_t graphs = 0;
  };
  std::vector<Bin> bins;  ///< those that have graphs
};

/// By folds: an area is of the graphs of one fold, whose answers one model gave. Graphs whose targets are all missing
/// count nowhere.
[[nodiscard]] Judged judge(Metric metric, const Truth& truth, std::span<const Said> folds);

/// Two-sided: McNemar's exact test of accuracies, else Student's of the differences. 1 where there are none.
[[nodiscard]] double paired_p(Metric metric, std::span<const double> a, std::span<const double> b);

/// Holm's correction: the chance that any of those called different is not stays below what is asked of each.
[[nodiscard]] std::vector<double> holm(const std::vector<double>& p);

/// "accuracy", "ROC AUC", "MAE".
[[nodiscard]] std::string title(Metric metric);
/// "87.50 %", "0.3120".
[[nodiscard]] std::string in_words(Metric metric, double score);

/// `rows` have `name`, `score`, `network` and a value per graph in `values`. The baseline is the best row without a
/// network. A row beats it where it is better and Holm's correction of its paired tests leaves less than 5 % for
/// chance; the best is the best of those, or the baseline where there is none. The answer has the rows without their
/// values, `baseline`, `best`, `best_network`, `beats_baseline`, `metric`, `tests` (all pairs), `ceilings`, `verdict`.
[[nodiscard]] nlohmann::ordered_json verdict(Metric metric, const std::vector<nlohmann::ordered_json>& rows,
                                             const datasets::Dataset& dataset, const Truth& truth, unsigned threads);

/// A line per row.
[[nodiscard]] std::string to_csv(const nlohmann::ordered_json& found);

}  // namespace tyche::compare
