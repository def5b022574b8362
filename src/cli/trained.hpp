#pragma once
/// Commands that look into one trained model: RUN, --fold, --checkpoint, --data, --format, --clean (@trained of
/// share/commands.txt).
#include <cstdint>

#include "cli/cli.hpp"
#include "train/checkpoint.hpp"
#include "train/look.hpp"

namespace tyche::cli {

/// Of a run of several folds the first, unless --fold names one; says so.
[[nodiscard]] train::Checkpoint trained_model(const Call& call);
/// Of a run that is asked about its own graphs: that of the fold which tested one, unless --fold names one.
[[nodiscard]] train::Checkpoint tester_of(const Call& call, std::uint32_t graph);
/// What --data names, else what the model was trained on; says which types it has not seen.
[[nodiscard]] datasets::Dataset data_for(const Call& call, const train::Checkpoint& model);
/// --draws, --seed and --threads.
[[nodiscard]] train::LookOptions look_of(const Call& call, std::uint32_t draws);

}  // namespace tyche::cli
