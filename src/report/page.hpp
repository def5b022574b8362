#pragma once
/// Results as tables (Markdown for people, CSV for programs, LaTeX for papers), and as the page: JSON, put into the
/// template that web/ is built to.
///
///   write_file("report.html", folder_text({"runs/mine"}, "html", {.command = "tyche report runs/mine"}));
///   std::cout << folder_text({"runs/gcn", "runs/gin"}, "md", {});
#include "report/results.hpp"

namespace tyche::report {

struct PageOptions {
  /// To look at; nothing: 12 of each data set, and of distinguish, failures first, as many as fit.
  std::optional<std::size_t> pairs = std::nullopt;
  unsigned threads = 0;
  std::string command = {};  ///< that made the page, for the page
};

/// Markdown: one section per experiment: what was run, a table beside the paper's, the commands. CSV: one line for
/// every experiment, row and subset, or metric of real targets; numbers unrounded, accuracies in percent; the paper's
/// are those of `paper_epoch`, the epoch that the row has come to. LaTeX: one tabular (booktabs) per experiment. The
/// page shows everything; a data set that is gone is left out, with a word why.
[[nodiscard]] std::string to_markdown(const Results& results);
[[nodiscard]] std::string to_csv(const Results& results);
[[nodiscard]] std::string to_latex(const Results& results);
[[nodiscard]] Json page_data(const Results& results, const PageOptions& options);

/// "yes" within the range, else "no"; short of the paper's end "ahead" or "behind". "–" where nothing is compared.
[[nodiscard]] std::string verdict(const Beside& beside);

/// The paper's side: "98.00 ± 1.85", "95.42 ± 2.37 at epoch 170", "none at epoch 170 (50.00 after 500)", or "–" where
/// the paper has no such row.
[[nodiscard]] std::string papers_side(const ResultRow& row, const std::string& subset);

/// Of a run of train. Markdown: mean and deviation of every metric, the folds, the command. CSV: one line for every
/// fold and epoch, one column for every metric; numbers unrounded. LaTeX: a row per metric. The page
/// (web/src/training.ts): the curves of every fold for whatever was measured, mean and spread over folds, the values at
/// the end, the configuration and the command.
[[nodiscard]] std::string to_markdown(const TrainingResults& results);
[[nodiscard]] std::string to_csv(const TrainingResults& results);
[[nodiscard]] std::string to_latex(const TrainingResults& results);
[[nodiscard]] Json page_data(const TrainingResults& results, const PageOptions& options);
/// A curve has at most so many points on the page; of longer ones every second, third, … epoch is shown, and the last.
inline constexpr std::size_t kMostPoints = 600;

/// Of a run of distinguish. Markdown: the table per category, the pairs that failed, published totals where the pairs
/// are BREC's, and the command. CSV: one line for every pair and seed; numbers unrounded. LaTeX: a row per category,
/// and a table of totals. The page (web/src/distinguish.ts): counts per category and seed beside what refinement says
/// and what others have published, controls, settings, and every pair to be looked at; where the data is gone or has
/// changed since, there are no graphs, and `missing` says why.
[[nodiscard]] std::string to_markdown(const DistinguishResults& results);
[[nodiscard]] std::string to_csv(const DistinguishResults& results);
[[nodiscard]] std::string to_latex(const DistinguishResults& results);
[[nodiscard]] Json page_data(const DistinguishResults& results, const PageOptions& options);
/// "400", or over several seeds "398–400 (mean 399.3)".
[[nodiscard]] std::string over_seeds(const std::vector<std::size_t>& counts);

/// Results of any kind side by side: a line per run of `train` or `distinguish` and per row of `reproduce`, a column
/// per metric, by its name. Values are those that stand for a run wherever it is shown (train::reported_record): of the
/// test at the end, the epoch that validation chose, or the last; mean and deviation over folds, or seeds.
struct RunLines {
  /// [{name, kind, data, model, seed, parameters, complete, how_far, of_epoch, seconds, scores: {test_mae: {mean,
  /// deviation, values}}}]; the scores of distinguish, told_apart and controls_told_apart, count pairs.
  Json runs = Json::array();
};

/// Each a folder of reproduce, train or distinguish, or one whose folders are such. Throws InputError on any other, and
/// where a record is damaged.
[[nodiscard]] RunLines run_lines(const std::vector<std::filesystem::path>& folders);
[[nodiscard]] std::string to_markdown(const RunLines& lines);
[[nodiscard]] std::string to_latex(const RunLines& lines);
/// A line for every run and metric; numbers unrounded, accuracies as shares.
[[nodiscard]] std::string to_csv(const RunLines& lines);
/// What the page shows (web/src/runs.ts): the same, with the columns and cells of the table.
[[nodiscard]] Json page_data(const RunLines& lines, const PageOptions& options);

/// What a folder of results holds, of whichever kind; several, or a folder of such folders, are compared. `format`:
/// html, md, csv, tex or json. Throws InputError on another, and where a folder holds no results.
[[nodiscard]] std::string folder_text(const std::vector<std::filesystem::path>& folders, const std::string& format,
                                      const PageOptions& how);

/// Names as Markdown, LaTeX and CSV: special characters are escaped where they could turn a name into something else.
[[nodiscard]] std::string markdown_text(const std::string& text);
[[nodiscard]] std::string latex_text(const std::string& text);
[[nodiscard]] std::string csv_text(const std::string& text);

/// A head and rows of as many cells, which are escaped.
using Cells = std::vector<std::string>;
[[nodiscard]] std::string markdown_table(const Cells& head, const std::vector<Cells>& rows);
/// A tabular (booktabs); `columns` as LaTeX has them: "lrr".
[[nodiscard]] std::string latex_table(const std::string& columns, const Cells& head, const std::vector<Cells>& rows);

/// [make(first), make(second), …]
template <class Range, class Make>
[[nodiscard]] Json list_of(const Range& range, const Make& make) {
  Json list = Json::array();
  for (const auto& each : range) list.push_back(make(each));
  return list;
}

/// A configuration: [key, value, what it is] for every field that its kind of model uses, but for fields whose key
/// begins with one of `without`.
[[nodiscard]] Json settings_list(const train::RunConfig& config, const std::vector<std::string_view>& without);

/// What every page has: {version, made, command, shows}; `shows` may be empty.
[[nodiscard]] Json page_head(std::string_view shows, std::string_view command);

/// `template_text` with the data in the place of its mark. Whatever the data says, it cannot leave its script element:
/// <, >, & and the line separators of JavaScript are written as escapes. Throws InputError where the mark is missing.
[[nodiscard]] std::string fill_page(std::string_view template_text, const Json& data);

/// The template that comes with the program. Throws IoError that says what to install where it was not built.
[[nodiscard]] std::string page_template();

/// The page itself: one file without references to anything outside it. Throws as page_template() does, and IoError.
void write_page(const std::filesystem::path& path, const Json& data);

}  // namespace tyche::report
