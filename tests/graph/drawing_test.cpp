#include "graph/drawing.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "datasets/exp.hpp"
#include "graph/encoding.hpp"

namespace tyche {
namespace {

Graph cycle(Node n) {
  std::vector<Edge> edges;
  for (Node v = 0; v < n; ++v) edges.emplace_back(v, (v + 1) % n);
  return Graph::from_edges(n, edges);
}

Graph complete(Node n) {
  std::vector<Edge> edges;
  for (Node u = 0; u < n; ++u) {
    for (Node v = u + 1; v < n; ++v) edges.emplace_back(u, v);
  }
  return Graph::from_edges(n, edges);
}

double distance(const Point& a, const Point& b) { return std::hypot(a.x - b.x, a.y - b.y); }

/// Whether any two edges, drawn straight, cross or touch other than in a shared end. Shares no code with draw().
bool has_crossing(const Graph& graph, const std::vector<Point>& points) {
  // By orientation of exact differences: a proper crossing, or an end on another edge.
  const auto orientation = [&](Node a, Node b, Node c) {
    const long double value = (static_cast<long double>(points[b].x) - points[a].x) * (points[c].y - points[a].y) -
                              (static_cast<long double>(points[b].y) - points[a].y) * (points[c].x - points[a].x);
    return value > 0 ? 1 : value < 0 ? -1 : 0;
  };
  const std::vector<Edge> edges = graph.edges();
  for (std::size_t i = 0; i < edges.size(); ++i) {
    for (std::size_t j = i + 1; j < edges.size(); ++j) {
      const auto [a, b] = edges[i];
      const auto [c, d] = edges[j];
      if (a == c || a == d || b == c || b == d) continue;
      if (orientation(a, b, c) != orientation(a, b, d) && orientation(c, d, a) != orientation(c, d, b)) return true;
    }
  }
  return false;
}

}  // namespace

TEST(HasCrossing, SeesTheCrossingOfASquareDrawnAsABowTie) {
  const Graph square = cycle(4);
  EXPECT_FALSE(has_crossing(square, {{0, 0}, {1, 0}, {1, 1}, {0, 1}}));
  EXPECT_TRUE(has_crossing(square, {{0, 0}, {1, 1}, {1, 0}, {0, 1}}));
}

TEST(HasCrossing, SeesAnEndThatLiesOnAnotherEdge) {
  const std::vector<Edge> edges = {{0, 1}, {2, 3}};
  EXPECT_TRUE(has_crossing(Graph::from_edges(4, edges), {{0, 0}, {2, 0}, {1, 0}, {1, 1}}));
}

TEST(Draw, PlanarGraphsHaveNoCrossings) {
  for (const Graph& graph : {cycle(3), cycle(12), complete(4), disjoint_union(cycle(5), cycle(6))}) {
    const Drawing drawing = draw(graph);
    EXPECT_TRUE(drawing.planar);
    EXPECT_FALSE(has_crossing(graph, drawing.points));
  }
}

TEST(Draw, PairsOfExpHaveNoCrossingsAndNoNodesOnTopOfEachOther) {
  datasets::ExpParameters parameters;
  for (std::uint64_t i = 0; i < 6; ++i) {
    const datasets::ExpPair pair = datasets::make_pair(parameters, i);
    for (const Formula& formula : {pair.sat, pair.unsat}) {
      const Graph graph = encode(formula);
      const Drawing drawing = draw(graph);
      ASSERT_TRUE(drawing.planar);
      EXPECT_FALSE(has_crossing(graph, drawing.points));
      double nearest = 1e9;
      for (Node u = 0; u < graph.num_nodes(); ++u) {
        for (Node v = u + 1; v < graph.num_nodes(); ++v) {
          nearest = std::min(nearest, distance(drawing.points[u], drawing.points[v]));
        }
      }
      EXPECT_GT(nearest, 0.3) << "pair " << i;
    }
  }
}

TEST(Draw, StaysWithinItsWidthAndHeightAndIsTheSameEachTime) {
  const Graph graph = disjoint_union(cycle(7), complete(4));
  const Drawing drawing = draw(graph);
  for (const Point& p : drawing.points) {
    EXPECT_GE(p.x, -1e-9);
    EXPECT_GE(p.y, -1e-9);
    EXPECT_LE(p.x, drawing.width + 1e-9);
    EXPECT_LE(p.y, drawing.height + 1e-9);
  }
  const Drawing again = draw(graph);
  for (std::size_t v = 0; v < drawing.points.size(); ++v) EXPECT_EQ(distance(drawing.points[v], again.points[v]), 0);
}

TEST(Draw, TheCompleteGraphOnFiveNodesIsDrawnButNotCalledPlanar) {
  const Drawing drawing = draw(complete(5));
  EXPECT_FALSE(drawing.planar);
  for (const Point& p : drawing.points) EXPECT_TRUE(std::isfinite(p.x) && std::isfinite(p.y));
}

TEST(Draw, SmallestGraphs) {
  EXPECT_TRUE(draw(Graph()).points.empty());
  EXPECT_EQ(draw(Graph::from_edges(1, {})).points.size(), 1u);
  const std::vector<Edge> edge = {{0, 1}};
  const Drawing two = draw(Graph::from_edges(3, edge));
  EXPECT_GT(distance(two.points[0], two.points[1]), 0.5);
  EXPECT_GT(distance(two.points[1], two.points[2]), 0.5);
}

}  // namespace tyche
