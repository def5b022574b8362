#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "datasets/certificate.hpp"
#include "datasets/generate.hpp"
#include "datasets/tasks.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "support/temporary_folder.hpp"

namespace tyche::datasets {
namespace {

constexpr NodeTask kTasks[] = {NodeTask::triangle, NodeTask::lcc, NodeTask::orbits, NodeTask::matching};

GenerateOptions node_task(NodeTask task, std::uint64_t graphs, unsigned threads) {
  GenerateOptions options;
  options.recipe = NodeTaskParameters{.task = task, .graphs = graphs, .nodes = 12};
  options.threads = threads;
  return options;
}

/// Which nodes some automorphism maps to each other: every permutation is tried.
std::vector<Node> orbits_by_force(const Graph& graph) {
  std::vector<Node> map(graph.num_nodes()), first(graph.num_nodes());
  std::iota(map.begin(), map.end(), 0u);
  first = map;
  do {
    if (graph.relabelled(map) != graph) continue;
    for (Node v = 0; v < map.size(); ++v) first[map[v]] = std::min(first[map[v]], v);
  } while (std::next_permutation(map.begin(), map.end()));
  return first;  // an orbit's smallest node maps to all of its nodes
}

TEST(NodeTasks, TrianglesAndClusteringOfTheCompleteGraphAndTheSquare) {
  const Graph complete = Graph::from_edges(4, std::vector<Edge>{{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}});
  EXPECT_EQ(examine_node_task(NodeTask::triangle, complete, {1, 1, 1, 1}), "");
  EXPECT_EQ(examine_node_task(NodeTask::lcc, complete, {3, 3, 3, 3}), "");
  EXPECT_THAT(examine_node_task(NodeTask::lcc, complete, {3, 3, 2, 3}), ::testing::HasSubstr("node 2 has label 2"));
  const Graph square = Graph::from_edges(4, std::vector<Edge>{{0, 1}, {1, 2}, {2, 3}, {0, 3}});
  EXPECT_EQ(examine_node_task(NodeTask::triangle, square, {0, 0, 0, 0}), "");
  EXPECT_NE(examine_node_task(NodeTask::triangle, square, {0, 0, 1, 0}), "");
  EXPECT_EQ(examine_node_task(NodeTask::matching, square, {0, 0, 1, 1}), "");
  EXPECT_NE(examine_node_task(NodeTask::matching, square, {0, 1, 0, 1}), "");
  EXPECT_NE(examine_node_task(NodeTask::orbits, square, {0, 0, 0, 0}), "");  // one orbit
  const Graph path = Graph::from_edges(3, std::vector<Edge>{{0, 1}, {1, 2}});
  EXPECT_THAT(examine_node_task(NodeTask::orbits, path, {0, 1, 0}), ::testing::HasSubstr("1-WL"));
}

TEST(NodeTasks, LabelsOfSmallGraphsAreTheOrbitsOfAllAutomorphisms) {
  for (std::uint64_t i = 0; i < 4; ++i) {
    const NodeLabelled made = make_node_task({.task = NodeTask::orbits, .nodes = 7}, i);
    const auto orbits = orbits_by_force(made.graph);
    for (Node u = 0; u < 7; ++u) {
      for (Node v = 0; v < 7; ++v) EXPECT_EQ(orbits[u] == orbits[v], made.labels[u] == made.labels[v]);
    }
    EXPECT_EQ(made.labels, (make_node_task({.task = NodeTask::orbits, .nodes = 7}, i).labels));
    const NodeLabelled matched = make_node_task({.task = NodeTask::matching, .nodes = 6}, i);
    const auto one = orbits_by_force(matched.graph);
    EXPECT_EQ(std::set(one.begin(), one.end()).size(), 1u);
    EXPECT_EQ(std::set(matched.labels.begin(), matched.labels.end()).size(), 3u);
  }
}

TEST(NodeTasks, AreTheSameOnDiskInMemoryAndOnAnyNumberOfThreads) {
  for (const NodeTask task : kTasks) {
    const TemporaryFolder one, two;
    const GenerateResult result = generate(node_task(task, 20, 1), one.path());
    (void)generate(node_task(task, 20, 3), two.path());
    EXPECT_EQ(read_file(one / "graphs.jsonl"), read_file(two / "graphs.jsonl"));
    ASSERT_TRUE(result.certificate);
    EXPECT_EQ(std::get<TaskCertificate>(*result.certificate).right, 20u);
    EXPECT_EQ(std::get<TaskCertificate>(*result.certificate).task, task);
    const Dataset read = load_dataset(one.path());
    const Dataset made = make(node_task(task, 20, 2)).dataset;
    EXPECT_EQ(read.hash, made.hash);
    EXPECT_EQ(read.set.node_labels, made.set.node_labels);
    EXPECT_EQ(read.set.node_labels.size(), 20u);
    const auto again = std::get<TaskCertificate>(certify_any(one.path(), {}));
    EXPECT_EQ(again.right, 20u);
    EXPECT_EQ(again.task, task);
  }
}

TEST(NodeTasks, ACertificateNoticesOneWrongLabel) {
  for (const NodeTask task : kTasks) {
    Dataset made = make(node_task(task, 5, 1)).dataset;
    auto labels = made.set.node_labels.all();
    labels[3][7] += 1;
    made.set.node_labels = labels;
    const TaskCertificate certificate = certify_node_task(task, made.set, {});
    EXPECT_EQ(certificate.right, 4u);
    ASSERT_EQ(certificate.failures.size(), 1u);
    EXPECT_EQ(certificate.failures[0].of, 3u);
  }
}

TEST(NodeTasks, RefuseWhatCannotBe) {
  EXPECT_THROW(check(NodeTaskParameters{.nodes = 5, .degree = 3}), InputError);
  EXPECT_THROW(check(NodeTaskParameters{.nodes = 4, .degree = 4}), InputError);
  EXPECT_THROW(check(NodeTaskParameters{.task = NodeTask::orbits, .nodes = 6}), InputError);
  EXPECT_THROW(check(NodeTaskParameters{.task = NodeTask::matching, .nodes = 9}), InputError);
  Recipe recipe = recipe_of("matching");
  EXPECT_THROW(set_parameter(recipe, "degree", "4"), InputError);
  set_parameter(recipe, "nodes", "8");
  EXPECT_EQ(std::get<NodeTaskParameters>(recipe).nodes, 8u);
  EXPECT_EQ(folder_name(recipe), "matching-1000-seed1-nodes8");
}

}  // namespace
}  // namespace tyche::datasets
