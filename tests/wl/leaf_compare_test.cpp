#include "wl/leaf_compare.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>

#include "graph/isomorphism.hpp"
#include "wl/sample_graphs.hpp"

namespace tyche::wl {
namespace {

Graph petersen() {
  std::vector<Edge> edges;
  for (Node v = 0; v < 5; ++v) {
    edges.emplace_back(v, (v + 1) % 5);
    edges.emplace_back(v, v + 5);
    edges.emplace_back(v + 5, (v + 2) % 5 + 5);
  }
  return Graph::from_edges(10, edges);
}

/// The formula graph of a Tseitin formula over K4, with even or odd charge: a variable per edge, and at each node the
/// four clauses that fix the parity of its three edges. 2-WL does not tell the two apart.
Graph tseitin(bool odd) {
  const std::array<Edge, 6> base = {{{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}}};
  std::vector<Edge> edges;
  for (Node x = 0; x < 6; ++x) edges.emplace_back(2 * x, 2 * x + 1);
  Node next = 12;
  for (Node v = 0; v < 4; ++v) {
    std::vector<Node> around;
    for (Node x = 0; x < 6; ++x) {
      if (base[x].first == v || base[x].second == v) around.push_back(x);
    }
    for (unsigned signs = 0; signs < 8; ++signs) {
      const bool parity = ((signs ^ (signs >> 1) ^ (signs >> 2)) & 1) != 0;
      if (parity != (odd && v == 0)) continue;
      for (unsigned i = 0; i < 3; ++i) edges.emplace_back(2 * around[i] + ((signs >> i) & 1), next);
      ++next;
    }
  }
  std::vector<NodeType> types(28, 0);
  std::fill(types.begin(), types.begin() + 12, 1);
  return Graph::from_edges(28, edges, types);
}

TEST(LeafCompare, TellsGraphsApartThatSmallTestsDoNot) {
  EXPECT_EQ(compare_leaves(rook(), shrikhande()).verdict, LeafVerdict::different);
  EXPECT_EQ(compare_leaves(tseitin(false), tseitin(true)).verdict, LeafVerdict::different);
  EXPECT_EQ(compare_leaves(disjoint_union(cycle(3), cycle(3)), cycle(6)).verdict, LeafVerdict::different);
  EXPECT_EQ(compare_leaves(exp_core(3, true), exp_core(3, false)).verdict, LeafVerdict::different);
}

TEST(LeafCompare, FindsTheLeafThatIsomorphicGraphsShare) {
  Stream stream(derive_key(1, Purpose::test));
  for (const Graph& graph : {petersen(), rook(), shrikhande(), tseitin(true), Graph(), path(1), cycle(200)}) {
    const LeafComparison answer = compare_leaves(shuffled(graph, stream), shuffled(graph, stream));
    EXPECT_EQ(answer.verdict, LeafVerdict::isomorphic);
    EXPECT_EQ(answer.draws, 0u);
  }
}

TEST(LeafCompare, DrawsWhereTheSearchIsTooLong) {
  Stream stream(derive_key(2, Purpose::test));
  PathOptions options;
  options.draws = 50;
  const LeafComparison same = compare_leaves(petersen(), shuffled(petersen(), stream), options, 0, 1, 0);
  EXPECT_EQ(same.verdict, LeafVerdict::isomorphic);  // one leaf up to renumbering
  EXPECT_EQ(same.draws, 50u);
  const LeafComparison other = compare_leaves(rook(), shrikhande(), options, 0, 1, 0);
  EXPECT_EQ(other.verdict, LeafVerdict::unknown);
  EXPECT_EQ(other.draws, 50u);
  // Twins by the thousand: the tree is hopeless, a draw is not.
  const Graph large = Graph::from_edges(30000, {});
  options.draws = 2;
  EXPECT_EQ(compare_leaves(large, large, options).verdict, LeafVerdict::isomorphic);
}

TEST(LeafCompare, ComparesWholeTreesToADepth) {
  PathOptions options;
  options.depth = 1;
  const Graph triangles = disjoint_union(cycle(3), cycle(3));
  EXPECT_EQ(compare_leaves(triangles, cycle(6), options).verdict, LeafVerdict::different);
  // All paths end in the same quotient, and no leaf is reached: nothing is proved.
  const LeafComparison alike = compare_leaves(rook(), rook(), options);
  EXPECT_EQ(alike.verdict, LeafVerdict::unknown);
  EXPECT_EQ(alike.draws, 0u);
  EXPECT_EQ(compare_leaves(path(6), path(6), options).verdict, LeafVerdict::isomorphic);
  // Too large to walk: drawn, and no draw is a leaf.
  options.tree.leaves = 3;
  EXPECT_EQ(compare_leaves(rook(), rook(), options).verdict, LeafVerdict::unknown);
  options.depth = 1000000;
  EXPECT_EQ(compare_leaves(rook(), shrikhande(), options).verdict, LeafVerdict::different);
}

RC_GTEST_PROP(LeafCompareProperty, AgreesWithBliss, ()) {
  Stream stream = chosen_stream();
  const auto graphs = sample_pair(16, stream);
  for (const Cell cell : {Cell::first_largest, Cell::first_smallest, Cell::first_non_singleton}) {
    PathOptions options;
    options.cell = cell;
    const LeafVerdict verdict = compare_leaves(graphs[0], graphs[1], options).verdict;
    const bool isomorphic = isomorphism(graphs[0], graphs[1]).has_value();
    RC_ASSERT(verdict == (isomorphic ? LeafVerdict::isomorphic : LeafVerdict::different));
  }
}

RC_GTEST_PROP(LeafCompareProperty, HoldsTheGraphInALeaf, ()) {
  Stream stream = chosen_stream();
  const Graph graph = sample_pair(16, stream)[0];
  const Path path = Individualiser(graph).draw({derive_key(1, Purpose::test), 0});
  const LeafGraph leaf = leaf_graph(graph, path);
  RC_ASSERT(leaf.discrete);
  std::vector<std::uint32_t> expected = {graph.num_nodes()};
  const Graph renumbered = graph.relabelled(path.ranks);
  for (Node v = 0; v < graph.num_nodes(); ++v) {
    expected.insert(expected.end(), {renumbered.type(v), 1, renumbered.degree(v)});
    for (const Node u : renumbered.neighbours(v)) expected.push_back(u);
  }
  RC_ASSERT(leaf.rows == expected);
}

TEST(LeafSurvey, CountsLeavesAndWalksTheTreeWhereItIsSmall) {
  const Survey one = survey(petersen(), 0, {.draws = 30});
  EXPECT_EQ(one.draws, 30u);
  EXPECT_EQ(one.distinct, 1u);
  EXPECT_EQ(one.discrete, 30u);
  ASSERT_TRUE(one.tree);
  EXPECT_EQ(one.tree->distinct, 1u);
  EXPECT_EQ(one.tree->leaves, 120u);  // no two leaves are equal, and the group of 120 automorphisms joins them all
  const Survey capped = survey(petersen(), 0, {.draws = 3, .tree = {.leaves = 119}});
  EXPECT_FALSE(capped.tree);
  const Survey shallow = survey(petersen(), 0, {.depth = 1, .draws = 5});
  EXPECT_EQ(shallow.discrete, 0u);
  EXPECT_EQ(shallow.most_depth, 1u);
  EXPECT_EQ(shallow.tree->leaves, 10u);
  const Survey nothing = survey(Graph(), 0, {.draws = 2});
  EXPECT_EQ(nothing.distinct, 1u);
  EXPECT_EQ(nothing.tree->leaves, 1u);
  // Two unlike parts: paths into either give two leaves.
  const Survey two = survey(disjoint_union(cycle(3), cycle(4)), 0, {.draws = 200});
  EXPECT_EQ(two.distinct, two.tree->distinct);
  EXPECT_GT(two.distinct, 1u);
}

}  // namespace
}  // namespace tyche::wl
