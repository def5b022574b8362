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
  struct Opened {
    train::Checkpoint model;
    datasets::Dataset dataset;
  };
  /// The model, and what --data names, else what it was trained on; says which types it has not seen. Of a run of
  /// several folds it is that of --fold, else of the fold which tested `graph` of the run's own graphs, else the first;
  /// says so.
  [[nodiscard]] Opened open(std::optional<std::uint32_t> graph = {}) const;
};

}  // namespace tyche::cli
