#include "graph/graph.hpp"

#include <gtest/gtest.h>

#include "support/error.hpp"

namespace tyche {
namespace {

Graph path_with_triangle() {  // 0-1-2-3, 3-4, 4-2
  const std::vector<Edge> edges = {{0, 1}, {2, 1}, {2, 3}, {3, 4}, {4, 2}};
  return Graph::from_edges(5, edges, {0, 1, 0, 1, 2});
}

TEST(Graph, KeepsNeighboursAscendingInBothDirections) {
  const Graph g = path_with_triangle();
  EXPECT_EQ(g.num_nodes(), 5u);
  EXPECT_EQ(g.num_edges(), 5u);
  EXPECT_EQ(std::vector<Node>(g.neighbours(2).begin(), g.neighbours(2).end()), (std::vector<Node>{1, 3, 4}));
  EXPECT_TRUE(g.has_edge(4, 2));
  EXPECT_FALSE(g.has_edge(0, 2));
  EXPECT_EQ(g.type(4), 2u);
}

TEST(Graph, RefusesLoopsRepeatsStrangersAndWrongTypes) {
  EXPECT_THROW((void)Graph::from_edges(2, std::vector<Edge>{{0, 0}}), InputError);
  EXPECT_THROW((void)Graph::from_edges(2, std::vector<Edge>{{0, 1}, {1, 0}}), InputError);
  EXPECT_THROW((void)Graph::from_edges(2, std::vector<Edge>{{0, 2}}), InputError);
  EXPECT_THROW((void)Graph::from_edges(2, std::vector<Edge>{}, {1}), InputError);
}

TEST(Graph, FindsTheBridgesOfAPathIntoATriangle) {
  EXPECT_EQ(bridges(path_with_triangle()), (std::vector<Edge>{{0, 1}, {1, 2}}));
}

TEST(Graph, NumbersComponentsByTheirSmallestNode) {
  const Graph two = disjoint_union(path_with_triangle(), path_with_triangle());
  const Components components = connected_components(two);
  EXPECT_EQ(components.count, 2u);
  EXPECT_EQ(components.of_node[0], 0u);
  EXPECT_EQ(components.of_node[9], 1u);
  EXPECT_EQ(bridges(two).size(), 4u);
}

TEST(Graph, RelabellingMovesTypesAndEdgesTogether) {
  const Graph g = path_with_triangle();
  const std::vector<Node> reversed = {4, 3, 2, 1, 0};
  const Graph h = g.relabelled(reversed);
  EXPECT_EQ(h.type(0), 2u);
  EXPECT_TRUE(h.has_edge(0, 2));
  EXPECT_EQ(h.relabelled(reversed), g);
}

TEST(Graph, InducedSubgraphFollowsTheGivenOrder) {
  const std::vector<Node> nodes = {4, 3, 1};
  const Graph sub = induced_subgraph(path_with_triangle(), nodes);
  EXPECT_EQ(sub.num_edges(), 1u);
  EXPECT_TRUE(sub.has_edge(0, 1));
  EXPECT_EQ(sub.type(0), 2u);
}

}  // namespace
}  // namespace tyche
