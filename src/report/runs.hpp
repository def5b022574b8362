#pragma once
/// Results of any kind side by side: a line per run of `train` or `distinguish` and per row of `reproduce`, a column
/// per metric, by its name. Values are those that stand for a run wherever it is shown (FoldSummary::reported): of the
/// test at the end, the epoch that validation chose, or the last; mean and deviation over folds, or seeds.
///
///   const std::vector<RunLine> lines = run_lines({"runs/gcn", "runs/gin", "out"});
///   std::cout << to_markdown(lines);
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "report/page.hpp"
#include "support/statistics.hpp"

namespace tyche::report {

struct RunScore {
  std::string metric;  ///< "test_mae"; of distinguish "told_apart" and "controls_told_apart", which count pairs
  Spread over;
  std::vector<double> values;  ///< of the folds, or seeds, that have it
};

struct RunLine {
  std::string name;  ///< the folder; of reproduce with the experiment and the row
  std::string kind;  ///< "train", "distinguish" or "reproduce"
  std::string data, model;
  std::uint64_t seed = 0, parameters = 0;
  bool complete = false;
  std::string how_far;   ///< "10 folds, 500 epochs"
  std::string of_epoch;  ///< "the last epoch": of which epoch the values are
  double seconds = 0;    ///< of work
  std::vector<RunScore> scores;
};

/// Each a folder of reproduce, train or distinguish, or one whose folders are such. Throws InputError on any other, and
/// where a record is damaged.
[[nodiscard]] std::vector<RunLine> run_lines(const std::vector<std::filesystem::path>& folders);

/// Whether a folder is none of results itself, and holds some.
[[nodiscard]] bool holds_runs(const std::filesystem::path& folder);

[[nodiscard]] std::string to_markdown(const std::vector<RunLine>& lines);
[[nodiscard]] std::string to_latex(const std::vector<RunLine>& lines);
/// A line for every run and metric; numbers unrounded, accuracies as shares.
[[nodiscard]] std::string to_csv(const std::vector<RunLine>& lines);
/// {version, runs: [{name, kind, data, …, scores: {test_mae: {mean, deviation, values}}}]}
[[nodiscard]] Json to_json(const std::vector<RunLine>& lines);
/// What the page shows (web/src/runs.ts): the same, with the columns and cells of the table.
[[nodiscard]] Json page_data(const std::vector<RunLine>& lines, const PageOptions& options);

/// What a folder of results holds, as a page or as tables: of `tyche reproduce`, of a training run, or of distinguish.
/// Several, or a folder of such folders, are compared (runs.hpp).
///
///   write_file("report.html", folder_text({"runs/colours"}, "html", {.command = "tyche report runs/colours --out
///   report.html"})); std::cout << folder_text({"runs/colours"}, "md", {});
/// `format`: html, md, csv, tex or json. Throws InputError on another, and where a folder holds no results.
[[nodiscard]] std::string folder_text(const std::vector<std::filesystem::path>& folders, const std::string& format,
                                      const PageOptions& how);

}  // namespace tyche::report
