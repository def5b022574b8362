// Graphs from a caller's arrays, none of which is trusted.
#include <unistd.h>

#include <limits>
#include <tuple>

#include "capi/capi.hpp"

namespace tyche::capi {

namespace {

/// node_ptr or edge_ptr: from 0 on, ascending, ending with `total`.
void check_ptr(const std::uint64_t* ptr, const char* name, const char* what, std::uint64_t graphs,
               std::uint64_t total) {
  require(ptr, name);
  if (ptr[0] != 0) throw InputError("{}: expected 0 at the beginning, found {}", name, ptr[0]);
  for (std::uint64_t g = 0; g < graphs; ++g) {
    if (ptr[g + 1] < ptr[g] || ptr[g + 1] > total) {
      fail_graph(g, "{} goes from {} to {}; expected numbers that ascend to {}, the number of {}", name, ptr[g],
                 ptr[g + 1], total, what);
    }
  }
  if (ptr[graphs] != total) {
    throw InputError("{}: ends with {}, but there are {} {}", name, ptr[graphs], total, what);
  }
}

/// Nodes need no arrays to be promised, but memory to be made.
void check_memory(std::uint64_t nodes) {
  const double needed = 16.0 * static_cast<double>(nodes);
  const double there = static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
  if (needed > there / 2) {
    throw InputError("{} nodes would take {:.0f} GB; this machine has {:.0f}", nodes, needed / 1e9, there / 1e9);
  }
}

/// The entries of one graph's edges.
struct Entries {
  const tyche_graphs& a;
  std::uint64_t graph;
  std::uint64_t first, end;
  std::uint64_t nodes;

