#pragma once
/// Trains what a plan asks for and is not there yet, in one process or on many ranks.
///
///   Ranks ranks;
///   const Outcome outcome = run_plan(plan, ranks, {.threads = 2, .progress = stderr});
///
/// The records of a trial do not depend on who trains it or beside what: any number of threads and ranks gives the same
/// bytes (times aside).
#include <cstdio>
#include <filesystem>

#include "experiments/plan.hpp"
#include "support/ranks.hpp"

namespace tyche::experiments {

struct RunOptions {
  unsigned threads = 0;           ///< of this process
  bool resume = false;            ///< go on with trials that were begun
  std::filesystem::path cache{};  ///< where colour classes of models on sets are kept between runs; empty: nowhere
  std::FILE* progress = nullptr;
};

struct Outcome {
  std::size_t trials = 0;    ///< of the plan
  std::size_t complete = 0;  ///< of them, now
  std::size_t trained = 0;   ///< in this call, some of their epochs at least
};

/// Whether a trial's folder holds all its epochs (its summary says so).
[[nodiscard]] bool is_complete(const PlannedTrial& trial);

/// Returns early, with complete < trials, where interrupted(). Throws InputError where trials were begun, did not end
/// and `resume` is not set.
Outcome run_plan(Plan& plan, const Ranks& ranks, const RunOptions& options);

}  // namespace tyche::experiments
