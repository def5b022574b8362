#include "wl/colour_refinement.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>

#include "wl/colour_refiner.hpp"
#include "wl/reference.hpp"
#include "wl/sample_graphs.hpp"

namespace tyche::wl {
namespace {

std::vector<std::vector<Colour>> all_rounds(ColourRefiner& refiner) {
  std::vector<std::vector<Colour>> out;
  do {
    out.push_back(refiner.colours());
  } while (refiner.step());
  return out;
}

TEST(ColourRefinement, ColoursAPathByTheDistanceToItsNearestEnd) {
  const std::vector<Graph> graphs = {path(7)};
  const Colouring colouring = refine(graphs);
  EXPECT_TRUE(colouring.stable);
  EXPECT_EQ(colouring.classes, 4u);
  EXPECT_EQ(colouring.rounds, 3u);
  const auto colours = colouring.of_graph(0);
  for (Node v = 0; v < 7; ++v) EXPECT_EQ(colours[v], colours[6 - v]);
  EXPECT_EQ(std::set<Colour>(colours.begin(), colours.end()), (std::set<Colour>{0, 1, 2, 3}));
}

TEST(ColourRefinement, KeepsEveryRoundWhenAsked) {
  const std::vector<Graph> graphs = {path(7), cycle(3)};
  const Colouring all = refine(graphs, {.keep_rounds = true});
  ASSERT_EQ(all.history.size(), 5u);  // the middle of the path is told from the triangle at round 4
  EXPECT_EQ(all.history[0], std::vector<Colour>(10, 0));
  EXPECT_EQ(all.history[4], all.colours);
  EXPECT_NE(all.history[1][0], all.history[1][1]);  // an end and its neighbour: degrees 1 and 2
  EXPECT_EQ(all.history[1][1], all.history[1][3]);
  EXPECT_EQ(all.history[1][1], all.history[1][8]);  // degree 2 in the other graph

  const Colouring two = refine(graphs, {.max_rounds = 2, .keep_rounds = true});
  EXPECT_FALSE(two.stable);
  EXPECT_EQ(two.rounds, 2u);
  EXPECT_EQ(two.history.size(), 3u);
  EXPECT_EQ(two.colours, all.history[2]);
  EXPECT_EQ(refine(graphs, {.max_rounds = 2}).colours, all.history[2]);
  EXPECT_EQ(refine(graphs, {.max_rounds = 0}).colours, all.history[0]);
}

TEST(ColourRefinement, StartsFromNodeTypesInTheirOrder) {
  const std::vector<Graph> graphs = {Graph::from_edges(4, {}, {9, 2, 2, 5})};
  EXPECT_EQ(refine(graphs).colours, (std::vector<Colour>{2, 0, 0, 1}));
  EXPECT_EQ(refine({}).classes, 0u);
}

TEST(ColourRefinement, TakesALongPathThroughHalfAMillionRounds) {
  const Node nodes = 1000000;
  const std::vector<Graph> graphs = {path(nodes)};
  const Colouring colouring = refine(graphs);
  EXPECT_EQ(colouring.rounds, nodes / 2 - 1);
  EXPECT_EQ(colouring.classes, nodes / 2);
  for (Node v = 0; v < nodes; v += 1009) EXPECT_EQ(colouring.colours[v], colouring.colours[nodes - 1 - v]);
}

TEST(ColourRefinement, IsNoSlowerForAHubThatEveryRoundTouches) {
  // A path with a hub joined to all its nodes, twice over so that the hubs are never singletons: each of the 50,000
  // rounds touches the hubs, and looking at all their neighbours each time would take 10^10 steps.
  const Node nodes = 100000;
  std::vector<Edge> edges;
  for (Node v = 0; v < nodes; ++v) {
    if (v + 1 < nodes) edges.emplace_back(v, v + 1);
    edges.emplace_back(v, nodes);
  }
  const std::vector<Graph> graphs(2, Graph::from_edges(nodes + 1, edges));
  const Colouring colouring = refine(graphs);
  EXPECT_EQ(colouring.classes, nodes / 2 + 1);
  EXPECT_TRUE(std::ranges::equal(colouring.of_graph(0), colouring.of_graph(1)));
}

TEST(ColourRefinement, GivesTheSameColoursOnAnyNumberOfThreads) {
  // Large enough that rounds are spread over threads: 60,000 nodes, 240,000 edges.
  Stream stream(derive_key(5, Purpose::test));
  std::set<Edge> edges;
  while (edges.size() < 240000) {
    const Node u = static_cast<Node>(stream.below(60000));
    const Node v = static_cast<Node>(stream.below(60000));
    if (u < v) edges.emplace(u, v);
  }
  const std::vector<Edge> list(edges.begin(), edges.end());
  const Graph graph = Graph::from_edges(60000, list);
  const std::vector<Node> permutation = random_permutation(60000, stream);
  const Colouring one = refine(std::vector<Graph>{graph});
  const Colouring four = refine(std::vector<Graph>{graph.relabelled(permutation)}, {.threads = 4});
  EXPECT_EQ(one.rounds, four.rounds);
  EXPECT_EQ(one.classes, four.classes);
  for (Node v = 0; v < 60000; ++v) ASSERT_EQ(one.colours[v], four.colours[permutation[v]]);
}

RC_GTEST_PROP(ColourRefinementProperty, EveryRoundIsTheDefinitions, ()) {
  Stream stream = chosen_stream();
  auto graphs = sample_pair(30, stream);
  graphs.push_back(random_graph(10, 0.3, 2, stream));
  const auto expected = reference::colour_refinement(graphs).rounds;
  const Colouring colouring = refine(graphs, {.keep_rounds = true});
  RC_ASSERT(colouring.history.size() == expected.size());
  for (std::size_t r = 0; r < expected.size(); ++r) {
    RC_ASSERT(reference::same_partition(colouring.history[r], expected[r]));
  }
}

RC_GTEST_PROP(ColourRefinementProperty, ColoursMoveWithTheNodes, ()) {
  Stream stream = chosen_stream();
  const auto graphs = sample_pair(30, stream);
  const auto first = random_permutation(graphs[0].num_nodes(), stream);
  const auto second = random_permutation(graphs[1].num_nodes(), stream);
  // Renamed, and the graphs in the other order.
  const std::vector<Graph> moved = {graphs[1].relabelled(second), graphs[0].relabelled(first)};
  const Colouring before = refine(graphs);
  const Colouring after = refine(moved);
  for (Node v = 0; v < graphs[0].num_nodes(); ++v) RC_ASSERT(before.of_graph(0)[v] == after.of_graph(1)[first[v]]);
  for (Node v = 0; v < graphs[1].num_nodes(); ++v) RC_ASSERT(before.of_graph(1)[v] == after.of_graph(0)[second[v]]);
}

RC_GTEST_PROP(ColourRefinementProperty, CollidingHashesChangeNothing, ()) {
  Stream stream = chosen_stream();
  const auto graphs = sample_pair(30, stream);
  const std::vector<const Graph*> pointers = {&graphs[0], &graphs[1]};
  ColourRefiner good(pointers);
  const auto expected = all_rounds(good);
  for (const std::uint64_t mask : {0ull, 1ull, 7ull}) {
    ColourRefiner poor(pointers, 1, mask);
    const auto rounds = all_rounds(poor);
    RC_ASSERT(rounds.size() == expected.size());
    for (std::size_t r = 0; r < rounds.size(); ++r) RC_ASSERT(reference::same_partition(rounds[r], expected[r]));
    RC_ASSERT(poor.told_apart() == good.told_apart());
  }
}

}  // namespace
}  // namespace tyche::wl
