#include "graph/graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "support/error.hpp"

namespace tyche {

Graph Graph::from_edges(Node nodes, std::span<const Edge> edges, std::vector<NodeType> types) {
  if (nodes == std::numeric_limits<Node>::max()) {
    throw InputError(fmt::format("a graph of {} nodes is too large: at most {}", nodes, nodes - 1));
  }
  if (!types.empty() && types.size() != nodes) {
    throw InputError(fmt::format("{} node types were given for {} nodes", types.size(), nodes));
  }
  Graph graph;
  graph.offsets_.assign(static_cast<std::size_t>(nodes) + 1, 0);
  for (const auto& [u, v] : edges) {
    if (u >= nodes || v >= nodes) {
      throw InputError(fmt::format("edge ({}, {}) leaves the graph: it has {} nodes", u, v, nodes));
    }
    if (u == v) throw InputError(fmt::format("edge ({}, {}) is a loop; graphs here are simple", u, v));
    ++graph.offsets_[u + 1];
    ++graph.offsets_[v + 1];
  }
  for (std::size_t v = 0; v < nodes; ++v) graph.offsets_[v + 1] += graph.offsets_[v];
  graph.adjacency_.resize(edges.size() * 2);
  {
    std::vector<std::uint64_t> next(graph.offsets_.begin(), graph.offsets_.end() - 1);
    for (const auto& [u, v] : edges) {
      graph.adjacency_[next[u]++] = v;
      graph.adjacency_[next[v]++] = u;
    }
  }
  for (Node v = 0; v < nodes; ++v) {
    const auto begin = graph.adjacency_.begin() + static_cast<std::ptrdiff_t>(graph.offsets_[v]);
    const auto end = graph.adjacency_.begin() + static_cast<std::ptrdiff_t>(graph.offsets_[v + 1]);
    std::sort(begin, end);
    const auto twin = std::adjacent_find(begin, end);
    if (twin != end) throw InputError(fmt::format("edge ({}, {}) is given twice; graphs here are simple", v, *twin));
  }
  if (types.empty()) types.assign(nodes, 0);
  graph.types_ = std::move(types);
  return graph;
}

bool Graph::has_edge(Node u, Node v) const {
  const auto row = neighbours(u);
  return std::binary_search(row.begin(), row.end(), v);
}

std::vector<Edge> Graph::edges() const {
  std::vector<Edge> out;
  out.reserve(num_edges());
  for (Node u = 0; u < num_nodes(); ++u) {
    for (const Node v : neighbours(u)) {
      if (u < v) out.emplace_back(u, v);
    }
  }
  return out;
}

Graph Graph::relabelled(std::span<const Node> permutation) const {
  std::vector<Edge> renamed = edges();
  for (auto& [u, v] : renamed) {
    u = permutation[u];
    v = permutation[v];
  }
  std::vector<NodeType> types(types_.size());
  for (Node v = 0; v < num_nodes(); ++v) types[permutation[v]] = types_[v];
  return from_edges(num_nodes(), renamed, std::move(types));
}

Graph disjoint_union(const Graph& a, const Graph& b) {
  std::vector<Edge> edges = a.edges();
  for (const auto& [u, v] : b.edges()) edges.emplace_back(u + a.num_nodes(), v + a.num_nodes());
  std::vector<NodeType> types(a.types().begin(), a.types().end());
  types.insert(types.end(), b.types().begin(), b.types().end());
  return Graph::from_edges(a.num_nodes() + b.num_nodes(), edges, std::move(types));
}

Components connected_components(const Graph& graph) {
  constexpr Node kNone = std::numeric_limits<Node>::max();
  Components out;
  out.of_node.assign(graph.num_nodes(), kNone);
  std::vector<Node> stack;
  for (Node root = 0; root < graph.num_nodes(); ++root) {
    if (out.of_node[root] != kNone) continue;
    out.of_node[root] = out.count;
    stack.push_back(root);
    while (!stack.empty()) {
      const Node v = stack.back();
      stack.pop_back();
      for (const Node u : graph.neighbours(v)) {
        if (out.of_node[u] != kNone) continue;
        out.of_node[u] = out.count;
        stack.push_back(u);
      }
    }
    ++out.count;
  }
  return out;
}

std::optional<std::vector<int>> bipartition(const Graph& graph) {
  std::vector<int> side(graph.num_nodes(), -1);
  std::vector<Node> queue;
  for (Node root = 0; root < graph.num_nodes(); ++root) {
    if (side[root] >= 0) continue;
    side[root] = 0;
    queue.assign(1, root);
    while (!queue.empty()) {
      const Node v = queue.back();
      queue.pop_back();
      for (const Node u : graph.neighbours(v)) {
        if (side[u] == side[v]) return std::nullopt;
        if (side[u] >= 0) continue;
        side[u] = 1 - side[v];
        queue.push_back(u);
      }
    }
  }
  return side;
}

std::vector<Edge> bridges(const Graph& graph) {
  // Tarjan's low-link values on an explicit stack, so that a path of a million nodes is no deeper than any other graph.
  struct Frame {
    Node node;
    Node parent;
    std::uint64_t next;
  };
  constexpr Node kNone = std::numeric_limits<Node>::max();
  std::vector<Edge> out;
  std::vector<Node> entered(graph.num_nodes(), kNone);
  std::vector<Node> low(graph.num_nodes(), 0);
  std::vector<Frame> stack;
  Node clock = 0;
  for (Node root = 0; root < graph.num_nodes(); ++root) {
    if (entered[root] != kNone) continue;
    entered[root] = low[root] = clock++;
    stack.push_back({root, kNone, graph.offsets()[root]});
    while (!stack.empty()) {
      Frame& top = stack.back();
      const Node v = top.node;
      if (top.next < graph.offsets()[v + 1]) {
        const Node u = graph.adjacency()[top.next++];
        if (u == top.parent) continue;
        if (entered[u] != kNone) {
          low[v] = std::min(low[v], entered[u]);
        } else {
          entered[u] = low[u] = clock++;
          stack.push_back({u, v, graph.offsets()[u]});
        }
      } else {
        const Node parent = top.parent;
        stack.pop_back();
        if (parent == kNone) continue;
        low[parent] = std::min(low[parent], low[v]);
        if (low[v] > entered[parent]) out.emplace_back(std::min(parent, v), std::max(parent, v));
      }
    }
  }
  std::sort(out.begin(), out.end());
  return out;
}

Graph induced_subgraph(const Graph& graph, std::span<const Node> nodes) {
  constexpr Node kNone = std::numeric_limits<Node>::max();
  std::vector<Node> index(graph.num_nodes(), kNone);
  std::vector<NodeType> types;
  for (Node i = 0; i < nodes.size(); ++i) {
    index[nodes[i]] = i;
    types.push_back(graph.type(nodes[i]));
  }
  std::vector<Edge> edges;
  for (Node i = 0; i < nodes.size(); ++i) {
    for (const Node u : graph.neighbours(nodes[i])) {
      if (index[u] != kNone && i < index[u]) edges.emplace_back(i, index[u]);
    }
  }
  return Graph::from_edges(static_cast<Node>(nodes.size()), edges, std::move(types));
}

}  // namespace tyche
