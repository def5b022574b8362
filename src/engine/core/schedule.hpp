#pragma once
/// The learning rate of an epoch, in the one place where it is computed: engines ask for it and hand the number on.
///
///   const double rate = learning_rate(job, trial, epoch);
///
/// Warm-up: epoch e of the first E has e/E of the rate. Cosine: of the T epochs behind them, number i (from 0) has
/// (1 + cos(π i / T)) / 2 of it. Plateau: whatever Trial::state says; Loop keeps it up to date, so the epochs of such a
/// trial run one by one.
#include "engine/core/job.hpp"

namespace tyche::engine {

/// epoch: 1 is the first.
[[nodiscard]] double learning_rate(const Job& job, const Trial& trial, std::uint32_t epoch);

/// Whether the rate of an epoch waits for what the epoch before gave.
[[nodiscard]] inline bool follows_losses(const Job& job) { return job.schedule.kind == ScheduleKind::plateau; }

/// What an epoch gave goes to the trial's plateau (where the schedule has one): the validation loss where the trial
/// has a validation part, else the training loss. Epochs of the warm-up do not count, nor those not evaluated.
void follow(const Job& job, Trial& trial, const EpochResult& result);

/// Throws InputError on a value that makes no sense, naming it.
void validate(const Optimiser& optimiser, const Schedule& schedule, std::uint32_t epochs);

}  // namespace tyche::engine
