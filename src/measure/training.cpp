#include "measure/training.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <mutex>

#include "engine/choice.hpp"
#include "engine/cpu/kernels.hpp"
#include "measure/samples.hpp"
#include "nn/networks.hpp"
#include "support/error.hpp"

namespace tyche::measure {

using engine::EpochResult;
using engine::Job;
using engine::Observer;
using engine::State;
using engine::Trial;

namespace {

using Clock = std::chrono::steady_clock;

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double peak_memory_mb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

// What the first trial's last epoch gave.
class LastEpoch : public Observer {
 public:
  bool on_epoch(std::size_t trial, const EpochResult& result, const State&) override {
    return on_passing_epoch(trial, result);
  }
  bool on_passing_epoch(std::size_t trial, const EpochResult& result) override {
    const std::scoped_lock lock(mutex_);
    if (trial == 0) last = result;
    return true;
  }

  EpochResult last;

 private:
  std::mutex mutex_;
};

BenchReport describe(const engine::Engine& engine, const Job& job, const Trial& trial, const BenchOptions& options) {
  BenchReport report;
  report.engine = engine.description(job);
  report.threads = options.threads;
  report.side_by_side = options.side_by_side;
  report.epochs = options.epochs;
  report.graphs = trial.train.size();
  report.parameters = nn::layout(job.model).learned();
  for (const std::uint32_t g : trial.train) {
    report.nodes += job.data.graphs[g].num_nodes();
    report.edges += job.data.graphs[g].num_edges();
  }
  const ProductCount products = count_products(job.model, report.nodes, report.graphs);
  report.nominal_gflop = products.nominal;
  report.executed_gflop = products.executed;
  return report;
}

// Epochs run many at a time on a GPU, all trials in lockstep: the whole call is timed, after one that is not.
BenchReport bench_gpu(engine::Engine& engine, Job job, const Trial& trial, std::vector<Trial> trials,
                      const BenchOptions& options) {
  LastEpoch seen;
  std::vector<Trial> warm_up = trials;
  job.epochs = 1;
  engine.train(job, warm_up, seen);
  job.epochs = options.epochs;
  const Clock::time_point start = Clock::now();
  engine.train(job, trials, seen);
  const double wall = std::chrono::duration<double>(Clock::now() - start).count();
  BenchReport report = describe(engine, job, trial, options);
  report.wall_seconds = wall;
  report.seconds_per_epoch = wall / options.epochs / options.side_by_side;
  report.seconds_per_epoch_min = report.seconds_per_epoch;
  report.peak_memory_mb = peak_memory_mb();
  report.last_loss = seen.last.train_loss;
  report.rows = seen.last.rows;
  report.rows_uncompressed = seen.last.full_rows;
  return report;
}

// Collects the times of all trials, and a measurement of the peak after every epoch of the first.
class Stopwatch : public Observer {
 public:
  bool on_epoch(std::size_t trial, const EpochResult& result, const State&) override {
    const double peak = trial == 0 ? measure_peak() : 0;
    const std::scoped_lock lock(mutex_);
    if (result.epoch == 1) return true;
    seconds.push_back(result.seconds);
    if (result.evaluated) evaluations.push_back(result.eval_seconds);
    if (trial == 0) {
      peaks.push_back(peak);
      last_loss = result.train_loss;
      rows = result.rows;
      rows_uncompressed = result.full_rows;
    }
    return true;
  }

  std::vector<double> seconds, evaluations, peaks;
  double last_loss = 0;
  std::uint64_t rows = 0, rows_uncompressed = 0;

