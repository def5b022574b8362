#pragma once
/// The values of a run of `train` as text: Markdown for people, CSV for programs, LaTeX for papers.
#include <string>

#include "report/training_results.hpp"

namespace tyche::report {

/// Mean and deviation of every metric, the folds, the command.
[[nodiscard]] std::string to_markdown(const TrainingResults& results);
/// One line for every fold and epoch, one column for every metric; numbers unrounded.
[[nodiscard]] std::string to_csv(const TrainingResults& results);
/// One tabular (booktabs), a row per metric.
[[nodiscard]] std::string to_latex(const TrainingResults& results);

}  // namespace tyche::report
