#include "graph/graph.hpp"

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/biconnected_components.hpp>
#include <limits>

#include "support/error.hpp"

namespace tyche {

Graph::Rows::Rows(Node of_nodes, std::uint64_t of_arcs, bool labelled) : nodes(of_nodes), arcs(of_arcs) {
  const std::size_t words = std::size_t{nodes} + arcs * (labelled ? 2 : 1);
  memory = std::make_shared_for_overwrite<std::uint64_t[]>(std::size_t{nodes} + 1 + (words + 1) / 2);
  offsets = memory.get();
  adjacency = reinterpret_cast<Node*>(offsets + nodes + 1);
  types = adjacency + arcs;
  labels = labelled ? types + nodes : nullptr;
}

Graph::Graph(const Rows& rows)
    : nodes_(rows.nodes),
      arcs_(rows.arcs),
      offsets_(rows.offsets),
      adjacency_(rows.adjacency),
      types_(rows.types),
      edge_labels_(rows.labels),
      memory_(rows.memory) {}

Graph Graph::from_edges(Node nodes, std::span<const Edge> edges, const std::vector<NodeType>& types,
                        std::span<const EdgeLabel> labels) {
  if (nodes == std::numeric_limits<Node>::max()) {
    throw InputError("a graph of {} nodes is too large: at most {}", nodes, nodes - 1);
  }
  if (!types.empty() && types.size() != nodes) {
    throw InputError("{} node types were given for {} nodes", types.size(), nodes);
  }
  if (!labels.empty() && labels.size() != edges.size()) {
    throw InputError("{} edge labels were given for {} edges", labels.size(), edges.size());
  }
  const bool labelled = std::any_of(labels.begin(), labels.end(), [](EdgeLabel label) { return label != 0; });
  const Rows rows(nodes, edges.size() * 2, labelled);
  std::fill_n(rows.offsets, std::size_t{nodes} + 1, 0);
  for (const auto& [u, v] : edges) {
    if (u >= nodes || v >= nodes) throw InputError("edge ({}, {}) leaves the graph: it has {} nodes", u, v, nodes);
    if (u == v) throw InputError("edge ({}, {}) is a loop; graphs here are simple", u, v);
    ++rows.offsets[u + 1];
    ++rows.offsets[v + 1];
  }
  for (std::size_t v = 0; v < nodes; ++v) rows.offsets[v + 1] += rows.offsets[v];
  {
    std::vector<std::uint64_t> next(rows.offsets, rows.offsets + nodes);
    for (const auto& [u, v] : edges) {
      rows.adjacency[next[u]++] = v;
      rows.adjacency[next[v]++] = u;
    }
  }
  for (Node v = 0; v < nodes; ++v) {
    Node *const begin = rows.adjacency + rows.offsets[v], *const end = rows.adjacency + rows.offsets[v + 1];
    std::sort(begin, end);
    Node* const twin = std::adjacent_find(begin, end);
    if (twin != end) throw InputError("edge ({}, {}) is given twice; graphs here are simple", v, *twin);
  }
  if (types.empty()) {
    std::fill_n(rows.types, nodes, NodeType{0});
  } else {
    std::copy(types.begin(), types.end(), rows.types);
  }
  const Graph graph(rows);
  for (std::size_t e = 0; labelled && e < edges.size(); ++e) {
    const auto& [u, v] = edges[e];
    rows.labels[graph.arc(u, v)] = rows.labels[graph.arc(v, u)] = labels[e];
  }
  return graph;
}

Graph Graph::without_labels() const {
  Graph bare = *this;
  bare.edge_labels_ = nullptr;
  return bare;
}

bool operator==(const Graph& a, const Graph& b) {
  return std::ranges::equal(a.offsets(), b.offsets()) && std::ranges::equal(a.adjacency(), b.adjacency()) &&
         std::ranges::equal(a.types(), b.types()) && std::ranges::equal(a.edge_labels(), b.edge_labels());
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

std::uint64_t Graph::arc(Node u, Node v) const {
  const auto row = neighbours(u);
  return offsets_[u] + static_cast<std::uint64_t>(std::lower_bound(row.begin(), row.end(), v) - row.begin());
}

std::vector<EdgeLabel> Graph::labels_of_edges() const {
  std::vector<EdgeLabel> out;
  if (!has_edge_labels()) return out;
  out.reserve(num_edges());
  for (Node u = 0; u < num_nodes(); ++u) {
    for (std::uint64_t arc = offsets_[u]; arc < offsets_[u + 1]; ++arc) {
      if (u < adjacency_[arc]) out.push_back(edge_labels_[arc]);
    }
  }
  return out;
}

std::vector<std::uint64_t> Graph::edges_of_arcs() const {
  std::vector<std::uint64_t> out(arcs_);
  // Arcs to smaller nodes meet their edge in ascending order of that node, as rows are sorted: one cursor per row.
  std::vector<std::uint64_t> next(offsets_, offsets_ + nodes_);
  std::uint64_t edge = 0;
  for (Node u = 0; u < num_nodes(); ++u) {
    for (std::uint64_t arc = next[u]; arc < offsets_[u + 1]; ++arc) {
      out[arc] = edge;
      out[next[adjacency_[arc]]++] = edge;
      ++edge;
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
  std::vector<NodeType> types(nodes_);
  for (Node v = 0; v < num_nodes(); ++v) types[permutation[v]] = types_[v];
  return from_edges(num_nodes(), renamed, types, labels_of_edges());
}

Graph disjoint_union(const Graph& a, const Graph& b) {
  std::vector<Edge> edges = a.edges();
  for (const auto& [u, v] : b.edges()) edges.emplace_back(u + a.num_nodes(), v + a.num_nodes());
  std::vector<NodeType> types(a.types().begin(), a.types().end());
  types.insert(types.end(), b.types().begin(), b.types().end());
  std::vector<EdgeLabel> labels = a.labels_of_edges();
  labels.resize(a.num_edges());
  const std::vector<EdgeLabel> more = b.labels_of_edges();
  labels.insert(labels.end(), more.begin(), more.end());
  labels.resize(edges.size());
  return Graph::from_edges(a.num_nodes() + b.num_nodes(), edges, types, labels);
}

std::vector<std::vector<Node>> Components::members() const {
  std::vector<std::vector<Node>> nodes(count);
  for (Node v = 0; v < of_node.size(); ++v) nodes[of_node[v]].push_back(v);
  return nodes;
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
  using namespace boost;
  using Native = adjacency_list<vecS, vecS, undirectedS, no_property, property<edge_index_t, std::size_t>>;
  const std::vector<Edge> edges = graph.edges();
  Native native(graph.num_nodes());
  for (std::size_t e = 0; e < edges.size(); ++e) add_edge(edges[e].first, edges[e].second, e, native);
  std::vector<std::size_t> part(edges.size()), size(edges.size());
  biconnected_components(native, make_iterator_property_map(part.begin(), get(edge_index, native)));
  for (const std::size_t p : part) ++size[p];
  std::vector<Edge> out;  // a bridge is a biconnected component by itself
  for (std::size_t e = 0; e < edges.size(); ++e) {
    if (size[part[e]] == 1) out.push_back(edges[e]);
  }
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
  std::vector<EdgeLabel> labels;
  for (Node i = 0; i < nodes.size(); ++i) {
    const Node v = nodes[i];
    for (std::uint64_t arc = graph.offsets()[v]; arc < graph.offsets()[v + 1]; ++arc) {
      const Node j = index[graph.adjacency()[arc]];
      if (j == kNone || i >= j) continue;
      edges.emplace_back(i, j);
      labels.push_back(graph.edge_label(arc));
    }
  }
  return Graph::from_edges(static_cast<Node>(nodes.size()), edges, types, labels);
}

}  // namespace tyche
