#pragma once
/// What a trial costs here, from a short timing: a batch or so of graphs like the experiment's, trained for an epoch or
/// two on one thread, scaled to the graphs and epochs asked for.
///
///   CostModel cost("auto");
///   cost.fold_seconds(experiment.data, row.config)         // one fold, one thread
#include <cstdint>
#include <map>
#include <string>

#include "datasets/dataset.hpp"
#include "engine/engine.hpp"
#include "experiments/experiment.hpp"

namespace tyche::experiments {

class CostModel {
 public:
  /// Throws InputError on an engine there is none of.
  explicit CostModel(const std::string& engine);

  /// Seconds one epoch of one fold takes on one thread, evaluation included. Each shape of model is timed once.
  [[nodiscard]] double epoch_seconds(const DataSpec& data, const train::RunConfig& config);
  /// All epochs.
  [[nodiscard]] double fold_seconds(const DataSpec& data, const train::RunConfig& config) {
    return config.training.epochs * epoch_seconds(data, config);
  }

 private:
  struct Sample {
    datasets::Dataset dataset;
    std::uint64_t graphs = 0;  ///< of the whole data set
  };
  const Sample& sample(const DataSpec& data);

  std::unique_ptr<engine::Engine> engine_;
  std::map<std::string, Sample> samples_;
  std::map<std::string, double> per_graph_;
};

}  // namespace tyche::experiments
