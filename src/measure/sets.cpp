#include "measure/sets.hpp"

#include "engine/sets/set_data.hpp"
#include "measure/samples.hpp"
#include "measure/training.hpp"
#include "nn/levels.hpp"
#include "support/progress.hpp"

namespace tyche::measure {

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
