#include "experiments/cost.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "graph/encoding.hpp"
#include "train/data.hpp"

namespace tyche::experiments {

namespace {

/// Keeps the seconds of the last epoch: the first warms caches and tables up.
struct Stopwatch : engine::Observer {
  double seconds = 0;
  bool on_epoch(std::size_t, const engine::EpochResult& result, const engine::State&) override {
    seconds = result.seconds;
    return true;
  }
};

double time_epoch(engine::Engine& engine, const train::TrainingData& data, const train::RunConfig& config,
                  std::uint32_t graphs, std::uint32_t epochs) {
  engine::Job job = data.job(config);
  job.data = {job.data.graphs.first(graphs), job.data.labels.first(graphs), job.data.features.first(graphs)};
  job.epochs = epochs;
  job.eval_every = epochs + 1;
  engine::Trial trial;
  trial.learning_rate = config.training.learning_rate;
  trial.train.resize(graphs);
  std::iota(trial.train.begin(), trial.train.end(), 0u);
  trial.test = {0};
  trial.state = engine::fresh_state(config.model, config.seed, 0);
  Stopwatch watch;
  engine.train(job, {&trial, 1}, watch);
  return watch.seconds / graphs;
}

}  // namespace

CostModel::CostModel(const std::string& engine) : engine_(engine::make_engine(engine, 1)) {}

const CostModel::Sample& CostModel::sample(const DataSpec& data) {
  const auto [at, fresh] = samples_.try_emplace(data.name());
  Sample& out = at->second;
  if (!fresh) return out;
  constexpr std::uint64_t kPairs = 10;
  if (!data.generated) {
    std::optional<Format> format;
    if (!data.format.empty()) format = parse_format(data.format);
    out.dataset = datasets::load_dataset(data.path, format);
    out.graphs = out.dataset.set.graphs.size();
    return out;
  }
  out.graphs = data.graphs();
  for (std::uint64_t i = 0; i < std::min(kPairs, data.parameters.pairs); ++i) {
    const datasets::ExpPair pair = datasets::make_pair(data.parameters, i);
    for (const int label : {1, 0}) {
      out.dataset.set.graphs.push_back(encode(label == 1 ? pair.sat : pair.unsat));
      out.dataset.set.labels.push_back(label);
      out.dataset.pair.push_back(static_cast<std::uint32_t>(i));
      out.dataset.subset.push_back(pair.subset);
    }
  }
  return out;
}

double CostModel::epoch_seconds(const DataSpec& spec, const train::RunConfig& asked) {
  const Sample& from = sample(spec);
  train::RunConfig config = asked;
  train::resolve(config, from.dataset, spec.name());
  config.folds.count = std::min<std::uint32_t>(config.folds.count, 2);  // a sample may be smaller than the folds
  std::string shape = spec.name();
  for (const train::Field& field : train::fields_of(config)) {
    if (field.key.starts_with("model.") || field.key == "training.batch") shape += field.value.dump() + " ";
  }
  const auto [at, fresh] = per_graph_.try_emplace(shape, 0);
  if (fresh) {
    const train::TrainingData data = train::prepare(from.dataset, config);
    const auto all = static_cast<std::uint32_t>(std::min<std::size_t>(20, from.dataset.set.graphs.size()));
    // Two graphs tell enough of a model that takes long over them.
    constexpr double kLong = 0.05;
    double seconds = time_epoch(*engine_, data, config, std::min(2u, all), 1);
    if (seconds < kLong) seconds = time_epoch(*engine_, data, config, all, 2);
    at->second = seconds;
  }
  const auto graphs = static_cast<double>(from.graphs);
  const double test = graphs / asked.folds.count;
  const double train = (graphs - test) * (1 - asked.folds.validation);
  // A forward pass is a third of a training step.
  return at->second * (train + test * asked.training.eval_draws / (3.0 * asked.training.eval_every));
}

}  // namespace tyche::experiments
