#pragma once
/// The options of commands that look into one trained model: RUN, --fold, --checkpoint, --data, --format, --clean.
#include <cstdint>
#include <optional>
#include <string>

#include "cli/cli.hpp"
#include "train/checkpoint.hpp"

namespace tyche::cli {

struct TrainedModel {
  std::string run;  ///< a run folder, or a checkpoint's file
  std::string which, path, format;
  std::optional<std::uint32_t> fold;
  bool clean = false;

  void add(CLI::App& app);
  /// Of a run of several folds the first, unless --fold names one; says so.
  [[nodiscard]] train::Checkpoint checkpoint() const;
  /// Of a run that is asked about its own graphs: that of the fold which tested one, unless --fold names one.
  [[nodiscard]] train::Checkpoint tester_of(std::uint32_t graph) const;
  /// What --data names, else what the model was trained on; says which types it has not seen.
  [[nodiscard]] datasets::Dataset data(const train::Checkpoint& model) const;

 private:
  [[nodiscard]] train::Checkpoint read(std::optional<std::uint32_t> chosen) const;
};

}  // namespace tyche::cli
