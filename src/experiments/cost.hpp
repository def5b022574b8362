#pragma once
/// What a trial costs here, from a short timing: a batch of graphs like the experiment's, trained for a few epochs and
/// scaled to the graphs and epochs asked for. Processor time is what is measured, so that other work on the machine
/// does not look like cost; an engine that trains in lockstep is timed by the clock, ten folds at once.
///
///   CostModel cost("auto", 2);
///   cost.fold_seconds(experiment.data, row.config)         // one of many folds, on two threads
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "datasets/dataset.hpp"
#include "datasets/folds.hpp"
#include "engine/engine.hpp"
#include "experiments/experiment.hpp"

namespace tyche::experiments {

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

}  // namespace tyche::experiments
