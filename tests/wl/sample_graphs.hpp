#pragma once
/// Graphs a person can check by hand, and random ones, for the tests of wl/.
#include <rapidcheck.h>

#include <numeric>
#include <vector>

#include "graph/graph.hpp"
#include "support/random.hpp"

namespace tyche::wl {

inline Graph path(Node nodes) {
  std::vector<Edge> edges;
  for (Node v = 0; v + 1 < nodes; ++v) edges.emplace_back(v, v + 1);
  return Graph::from_edges(nodes, edges);
}

inline Graph cycle(Node nodes) {
  std::vector<Edge> edges;
  for (Node v = 0; v < nodes; ++v) edges.emplace_back(v, (v + 1) % nodes);
  return Graph::from_edges(nodes, edges);
}

inline Graph two_triangles() { return disjoint_union(cycle(3), cycle(3)); }

/// The Cayley graph of Z4 x Z4 with the given steps (which must be closed under negation).
inline Graph torus_graph(const std::vector<std::pair<Node, Node>>& steps) {
  std::vector<Edge> edges;
  for (Node v = 0; v < 16; ++v) {
    for (const auto& [dx, dy] : steps) {
      const Node u = (v / 4 + dx) % 4 * 4 + (v % 4 + dy) % 4;
      if (v < u) edges.emplace_back(v, u);
    }
  }
  return Graph::from_edges(16, edges);
}

/// The 4x4 rook's graph and the Shrikhande graph: strongly regular with equal parameters (16, 6, 2, 2), and not
/// isomorphic: the neighbours of a node form two triangles in one, a hexagon in the other.
inline Graph rook() { return torus_graph({{1, 0}, {2, 0}, {3, 0}, {0, 1}, {0, 2}, {0, 3}}); }
inline Graph shrikhande() { return torus_graph({{1, 0}, {3, 0}, {0, 1}, {0, 3}, {1, 1}, {3, 3}}); }

/// A core of EXP (spec of the data): variables x_0 … x_{2n-1} as literal nodes 2i (x_i) and 2i + 1 (not x_i), type 1,
/// joined in pairs; a node of type 0 for every disjunction.
inline Graph exp_core(Node n, bool satisfiable) {
  std::vector<Edge> disjunctions;  // literal, literal
  const auto positive = [](Node variable) { return 2 * variable; };
  const auto negative = [](Node variable) { return 2 * variable + 1; };
  if (satisfiable) {
    for (Node k = 0; k < n; ++k) disjunctions.emplace_back(negative(k), positive((k + 1) % n));
    for (Node k = n; k < 2 * n; ++k) disjunctions.emplace_back(positive(k), negative(n + (k - n + 1) % n));
  } else {
    for (Node k = 0; k < 2 * n; ++k) disjunctions.emplace_back(negative(k), positive((k + 1) % (2 * n)));
  }
  for (Node i = 0; i < n; ++i) {  // the bridge
    disjunctions.emplace_back(positive(i), positive(2 * n - 1 - i));
    disjunctions.emplace_back(negative(i), negative(2 * n - 1 - i));
  }
  std::vector<Edge> edges;
  for (Node variable = 0; variable < 2 * n; ++variable) edges.emplace_back(positive(variable), negative(variable));
  const Node literals = 4 * n;
  const Node count = static_cast<Node>(disjunctions.size());
  for (Node d = 0; d < count; ++d) {
    edges.emplace_back(disjunctions[d].first, literals + d);
    edges.emplace_back(disjunctions[d].second, literals + d);
  }
  std::vector<NodeType> types(literals + count, 0);
  std::fill(types.begin(), types.begin() + literals, 1);
  return Graph::from_edges(literals + count, edges, types);
}

inline std::vector<Node> random_permutation(Node nodes, Stream& stream) {
  std::vector<Node> permutation(nodes);
  std::iota(permutation.begin(), permutation.end(), 0);
  shuffle(permutation, stream);
  return permutation;
}

/// A graph where each pair of nodes is an edge with probability `density`, with types below `types`.
inline Graph random_graph(Node nodes, double density, std::uint64_t types, Stream& stream) {
  std::vector<Edge> edges;
  for (Node v = 0; v < nodes; ++v) {
    for (Node u = 0; u < v; ++u) {
      if (stream.uniform() < density) edges.emplace_back(u, v);
    }
  }
  std::vector<NodeType> type(nodes);
  for (NodeType& t : type) t = static_cast<NodeType>(stream.below(types));
  return Graph::from_edges(nodes, edges, type);
}

/// A circulant graph (regular, one type): what refinement by degrees cannot split.
inline Graph random_circulant(Node nodes, Stream& stream) {
  std::vector<Edge> edges;
  for (Node step = 1; 2 * step <= nodes; ++step) {
    if (!stream.coin()) continue;
    for (Node v = 0; v < (2 * step == nodes ? step : nodes); ++v) edges.emplace_back(v, (v + step) % nodes);
  }
  return Graph::from_edges(nodes, edges);
}

inline Graph shuffled(const Graph& graph, Stream& stream) {
  return graph.relabelled(random_permutation(graph.num_nodes(), stream));
}

/// Two graphs as tests want them: unrelated, isomorphic, or one edge apart; random, regular, or glued from pieces.
inline std::vector<Graph> sample_pair(Node most_nodes, Stream& stream) {
  const auto one = [&] {
    const Node nodes = static_cast<Node>(stream.below(most_nodes + 1));
    switch (stream.below(4)) {
      case 0:
        return random_circulant(nodes, stream);
      case 1: {
        const Graph half = random_graph(nodes / 2, stream.uniform(), 1 + stream.below(2), stream);
        return disjoint_union(half, shuffled(half, stream));
      }
      default:
        return random_graph(nodes, stream.uniform(), 1 + stream.below(3), stream);
    }
  };
  const Graph first = one();
  switch (stream.below(3)) {
    case 0:
      return {first, one()};
    case 1:
      return {first, shuffled(first, stream)};
    default: {
      std::vector<Edge> edges = first.edges();
      if (!edges.empty()) edges.erase(edges.begin() + static_cast<std::ptrdiff_t>(stream.below(edges.size())));
      const std::vector<NodeType> types(first.types().begin(), first.types().end());
      return {first, shuffled(Graph::from_edges(first.num_nodes(), edges, types), stream)};
    }
  }
}

/// The same graph with labels below `labels` on its edges.
inline Graph with_edge_labels(const Graph& graph, std::uint64_t labels, Stream& stream) {
  std::vector<EdgeLabel> label(graph.num_edges());
  for (EdgeLabel& l : label) l = static_cast<EdgeLabel>(stream.below(labels));
  return Graph::from_edges(graph.num_nodes(), graph.edges(), {graph.types().begin(), graph.types().end()}, label);
}

/// Two graphs with labels on the edges of one at least (where it has any): unrelated, isomorphic, or one label apart.
inline std::vector<Graph> sample_labelled_pair(Node most_nodes, Stream& stream) {
  std::vector<Graph> pair = sample_pair(most_nodes, stream);
  const std::uint64_t labels = 2 + stream.below(2);
  pair[0] = with_edge_labels(pair[0], labels, stream);
  switch (stream.below(4)) {
    case 0:
      return pair;
    case 1:
      return {pair[0], with_edge_labels(pair[1], labels, stream)};
    case 2:
      return {pair[0], shuffled(pair[0], stream)};
    default: {
      std::vector<EdgeLabel> label = pair[0].labels_of_edges();
      label.resize(pair[0].num_edges());
      if (!label.empty()) label[stream.below(label.size())] = static_cast<EdgeLabel>(stream.below(labels));
      const std::vector<NodeType> types(pair[0].types().begin(), pair[0].types().end());
      return {pair[0], shuffled(Graph::from_edges(pair[0].num_nodes(), pair[0].edges(), types, label), stream)};
    }
  }
}

/// Every edge a path of two over a node typed by its label: labels for those who know types alone.
inline Graph subdivided(const Graph& graph) {
  std::vector<NodeType> types;
  for (const NodeType type : graph.types()) types.push_back(2 * type);
  std::vector<Edge> edges;
  for (const auto& [u, v] : graph.edges()) {
    const Node between = static_cast<Node>(types.size());
    types.push_back(2 * graph.edge_label(graph.arc(u, v)) + 1);
    edges.emplace_back(u, between);
    edges.emplace_back(v, between);
  }
  const Node nodes = static_cast<Node>(types.size());
  return Graph::from_edges(nodes, edges, std::move(types));
}

/// A stream that rapidcheck chose, so that failures shrink to small seeds and are reported.
inline Stream chosen_stream() {
  return Stream(derive_key(*rc::gen::inRange<std::uint64_t>(0, 1000000), Purpose::test));
}

}  // namespace tyche::wl
