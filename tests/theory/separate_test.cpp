#include "theory/separate.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "datasets/exp.hpp"
#include "graph/encoding.hpp"
#include "support/error.hpp"
#include "theory/model_check.hpp"
#include "theory/syntax.hpp"

namespace tyche::theory {
namespace {

Graph cycles(const std::vector<Node>& lengths) {
  std::vector<Edge> edges;
  Node first = 0;
  for (const Node length : lengths) {
    for (Node i = 0; i < length; ++i) edges.emplace_back(first + i, first + (i + 1) % length);
    first += length;
  }
  return Graph::from_edges(first, edges);
}

/// Counts, by the model checker, the choices of leaders that make the pattern true.
std::uint64_t choices_by_model_checker(const Separation& s, const Graph& g) {
  std::uint64_t count = 0;
  std::vector<Node> chosen;
  const auto choose = [&](const auto& self) -> void {
    if (chosen.size() == s.leaders) {
      ColouredGraph marked(g, s.types + s.leaders);
      for (Node v = 0; v < g.num_nodes(); ++v) marked.set(v, g.type(v) + 1);
      for (std::uint32_t i = 0; i < s.leaders; ++i) marked.set(chosen[i], s.types + i + 1);
      count += holds(s.pool, s.pattern, marked) ? 1 : 0;
      return;
    }
    for (Node v = 0; v < g.num_nodes(); ++v) {
      if (std::find(chosen.begin(), chosen.end(), v) != chosen.end()) continue;
      chosen.push_back(v);
      self(self);
      chosen.pop_back();
    }
  };
  choose(choose);
  return count;
}

void expect_separated(const Graph& a, const Graph& b, std::uint32_t leaders, std::uint64_t trials) {
  const Separation s = separate(a, b);
  EXPECT_EQ(s.leaders, leaders);
  EXPECT_NE(s.true_on_a, s.true_on_b);
  EXPECT_EQ(choices_by_model_checker(s, a), s.true_on_a);
  EXPECT_EQ(choices_by_model_checker(s, b), s.true_on_b);
  const SeparationReport r = measure_separation(s, a, b, {.trials = trials, .seed = 3});
  EXPECT_LT(r.p_a_and_b, 1e-6);
  EXPECT_GT(r.p_a_and_relabelled, 0.001);
  // The chance of a 1 is the share of choices, less at most delta of it where leaders are not told apart.
  for (const auto& [counts, good] : {std::pair(r.a, s.true_on_a), std::pair(r.b, s.true_on_b)}) {
    const double share = static_cast<double>(good) / static_cast<double>(s.choices);
    const double tolerance = 4 * std::sqrt(0.25 / static_cast<double>(trials));
    EXPECT_LE(counts.mean(), share + tolerance);
    EXPECT_GE(counts.mean(), share * 0.95 - tolerance);
  }
}

TEST(Separate, TwoTrianglesAndAHexagon) {
  const Graph triangles = cycles({3, 3}), hexagon = cycles({6});
  const Separation s = separate(triangles, hexagon);
  EXPECT_FALSE(s.wl_round);
  EXPECT_EQ(s.pattern_text(),
            "exists x. (L1(x) & exists y. (E(x,y) & exists x. (E(y,x) & exists y. (E(x,y) & L1(y)))))");
  EXPECT_EQ(s.true_on_a, 6u);
  EXPECT_EQ(s.true_on_b, 0u);
  expect_separated(triangles, hexagon, 1, 2000);
}

TEST(Separate, TheGraphsOfThePapersFirstFigure) { expect_separated(cycles({3, 4}), cycles({7}), 1, 2000); }

TEST(Separate, EvenCyclesByBallsAroundTheLeader) {
  const Separation s = separate(cycles({4, 4}), cycles({8}));
  EXPECT_THAT(s.family, testing::HasSubstr("are within 2 steps of the leader"));
  expect_separated(cycles({4, 4}), cycles({8}), 1, 2000);
}

TEST(Separate, CoresOfAnExpPair) {
  const Graph sat = encode(datasets::sat_core(2)), unsat = encode(datasets::unsat_core(2));
  expect_separated(sat, unsat, 1, 2000);
}

TEST(Separate, StronglyRegularGraphsNeedTwoLeaders) {
  // The rook's graph on a 4 × 4 board and Shrikhande's graph: 16 nodes, 6 neighbours each, 2 common to any two nodes.
  std::vector<Edge> rook, shrikhande;
  for (Node u = 0; u < 16; ++u) {
    for (Node v = u + 1; v < 16; ++v) {
      const Node dx = (v % 4 + 4 - u % 4) % 4, dy = (v / 4 + 4 - u / 4) % 4;
      if (dx == 0 || dy == 0) rook.emplace_back(u, v);
      const bool step =
          (dx == 0 && (dy == 1 || dy == 3)) || (dy == 0 && (dx == 1 || dx == 3)) || (dx == dy && (dx == 1 || dx == 3));
      if (step) shrikhande.emplace_back(u, v);
    }
  }
  const Graph a = Graph::from_edges(16, rook), b = Graph::from_edges(16, shrikhande);
  ASSERT_EQ(a.num_edges(), 48u);
  ASSERT_EQ(b.num_edges(), 48u);
  expect_separated(a, b, 2, 1000);
}

TEST(Separate, GraphsThat1WlTellsApartNeedNoRandomNumbers) {
  const Separation s = separate(cycles({3, 4}), cycles({3, 3}));
  EXPECT_TRUE(s.wl_round);
  EXPECT_EQ(s.leaders, 0u);
  const SeparationReport r = measure_separation(s, cycles({3, 4}), cycles({3, 3}), {.trials = 20});
  EXPECT_EQ(r.a.ones + r.b.ones, 20u);
}

TEST(Separate, IsomorphicGraphsCannotBe) {
  const std::vector<Node> turned = {3, 1, 5, 0, 2, 4};
  EXPECT_THROW((void)separate(cycles({6}), cycles({6}).relabelled(turned)), InputError);
  EXPECT_THROW((void)separate(Graph(), cycles({3})), InputError);
}

TEST(Separate, TheSameSeedGivesTheSameCountsOnAnyNumberOfThreads) {
  const Separation s = separate(cycles({3, 4}), cycles({7}));
  const SeparationReport one = measure_separation(s, cycles({3, 4}), cycles({7}), {.trials = 1000, .threads = 1});
  const SeparationReport four = measure_separation(s, cycles({3, 4}), cycles({7}), {.trials = 1000, .threads = 4});
  EXPECT_EQ(one.a.ones, four.a.ones);
  EXPECT_EQ(one.relabelled_a.ones, four.relabelled_a.ones);
}

}  // namespace
}  // namespace tyche::theory
