
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "graph/isomorphism.hpp"
#include "inspect/inspection.hpp"
#include "wl/reference.hpp"
#include "wl/sample_graphs.hpp"

namespace tyche::inspect {
namespace {

datasets::Dataset with_nodes(std::vector<Graph> graphs, std::vector<std::vector<int>> labels) {
  datasets::Dataset out;
  out.name = out.set.name = "nodes";
  out.set.graphs = std::move(graphs);
  out.set.node_labels = std::move(labels);
  return out;
}

/// The best accuracy of one who sees the group of a node alone.
double best_of(const std::vector<std::uint32_t>& group, const std::vector<std::vector<int>>& labels) {
  std::map<std::uint32_t, std::map<int, int>> counts;
  std::size_t v = 0, known = 0;
  for (const auto& own : labels) {
    for (const int label : own) {
      if (label != kNoLabel) {
        ++counts[group[v]][label];
        ++known;
      }
      ++v;
    }
  }
  int right = 0;
  for (const auto& [at, of] : counts) {
    int most = 0;
    for (const auto& [label, count] : of) most = std::max(most, count);
    right += most;
  }
  return right / static_cast<double>(known);
}

/// Nodes of all graphs that some isomorphism takes to each other: every permutation is tried.
std::vector<std::uint32_t> orbits_of_all(const std::vector<Graph>& graphs) {
  std::vector<std::pair<std::size_t, Node>> nodes;
  std::vector<std::uint32_t> out;
  for (std::size_t g = 0; g < graphs.size(); ++g) {
    for (Node v = 0; v < graphs[g].num_nodes(); ++v) {
      std::uint32_t found = static_cast<std::uint32_t>(nodes.size());
      for (std::uint32_t i = 0; i < nodes.size() && found == nodes.size(); ++i) {
        const Graph& other = graphs[nodes[i].first];
        if (other.num_nodes() != graphs[g].num_nodes()) continue;
        std::vector<Node> map(other.num_nodes());
        std::iota(map.begin(), map.end(), 0u);
        do {
          if (map[v] == nodes[i].second && graphs[g].relabelled(map) == other) found = i;
        } while (found == nodes.size() && std::next_permutation(map.begin(), map.end()));
      }
      out.push_back(found == nodes.size() ? found : out[found]);
      nodes.emplace_back(g, v);
    }
  }
  return out;
}

TEST(InspectNodes, ATriangleBesideASquareIsHiddenFromOneWlAndNotFromTwo) {
  const Graph both = disjoint_union(wl::cycle(3), wl::cycle(4));
  const Inspection found = examine(with_nodes({both}, {{1, 1, 1, 0, 0, 0, 0}}));
  ASSERT_TRUE(found.nodes);
  EXPECT_EQ(found.nodes->one_wl.score, 4.0 / 7);
  EXPECT_EQ(found.nodes->baseline.score, 4.0 / 7);
  EXPECT_EQ(found.nodes->two_wl->score, 1.0);
  EXPECT_EQ(found.nodes->everyone->score, 1.0);
  EXPECT_EQ(found.nodes->leaks, std::nullopt);
  EXPECT_THAT(to_text(found), testing::HasSubstr("everyone (orbits)"));
  EXPECT_EQ(to_json(found)["of_nodes"]["ceiling_2wl"], 1.0);
}

TEST(InspectNodes, AMatchingOfASquareIsOutOfReachForEveryEquivariantFunction) {
  const Inspection found = examine(with_nodes({wl::cycle(4)}, {{0, 0, 1, 1}}));
  EXPECT_EQ(found.nodes->everyone->score, 0.5);
}

TEST(InspectNodes, MissingLabelsCountNowhereAndLeaksAreSaid) {
  auto data = with_nodes({wl::path(4)}, {{5, kNoLabel, 6, 5}});
  data.set.node_parts = {{NodePart::train, NodePart::train, NodePart::none, NodePart::test},
                         {NodePart::train, NodePart::test, NodePart::none, NodePart::none}};
  const Inspection found = examine(data);
  EXPECT_EQ(found.nodes->known, 3u);
  EXPECT_EQ(found.nodes->one_wl.score, 1.0);
  EXPECT_EQ(found.nodes->leaks, 1u);  // the ends of the path are alike
}

TEST(InspectNodes, TargetsOfNodesHaveErrorsAndWorkTooLargeIsLeftOut) {
  datasets::Dataset data = with_nodes({wl::path(3)}, {});
  data.set.node_targets = {{1, 5, 3}};
  data.set.node_target_dim = 1;
  Options options;
  const Inspection found = examine(data, options);
  EXPECT_EQ(found.nodes->task, Task::targets);
  EXPECT_NEAR(*found.nodes->everyone->mse, 2.0 / 3, 1e-12);  // the ends are 1 and 3, and alike
  options.limits.tuples = 1;
  const Inspection small = examine(data, options);
  EXPECT_EQ(small.nodes->two_wl, std::nullopt);
  EXPECT_THAT(small.notes.at(0), testing::HasSubstr("2-WL"));
}

RC_GTEST_PROP(InspectNodesProperty, CeilingsAreThoseOfTheDefinitions, ()) {
  Stream stream = wl::chosen_stream();
  std::vector<Graph> graphs = wl::sample_pair(6, stream);
  graphs.push_back(wl::shuffled(graphs[0], stream));
  std::vector<std::vector<int>> labels;
  std::size_t nodes = 0;
  for (const Graph& graph : graphs) {
    auto& own = labels.emplace_back();
    for (Node v = 0; v < graph.num_nodes(); ++v) own.push_back(static_cast<int>(stream.below(3)));
    nodes += graph.num_nodes();
  }
  if (nodes == 0) return;
  const Inspection found = examine(with_nodes(graphs, labels));
  RC_ASSERT(found.nodes->one_wl.score == best_of(wl::reference::colour_refinement(graphs).rounds.back(), labels));
  const auto pairs = wl::reference::folklore(graphs, 2);
  std::vector<std::uint32_t> diagonal;
  for (std::size_t g = 0; g < graphs.size(); ++g) {
    const std::size_t n = graphs[g].num_nodes();
    for (std::size_t v = 0; v < n; ++v) diagonal.push_back(pairs.rounds.back()[pairs.first[g] + v * n + v]);
  }
  RC_ASSERT(found.nodes->two_wl->score == best_of(diagonal, labels));
  RC_ASSERT(found.nodes->everyone->score == best_of(orbits_of_all(graphs), labels));
}

}  // namespace
}  // namespace tyche::inspect
