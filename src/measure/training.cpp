#include "measure/training.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <mutex>

#include "datasets/exp.hpp"
#include "engine/choice.hpp"
#include "engine/core/inputs.hpp"
#include "engine/cpu/kernels.hpp"
#include "engine/sets/set_data.hpp"
#include "graph/encoding.hpp"
#include "nn/levels.hpp"
#include "nn/networks.hpp"
#include "support/error.hpp"
#include "support/progress.hpp"
#include "support/random.hpp"

namespace tyche::measure {

namespace {

void add(Sample& sample, Graph graph, std::uint32_t label) {
  auto& block = sample.features.emplace_back();
  for (const NodeType type : graph.types()) {
    block.push_back(type == 0 ? 1.0f : 0.0f);
    block.push_back(type == 1 ? 1.0f : 0.0f);
  }
  sample.graphs.push_back(std::move(graph));
  sample.labels.push_back(label);
}

}  // namespace

Graph random_sparse_graph(Node nodes, std::uint64_t edges, std::uint64_t seed, std::uint32_t index) {
  const std::uint64_t pairs = std::uint64_t{nodes} * (nodes == 0 ? 0 : nodes - 1) / 2;
  if (edges > pairs / 2) {
    throw InputError(
        fmt::format("a sparse graph of {} nodes has at most {} edges, {} were asked for", nodes, pairs / 2, edges));
  }
  Stream stream(derive_key(seed, Purpose::graph_sample, index));
  std::vector<Edge> chosen;
  while (chosen.size() < edges) {
    for (std::uint64_t missing = edges - chosen.size(); missing > 0; --missing) {
      Node u = static_cast<Node>(stream.below(nodes)), v = static_cast<Node>(stream.below(nodes - 1));
      if (v >= u) ++v;
      chosen.emplace_back(std::min(u, v), std::max(u, v));
    }
    std::ranges::sort(chosen);
    chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  }
  return Graph::from_edges(nodes, chosen);
}

Sample synthetic_exp(std::size_t graphs, std::uint64_t seed) {
  Sample set;
  Stream stream(derive_key(seed, Purpose::graph_sample, 0, 1));
  for (std::size_t g = 0; g < graphs; ++g) {
    const Node nodes = 33 + static_cast<Node>(stream.below(33));
    set.graphs.push_back(random_sparse_graph(nodes, nodes * 6ull / 5, seed, static_cast<std::uint32_t>(g)));
    set.labels.push_back(static_cast<std::uint32_t>(g % 2));
    std::vector<float> block;
    for (Node v = 0; v < nodes; ++v) {
      const bool first = stream.coin();
      block.push_back(first ? 1.0f : 0.0f);
      block.push_back(first ? 0.0f : 1.0f);
    }
    set.features.push_back(std::move(block));
  }
  return set;
}

// A core over 2n variables has 8n nodes, a planar part about 19.
Sample exp_pairs(std::uint32_t nodes, std::uint32_t pairs) {
  datasets::ExpParameters parameters;
  parameters.pairs = pairs;
  parameters.core_min = parameters.core_max = std::max(2u, (nodes - std::min(nodes, 15u)) / 8);
  Sample out;
  for (std::uint32_t p = 0; p < pairs; ++p) {
    const datasets::ExpPair pair = datasets::make_pair(parameters, p);
    add(out, encode(pair.sat), 1);
    add(out, encode(pair.unsat), 0);
  }
  return out;
}

Sample random_graphs(std::uint32_t nodes, std::uint32_t graphs) {
  Sample out;
  for (std::uint32_t g = 0; g < graphs; ++g) add(out, random_sparse_graph(nodes, nodes * 6 / 5, 1, g), g % 2);
  return out;
}

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
  const ProductCount products = count_products(job, trial.train);
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

ProductCount count_products(const Job& job, std::span<const std::uint32_t> graphs) {
  const nn::Program program = nn::program(job.model);
  // Of a gcn the last convolution: under max readout few of its rows have a gradient, and the engines that know it use
  // that.
  const nn::Step* sparse = nullptr;
  if (job.model.readout == nn::Readout::max && program.steps == nn::gcn_network(job.model).steps) {
    for (const nn::Step& step : program.steps) {
      if (step.operation == nn::Operation::linear && step.space == nn::Space::node) sparse = &step;
    }
  }
  double all[10] = {}, cubes = 0;  // rows of every space, in all; Σ n³
  for (const std::uint32_t g : graphs) {
    const Graph& graph = job.data.graphs[g];
    const double nodes = graph.num_nodes();
    const double roots = job.model.roots == 0 ? nodes : std::min<double>(job.model.roots, nodes);
    const auto rows = [&all](nn::Space space) -> double& { return all[static_cast<std::size_t>(space)]; };
    rows(nn::Space::graph) += 1;
    rows(nn::Space::node) += nodes;
    if (const std::uint32_t columns = job.model.edge_features; columns > 0) {
      rows(nn::Space::arc) += static_cast<double>(engine::edge_rows(job, g).count(columns));
    }
    rows(nn::Space::pair) += roots * nodes;
    rows(nn::Space::edge) += static_cast<double>(graph.num_edges());
    rows(nn::Space::root) += roots;
    cubes += nodes * nodes * nodes;
  }
  ProductCount out;
  std::vector<double> learned;  // columns of each value that have a gradient
  for (const nn::Step& step : program.steps) {
    if (nn::set_size(step.space) > 0) return {};
    const auto columns = static_cast<double>(step.columns);
    const double rows = all[static_cast<std::size_t>(step.space)];
    double own = step.arcs == nn::kNone && step.onto == nn::kNone ? 0 : columns;
    for (const nn::Term& term : step.terms) {
      const double behind = learned[term.value];
      own = step.operation == nn::Operation::concat ? own + behind : std::max(own, behind);
      if (step.operation == nn::Operation::product) {
        out.nominal += 3 * cubes * columns;  // half of the pass forward, and the pass back to this term
        out.executed += (behind > 0 ? 3 : 1) * cubes * columns;
      }
      if (step.operation != nn::Operation::linear) continue;
      const double in = static_cast<double>(program.steps[term.value].columns);
      out.nominal += 3 * 2 * rows * in * columns;
      out.executed += 2 * columns * (rows * in + (&step == sparse ? all[0] : rows) * (in + behind));
    }
    learned.push_back(step.operation == nn::Operation::linear || step.operation == nn::Operation::normalise ? columns
                                                                                                            : own);
  }
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

namespace {

SetCost cost_of(const Sample& sample, const SetCostOptions& options) {
  const auto count = static_cast<double>(sample.graphs.size());
  engine::Job job;
  job.data = sample.data();
  job.model = options.model;
  job.batch = static_cast<std::uint32_t>(sample.graphs.size());
  nn::set_types_from(sample.graphs, job.model, options.threads);

  SetCost out;
  for (std::size_t g = 0; g < sample.graphs.size(); ++g) {
    out.nodes += sample.graphs[g].num_nodes() / count;
    // Alone: what a graph takes when nothing shares its batch. The last level is the largest.
    const engine::Data alone{std::span(sample.graphs).subspan(g, 1), std::span(sample.labels).subspan(g, 1),
                             std::span(sample.features).subspan(g, 1)};
    const auto sets = engine::prepare_sets(job.model, alone, {});
    out.rows += static_cast<double>(sets->quotients().back().classes.size()) / count;
    out.sets += static_cast<double>(sets->quotients().back().sets) / count;
  }

  engine::Trial trial;
  for (std::uint32_t g = 0; g < sample.graphs.size(); ++g) trial.train.push_back(g);
  BenchOptions bench;
  bench.engine = options.engine;
  bench.threads = options.threads;
  bench.epochs = 3;
  engine::SetOptions prepare;
  prepare.threads = options.threads;
  job.sets = engine::prepare_sets(job.model, job.data, prepare);
  const BenchReport report = bench_training(job, trial, bench);
  out.seconds = report.seconds_per_epoch / count;
  out.all_rows = static_cast<double>(report.rows) / count;
  out.all_sets = static_cast<double>(report.rows_uncompressed) / count;
  if (out.sets > static_cast<double>(options.most_uncompressed)) return out;
  job.sets.reset();
  job.compress = false;
  bench.epochs = 1;
  out.seconds_uncompressed = bench_training(job, trial, bench).seconds_per_epoch / count;
  return out;
}

}  // namespace

std::vector<SetCost> set_costs(const SetCostOptions& options) {
  std::vector<SetCost> out;
  for (const std::uint32_t nodes : {40u, 50u, 75u, 100u, 150u, 200u, 300u, 400u}) {
    if (nodes > options.largest && !out.empty()) break;
    if (interrupted()) break;
    out.push_back(
        cost_of(options.random ? random_graphs(nodes, 2 * options.pairs) : exp_pairs(nodes, options.pairs), options));
  }
  return out;
}

}  // namespace tyche::measure
