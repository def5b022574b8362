#pragma once
/// The tables of results as text: Markdown for people, CSV for programs, LaTeX for papers.
#include <string>

#include "report/results.hpp"

namespace tyche::report {

/// One section per experiment: what was run, a table beside the paper's, the commands.
[[nodiscard]] std::string to_markdown(const Results& results);
/// One line for every experiment, row and subset, or metric of real targets; numbers unrounded, accuracies in percent.
/// The paper's are those of `paper_epoch`, the epoch
/// that the row has come to (report/compare.hpp).
[[nodiscard]] std::string to_csv(const Results& results);
/// One tabular (booktabs) per experiment. Names are escaped.
[[nodiscard]] std::string to_latex(const Results& results);

/// "98.0 ± 1.9", "98.0", or "–" where there is nothing.
[[nodiscard]] std::string percent(const Accuracy* accuracy);
[[nodiscard]] std::string percent(const Printed* printed);

/// "10 × 500", folds and epochs, or how far the row is.
[[nodiscard]] std::string how_far(const Row& row);

/// The commands that train a row alone, a line each, with a folder of its own each.
[[nodiscard]] std::string alone(const Row& row);

/// The subsets an experiment's table shows: "all", and where it shows the split also "EXP" and "CORRUPT".
[[nodiscard]] std::vector<std::string> subsets_of(const Experiment& experiment);

}  // namespace tyche::report
