#include "measure/measure.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <ctime>
#include <iterator>
#include <mutex>
#include <numeric>
#include <optional>
#include <utility>

#include "datasets/exp.hpp"
#include "engine/choice.hpp"
#include "engine/core/inputs.hpp"
#include "engine/cpu/kernels.hpp"
#include "engine/sets/set_data.hpp"
#include "graph/encoding.hpp"
#include "nn/kinds.hpp"
#include "nn/levels.hpp"
#include "support/error.hpp"
#include "support/progress.hpp"
#include "support/random.hpp"
#include "support/stopwatch.hpp"
#include "wl/colour_refinement.hpp"

namespace tyche::measure {

using engine::EpochResult;
using engine::Job;
using engine::Observer;
using engine::State;
using engine::Trial;

namespace {

/// `first`: of every node, whether it has the first of the two features.
template <class First>
void add(Sample& sample, Graph graph, std::uint32_t label, const First& first) {
  auto& block = sample.features.emplace_back();
  for (Node v = 0; v < graph.num_nodes(); ++v) {
    const bool own = first(graph, v);
    block.insert(block.end(), {own ? 1.0f : 0.0f, own ? 0.0f : 1.0f});
  }
  sample.graphs.push_back(std::move(graph));
  sample.labels.push_back(label);
}
Trial all_of(const Sample& sample) {
  Trial trial;
  trial.train.resize(sample.graphs.size());
  std::iota(trial.train.begin(), trial.train.end(), 0u);
  return trial;
}
bool of_first_type(const Graph& graph, Node v) { return graph.type(v) == 0; }

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// The peak of one core now, in 10^9 operations per second: the best of a few bursts of fused multiply-adds.
double measure_peak() {
  const engine::cpu::Kernels& kernels = engine::cpu::kernels_for("auto");
  double best = 0;
  for (int burst = 0; burst < 4; ++burst) {
    const Stopwatch watch;
    const double operations = kernels.burn(50000);
    best = std::max(best, operations / watch.seconds());
  }
  return best / 1e9;
}

// The times of all trials' epochs after the first, what the first trial's last epoch gave and, where that is asked for,
// a measurement of the peak after each of its epochs.
class EpochTimes : public Observer {
 public:
  explicit EpochTimes(bool of_peaks) : of_peaks_(of_peaks) {}
  bool on_epoch(std::size_t trial, const EpochResult& result, const State*) override {
    const double peak = of_peaks_ && trial == 0 ? measure_peak() : 0;
    const std::scoped_lock lock(mutex_);
    if (trial == 0) last = result;
    if (result.epoch == 1) return true;
    seconds.push_back(result.seconds);
    if (result.evaluated) evaluations.push_back(result.eval_seconds);
    if (trial == 0) peaks.push_back(peak);
    return true;
  }

  std::vector<double> seconds, evaluations, peaks;
  EpochResult last;

