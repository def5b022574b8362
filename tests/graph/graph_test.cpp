#include "graph/graph.hpp"

#include <gtest/gtest.h>

#include <algorithm>

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

Graph labelled_path_with_triangle() {
  const std::vector<Edge> edges = {{0, 1}, {2, 1}, {2, 3}, {3, 4}, {4, 2}};
  const std::vector<EdgeLabel> labels = {10, 21, 23, 34, 42};
  return Graph::from_edges(5, edges, {}, labels);
}

TEST(GraphEdgeLabels, AreTheSameOnBothArcsOfAnEdge) {
  const Graph g = labelled_path_with_triangle();
  EXPECT_EQ(g.edge_label(g.arc(2, 4)), 42u);
  EXPECT_EQ(g.edge_label(g.arc(4, 2)), 42u);
  EXPECT_EQ(g.edge_label(g.arc(1, 2)), 21u);
  EXPECT_EQ(g.labels_of_edges(), (std::vector<EdgeLabel>{10, 21, 23, 42, 34}));  // 01, 12, 23, 24, 34
  const std::vector<std::uint64_t> edge = g.edges_of_arcs();
  const std::vector<Edge> edges = g.edges();
  for (Node u = 0; u < g.num_nodes(); ++u) {
    for (const Node v : g.neighbours(u)) EXPECT_EQ(edges[edge[g.arc(u, v)]], Edge(std::min(u, v), std::max(u, v)));
  }
}

TEST(GraphEdgeLabels, ThatAreAllZeroAreNone) {
  const std::vector<EdgeLabel> zeros(5, 0);
  const Graph g = Graph::from_edges(5, path_with_triangle().edges(), {0, 1, 0, 1, 2}, zeros);
  EXPECT_FALSE(g.has_edge_labels());
  EXPECT_EQ(g, path_with_triangle());
  EXPECT_EQ(g.edge_label(3), 0u);
  EXPECT_THROW((void)Graph::from_edges(5, g.edges(), {}, std::vector<EdgeLabel>{1}), InputError);
}

TEST(GraphEdgeLabels, MoveWithTheirEdges) {
  const Graph g = labelled_path_with_triangle();
  const std::vector<Node> reversed = {4, 3, 2, 1, 0};
  const Graph h = g.relabelled(reversed);
  EXPECT_EQ(h.edge_label(h.arc(3, 4)), 10u);
  EXPECT_EQ(h.relabelled(reversed), g);
  const Graph both = disjoint_union(path_with_triangle(), g);
  EXPECT_EQ(both.edge_label(both.arc(1, 2)), 0u);
  EXPECT_EQ(both.edge_label(both.arc(9, 7)), 42u);
  const std::vector<Node> nodes = {4, 3, 1};
  const Graph sub = induced_subgraph(g, nodes);
  EXPECT_EQ(sub.labels_of_edges(), (std::vector<EdgeLabel>{34}));
}

}  // namespace
}  // namespace tyche
