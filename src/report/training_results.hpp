#pragma once
/// What a folder of `train` holds, read for a report. Works while the run is under way.
///
///   const TrainingResults results = load_training("runs/mine");
///   results.metrics[0].name                             // "train_loss"
///   results.metrics[0].folds[3][10]                     // of the fourth fold in the eleventh epoch
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "report/measured.hpp"

namespace tyche::report {

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
