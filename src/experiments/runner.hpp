#pragma once
/// Trains what a plan asks for and is not there yet, in one process or on many ranks.
///
///   Ranks ranks;
///   const Outcome outcome = run_plan(plan, ranks, {.threads = 2, .progress = stderr});
///
/// The records of a trial do not depend on who trains it or beside what: any number of threads and ranks gives the same
/// bytes (times aside).
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>

#include "experiments/plan.hpp"
#include "support/progress.hpp"
#include "support/ranks.hpp"

namespace tyche::experiments {

/// What reproduce shows while it works: one line with the whole and the group under way, each with the time left; a
/// line for each group that is done.
///
///   Board board(stderr, total_cost);
///   auto progress = board.begin("GCN-50%RNI", epochs, cost_per_epoch, epochs * cost_per_epoch);  // for train::Run
///   board.end("98.8 %");

/// Costs are estimated seconds; the time left is what estimates leave, times how wrong they were so far. Thread-safe.
/// On a terminal the line is redrawn in place; elsewhere a plain line comes every ten seconds.
class Board {
 public:
  /// `out` may be null: then nothing is shown.
  Board(std::FILE* out, double total_cost);
  ~Board();
  Board(const Board&) = delete;
  Board& operator=(const Board&) = delete;

  /// A group starts: `epochs` over all its folds, each of `cost`; `planned` is what it had in the total (more where a
  /// run is resumed). The Progress reports to this board and must not outlive it.
  [[nodiscard]] std::unique_ptr<Progress> begin(std::string label, std::uint64_t epochs, double cost, double planned);
  /// The group is done; `line` stays on the screen.
  void end(const std::string& line);

 private:
  class Epochs;
  using Clock = std::chrono::steady_clock;
  void add(std::uint64_t count, const std::string& note);
  void draw(Clock::time_point now);
  void clear();

  std::mutex mutex_;
  std::FILE* out_;
  bool terminal_;
  bool drawn_ = false;
  double total_;
  double done_ = 0;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_ = start_;

  // the group under way
  std::string label_;
  std::string note_;
  std::uint64_t epochs_ = 0;
  std::uint64_t epochs_done_ = 0;
  double cost_ = 0;
  Clock::time_point group_start_;
};

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
