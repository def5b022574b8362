#include "wl/set_compare.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "wl/sample_graphs.hpp"

namespace tyche::wl {
namespace {

TEST(SetCompare, OneTwoThreeWithEdgesCannotTellTheCoresOfExpApartButWithAllPairsItCan) {
  for (const Node n : {2u, 3u, 4u}) {
    const Graph a = exp_core(n, true), b = exp_core(n, false);
    EXPECT_FALSE(compare_sets(a, b, hierarchy(SetChoice::connected)).distinguished);
    const Comparison all = compare_sets(a, b, hierarchy(SetChoice::all));
    EXPECT_TRUE(all.distinguished);
    EXPECT_EQ(all, compare_sets(a, b, {{{2, SetChoice::all}}, true})) << "by the pairs";
    EXPECT_TRUE(compare_sets(a, b, {.levels = {{.k = 3}}}).distinguished);
    EXPECT_TRUE(compare_sets(a, b, {.levels = {{.k = 2}}}).distinguished);
  }
}

TEST(SetCompare, SaysTheRound) {
  // Two triangles and a hexagon: the types of triples differ before any round.
  const Graph triangles = disjoint_union(cycle(3), cycle(3));
  const Comparison triples = compare_sets(triangles, cycle(6), {.levels = {{.k = 3}}});
  EXPECT_TRUE(triples.distinguished);
  EXPECT_EQ(triples.round, 0u);
  // Pairs: nine at no distance seen by their type; those of a triangle have two neighbours that are edges.
  const Comparison pairs = compare_sets(triangles, cycle(6), {.levels = {{.k = 2}}});
  EXPECT_TRUE(pairs.distinguished);
  EXPECT_EQ(pairs.round, 1u);
  // Nodes alone see nothing.
  EXPECT_FALSE(compare_sets(triangles, cycle(6), {.levels = {{.k = 1}}}).distinguished);
}

RC_GTEST_PROP(SetCompare, OnNodesIsColourRefinement, ()) {
  Stream stream = chosen_stream();
  const std::vector<Graph> graphs = sample_pair(9, stream);
  const Comparison expected = compare(graphs[0], graphs[1], {.dim = 1});
  const Comparison answer = compare_sets(graphs[0], graphs[1], {.levels = {{.k = 1}}});
  RC_ASSERT(answer == expected);
}

RC_GTEST_PROP(SetCompare, NeverTellsIsomorphicGraphsApart, ()) {
  Stream stream = chosen_stream();
  const Graph graph = random_graph(static_cast<Node>(stream.below(9)), stream.uniform(), 2, stream);
  const Graph other = shuffled(graph, stream);
  for (const SetTest& test : {hierarchy(SetChoice::all), hierarchy(SetChoice::connected), SetTest{{{3, {}}}, false}}) {
    RC_ASSERT(!compare_sets(graph, other, test).distinguished);
  }
}

}  // namespace
}  // namespace tyche::wl
