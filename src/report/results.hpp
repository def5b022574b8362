#pragma once
/// What a results folder holds, read for a report: the experiments of OUT/experiments, with the measurements of the run
/// folders under OUT/trials that make their rows. Works while trials are still under way: a row says how far it is.
///
///   const Results results = load_results("out");
///   results.experiments[0].rows[0].accuracy            // mean and deviation over folds, percent
#include <cstdint>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "report/measured.hpp"

namespace tyche::report {

/// Mean and deviation over folds, in percent.
using Accuracy = Spread;

/// What the paper printed, in percent; or what others released of another score, in its unit.
struct Printed {
  double mean = 0;
  std::optional<double> deviation;
  std::string where;
  std::uint32_t epochs = 0;  ///< of training behind it; 0: not said
  std::string metric{};      ///< "mae"; empty: accuracy
};

struct Curve {
  std::vector<double> epoch;
  std::vector<double> mean;
  std::vector<double> deviation;  ///< empty for the paper's
};

/// Subsets are "all", "EXP" and "CORRUPT".
struct ResultRow : Measured {
  std::string name;
  train::RunConfig config;
  /// Train this row alone, less --out: one, or, where nested selection chose differently, one per fold. None while a
  /// choice is still to come.
  std::vector<std::string> commands;
  std::uint32_t folds_run = 0;    ///< asked for
  std::size_t folds_done = 0;     ///< have all their epochs
  std::uint32_t epochs_done = 0;  ///< that every fold has
  std::uint64_t parameters = 0;
  std::string engine;
  /// Of labels, by subset; `fold_accuracy` of all graphs.
  std::vector<double> fold_accuracy;
  std::map<std::string, Accuracy> accuracy;
  std::optional<std::uint32_t> reached;     ///< the first epoch whose mean over folds is at least 95 %
  std::optional<double> spread, agreement;  ///< likewise, where tests have several draws
  std::map<std::string, Curve> curves;      ///< of the accuracy, as far as every fold has come
  std::map<std::string, Printed> paper;
  /// What was released of a score other than accuracies; null: nothing.
  [[nodiscard]] const Printed* released(const std::string& score) const;
  std::map<std::string, Curve> paper_curves;  ///< also "deviation"

  [[nodiscard]] bool complete() const { return folds_done == folds_run; }
};

struct DataSource {
  std::string name;
  std::filesystem::path path;
  std::string format;
  std::string hash;
  std::uint64_t graphs = 0;
  bool clean = false;
};

struct Experiment {
  std::string name;
  std::string title;
  std::string about;
  std::string paper;
  std::string profile;
  std::string version;
  std::vector<std::string> show;
  DataSource data;
  std::vector<ResultRow> rows;

  /// What its table shows: "accuracy", or of real targets "mae" and "r2".
  [[nodiscard]] std::vector<std::string> scores() const;
  /// Whether some row has an error that others released.
  [[nodiscard]] bool released() const;
};

struct Results {
  std::filesystem::path folder;
  std::vector<Experiment> experiments;  ///< in the paper's order
  std::vector<Json> log;                ///< calls of reproduce, oldest first
};

/// Throws InputError where the folder holds no results, or a record is damaged.
[[nodiscard]] Results load_results(const std::filesystem::path& folder);

/// A row beside the paper, at the same epoch: where a row has trained as long as the paper, its end beside the paper's
/// table; where it has trained less (a quick profile, a run under way), its last epoch beside the paper's curve there.
///
///   const Beside beside = beside_paper(row, "all");
///   if (beside.comparison) ...                       // +2.08 points at epoch 170, ±5.00 counts as the same

/// Ours less theirs, in percentage points.
struct Comparison {
  double difference = 0;
  double range = 0;  ///< how much counts as the same
  [[nodiscard]] bool within() const { return difference <= range + 1e-9 && difference >= -range - 1e-9; }
};

/// At the paper's end. The range is the paper's deviation, and one point at least: printed means of a thousand test
/// graphs in one draw move by that much between seeds.
[[nodiscard]] Comparison compare(const Accuracy& ours, const Printed& paper);

/// What the paper has at the epoch that a row has come to.
struct Beside {
  /// Where the row is short of the paper's end: the epoch it has come to; 0 at the paper's end.
  std::uint32_t epoch = 0;
  /// What the paper printed for that epoch; nothing where it printed nothing.
  std::optional<Printed> paper;
  /// Both, compared; nothing where either is missing.
  std::optional<Comparison> comparison;
};

/// Short of the end the paper prints means alone (but for one deviation), and a row has few folds. The range is then
/// twice the standard error of our mean, or the paper's deviation at that epoch, and one point at least. The standard
/// error is that of the folds' deviation or that of so many test graphs with the paper's accuracy, whichever is more.
[[nodiscard]] Beside beside_paper(const ResultRow& row, const std::string& subset);

/// "yes" within the range, else "no"; short of the paper's end "ahead" or "behind". "–" where nothing is compared.
[[nodiscard]] std::string verdict(const Beside& beside);

/// The paper's side: "98.00 ± 1.85", "95.42 ± 2.37 at epoch 170", "none at epoch 170 (50.00 after 500)", or "–" where
/// the paper has no such row.
[[nodiscard]] std::string papers_side(const ResultRow& row, const std::string& subset);

}  // namespace tyche::report
