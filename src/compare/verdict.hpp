#pragma once
/// What rows that were judged on the same graphs say together: paired tests, the winner, and plain words.
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "compare/judge.hpp"
#include "datasets/dataset.hpp"

namespace tyche::compare {

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