 private:
  bool of_peaks_;
  std::mutex mutex_;
};

/// As many random graphs of so many nodes, 1.2 edges per node: no regularity to use.
Sample random_graphs(std::uint32_t nodes, std::uint32_t graphs) {
  Sample out;
  for (std::uint32_t g = 0; g < graphs; ++g) {
    add(out, random_sparse_graph(nodes, nodes * 6 / 5, 1, g), g % 2, of_first_type);
  }
  return out;
}

SetCost cost_of(const Sample& sample, const SetCostOptions& options) {
  const auto count = static_cast<double>(sample.graphs.size());
  Job job;
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

  const Trial trial = all_of(sample);
  BenchOptions bench{.engine = options.engine, .threads = options.threads, .epochs = 3};
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

Graph random_sparse_graph(Node nodes, std::uint64_t edges, std::uint64_t seed, std::uint32_t index) {
  const std::uint64_t pairs = std::uint64_t{nodes} * (nodes == 0 ? 0 : nodes - 1) / 2;
  if (edges > pairs / 2) {
    throw InputError("a sparse graph of {} nodes has at most {} edges, {} were asked for", nodes, pairs / 2, edges);
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
    const auto index = static_cast<std::uint32_t>(g);
    add(set, random_sparse_graph(nodes, nodes * 6ull / 5, seed, index), index % 2,
        [&](const Graph&, Node) { return stream.coin(); });
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
    add(out, encode(pair.sat), 1, of_first_type);
    add(out, encode(pair.unsat), 0, of_first_type);
  }
  return out;
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
    const std::size_t roots = job.model.roots == 0 ? graph.num_nodes() : std::min(job.model.roots, graph.num_nodes());
    const std::uint32_t columns = job.model.edge_features;
    const std::size_t arcs = columns == 0 ? 0 : engine::edge_rows(job, g).count(columns);
    for (std::size_t space = 0; space < std::size(all); ++space) {
      all[space] += static_cast<double>(engine::rows_in(static_cast<nn::Space>(space), graph, roots, arcs));
    }
    const double nodes = graph.num_nodes();
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
  // Epochs run many at a time on a GPU, all trials in lockstep: the whole call is timed, after one that is not.
  const bool gpu = engine::EngineChoice(options.engine).on_gpu();
  EpochTimes times(!gpu);
  job.epochs = gpu ? 1 : options.epochs + 1;
  if (gpu) {
    std::vector<Trial> warm_up = trials;
    engine->train(job, warm_up, times);
    job.epochs = options.epochs;
  }
  const Stopwatch watch;
  engine->train(job, trials, times);
  const double wall = watch.seconds();

  BenchReport report;
  report.engine = engine->description(job);
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
  if (gpu) {
    report.wall_seconds = wall;
    report.seconds_per_epoch = report.seconds_per_epoch_min = wall / options.epochs / options.side_by_side;
  } else {
    const double at_once = std::min(options.side_by_side, options.threads);
    report.seconds_per_epoch = median(times.seconds) / at_once;
    report.seconds_per_epoch_min = *std::ranges::min_element(times.seconds) / at_once;
    report.eval_seconds = median(times.evaluations) / at_once;
    report.peak_gflops = median(times.peaks);
    const auto floor = [&](double peak) { return report.executed_gflop / (peak * options.threads); };
    report.floor_fraction = floor(report.peak_gflops) / report.seconds_per_epoch;
    report.floor_fraction_best = floor(*std::ranges::max_element(times.peaks)) / report.seconds_per_epoch_min;
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  report.peak_memory_mb = static_cast<double>(usage.ru_maxrss) / 1024;
  report.last_loss = times.last.train_loss;
  report.rows = times.last.rows;
  report.rows_uncompressed = times.last.full_rows;
  return report;
}

std::vector<ScalingRow> bench_scaling(const nn::ModelConfig& model, const std::string& engine, unsigned threads,
                                      std::uint64_t largest) {
  std::vector<ScalingRow> rows;
  const auto measure = [&](const std::string& kind, std::vector<Graph> graphs) {
    Sample sample{std::move(graphs), {}, {}};
    sample.labels.assign(sample.graphs.size(), 0);
    for (const Graph& graph : sample.graphs) {
      sample.features.emplace_back(std::size_t{graph.num_nodes()} * model.input_features, 1.0f);
    }
    Job job;
    job.data = sample.data();
    job.model = model;
    const std::uint32_t epochs = sample.graphs.front().num_nodes() > 300000 ? 1 : 3;
    const BenchReport report =
        bench_training(job, all_of(sample), {.engine = engine, .threads = threads, .epochs = epochs});
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

using namespace wl;  // what follows measures its words

namespace {

constexpr std::uint64_t kSeed = 1;

/// Processor time: everything here runs on one core, and the machine may be busy with other things.
double now() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

/// Calls body(i) for i = 0, 1, … over all graphs again and again until the time is up; calls per second.
template <class Body>
double rate(std::size_t graphs, double seconds, const Body& body) {
  const double start = now();
  std::uint64_t done = 0;
  double spent = 0;
  for (std::uint32_t draw = 0; spent < seconds; ++draw) {
    for (std::size_t g = 0; g < graphs; ++g) body(g, draw);
    done += graphs;
    spent = now() - start;
  }
  return static_cast<double>(done) / spent;
}

Choices choices_of(std::size_t graph, std::uint32_t draw) {
  return {derive_key(kSeed, Purpose::individualise, draw), static_cast<std::uint32_t>(graph)};
}

void check(const Graph& graph, std::size_t index, Cell cell, std::uint32_t depth, const Path& path,
           const std::optional<Tree>& tree) {
  const auto expect = [&](bool holds, const char* what) {
    if (!holds) throw Error("the paths of graph {} are wrong: {}", index, what);
  };
  const Colouring colouring = refine(std::span(&graph, 1));
  expect(Individualiser(graph, cell).draw({}, 0).classes == colouring.classes, "the root is not the stable colouring");
  std::vector<Node> names(graph.num_nodes());
  std::iota(names.begin(), names.end(), 0u);
  Stream stream(derive_key(kSeed, Purpose::graph_sample, static_cast<std::uint32_t>(index)));
  shuffle(names, stream);
  const Graph renamed = graph.relabelled(names);
  std::vector<Node> chosen;
  for (const Node v : path.chosen) chosen.push_back(names[v]);
  const Path other = Individualiser(renamed, cell).follow(chosen);
  for (Node v = 0; v < graph.num_nodes(); ++v) {
    expect(path.ranks[v] == other.ranks[names[v]], "a renumbered copy has other ranks");
  }
  expect(path.discrete || path.chosen.size() == depth, "a path ends too early");
  if (tree) expect(tree->path(tree->leaf(choices_of(index, 0))) == path, "the tree leads elsewhere");
}

Graph ring(Node nodes, bool closed) {
  std::vector<Edge> edges;
  for (Node v = 0; v + 1 < nodes; ++v) edges.emplace_back(v, v + 1);
  if (closed) edges.emplace_back(nodes - 1, 0);
  return Graph::from_edges(nodes, edges);
}

Graph star(Node nodes) {
  std::vector<Edge> edges;
  for (Node v = 1; v < nodes; ++v) edges.emplace_back(0, v);
  return Graph::from_edges(nodes, edges);
}

}  // namespace

PathBench bench_paths(std::span<const Graph> graphs, std::uint32_t depth, Cell cell, double seconds) {
  if (graphs.empty()) throw InputError("there are no graphs to draw paths from");
  PathBench out;
  out.graphs = graphs.size();
  std::vector<Individualiser> paths;
  std::vector<std::pair<std::size_t, Tree>> trees;
  paths.reserve(graphs.size());
  double steps = 0;
  for (std::size_t g = 0; g < graphs.size(); ++g) {
    out.nodes += graphs[g].num_nodes();
    paths.emplace_back(graphs[g], cell);
    const Path path = paths.back().draw(choices_of(g, 0), depth);
    steps += static_cast<double>(path.chosen.size());
    auto tree = make_tree(graphs[g], depth, cell);
    check(graphs[g], g, cell, depth, path, tree);
    if (tree) {
      out.table_bytes += static_cast<double>(tree->bytes());
      trees.emplace_back(g, std::move(*tree));
    }
  }
  out.mean_depth = steps / static_cast<double>(graphs.size());
  out.tables = trees.size();
  Path path;
  std::uint64_t sum = 0;  // so that nothing is left out as unused
  out.refinements_per_second =
      rate(graphs.size(), seconds, [&](std::size_t g, std::uint32_t) { sum += refine(graphs.subspan(g, 1)).classes; });
  out.draws_per_second = rate(graphs.size(), seconds, [&](std::size_t g, std::uint32_t draw) {
    paths[g].draw(choices_of(g, draw), depth, path);
    sum += path.classes;
  });
  if (!trees.empty()) {
    out.table_draws_per_second = rate(trees.size(), seconds, [&](std::size_t t, std::uint32_t draw) {
      sum += trees[t].second.leaf(choices_of(trees[t].first, draw));
    });
  }
  if (sum == 0 && out.nodes != 0) throw Error("paths of graphs with nodes have no classes");
  return out;
}

std::vector<LargePath> bench_large_paths(Node nodes) {
  const std::pair<const char*, Graph> cases[] = {{"cycle", ring(nodes, true)},
                                                 {"path", ring(nodes, false)},
                                                 {"cubic", random_cubic_graph(nodes + nodes % 2, kSeed)},
                                                 {"star", star(nodes)}};
  std::vector<LargePath> out;
  for (const auto& entry : cases) {
    const Graph& graph = entry.second;
    LargePath row;
    row.kind = entry.first;
    row.nodes = graph.num_nodes();
    row.edges = graph.num_edges();
    const double start = now();
    const Colouring plain = refine(std::span(&graph, 1));
    const double refined = now();
    Individualiser paths(graph);
    const Path path = paths.draw(choices_of(0, 0));
    row.leaf_seconds = now() - refined;
    row.refine_seconds = refined - start;
    row.depth = path.chosen.size();
    if (!path.discrete || paths.draw({}, 0).classes != plain.classes) {
      throw Error("the leaf of a {} of {} nodes is wrong", row.kind, row.nodes);
    }
    out.push_back(row);
  }
  return out;
}

// Three stubs per node, joined at random; loops and repeated edges are taken apart again by switching them with other
// edges drawn at random until there are none.
Graph random_cubic_graph(Node nodes, std::uint64_t seed) {
  std::vector<Node> stubs(3 * std::size_t{nodes});
  for (std::size_t i = 0; i < stubs.size(); ++i) stubs[i] = static_cast<Node>(i / 3);
  Stream stream(derive_key(seed, Purpose::graph_sample, nodes, 3));
  shuffle(stubs, stream);
  for (;;) {
    std::vector<std::pair<Edge, std::size_t>> edges;
    for (std::size_t i = 0; i < stubs.size(); i += 2) edges.push_back({std::minmax(stubs[i], stubs[i + 1]), i});
    std::ranges::sort(edges);
    std::vector<std::size_t> bad;
    for (std::size_t e = 0; e < edges.size(); ++e) {
      const bool loop = edges[e].first.first == edges[e].first.second;
      if (loop || (e > 0 && edges[e].first == edges[e - 1].first)) bad.push_back(edges[e].second);
    }
    if (bad.empty()) break;
    for (const std::size_t i : bad) std::swap(stubs[i], stubs[static_cast<std::size_t>(stream.below(stubs.size()))]);
  }
  std::vector<Edge> edges;
  for (std::size_t i = 0; i < stubs.size(); i += 2) edges.emplace_back(stubs[i], stubs[i + 1]);
  return Graph::from_edges(nodes, edges);
}

}  // namespace tyche::measure
