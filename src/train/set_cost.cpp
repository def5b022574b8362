#include "train/set_cost.hpp"

#include <algorithm>

#include "datasets/exp.hpp"
#include "engine/bench.hpp"
#include "engine/sets/set_data.hpp"
#include "graph/encoding.hpp"
#include "nn/levels.hpp"
#include "support/progress.hpp"

namespace tyche::train {

namespace {

struct Sample {
  std::vector<Graph> graphs;
  std::vector<std::uint32_t> labels;
  std::vector<std::vector<float>> features;
};

void add(Sample& sample, Graph graph, std::uint32_t label) {
  auto& block = sample.features.emplace_back();
  for (const NodeType type : graph.types()) {
    block.push_back(type == 0 ? 1.0f : 0.0f);
    block.push_back(type == 1 ? 1.0f : 0.0f);
  }
  sample.graphs.push_back(std::move(graph));
  sample.labels.push_back(label);
}

// A core over 2n variables has 8n nodes, a planar part about 19.
Sample exp_graphs(std::uint32_t nodes, std::uint32_t pairs) {
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

Sample random_graphs(std::uint32_t nodes, std::uint32_t pairs) {
  Sample out;
  for (std::uint32_t g = 0; g < 2 * pairs; ++g)
    add(out, engine::random_sparse_graph(nodes, nodes * 6 / 5, 1, g), g % 2);
  return out;
}

SetCost cost_of(const Sample& sample, const SetCostOptions& options) {
  const auto count = static_cast<double>(sample.graphs.size());
  engine::Job job;
  job.data = {sample.graphs, sample.labels, sample.features};
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
  engine::BenchOptions bench;
  bench.engine = options.engine;
  bench.threads = options.threads;
  bench.epochs = 3;
  engine::SetOptions prepare;
  prepare.threads = options.threads;
  job.sets = engine::prepare_sets(job.model, job.data, prepare);
  const engine::BenchReport report = engine::bench_training(job, trial, bench);
  out.seconds = report.seconds_per_epoch / count;
  out.all_rows = static_cast<double>(report.rows) / count;
  out.all_sets = static_cast<double>(report.rows_uncompressed) / count;
  if (out.sets > static_cast<double>(options.most_uncompressed)) return out;
  job.sets.reset();
  job.compress = false;
  bench.epochs = 1;
  out.seconds_uncompressed = engine::bench_training(job, trial, bench).seconds_per_epoch / count;
  return out;
}

}  // namespace

std::vector<SetCost> set_costs(const SetCostOptions& options) {
  std::vector<SetCost> out;
  for (const std::uint32_t nodes : {40u, 50u, 75u, 100u, 150u, 200u, 300u, 400u}) {
    if (nodes > options.largest && !out.empty()) break;
    if (interrupted()) break;
    out.push_back(
        cost_of(options.random ? random_graphs(nodes, options.pairs) : exp_graphs(nodes, options.pairs), options));
  }
  return out;
}

}  // namespace tyche::train
