#include "measure/measure.hpp"

#include <gtest/gtest.h>

#include "nn/levels.hpp"
#include "support/error.hpp"

namespace tyche::measure {
namespace {

TEST(ProductCount, IsWhatOneCountsByHand) {
  nn::ModelConfig model;
  model.width = 4;
  model.layers = 2;
  model.rni = 1;
  model.head_hidden = 3;
  model.classes = 2;
  model.readout = nn::Readout::sum;
  // 10 nodes, 2 graphs. A convolution multiplies a row with two 4 × 4 matrices: 64 operations, three times (forward,
  // to weights, to inputs); the first layer's inputs are data. The head: 16 + 12 + 6 products per graph.
  const double head = 2 * 3 * 2 * (16 + 12 + 6);
  const Graph graph = Graph::from_edges(5, std::vector<Edge>{{0, 1}, {1, 2}});
  const std::vector<Graph> graphs = {graph, graph};
  const std::vector<std::uint32_t> both = {0, 1};
  engine::Job job;
  job.data.graphs = graphs;
  job.model = model;
  const ProductCount sum = count_products(job, both);
  EXPECT_DOUBLE_EQ(sum.nominal * 1e9, 10 * 64 * 6 + head);
  EXPECT_DOUBLE_EQ(sum.executed * 1e9, 10 * 64 * 5 + head);
  // Under max readout the last layer's gradients come from one row per graph (and column).
  job.model.readout = nn::Readout::max;
  const ProductCount max = count_products(job, both);
  EXPECT_DOUBLE_EQ(max.nominal, sum.nominal);
  EXPECT_DOUBLE_EQ(max.executed * 1e9, 10 * 64 * 3 + 2 * 2 * 64 + head);
  // A gin's layer: two 4 × 4 matrices per row, too, and no sparse gradient.
  job.model.kind = "gin";
  EXPECT_DOUBLE_EQ(count_products(job, both).executed * 1e9, 10 * 64 * 6 - 10 * 32 + head);
  // On pairs, one root of five nodes leaves a fifth of the rows.
  job.model = {};
  job.model.kind = "subgraph";
  const double all_roots = count_products(job, both).executed;
  job.model.roots = 1;
  EXPECT_GT(all_roots, 2 * count_products(job, both).executed);
  job.model = {};
  job.model.kind = "gcn2";
  nn::set_types_from(graphs, job.model, 1);
  EXPECT_EQ(count_products(job, both).nominal, 0);
}

TEST(Samples, HaveTheSizesTheyPromise) {
  const Graph graph = random_sparse_graph(100, 120, 7);
  EXPECT_EQ(graph.num_nodes(), 100u);
  EXPECT_EQ(graph.num_edges(), 120u);
  EXPECT_FALSE(graph == random_sparse_graph(100, 120, 8));
  EXPECT_THROW((void)random_sparse_graph(10, 23, 1), InputError);

  const Sample exp = synthetic_exp(50, 1);
  ASSERT_EQ(exp.graphs.size(), 50u);
  for (std::size_t g = 0; g < 50; ++g) {
    EXPECT_GE(exp.graphs[g].num_nodes(), 33u);
    EXPECT_LE(exp.graphs[g].num_nodes(), 65u);
    EXPECT_EQ(exp.features[g].size(), 2 * exp.graphs[g].num_nodes());
  }
  const Sample pairs = exp_pairs(100, 1);
  ASSERT_EQ(pairs.graphs.size(), 2u);
  EXPECT_NEAR(pairs.graphs[0].num_nodes(), 100, 25);
}

TEST(Training, IsTimedOnTheGraphsAskedFor) {
  const Sample sample = synthetic_exp(6, 1);
  engine::Job job;
  job.data = sample.data();
  job.model.width = 4;
  job.model.layers = 2;
  engine::Trial trial;
  trial.train = {0, 1, 2, 3};
  trial.test = {4, 5};
  const BenchReport report = bench_training(job, trial, {.engine = "cpu", .threads = 1, .epochs = 2});
  EXPECT_EQ(report.graphs, 4u);
  std::uint64_t nodes = 0;
  for (std::size_t g = 0; g < 4; ++g) nodes += sample.graphs[g].num_nodes();
  EXPECT_EQ(report.nodes, nodes);
  EXPECT_GT(report.seconds_per_epoch_min, 0);
  EXPECT_LE(report.seconds_per_epoch_min, report.seconds_per_epoch);
  EXPECT_GT(report.peak_gflops, 0);
  EXPECT_NEAR(report.last_loss, 0.69, 0.3);
}

TEST(SetCosts, FewerRowsThanSets) {
  SetCostOptions options;
  options.model.kind = "gcn2";
  options.model.width = 4;
  options.model.layers = 2;
  options.largest = 40;
  options.pairs = 1;
  options.engine = "cpu";
  options.threads = 1;
  const auto costs = set_costs(options);
  ASSERT_EQ(costs.size(), 1u);
  EXPECT_DOUBLE_EQ(costs[0].sets, costs[0].nodes * (costs[0].nodes - 1) / 2);
  EXPECT_LT(costs[0].rows, costs[0].sets);
  EXPECT_GT(costs[0].seconds_uncompressed, 0);
}

}  // namespace
}  // namespace tyche::measure
