#pragma once
/// What folders of results hold, read for a report, also while trials are under way: runs of train, of distinguish, and
/// the experiments of reproduce with the run folders that make their rows; every metric of every fold, epoch by epoch,
/// whatever the metrics are called.
///
///   const TrainingResults run = load_training("runs/mine");
///   run.find("test_mae")->over_folds.mean
///   run.metrics[0].folds[3][10]                        // of the fourth fold in the eleventh epoch
///   const Results results = load_results("out");
///   results.experiments[0].rows[0].accuracy            // mean and deviation over folds, percent
#include "distinguish/call.hpp"
#include "experiments/records.hpp"
#include "train/run.hpp"

namespace tyche::report {

/// Keys stay in the order in which they were put.
using Json = nlohmann::ordered_json;

/// One metric. Values that are no numbers (training diverged) are left out.
struct MetricCurves {
  std::string name;
  std::vector<std::uint32_t> epochs;                      ///< in which some trial has a value
  std::vector<std::vector<std::optional<double>>> folds;  ///< by trial and place in `epochs`
  /// Over the trials that have it, in epochs that all trials that have begun have come to; nothing in others.
  std::vector<std::optional<double>> mean, deviation;
  std::vector<std::optional<double>> reported;  ///< by fold: of the epoch that stands for it (train::reported_record)
  Spread over_folds;                            ///< of those that there are
};

/// What trials of one configuration measured.
struct Measured {
  train::RunConfig config;
  std::uint64_t parameters = 0;
  std::vector<train::FoldSummary> folds;  ///< trials that have begun
  std::vector<MetricCurves> metrics;
  double seconds = 0;  ///< of work, all trials

  /// `repeats`: so many trials in a row are of one fold, whose value is their mean, once all are there.
  void measure(std::vector<train::StoredFold> trials, std::size_t repeats = 1);
  /// Null where it was not measured.
  [[nodiscard]] const MetricCurves* find(std::string_view metric) const;
  /// The metric that a score ("accuracy") is reported as: "test_accuracy"; one fold of all graphs has scores of
  /// training graphs alone, "train_accuracy". Null where it was not measured.
  [[nodiscard]] const MetricCurves* reported(std::string_view score) const;
};
[[nodiscard]] std::string reported_metric(const train::RunConfig& config, std::string_view score);

/// Of which epoch the values are that stand for a fold: "the last epoch", "the epoch with the best validation loss".
[[nodiscard]] std::string of_epoch(const train::RunConfig& config);

/// What a folder of `train` holds.
struct TrainingResults : Measured {
  std::filesystem::path folder;
  std::string command;  ///< that makes the run again, less --out
  std::uint32_t folds_asked = 0;
  bool complete = false;
  train::Notes notes;  ///< what readers must know: no graphs held out, a configuration of earlier versions

  /// "10 folds × 500 epochs", or how far it is.
  [[nodiscard]] std::string how_far() const;
};

/// Throws InputError where the folder holds no run of train, or a record is damaged.
[[nodiscard]] TrainingResults load_training(const std::filesystem::path& folder);

/// In percent; or of another score, in its unit.
using experiments::Curve, experiments::Printed;

/// Subsets are "all", "EXP" and "CORRUPT".
struct ResultRow : Measured {
  std::string name;
  /// Train this row alone, less --out: one, or, where nested selection chose differently, one per fold. None while a
  /// choice is still to come.
  std::vector<std::string> commands;
  std::uint32_t folds_run = 0;    ///< asked for
  std::size_t folds_done = 0;     ///< have all their epochs
  std::uint32_t epochs_done = 0;  ///< that every fold has
  std::string engine;
  /// Of labels, by subset; `fold_accuracy` of all graphs.
  std::vector<double> fold_accuracy;
  std::map<std::string, Spread> accuracy;
  std::optional<std::uint32_t> reached;     ///< the first epoch whose mean over folds is at least 95 %
  std::optional<double> spread, agreement;  ///< likewise, where tests have several draws
  std::map<std::string, Curve> curves;      ///< of the accuracy, as far as every fold has come
  std::map<std::string, Printed> paper;
  /// What was released of a score other than accuracies; null: nothing.
  [[nodiscard]] const Printed* released(const std::string& score) const;
  std::map<std::string, Curve> paper_curves;  ///< also "deviation"

  [[nodiscard]] bool complete() const { return folds_done == folds_run; }
  /// "10 × 500", folds and epochs, or how far the row is.
  [[nodiscard]] std::string how_far() const;
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
[[nodiscard]] Comparison compare(const Spread& ours, const Printed& paper);

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

/// What a folder of `distinguish` holds, counted for a report: told apart per category and seed, beside what refinement
/// says and, where the pairs are BREC's 400, beside the totals that others have published.
///
///   const DistinguishResults results = load_distinguish("runs/colours");
///   results.rows.back().told                            // pairs of all categories told apart, one number per seed
struct DistinguishResults {
  std::filesystem::path folder;
  distinguish::StoredRun run;
  std::vector<std::uint64_t> seeds;
  /// One per category where there are any, "Regular, as published" for BREC, "all"; of the seeds that have begun, and
  /// of one at least, so that there is something to count.
  std::vector<distinguish::CategoryRow> rows;
  std::vector<std::vector<std::optional<distinguish::PairResult>>> of_pair;  ///< by pair and seed, as far as there
  bool brec = false;                                                         ///< all 400 pairs, and no others
  Json published = Json::array();  ///< [{model, total, random, note}], the best first; empty unless brec

  [[nodiscard]] std::size_t pairs() const { return run.pairs.size(); }
  [[nodiscard]] std::size_t asked() const { return pairs() * seeds.size(); }
  [[nodiscard]] std::size_t done() const { return run.results.size(); }
  [[nodiscard]] const distinguish::CategoryRow& all() const { return rows.back(); }
  /// Pairs that failed in some seed or whose control did, then those with missing results, then the others; each part
  /// in order.
  [[nodiscard]] std::vector<std::size_t> failures_first() const;
};

/// Throws InputError where the folder holds no run of distinguish, or a record is damaged.
[[nodiscard]] DistinguishResults load_distinguish(const std::filesystem::path& folder);

}  // namespace tyche::report