  [[nodiscard]] Edge edge(std::uint64_t e) const {
    const std::int64_t u = a.from[e], v = a.to[e];
    for (const std::int64_t node : {u, v}) {
      if (node < 0 || static_cast<std::uint64_t>(node) >= nodes) {
        fail_graph(graph, "edge {} joins {} and {}; this graph has {} nodes, numbered from 0", e - first, u, v, nodes);
      }
    }
    if (u == v) fail_graph(graph, "edge {} joins {} to itself; graphs here have no loops", e - first, u);
    return {static_cast<Node>(u), static_cast<Node>(v)};
  }
  /// Whether two entries have the same label and the same attributes (bit for bit, but for the sign of zero).
  [[nodiscard]] bool alike(std::uint64_t e, std::uint64_t f) const {
    if (a.edge_labels != nullptr && a.edge_labels[e] != a.edge_labels[f]) return false;
    const auto columns = static_cast<std::size_t>(a.edge_attribute_columns);
    return a.edge_attributes == nullptr ||
           std::equal(a.edge_attributes + e * columns, a.edge_attributes + (e + 1) * columns,
                      a.edge_attributes + f * columns);
  }
};

/// The entries that stand for the edges of a graph, ascending by (smaller, larger) node.
std::vector<std::uint64_t> edges_once(const Entries& own) {
  struct Arc {
    Node low, high;
    bool up;
    std::uint64_t entry;
  };
  std::vector<Arc> arcs;
  arcs.reserve(own.end - own.first);
  for (std::uint64_t e = own.first; e < own.end; ++e) {
    const auto [u, v] = own.edge(e);
    arcs.push_back({std::min(u, v), std::max(u, v), u < v, e});
  }
  std::ranges::sort(arcs, [](const Arc& p, const Arc& q) {
    return std::tie(p.low, p.high, p.up, p.entry) < std::tie(q.low, q.high, q.up, q.entry);
  });
  std::vector<std::uint64_t> out;
  for (std::size_t i = 0, end = 0; i < arcs.size(); i = end) {
    const Arc& arc = arcs[i];
    while (end < arcs.size() && arcs[end].low == arc.low && arcs[end].high == arc.high) ++end;
    const std::size_t count = end - i;
    const auto [from, to] = arc.up ? std::pair(arc.low, arc.high) : std::pair(arc.high, arc.low);
    out.push_back(arc.entry);
    if (own.a.both_ways == 0) {
      if (count > 1) fail_graph(own.graph, "the edge between {} and {} is there {} times", arc.low, arc.high, count);
      continue;
    }
    if (count > 2 || (count == 2 && arcs[i + 1].up == arc.up)) {
      fail_graph(own.graph, "the edge from {} to {} is there more than once", from, to);
    }
    if (count == 1) {
      fail_graph(own.graph,
                 "there is an edge from {} to {} and none back; graphs here are undirected, and every edge is "
                 "expected both ways",
                 from, to);
    }
    if (!own.alike(arc.entry, arcs[i + 1].entry)) {
      fail_graph(own.graph, "the edge between {} and {} has another label, weight or attribute one way than the other",
                 arc.low, arc.high);
    }
  }
  return out;
}

template <class T>
std::vector<T> copied(const T* values, std::uint64_t first, std::uint64_t end) {
  return values == nullptr ? std::vector<T>() : std::vector<T>(values + first, values + end);
}

void check_columns(const void* values, std::int32_t columns, const char* name) {
  if ((values != nullptr) != (columns > 0) || columns < 0) {
    throw InputError("{}: {} columns were promised; expected at least one where there are any, 0 where not", name,
                     columns);
  }
}

}  // namespace

GraphSet graphs_from(const tyche_graphs& a) {
  if (a.size != sizeof(tyche_graphs)) {
    throw BadCall(
        "tyche_graphs has {} bytes here; came {}: set `size`, and compile against this library's "
        "tyche.h",
        sizeof(tyche_graphs), a.size);
  }
  check_ptr(a.node_ptr, "node_ptr", "nodes", a.graphs, a.nodes);
  check_ptr(a.edge_ptr, "edge_ptr", "edges", a.graphs, a.edges);
  if (a.edges > 0) {
    require(a.from, "from");
    require(a.to, "to");
  }
  check_memory(a.nodes);
  check_columns(a.attributes, a.attribute_columns, "attributes");
  check_columns(a.edge_attributes, a.edge_attribute_columns, "edge_attributes");
  check_columns(a.targets, a.target_columns, "targets");
  GraphSet out;
  out.name = a.name == nullptr ? "graphs" : a.name;
  out.attribute_dim = static_cast<std::size_t>(a.attribute_columns);
  out.edge_attribute_dim = static_cast<std::size_t>(a.edge_attribute_columns);
  out.target_dim = static_cast<std::size_t>(a.target_columns);
  for (std::uint64_t g = 0; g < a.graphs; ++g) {
    const Entries own{a, g, a.edge_ptr[g], a.edge_ptr[g + 1], a.node_ptr[g + 1] - a.node_ptr[g]};
    if (own.nodes >= std::numeric_limits<Node>::max()) fail_graph(own.graph, "{} nodes are too many", own.nodes);
    std::vector<Edge> edges;
    std::vector<EdgeLabel> labels;
    std::vector<float> rows;
    for (const std::uint64_t e : edges_once(own)) {
      edges.push_back(own.edge(e));
      if (a.edge_labels != nullptr) labels.push_back(a.edge_labels[e]);
      if (a.edge_attributes != nullptr) {
        const float* row = a.edge_attributes + e * out.edge_attribute_dim;
        rows.insert(rows.end(), row, row + out.edge_attribute_dim);
      }
    }
    out.graphs.push_back(Graph::from_edges(static_cast<Node>(own.nodes), edges,
                                           copied(a.types, a.node_ptr[g], a.node_ptr[g + 1]), labels));
    if (a.attributes != nullptr) {
      out.attributes.push_back(
          copied(a.attributes, a.node_ptr[g] * out.attribute_dim, a.node_ptr[g + 1] * out.attribute_dim));
    }
    if (a.edge_attributes != nullptr) out.edge_attributes.push_back(rows);
  }
  out.labels = copied(a.labels, 0, a.graphs);
  out.targets = copied(a.targets, 0, a.graphs * out.target_dim);
  return out;
}

}  // namespace tyche::capi
