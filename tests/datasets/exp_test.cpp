#include "datasets/exp.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "datasets/planar_draw.hpp"
#include "datasets/recipe.hpp"
#include "graph/encoding.hpp"
#include "graph/isomorphism.hpp"
#include "logic/sat.hpp"
#include "support/error.hpp"
#include "wl/wl.hpp"

namespace tyche::datasets {
namespace {

TEST(Cores, OfTwoAreTheFormulasOfThePapersFigure) {
  EXPECT_EQ(unsat_core(2), (Formula{4, {{-1, 2}, {-2, 3}, {-3, 4}, {-4, 1}, {1, 4}, {-1, -4}, {2, 3}, {-2, -3}}}));
  EXPECT_EQ(sat_core(2), (Formula{4, {{-1, 2}, {-2, 1}, {3, -4}, {4, -3}, {1, 4}, {-1, -4}, {2, 3}, {-2, -3}}}));
}

TEST(Cores, DifferInSatisfiabilityAloneAsFarAs1WLCanSee) {
  for (std::uint32_t n = 2; n <= 6; ++n) {
    EXPECT_FALSE(satisfiable_exhaustively(unsat_core(n)));
    EXPECT_TRUE(satisfiable_exhaustively(sat_core(n)));
    EXPECT_EQ(unsat_core(n).disjunctions.size(), 4 * n);
    const Graph a = encode(sat_core(n));
    const Graph b = encode(unsat_core(n));
    EXPECT_FALSE(wl::compare(a, b, {.dim = 1}).distinguished);
    EXPECT_TRUE(wl::compare(a, b, {.dim = 2}).distinguished);
    EXPECT_TRUE(planar_embedding(a));
    EXPECT_TRUE(planar_embedding(b));
    EXPECT_FALSE(isomorphism(a, b));
  }
  EXPECT_THROW((void)unsat_core(1), InputError);
}

PlaneGraph star_of_paths(Node width) {  // K_{2,width}: two disjunctions over `width` variables
  std::vector<Edge> edges;
  for (Node v = 0; v < width; ++v) {
    edges.emplace_back(0, 2 + v);
    edges.emplace_back(1, 2 + v);
  }
  Graph graph = Graph::from_edges(width + 2, edges);
  Rotation rotation = *planar_embedding(graph);
  return {std::move(graph), std::move(rotation)};
}

TEST(PlanarPart, SplitsWideDisjunctionsAndKeepsItsPromises) {
  int parts = 0;
  for (std::uint32_t i = 0; i < 300; ++i) {
    Stream stream(derive_key(3, Purpose::test, i));
    const auto part = planar_part(star_of_paths(8), stream);
    if (!part) continue;
    ++parts;
    EXPECT_EQ(part->variables, 8u);
    EXPECT_EQ(part->disjunctions.size(), 4u);  // twice 8 = 4 + 4
    for (const Disjunction& d : part->disjunctions) EXPECT_EQ(d.size(), 4u);
    EXPECT_TRUE(satisfiable(*part));
    EXPECT_TRUE(planar_embedding(encode(*part)));
    EXPECT_TRUE(bridges(incidence_graph(*part)).empty());
    EXPECT_EQ(connected_components(incidence_graph(*part)).count, 1u);
  }
  EXPECT_GT(parts, 0);
}

TEST(PlanarPart, MergesEqualDisjunctions) {
  // The four-cycle: two disjunctions over two variables; merged ones would leave bridges, so every part has two
  // different ones.
  std::set<std::size_t> counts;
  for (std::uint32_t i = 0; i < 100; ++i) {
    Stream stream(derive_key(4, Purpose::test, i));
    if (const auto part = planar_part(star_of_paths(2), stream)) counts.insert(part->disjunctions.size());
  }
  EXPECT_EQ(counts, std::set<std::size_t>{2});
}

TEST(ExpPair, IsAFunctionOfSeedAndIndex) {
  ExpParameters p;
  EXPECT_EQ(make_pair(p, 17).sat, make_pair(p, 17).sat);
  EXPECT_NE(make_pair(p, 17).sat, make_pair(p, 18).sat);
  ExpParameters other = p;
  other.seed = 2;
  EXPECT_NE(make_pair(p, 17).sat, make_pair(other, 17).sat);
}

TEST(ExpPair, SharesThePlanarPartAndDiffersInTheCore) {
  ExpParameters p;
  std::set<std::uint32_t> cores;
  for (std::uint64_t i = 0; i < 30; ++i) {
    const ExpPair pair = make_pair(p, i);
    cores.insert(pair.core);
    ASSERT_EQ(pair.sat.variables, pair.unsat.variables);
    ASSERT_EQ(pair.sat.disjunctions.size(), pair.unsat.disjunctions.size());
    for (std::size_t d = 4 * pair.core; d < pair.sat.disjunctions.size(); ++d) {
      EXPECT_EQ(pair.sat.disjunctions[d], pair.unsat.disjunctions[d]);
    }
    EXPECT_TRUE(satisfiable(pair.sat));
    EXPECT_FALSE(satisfiable(pair.unsat));
  }
  EXPECT_EQ(cores, (std::set<std::uint32_t>{2, 3, 4}));
}

TEST(CexpPair, HalfOfEveryTwoPairsIsCorruptAndItsAddedLiteralsAreNeeded) {
  ExpParameters p;
  p.kind = Kind::cexp;
  for (std::uint64_t i = 0; i < 20; i += 2) {
    const ExpPair a = make_pair(p, i);
    const ExpPair b = make_pair(p, i + 1);
    ASSERT_NE(a.subset, b.subset);
    const ExpPair& c = a.subset == Subset::corrupt ? a : b;
    EXPECT_TRUE(satisfiable(c.sat));
    EXPECT_FALSE(satisfiable(c.unsat));
    EXPECT_GE(c.added, 1u);
    std::uint32_t longer = 0;
    for (std::size_t d = 0; d < c.sat.disjunctions.size(); ++d) {
      EXPECT_LE(c.sat.disjunctions[d].size(), kMaxWidth);
      longer += static_cast<std::uint32_t>(c.sat.disjunctions[d].size() - c.unsat.disjunctions[d].size());
    }
    EXPECT_EQ(longer, c.added);
  }
}

TEST(ExpParameters, PlanarSizesParseAndRefuse) {
  EXPECT_EQ(planar_sizes_text(parse_planar_sizes("12:5,15:1")), "12:5,15:1");
  for (const char* bad : {"", "12", "12:", ":5", "12:5,", "a:b", "12:5;15:1", "-4:1"}) {
    EXPECT_THROW((void)parse_planar_sizes(bad), InputError) << bad;
  }
  ExpParameters p;
  p.planar_sizes = {{3, 1}};
  EXPECT_THROW(check(p), InputError);
  p.planar_sizes = {{12, 0}};
  EXPECT_THROW(check(p), InputError);
  p = {};
  p.core_min = 1;
  EXPECT_THROW(check(p), InputError);
}

TEST(ExpPair, TakesPlanarGraphsFromASourceInTurn) {
  ExpParameters p;
  p.planar_source = {star_of_paths(4), star_of_paths(5)};
  EXPECT_EQ(make_pair(p, 0).sat.variables - 2 * make_pair(p, 0).core, 4u);
  EXPECT_EQ(make_pair(p, 1).sat.variables - 2 * make_pair(p, 1).core, 5u);
}

}  // namespace
}  // namespace tyche::datasets
