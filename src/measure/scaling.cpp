#include "measure/scaling.hpp"

#include <algorithm>

#include "measure/samples.hpp"
#include "measure/training.hpp"

namespace tyche::measure {

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
