#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "support/error.hpp"
#include "wl/reference.hpp"
#include "wl/sample_graphs.hpp"
#include "wl/wl.hpp"

namespace tyche::wl {
namespace {

TEST(Compare, ColourRefinementCannotTellTwoTrianglesFromAHexagon) {
  const Graph triangles = disjoint_union(cycle(3), cycle(3));
  const Comparison one = compare(triangles, cycle(6));
  EXPECT_FALSE(one.distinguished);
  EXPECT_EQ(one.round, std::nullopt);
  EXPECT_EQ(one.stable_after, 0u);
  EXPECT_EQ(one.classes, 1u);
}

TEST(Compare, TwoWlTellsTwoTrianglesFromAHexagonInOneRound) {
  // Adjacent nodes have a common neighbour in a triangle and none in a hexagon. The hexagon then has distances 0 to 3,
  // the triangles 0, 1 and infinity, and the pairs at distance 0, too, differ in what surrounds them: seven classes.
  const Comparison two = compare(disjoint_union(cycle(3), cycle(3)), cycle(6), {.dim = 2});
  EXPECT_TRUE(two.distinguished);
  EXPECT_EQ(two.round, 1u);
  EXPECT_EQ(two.classes, 7u);
}

TEST(Compare, TwoWlCannotTellTheRooksGraphFromTheShrikhandeGraph) {
  const Comparison two = compare(rook(), shrikhande(), {.dim = 2});
  EXPECT_FALSE(two.distinguished);
  EXPECT_EQ(two.round, std::nullopt);
  EXPECT_EQ(two.stable_after, 0u);  // strongly regular: equal, adjacent and apart is all there is
  EXPECT_EQ(two.classes, 3u);
}

TEST(Compare, ThreeWlTellsTheRooksGraphFromTheShrikhandeGraphInOneRound) {
  // A triangle of the rook's graph lies in a clique of four, one of the Shrikhande graph does not.
  const Comparison three = compare(rook(), shrikhande(), {.dim = 3});
  EXPECT_TRUE(three.distinguished);
  EXPECT_EQ(three.round, 1u);
}

TEST(Compare, TellsTheCoresOfExpApartWithTwoWlAndNotWithOne) {
  for (const Node n : {2u, 3u, 4u}) {
    const Graph sat = exp_core(n, true);
    const Graph unsat = exp_core(n, false);
    const Comparison one = compare(sat, unsat, {.dim = 1});
    EXPECT_FALSE(one.distinguished) << n;
    EXPECT_EQ(one.classes, 2u) << n;  // every literal is in two disjunctions, every disjunction has two literals
    const Comparison two = compare(sat, unsat, {.dim = 2});
    EXPECT_TRUE(two.distinguished) << n;
    EXPECT_TRUE(compare(sat, unsat, {.dim = 3}).distinguished) << n;
  }
}

TEST(Compare, FindsTheRoundAtWhichPathsAndCyclesComeApart) {
  // The path's ends have degree 1: told apart at round 1. Then every round tells the nodes one step further in from the
  // cycle's, the middle (4 steps from either end) at round 5.
  const Comparison one = compare(path(9), cycle(9));
  EXPECT_EQ(one.round, 1u);
  EXPECT_EQ(one.stable_after, 5u);
  EXPECT_EQ(one.classes, 6u);  // five distances to the nearest end, and the cycle's nodes
}

TEST(Compare, CountsRoundsUntilTheDifferenceHasArrived) {
  // The node of type 7 has degree 1 in one graph and 2 in the other.
  const std::vector<Edge> edges = {{0, 1}, {1, 2}, {2, 3}};
  const Graph at_the_end = Graph::from_edges(4, edges, {7, 0, 0, 0});
  const Graph inside = Graph::from_edges(4, edges, {0, 7, 0, 0});
  EXPECT_EQ(compare(at_the_end, inside).round, 1u);
  // Two paths of 9 against paths of 8 and 10. Either side has four nodes at each distance 0 to 3 from an end, and two
  // nodes left that round 4 has told from those. The neighbours of the two are at distance 3 in the paths of 9, while
  // in the path of 10 they are each other's neighbours: round 5 sees it.
  const Comparison paths = compare(disjoint_union(path(9), path(9)), disjoint_union(path(8), path(10)));
  EXPECT_EQ(paths.round, 5u);
}

TEST(Compare, TellsDifferentTypesAndSizesApartAtRoundZero) {
  for (const unsigned dim : {1u, 2u, 3u}) {
    const Graph typed = Graph::from_edges(3, std::vector<Edge>{{0, 1}}, {5, 5, 6});
    const Graph other = Graph::from_edges(3, std::vector<Edge>{{0, 1}}, {5, 6, 6});
    EXPECT_EQ(compare(typed, other, {.dim = dim}).round, 0u);
    EXPECT_EQ(compare(cycle(5), cycle(6), {.dim = dim}).round, 0u);
    EXPECT_EQ(compare(Graph(), path(1), {.dim = dim}).round, 0u);
    const Comparison nothing = compare(Graph(), Graph(), {.dim = dim});
    EXPECT_FALSE(nothing.distinguished);
    EXPECT_EQ(nothing.classes, 0u);
    EXPECT_FALSE(compare(path(1), path(1), {.dim = dim}).distinguished);
  }
}

TEST(Compare, StopsAtTheFirstDifferenceWhenAsked) {
  const Comparison whole = compare(path(40), cycle(40));
  const Comparison early = compare(path(40), cycle(40), {.stop_when_distinguished = true});
  EXPECT_EQ(whole.round, early.round);
  EXPECT_EQ(whole.stable_after, 20u);
  EXPECT_EQ(early.stable_after, std::nullopt);
  EXPECT_LT(early.classes, whole.classes);
  const Comparison equal = compare(path(40), path(40), {.stop_when_distinguished = true});
  EXPECT_EQ(equal.stable_after, 19u);
}

TEST(Compare, RefusesOtherDimensions) {
  for (const unsigned dim : {0u, 4u}) {
    try {
      (void)compare(cycle(3), cycle(3), {.dim = dim});
      FAIL() << dim;
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr(std::to_string(dim)));
    }
  }
}

TEST(Compare, SaysWhatMemoryItWouldNeed) {
  const Options tight{.dim = 3, .memory_limit = 1000000};
  EXPECT_TRUE(compare(cycle(9), path(9), tight).distinguished);
  try {
    (void)compare(path(200), path(200), tight);
    FAIL();
  } catch (const InputError& error) {
    const double needed = memory_needed(3, std::vector<Node>{200, 200});
    EXPECT_GE(needed, 40.0 * 2 * 200 * 200 * 200);
    EXPECT_THAT(error.what(), testing::HasSubstr("3-WL"));
    EXPECT_THAT(error.what(), testing::HasSubstr("200 nodes"));
    EXPECT_THAT(error.what(), testing::HasSubstr(std::to_string(static_cast<std::uint64_t>(needed)) + " bytes"));
    EXPECT_THAT(error.what(), testing::HasSubstr("1000000 bytes"));
  }
  // No machine has room for this one, and its tuples cannot be numbered either.
  EXPECT_THROW((void)compare(path(2000000), path(2000000), {.dim = 3}), InputError);
  EXPECT_THROW((void)compare(path(2000000), path(2000000), {.dim = 2, .memory_limit = ~0ull}), InputError);
}

TEST(ComparePairs, ComparesEveryTwoGraphsInARow) {
  const std::vector<Graph> graphs = {cycle(6),    disjoint_union(cycle(3), cycle(3)), path(9), cycle(9), rook(),
                                     shrikhande()};
  for (const unsigned dim : {1u, 2u, 3u}) {
    // On one thread, on several, and on several with memory for one pair at a time.
    const double one_pair = memory_needed(dim, std::vector<Node>{16, 16});
    for (const Options& options :
         {Options{.dim = dim}, Options{.dim = dim, .threads = 3},
          Options{.dim = dim, .threads = 3, .memory_limit = static_cast<std::uint64_t>(one_pair)}}) {
      const auto answers = compare_pairs(graphs, options);
      ASSERT_EQ(answers.size(), 3u);
      for (std::size_t i = 0; i < 3; ++i)
        EXPECT_EQ(answers[i], compare(graphs[2 * i], graphs[2 * i + 1], {.dim = dim}));
    }
  }
  EXPECT_TRUE(compare_pairs({}).empty());
  EXPECT_THROW((void)compare_pairs(std::span(graphs).first(3)), InputError);
}

TEST(Group, DoesNotDependOnThreads) {
  // Enough tuples for threads to be used: 60 graphs of 30 nodes, every second one a renamed copy of the one before.
  Stream stream(derive_key(8, Purpose::test));
  std::vector<Graph> graphs;
  for (int i = 0; i < 30; ++i) {
    graphs.push_back(random_graph(30, 0.1, 2, stream));
    graphs.push_back(shuffled(graphs.back(), stream));
  }
  const Grouping one = group(graphs, {.dim = 2});
  const Grouping four = group(graphs, {.dim = 2, .threads = 4});
  EXPECT_EQ(one.groups, 30u);
  EXPECT_EQ(one.group, four.group);
  EXPECT_EQ(one.classes, four.classes);
  EXPECT_EQ(one.stable_after, four.stable_after);
}

TEST(Group, BringsEquivalentGraphsTogether) {
  const std::vector<Graph> graphs = {cycle(6), path(6), disjoint_union(cycle(3), cycle(3)), path(5), cycle(6)};
  const Grouping one = group(graphs);
  EXPECT_EQ(one.group, (std::vector<std::uint32_t>{0, 1, 0, 2, 0}));
  EXPECT_EQ(one.groups, 3u);
  const Grouping two = group(graphs, {.dim = 2});
  EXPECT_EQ(two.group, (std::vector<std::uint32_t>{0, 1, 2, 3, 0}));
  EXPECT_EQ(group(graphs, {.dim = 3}).group, two.group);
  EXPECT_EQ(group({}).groups, 0u);
  EXPECT_EQ(group({}, {.dim = 2}).groups, 0u);
}

RC_GTEST_PROP(CompareProperty, AgreesWithTheDefinition, ()) {
  Stream stream = chosen_stream();
  const auto small = sample_pair(7, stream);
  RC_ASSERT(compare(small[0], small[1]) == reference::compare(reference::colour_refinement(small)));
  for (const unsigned dim : {2u, 3u}) {
    RC_ASSERT(compare(small[0], small[1], {.dim = dim}) == reference::compare(reference::folklore(small, dim)));
  }
  const auto large = sample_pair(40, stream);
  RC_ASSERT(compare(large[0], large[1]) == reference::compare(reference::colour_refinement(large)));
}

RC_GTEST_PROP(CompareProperty, HigherDimensionsTellApartWhatLowerOnesDo, ()) {
  Stream stream = chosen_stream();
  const auto pair = sample_pair(10, stream);
  const bool one = compare(pair[0], pair[1], {.dim = 1}).distinguished;
  const bool two = compare(pair[0], pair[1], {.dim = 2}).distinguished;
  const bool three = compare(pair[0], pair[1], {.dim = 3}).distinguished;
  RC_ASSERT(one <= two);
  RC_ASSERT(two <= three);
}

RC_GTEST_PROP(CompareProperty, DoesNotDependOnNumberingOrderOrThreads, ()) {
  Stream stream = chosen_stream();
  const auto pair = sample_pair(12, stream);
  for (const unsigned dim : {1u, 2u, 3u}) {
    const Comparison answer = compare(pair[0], pair[1], {.dim = dim});
    RC_ASSERT(answer == compare(pair[1], pair[0], {.dim = dim}));
    RC_ASSERT(answer == compare(shuffled(pair[0], stream), shuffled(pair[1], stream), {.dim = dim, .threads = 3}));
    RC_ASSERT(!compare(pair[0], shuffled(pair[0], stream), {.dim = dim}).distinguished);
    const Comparison early = compare(pair[0], pair[1], {.dim = dim, .stop_when_distinguished = true});
    RC_ASSERT(early.round == answer.round);
  }
}

}  // namespace
}  // namespace tyche::wl
