#pragma once
/// Commands that look into one trained model: RUN, --fold, --checkpoint, --data, --format, --clean (@trained of
/// share/commands.txt).
#include <cstdint>

#include "cli/cli.hpp"
#include "train/checkpoint.hpp"
#include "train/predict.hpp"

namespace tyche::cli {

struct Trained {
  train::Checkpoint model;
  datasets::Dataset dataset;
};
/// The model, and what --data names, else what it was trained on; says which types it has not seen. Of a run of
/// several folds it is that of --fold, else of the fold which tested `graph` of the run's own graphs, else the first;
/// says so.
[[nodiscard]] Trained open_trained(const Call& call, std::optional<std::uint32_t> graph = {});
/// --draws, --seed and --threads.
[[nodiscard]] train::LookOptions look_of(const Call& call, std::uint32_t draws);

}  // namespace tyche::cli
