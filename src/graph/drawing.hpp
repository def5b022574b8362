#pragma once
/// Where to draw the nodes of a graph.
///
///   const Drawing d = draw(graph);
///   d.points[v].x, d.points[v].y;           // 0 … d.width, 0 … d.height
///   if (d.planar) ...                       // no two edges cross
#include <vector>

#include "graph/graph.hpp"

namespace tyche {

struct Point {
  double x = 0;
  double y = 0;
};

struct Drawing {
  std::vector<Point> points;
  double width = 0;
  double height = 0;
  bool planar = false;  ///< the edges, drawn straight, do not cross
};

/// Straight-line drawing; edges are about 1 long. A planar component starts from Boost's Chrobak-Payne drawing of its
/// embedding and is evened out by springs that never make two edges cross; other components are drawn by the springs
/// alone. Components stand beside each other in the order of their smallest nodes; equal components are drawn equally.
/// A pure function of the graph. Meant for graphs people look at: time grows with nodes² and edges².
[[nodiscard]] Drawing draw(const Graph& graph);

}  // namespace tyche
