#pragma once
/// The tables of results as text: Markdown for people, CSV for programs, LaTeX for papers.
#include <string>
#include <vector>

#include "report/distinguish_results.hpp"
#include "report/measured.hpp"
#include "report/results.hpp"

namespace tyche::report {

/// One section per experiment: what was run, a table beside the paper's, the commands.
[[nodiscard]] std::string to_markdown(const Results& results);
/// One line for every experiment, row and subset, or metric of real targets; numbers unrounded, accuracies in percent.
/// The paper's are those of `paper_epoch`, the epoch
/// that the row has come to (report/results.hpp).
[[nodiscard]] std::string to_csv(const Results& results);
/// One tabular (booktabs) per experiment. Names are escaped.
[[nodiscard]] std::string to_latex(const Results& results);

/// Of a run of train: mean and deviation of every metric, the folds, the command.
[[nodiscard]] std::string to_markdown(const TrainingResults& results);
/// One line for every fold and epoch, one column for every metric; numbers unrounded.
[[nodiscard]] std::string to_csv(const TrainingResults& results);
/// One tabular (booktabs), a row per metric.
[[nodiscard]] std::string to_latex(const TrainingResults& results);

/// Of a run of distinguish: the table per category, the pairs that failed, published totals where the pairs are BREC's,
/// and the command.
[[nodiscard]] std::string to_markdown(const DistinguishResults& results);
/// One line for every pair and seed; numbers unrounded.
[[nodiscard]] std::string to_csv(const DistinguishResults& results);
/// One tabular (booktabs) with a row per category, and one of totals where the pairs are BREC's.
[[nodiscard]] std::string to_latex(const DistinguishResults& results);

/// "400", or over several seeds "398–400 (mean 399.3)".
[[nodiscard]] std::string over_seeds(const std::vector<std::size_t>& counts);

/// "98.0 ± 1.9", "98.0", or "–" where there is nothing.
[[nodiscard]] std::string percent(const Accuracy* accuracy);
[[nodiscard]] std::string percent(const Printed* printed);
/// An error that others released, in its unit.
[[nodiscard]] std::string released_text(const Printed& printed);

/// "10 × 500", folds and epochs, or how far the row is.
[[nodiscard]] std::string how_far(const ResultRow& row);

/// The commands that train a row alone, a line each, with a folder of its own each.
[[nodiscard]] std::string alone(const ResultRow& row);

/// The subsets an experiment's table shows: "all", and where it shows the split also "EXP" and "CORRUPT".
[[nodiscard]] std::vector<std::string> subsets_of(const Experiment& experiment);

/// Names and tables as Markdown, LaTeX and CSV: whatever a name holds, it stays a name.
///
///   markdown_row({markdown_text("a|b"), "3"})           // "| a\\|b | 3 |\n"
/// Special characters, escaped where they could turn a name into something else.
[[nodiscard]] std::string markdown_text(const std::string& text);
[[nodiscard]] std::string latex_text(const std::string& text);
[[nodiscard]] std::string csv_text(const std::string& text);

/// A line of a table of cells that are escaped already; the head with the line under it.
[[nodiscard]] std::string markdown_row(const std::vector<std::string>& cells);
[[nodiscard]] std::string markdown_head(const std::vector<std::string>& cells);

/// A tabular (booktabs) of cells that are escaped already; `columns` as LaTeX has them: "lrr".
[[nodiscard]] std::string latex_table(const std::string& columns, const std::vector<std::string>& head,
                                      const std::vector<std::vector<std::string>>& rows);

}  // namespace tyche::report
