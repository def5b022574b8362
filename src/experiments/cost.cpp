#include "experiments/cost.hpp"

#include <time.h>

#include <algorithm>
#include <chrono>
#include <limits>

#include "datasets/generate.hpp"
#include "experiments/plan.hpp"
#include "support/parallel.hpp"
#include "train/data.hpp"
#include "train/fields.hpp"

namespace tyche::experiments {

namespace {

double processor_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// The least processor time of an epoch: the first warms caches and tables up.
struct Stopwatch : engine::Observer {
  double last = 0;
  double least = std::numeric_limits<double>::infinity();
  bool on_begin(std::size_t) override {
    last = processor_seconds();
    return true;
  }
  bool on_epoch(std::size_t, const engine::EpochResult&, const engine::State&) override {
    const double now = processor_seconds();
    least = std::min(least, now - last);
    last = now;
    return true;
  }
};

struct Nobody : engine::Observer {
  bool on_epoch(std::size_t, const engine::EpochResult&, const engine::State&) override { return true; }
};

void train(engine::Engine& engine, const train::TrainingData& data, const train::RunConfig& config,
           std::uint32_t graphs, std::uint32_t epochs, std::uint32_t trials, engine::Observer& observer) {
  engine::Job job = data.job(config);
  job.data.graphs = job.data.graphs.first(graphs);
  const Units units(job.data.graphs, config.model.unit);
  if (job.data.units != nullptr) job.data.units = &units;
  job.data.targets = job.data.targets.subspan(0, units.size());
  job.data.features = job.data.features.first(graphs);
  if (job.model.edge_features > 0) job.data.edge_features = job.data.edge_features.first(graphs);
  job.epochs = epochs;
  job.schedule = {};
  job.eval_every = epochs + 1;
  std::vector<engine::Trial> group(trials);
  for (std::uint32_t t = 0; t < trials; ++t) {
    group[t].fold = t;
    group[t].learning_rate = config.training.learning_rate;
    for (std::uint32_t unit = 0; unit < units.size(); ++unit) {
      if (!data.learned.missing(unit, train::learns_numbers(config))) group[t].train.push_back(unit);
    }
    group[t].test = {0};
    group[t].state = engine::fresh_state(config.model, config.seed, t);
  }
  engine.train(job, group, observer);
}

}  // namespace

CostModel::CostModel(const std::string& engine, unsigned threads)
    : lockstep_(trains_in_lockstep(engine)),
      threads_(resolve_threads(threads)),
      engine_(engine::make_engine(engine, lockstep_ ? threads : 1)) {}

double CostModel::graph_seconds(const TimedData& from, const train::RunConfig& config) {
  const train::TrainingData data = train::prepare(from.dataset, config);
  const auto all = static_cast<std::uint32_t>(std::min<std::size_t>(20, from.dataset.set.graphs.size()));
  if (lockstep_) {
    constexpr std::uint32_t kTrials = 10, kEpochs = 5;
    Nobody nobody;
    const auto clock = [&](std::uint32_t epochs) {
      const auto start = std::chrono::steady_clock::now();
      train(*engine_, data, config, all, epochs, kTrials, nobody);
      return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    };
    const double begun = clock(1);
    return std::max(1e-9, clock(kEpochs + 1) - begun) / kEpochs / kTrials / all;
  }
  Stopwatch watch;
  // Two graphs tell enough of a model that takes long over them.
  constexpr double kLong = 0.1;
  const std::uint32_t two = std::min(2u, all);
  train(*engine_, data, config, two, 1, 1, watch);
  if (watch.least > kLong) return watch.least / two / threads_;
  watch = {};
  train(*engine_, data, config, all, 3, 1, watch);
  return watch.least / all / threads_;
}

const CostModel::TimedData& CostModel::sample(const DataSpec& data) {
  const auto [at, fresh] = samples_.try_emplace(data.name());
  TimedData& out = at->second;
  if (!fresh) return out;
  if (!data.generated) {
    std::optional<Format> format;
    if (!data.format.empty()) format = parse_format(data.format);
    Cleaning cleaning;
    out.dataset = datasets::load_dataset(data.path, format, data.clean ? &cleaning : nullptr);
    out.graphs = out.dataset.set.graphs.size();
    return out;
  }
  out.graphs = data.graphs();
  out.dataset = datasets::sample(data.recipe, 20);
  return out;
}

train::RunConfig CostModel::resolved(const DataSpec& spec, train::RunConfig config) {
  if (!spec.generated) config.folds.split = spec.split;  // of data made here there is a sample alone
  train::resolve(config, sample(spec).dataset, spec.name());
  return config;
}

double CostModel::epoch_seconds(const DataSpec& spec, const train::RunConfig& asked) {
  const TimedData& from = sample(spec);
  train::RunConfig config = resolved(spec, asked);
  const Parts parts = parts_of(spec, config, asked);
  if (config.folds.split.empty()) {
    config.folds.count = std::min<std::uint32_t>(config.folds.count, 2);  // a sample may be smaller than the folds
  }
  std::string shape = spec.name();
  for (const train::Field& field : train::fields()) {
    if (field.key.starts_with("model.") || field.key == "training.batch") shape += field.value(config).dump() + " ";
  }
  const auto [at, fresh] = per_graph_.try_emplace(shape, 0);
  if (fresh) at->second = graph_seconds(from, config);
  const double evaluated = (asked.selection.test == "epochs" ? parts.test : 0) +
                           (asked.selection.on() || asked.selection.early_stopping ? parts.validation : 0);
  // A forward pass is a third of a training step.
  return at->second * (parts.train + evaluated * asked.training.eval_draws / (3.0 * asked.training.eval_every));
}

CostModel::Parts CostModel::parts_of(const DataSpec& spec, const train::RunConfig& config,
                                     const train::RunConfig& asked) {
  const TimedData& from = sample(spec);
  if (config.folds.split.empty()) {
    const auto graphs = static_cast<double>(from.graphs);
    if (asked.folds.count == 1) return {graphs, 0, graphs};
    const double test = graphs / asked.folds.count, aside = (graphs - test) * asked.folds.validation;
    return {graphs - test - aside, aside, test};
  }
  Parts parts;
  const Units units(from.dataset.set.graphs, config.model.unit);
  const std::vector<datasets::Fold> folds = train::said_folds(from.dataset.set, config);
  for (const datasets::Fold& fold : folds) {
    const auto share = [&](const auto& part) {
      return static_cast<double>(units.graphs_of(part).size()) / static_cast<double>(folds.size());
    };
    parts.train += share(fold.train);
    parts.validation += share(fold.validation);
    parts.test += share(fold.test);
  }
  return parts;
}

std::uint32_t CostModel::folds(const Experiment& experiment, const ExperimentRow& row) {
  if (experiment.data.generated) return row.folds_run;
  const train::RunConfig config = resolved(experiment.data, row.config);
  return config.folds.split.empty() ? row.folds_run : config.folds.count;
}

CostModel::Cost CostModel::winners(const Experiment& experiment) {
  Cost cost;
  if (!experiment.nested) return cost;
  std::map<std::string, double> dearest;  // a model's, over its folds
  for (const ExperimentRow& row : experiment.rows) {
    const auto [at, fresh] = dearest.try_emplace(row.model, 0);
    if (fresh) cost.trials += std::size_t{experiment.repeats} * folds(experiment, row);
    at->second = std::max(at->second, folds(experiment, row) * fold_seconds(experiment.data, row.config));
  }
  for (const auto& model : dearest) cost.seconds += experiment.repeats * model.second;
  return cost;
}

}  // namespace tyche::experiments