 private:
  std::mutex mutex_;
};

}  // namespace

double measure_peak() {
  const engine::cpu::Kernels& kernels = engine::cpu::kernels_for("auto");
  double best = 0;
  for (int burst = 0; burst < 4; ++burst) {
    const Clock::time_point start = Clock::now();
    const double operations = kernels.burn(50000);
    best = std::max(best, operations / std::chrono::duration<double>(Clock::now() - start).count());
  }
  return best / 1e9;
}

ProductCount count_products(const nn::ModelConfig& model, std::uint64_t nodes, std::uint64_t graphs) {
  const auto rows = static_cast<double>(nodes), count = static_cast<double>(graphs);
  ProductCount out;
  if (nn::program(model).steps != nn::gcn_network(model).steps) return out;
  const auto conv = [&](double in, double outputs, double needed, bool sparse) {
    const double forward = 2 * 2 * in * outputs, inputs = 2 * 2 * needed * outputs;
    out.nominal += rows * 3 * forward;
    out.executed +=
        rows * forward + (sparse ? count : rows) * (sparse ? 2 * 2 * (in + needed) * outputs : forward + inputs);
  };
  const double width = model.width, fixed = model.deterministic_dims();
  if (fixed > 0) {
    conv(model.pre_inputs(), model.pre_hidden, 0, false);
    conv(model.pre_hidden, fixed, model.pre_hidden, false);
  }
  for (std::uint32_t l = 0; l < model.layers; ++l) {
    conv(width, width, l == 0 ? fixed : width, l + 1 == model.layers && model.readout == nn::Readout::max);
  }
  const double head = width * width + width * model.head_hidden + double{1} * model.head_hidden * model.classes;
  out.nominal += count * 3 * 2 * head;
  out.executed += count * 3 * 2 * head;
  out.nominal /= 1e9;
  out.executed /= 1e9;
  return out;
}

BenchReport bench_training(Job job, const Trial& trial, const BenchOptions& options) {
  if (options.side_by_side == 0 || options.epochs == 0) throw InputError("bench: nothing to run");
  const auto engine = engine::make_engine(options.engine, options.threads);
  std::vector<Trial> trials;
  for (std::uint32_t i = 0; i < options.side_by_side; ++i) {
    trials.push_back(trial);
    trials.back().fold += i;
    trials.back().state = engine::fresh_state(job.model, trial.seed, trials.back().fold);
  }
  if (engine::EngineChoice(options.engine).on_gpu()) {
    return bench_gpu(*engine, job, trial, std::move(trials), options);
  }
  job.epochs = options.epochs + 1;
  Stopwatch watch;
  engine->train(job, trials, watch);

  BenchReport report = describe(*engine, job, trial, options);
  const double at_once = std::min(options.side_by_side, options.threads);
  report.seconds_per_epoch = median(watch.seconds) / at_once;
  report.seconds_per_epoch_min = *std::ranges::min_element(watch.seconds) / at_once;
  report.eval_seconds = median(watch.evaluations) / at_once;
  report.peak_gflops = median(watch.peaks);
  report.floor_fraction = report.executed_gflop / (report.peak_gflops * options.threads) / report.seconds_per_epoch;
  report.floor_fraction_best =
      report.executed_gflop / (*std::ranges::max_element(watch.peaks) * options.threads) / report.seconds_per_epoch_min;
  report.peak_memory_mb = peak_memory_mb();
  report.last_loss = watch.last_loss;
  report.rows = watch.rows;
  report.rows_uncompressed = watch.rows_uncompressed;
  return report;
}

std::vector<ScalingRow> bench_scaling(const nn::ModelConfig& model, const std::string& engine, unsigned threads,
                                      std::uint64_t largest) {
  std::vector<ScalingRow> rows;
  const auto measure = [&](const std::string& kind, const std::vector<Graph>& graphs) {
    const std::vector<std::uint32_t> labels(graphs.size(), 0);
    std::vector<std::vector<float>> features;
    for (const Graph& graph : graphs) {
      features.emplace_back(std::size_t{graph.num_nodes()} * model.input_features, 1.0f);
    }
    engine::Job job;
    job.data = {graphs, labels, features};
    job.model = model;
    engine::Trial trial;
    for (std::uint32_t g = 0; g < graphs.size(); ++g) trial.train.push_back(g);
    BenchOptions options;
    options.engine = engine;
    options.threads = threads;
    options.epochs = graphs.front().num_nodes() > 300000 ? 1 : 3;
    const BenchReport report = bench_training(job, trial, options);
    rows.push_back({kind, report.nodes, report.edges, report.seconds_per_epoch_min,
                    1e9 * report.seconds_per_epoch_min / static_cast<double>(report.nodes), report.peak_memory_mb});
  };
  for (std::uint64_t nodes = 1000; nodes <= std::min<std::uint64_t>(largest, 100000); nodes *= 10) {
    measure("small graphs", synthetic_exp(nodes / 49 + 1, 1).graphs);
  }
  for (const std::uint64_t edges : {100000ull, 500000ull, 2500000ull}) {
    if (largest >= 100000) measure("more edges", {random_sparse_graph(100000, edges, 1)});
  }
  for (std::uint64_t nodes = 1000; nodes <= largest; nodes *= 10) {
    measure("one graph", {random_sparse_graph(static_cast<Node>(nodes), 5 * nodes, 1)});
  }
  return rows;
}

}  // namespace tyche::measure
