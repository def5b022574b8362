// Planarity, isomorphism and the encoding of formulas.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <numeric>

#include "graph/encoding.hpp"
#include "graph/graph_samples.hpp"
#include "graph/isomorphism.hpp"
#include "graph/planarity.hpp"
#include "support/error.hpp"
#include "support/random.hpp"

namespace tyche {
namespace {

TEST(Planarity, K4AndK23ArePlanarK5AndK33AreNot) {
  for (const Graph& g : {complete(4), complete_bipartite(2, 3), cycle(6)}) {
    const auto rotation = planar_embedding(g);
    ASSERT_TRUE(rotation);
    EXPECT_TRUE(is_planar_embedding(g, *rotation));
  }
  EXPECT_FALSE(planar_embedding(complete(5)));
  EXPECT_FALSE(planar_embedding(complete_bipartite(3, 3)));
}

TEST(Planarity, LoneNodesAndSeveralComponentsSatisfyEuler) {
  const Graph g = disjoint_union(disjoint_union(cycle(3), cycle(4)), Graph::from_edges(2, {}));
  const auto rotation = planar_embedding(g);
  ASSERT_TRUE(rotation);
  EXPECT_TRUE(is_planar_embedding(g, *rotation));
}

TEST(Planarity, TheCheckRefusesARotationOnTheTorus) {
  // K4 with one rotation turned over has genus 1; one that forgets a neighbour is no rotation at all.
  const Graph g = complete(4);
  Rotation rotation = *planar_embedding(g);
  std::swap(rotation[0][0], rotation[0][1]);
  EXPECT_FALSE(is_planar_embedding(g, rotation));
  rotation[0].pop_back();
  EXPECT_FALSE(is_planar_embedding(g, rotation));
}

RC_GTEST_PROP(Planarity, EveryEmbeddingPassesTheIndependentCheck, ()) {
  const Graph g = *graphs(9, 2);
  const auto rotation = planar_embedding(g);
  if (rotation) RC_ASSERT(is_planar_embedding(g, *rotation));
}

RC_GTEST_PROP(Isomorphism, FindsARelabelling, ()) {
  const Graph g = *graphs(9, 3);
  std::vector<Node> permutation(g.num_nodes());
  std::iota(permutation.begin(), permutation.end(), 0u);
  Stream stream(derive_key(*rc::gen::arbitrary<std::uint64_t>(), Purpose::test));
  shuffle(permutation, stream);
  const Graph h = g.relabelled(permutation);
  RC_ASSERT(canonical_form(g) == canonical_form(h));
  const auto map = isomorphism(g, h);
  RC_ASSERT(map.has_value());
  RC_ASSERT(g.relabelled(*map) == h);
}

TEST(Isomorphism, TellsTwoTrianglesFromAHexagonAndRespectsTypes) {
  EXPECT_FALSE(isomorphism(disjoint_union(cycle(3), cycle(3)), cycle(6)));
  const std::vector<Edge> edge = {{0, 1}};
  EXPECT_FALSE(isomorphism(Graph::from_edges(2, edge, {0, 1}), Graph::from_edges(2, edge, {0, 0})));
  EXPECT_TRUE(isomorphism(Graph::from_edges(2, edge, {0, 1}), Graph::from_edges(2, edge, {1, 0})));
}

TEST(Encoding, OfTwoDisjunctionsByHand) {
  const Graph g = encode(Formula{2, {{1, -2}, {-1}}});
  EXPECT_EQ(g.num_nodes(), 6u);
  EXPECT_EQ(g.edges(), (std::vector<Edge>{{0, 1}, {0, 4}, {1, 5}, {2, 3}, {3, 4}}));
  EXPECT_EQ(g.type(0), kLiteralType);
  EXPECT_EQ(g.type(5), kDisjunctionType);
  EXPECT_EQ(decode(g), (Formula{2, {{1, -2}, {-1}}}));
}

TEST(Encoding, DecodingDoesNotDependOnTheOrderOfNodes) {
  const Graph g = encode(Formula{2, {{1, -2}, {-1}}});
  const std::vector<Node> reversed = {5, 4, 3, 2, 1, 0};
  const Graph h = g.relabelled(reversed);
  EXPECT_TRUE(isomorphism(encode(decode(h)), g));
}

TEST(Encoding, SaysWhyAGraphIsNoFormula) {
  EXPECT_THROW((void)encode(Formula{1, {{1, 1}}}), InputError);
  EXPECT_THROW((void)decode(Graph::from_edges(1, {}, {1})), InputError);
  EXPECT_THROW((void)decode(Graph::from_edges(1, {}, {2})), InputError);
  const std::vector<Edge> edge = {{0, 1}};
  EXPECT_THROW((void)decode(Graph::from_edges(2, edge, {0, 0})), InputError);
}

}  // namespace
}  // namespace tyche
