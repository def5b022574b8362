#pragma once
/// What a folder of `train` holds, read for a report: every metric of every fold, epoch by epoch, whatever the metrics
/// are called. Works while the run is under way.
///
///   const TrainingResults results = load_training("runs/mine");
///   results.metrics[0].name                             // "train_loss"
///   results.metrics[0].folds[3][10]                     // of the fourth fold in the eleventh epoch
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "train/config.hpp"

namespace tyche::report {

/// How the last values of folds spread: the deviation is the population's, as NumPy's std.
struct Spread {
  double mean = 0;
  double deviation = 0;
  std::size_t folds = 0;
};

/// One metric. Values that are no numbers (training diverged) are left out.
struct MetricCurves {
  std::string name;
  std::vector<std::uint32_t> epochs;                      ///< in which some fold has a value
  std::vector<std::vector<std::optional<double>>> folds;  ///< by fold and place in `epochs`
  /// Over all folds that have begun; nothing in epochs that not all of them have.
  std::vector<std::optional<double>> mean, deviation;
  std::vector<std::optional<double>> last;  ///< by fold
  std::optional<Spread> over_folds;         ///< of `last`
  /// Accuracies are shares that people read as percent.
  [[nodiscard]] bool percent() const { return name.find("accuracy") != std::string::npos; }
};

struct TrainedFold {
  std::uint32_t fold = 0;
  std::uint32_t epochs = 0;
  bool done = false;  ///< has all its epochs, or was stopped early
  double seconds = 0;
  /// What summary.json says of the fold on top (an epoch that was chosen, say), by name.
  nlohmann::ordered_json more = nlohmann::ordered_json::object();
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

  /// "10 folds × 500 epochs", or how far it is.
  [[nodiscard]] std::string how_far() const;
};

/// Throws InputError where the folder holds no run of train, or a record is damaged.
[[nodiscard]] TrainingResults load_training(const std::filesystem::path& folder);

/// "98.20 ± 1.10" in percent for accuracies, else four digits: "0.6931 ± 0.0002". One fold has no deviation.
[[nodiscard]] std::string in_words(const MetricCurves& metric);
/// A single value, likewise; "–" where there is none.
[[nodiscard]] std::string in_words(const MetricCurves& metric, const std::optional<double>& value);
/// "test accuracy, %"
[[nodiscard]] std::string title(const MetricCurves& metric);

}  // namespace tyche::report
