#pragma once
/// What trials have measured, read from their run folders: every metric of every fold, epoch by epoch, whatever the
/// metrics are called. A run of `train` and a row of `reproduce` are read by it alike, and while they are under way.
///
///   const Measured run = measure({{"runs/mine", 0, config}, {"runs/mine", 1, config}});
///   run.find("test_mae")->over_folds.mean
#include <cstdint>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/statistics.hpp"
#include "train/config.hpp"

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
  std::vector<std::optional<double>> reported;  ///< by fold: of the epoch that stands for it (FoldSummary::reported)
  Spread over_folds;                            ///< of those that there are
};

struct TrainedFold {
  std::uint32_t fold = 0;
  std::uint32_t epochs = 0;
  bool done = false;                      ///< has all its epochs, or was stopped early
  std::optional<std::uint32_t> reported;  ///< the epoch whose values stand for the fold
  double seconds = 0;
};

struct Measured {
  std::vector<TrainedFold> folds;  ///< trials that have begun
  std::vector<MetricCurves> metrics;
  double seconds = 0;  ///< of work, all trials

  /// Null where it was not measured.
  [[nodiscard]] const MetricCurves* find(std::string_view metric) const;
};

/// A trial: a fold of a run folder, with what it was to be.
struct TrialPlace {
  std::filesystem::path run;
  std::uint32_t fold = 0;
  train::RunConfig config;
  std::size_t most = std::numeric_limits<std::size_t>::max();  ///< epochs to look at
};

/// `repeats`: so many trials in a row are of one fold, whose value is their mean, once all are there. Throws InputError
/// where a record is damaged.
[[nodiscard]] Measured measure(const std::vector<TrialPlace>& trials, std::size_t repeats = 1);

/// What a run calls a score that it reports: "test_accuracy"; one fold of all graphs has scores of training graphs
/// alone, "train_accuracy".
[[nodiscard]] std::string reported_metric(const train::RunConfig& config, std::string_view score);

/// Of which epoch the values are that stand for a fold: "the last epoch", "the epoch with the best validation loss".
[[nodiscard]] std::string of_epoch(const train::RunConfig& config);

/// What a folder of `train` holds, read for a report. Works while the run is under way.
///
///   const TrainingResults results = load_training("runs/mine");
///   results.metrics[0].name                             // "train_loss"
///   results.metrics[0].folds[3][10]                     // of the fourth fold in the eleventh epoch
struct TrainingResults : Measured {
  std::filesystem::path folder;
  train::RunConfig config;
  std::string command;  ///< that makes the run again, less --out
  std::uint32_t folds_asked = 0;
  bool complete = false;
  std::uint64_t parameters = 0;
  std::vector<std::string> notes;  ///< what readers must know: no graphs held out, a configuration of earlier versions
  std::string of_epoch;            ///< which epoch the values are of: "the last epoch", "the epoch with the best …"

  /// "10 folds × 500 epochs", or how far it is.
  [[nodiscard]] std::string how_far() const;
};

/// Throws InputError where the folder holds no run of train, or a record is damaged.
[[nodiscard]] TrainingResults load_training(const std::filesystem::path& folder);

}  // namespace tyche::report
