#include "inspect/folds.hpp"

#include <fmt/format.h>

#include "support/error.hpp"

namespace tyche::inspect {

std::vector<datasets::Fold> leak_folds(const datasets::Dataset& dataset, const LeakFolds& wanted,
                                       std::vector<std::string>& notes) {
  const datasets::FoldOptions options{.folds = wanted.folds.value_or(datasets::FoldOptions{}.folds),
                                      .scheme = wanted.scheme.value_or(datasets::usual_scheme(dataset)),
                                      .validation = wanted.validation,
                                      .seed = wanted.seed};
  if (options.folds == 1) {
    notes.emplace_back("Leaks were not counted: one fold trains and tests on all graphs.");
    return {};
  }
  std::vector<int> labels(dataset.set.graphs.size(), 0);  // targets are of one kind
  if (wanted.task != Task::targets && !dataset.set.labels.empty()) labels = dataset.set.labels;
  try {
    return datasets::make_folds(labels, dataset.pair, options);
  } catch (const InputError& error) {
    if (wanted.folds) throw;
    notes.push_back(fmt::format("Leaks were not counted: {}", error.what()));
    return {};
  }
}

}  // namespace tyche::inspect
