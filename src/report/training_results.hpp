#pragma once
/// What a folder of `train` holds, read for a report: every metric of every fold, epoch by epoch, whatever the metrics
/// are called. Works while the run is under way.
///
///   const TrainingResults results = load_training("runs/mine");
///   results.metrics[0].name                             // "train_loss"
///   results.metrics[0].folds[3][10]                     // of the fourth fold in the eleventh epoch
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "support/statistics.hpp"
#include "train/config.hpp"

namespace tyche::report {

/// One metric. Values that are no numbers (training diverged) are left out.
struct MetricCurves {
  std::string name;
  std::vector<std::uint32_t> epochs;                      ///< in which some fold has a value
  std::vector<std::vector<std::optional<double>>> folds;  ///< by fold and place in `epochs`
  /// Over all folds that have begun; nothing in epochs that not all of them have.
  std::vector<std::optional<double>> mean, deviation;
  std::vector<std::optional<double>> reported;  ///< by fold: of the epoch that stands for it (train::reported_record)
  Spread over_folds;                            ///< of those that there are
};

struct TrainedFold {
  std::uint32_t fold = 0;
  std::uint32_t epochs = 0;
  bool done = false;                      ///< has all its epochs, or was stopped early
  std::optional<std::uint32_t> reported;  ///< the epoch whose values stand for the fold
  double seconds = 0;
};

struct TrainingResults {
  std::filesystem::path folder;
  train::RunConfig config;
  std::string command;  ///< that makes the run again, less --out
  std::uint32_t folds_asked = 0;
  std::vector<TrainedFold> folds;  ///< that have begun
  std::vector<MetricCurves> metrics;
  bool complete = false;
  std::uint64_t parameters = 0;
  double seconds = 0;              ///< of work, all folds
  std::vector<std::string> notes;  ///< what readers must know: no graphs held out, a configuration of earlier versions
  std::string of_epoch;            ///< which epoch the values are of: "the last epoch", "the epoch with the best …"

  /// "10 folds × 500 epochs", or how far it is.
  [[nodiscard]] std::string how_far() const;
};

/// Throws InputError where the folder holds no run of train, or a record is damaged.
[[nodiscard]] TrainingResults load_training(const std::filesystem::path& folder);

}  // namespace tyche::report
