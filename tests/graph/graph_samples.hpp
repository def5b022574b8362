#pragma once
/// Graphs that tests name, and rapidcheck's random ones.
#include <rapidcheck.h>

#include <vector>

#include "graph/graph.hpp"

namespace tyche {

inline Graph cycle(Node n) {
  std::vector<Edge> edges;
  for (Node v = 0; v < n; ++v) edges.emplace_back(v, (v + 1) % n);
  return Graph::from_edges(n, edges);
}

inline Graph path(Node n) {
  std::vector<Edge> edges;
  for (Node v = 0; v + 1 < n; ++v) edges.emplace_back(v, v + 1);
  return Graph::from_edges(n, edges);
}

inline Graph complete(Node n) {
  std::vector<Edge> edges;
  for (Node u = 0; u < n; ++u) {
    for (Node v = u + 1; v < n; ++v) edges.emplace_back(u, v);
  }
  return Graph::from_edges(n, edges);
}

inline Graph complete_bipartite(Node a, Node b) {
  std::vector<Edge> edges;
  for (Node u = 0; u < a; ++u) {
    for (Node v = 0; v < b; ++v) edges.emplace_back(u, a + v);
  }
  return Graph::from_edges(a + b, edges);
}

/// Random graphs of 0 to `most` nodes with types below `types`, of random density.
inline rc::Gen<Graph> graphs(int most, unsigned types) {
  return rc::gen::exec([most, types] {
    const auto n = static_cast<Node>(*rc::gen::inRange(0, most + 1));
    const int density = *rc::gen::inRange(0, 101);
    std::vector<Edge> edges;
    for (Node u = 0; u < n; ++u) {
      for (Node v = u + 1; v < n; ++v) {
        if (*rc::gen::inRange(0, 100) < density) edges.emplace_back(u, v);
      }
    }
    std::vector<NodeType> node_types(n);
    for (NodeType& t : node_types) t = static_cast<NodeType>(*rc::gen::inRange(0u, types));
    return Graph::from_edges(n, edges, node_types);
  });
}

}  // namespace tyche
