#pragma once
/// Trains what a plan asks for and is not there yet, in one process or on many ranks.
///
///   Ranks ranks;
///   const Outcome outcome = run_plan(plan, ranks, {.threads = 2, .progress = stderr});
///
/// The records of a trial do not depend on who trains it or beside what: any number of threads and ranks gives the same
/// bytes (times aside).
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "datasets/dataset.hpp"
#include "engine/engine.hpp"
#include "experiments/plan.hpp"
#include "support/progress.hpp"
#include "support/ranks.hpp"

namespace tyche::experiments {

/// What reproduce shows while it works: one line with the whole and the group under way, each with the time left; a
/// line for each group that is done.
///
///   Board board(stderr, total_cost);
///   board.begin("GCN-50%RNI", epochs, cost_per_epoch, epochs * cost_per_epoch);      // then train::Run adds to it
///   board.end("98.8 %");

/// Costs are estimated seconds; the time left is what estimates leave, times how wrong they were so far. Thread-safe.
/// On a terminal the line is redrawn in place; elsewhere a plain line comes every ten seconds.
class Board : public Progress {
 public:
  /// `out` may be null: then nothing is shown.
  Board(std::FILE* out, double total_cost);

  /// A group starts: `epochs` over all its folds, each of `cost`; `planned` is what it had in the total (more where a
  /// run is resumed). Its epochs are counted by add().
  void begin(std::string label, std::uint64_t epochs, double cost, double planned);
  void add(std::uint64_t count, const std::string& note = {}) override;
  /// The group is done; `line` stays on the screen.
  void end(const std::string& line);

 private:
  [[nodiscard]] std::string line(Clock::time_point now) const override;

  double total_cost_;
  double done_cost_ = 0;
  double cost_ = 0;  ///< of an epoch of the group under way, whose label, epochs and note are the base's
  Clock::time_point group_start_;
};

/// What a trial costs here, from a short timing: a batch of graphs like the experiment's, trained for a few epochs and
/// scaled to the graphs and epochs asked for. Processor time is what is measured, so that other work on the machine
/// does not look like cost; an engine that trains in lockstep is timed by the clock, ten folds at once.
///
///   CostModel cost("auto", 2);
///   cost.fold_seconds(experiment.data, row.config)         // one of many folds, on two threads
class CostModel {
 public:
  /// Throws InputError on an engine there is none of.
  CostModel(const std::string& engine, unsigned threads);

  /// Seconds that one epoch of one fold adds where enough folds run side by side, evaluation included. Each shape of
  /// model is timed once.
  [[nodiscard]] double epoch_seconds(const DataSpec& data, const train::RunConfig& config);
  /// All epochs.
  [[nodiscard]] double fold_seconds(const DataSpec& data, const train::RunConfig& config) {
    return config.training.epochs * epoch_seconds(data, config);
  }

  /// How many folds of a row are trained: as many as its data's split has, where there is one.
  [[nodiscard]] std::uint32_t folds(const Experiment& experiment, const ExperimentRow& row);

  struct Cost {
    std::size_t trials = 0;
    double seconds = 0;
  };
  /// What nested selection trains once its candidates are compared; the dearest are taken to win. Else nothing.
  [[nodiscard]] Cost winners(const Experiment& experiment);

 private:
  struct TimedData {
    datasets::Dataset dataset;
    std::uint64_t graphs = 0;  ///< of the whole data set
  };
  /// Graphs in each part of a fold, the mean over folds.
  struct Parts {
    double train = 0, validation = 0, test = 0;
  };
  const TimedData& sample(const DataSpec& data);
  /// With what follows from the data, or from the sample of it.
  train::RunConfig resolved(const DataSpec& data, train::RunConfig config);
  Parts parts_of(const DataSpec& data, const train::RunConfig& config, const train::RunConfig& asked);
  double graph_seconds(const TimedData& from, const train::RunConfig& config);

  bool lockstep_;
  unsigned threads_;
  std::unique_ptr<engine::Engine> engine_;
  std::map<std::string, TimedData> samples_;
  std::map<std::string, double> per_graph_;
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
Outcome run_plan(Plan& plan, const Ranks& ranks, const PlanOptions& options);

}  // namespace tyche::experiments
