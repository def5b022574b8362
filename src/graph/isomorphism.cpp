// bliss as Debian builds it keeps group sizes in GMP numbers; its headers must be told so, or their layout differs.
#define BLISS_USE_GMP
#include "graph/isomorphism.hpp"

#include <algorithm>
#include <bliss/graph.hh>
#include <numeric>
#include <span>

namespace tyche {

namespace {
/// Is told of automorphisms that generate the group, the graph's own nodes first.
using AutomorphismHook = void (*)(void* user, unsigned nodes, const unsigned* map);

/// Which of the different values, ascending, each value is.
std::vector<unsigned> ranks_of(std::span<const std::uint32_t> values, std::vector<std::uint32_t>& different) {
  different.assign(values.begin(), values.end());
  std::sort(different.begin(), different.end());
  different.erase(std::unique(different.begin(), different.end()), different.end());
  std::vector<unsigned> out;
  for (const std::uint32_t value : values) {
    out.push_back(static_cast<unsigned>(std::ranges::lower_bound(different, value) - different.begin()));
  }
  return out;
}

/// labelling[v]: the place of node v in the canonical form. bliss knows no edge labels: an edge becomes a path over a
/// node coloured by its label, but for the edges of the commonest label (the least of several), of which molecules have
/// many. All of that is the same for isomorphic graphs, and so is the order in which the canonical labelling takes the
/// graph's own nodes.
std::vector<Node> canonical_labelling(const Graph& graph, AutomorphismHook hook = nullptr, void* user = nullptr) {
  if (graph.num_nodes() == 0) return {};
  bliss::Graph native(graph.num_nodes());
  // With component recursion bliss 0.73 leaks what Partition::cr_init() allocates, on every call.
  native.set_component_recursion(false);
  bliss::Stats stats;
  const std::vector<Edge> edges = graph.edges();
  if (!graph.has_edge_labels()) {
    for (Node v = 0; v < graph.num_nodes(); ++v) native.change_color(v, graph.type(v));
    for (const auto& [u, v] : edges) native.add_edge(u, v);
    const unsigned* labelling = native.canonical_form(stats, hook, user);
    return {labelling, labelling + graph.num_nodes()};
  }
  std::vector<std::uint32_t> types, labels;
  const std::vector<unsigned> type = ranks_of(graph.types(), types);
  const std::vector<unsigned> label = ranks_of(graph.labels_of_edges(), labels);
  std::vector<std::size_t> count(labels.size(), 0);
  for (const unsigned l : label) ++count[l];
  const auto commonest = static_cast<unsigned>(std::max_element(count.begin(), count.end()) - count.begin());
  for (Node v = 0; v < graph.num_nodes(); ++v) native.change_color(v, type[v]);
  for (std::size_t e = 0; e < edges.size(); ++e) {
    if (label[e] == commonest) {
      native.add_edge(edges[e].first, edges[e].second);
      continue;
    }
    const unsigned between = native.add_vertex(static_cast<unsigned>(types.size()) + label[e]);
    native.add_edge(edges[e].first, between);
    native.add_edge(between, edges[e].second);
  }
  const unsigned* place = native.canonical_form(stats, hook, user);
  std::vector<Node> order(graph.num_nodes());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](Node a, Node b) { return place[a] < place[b]; });
  std::vector<Node> out(graph.num_nodes());
  for (Node p = 0; p < graph.num_nodes(); ++p) out[order[p]] = p;
  return out;
}

}  // namespace

Graph canonical_form(const Graph& graph) { return graph.relabelled(canonical_labelling(graph)); }

std::optional<std::vector<Node>> isomorphism(const Graph& a, const Graph& b) {
  if (a.num_nodes() != b.num_nodes() || a.num_edges() != b.num_edges()) return std::nullopt;
  const std::vector<Node> place_a = canonical_labelling(a);
  const std::vector<Node> place_b = canonical_labelling(b);
  std::vector<Node> node_at(b.num_nodes());
  for (Node v = 0; v < b.num_nodes(); ++v) node_at[place_b[v]] = v;
  std::vector<Node> map(a.num_nodes());
  for (Node v = 0; v < a.num_nodes(); ++v) map[v] = node_at[place_a[v]];
  if (a.relabelled(map) == b) return map;
  return std::nullopt;
}

std::vector<Node> canonical_orbits(const Graph& graph) {
  struct Forest {  // trees of nodes known to be in one orbit
    std::vector<Node> up;
    Node root(Node v) {
      while (up[v] != v) v = up[v] = up[up[v]];
      return v;
    }
  };
  Forest forest{std::vector<Node>(graph.num_nodes())};
  std::iota(forest.up.begin(), forest.up.end(), 0u);
  const auto join = [](void* user, unsigned, const unsigned* map) {
    auto& own = *static_cast<Forest*>(user);
    for (Node v = 0; v < own.up.size(); ++v) {
      if (map[v] != v) own.up[own.root(v)] = own.root(map[v]);
    }
  };
  const std::vector<Node> place = canonical_labelling(graph, join, &forest);
  std::vector<Node> first(graph.num_nodes(), graph.num_nodes()), out;
  for (Node v = 0; v < graph.num_nodes(); ++v) first[forest.root(v)] = std::min(first[forest.root(v)], place[v]);
  for (Node v = 0; v < graph.num_nodes(); ++v) out.push_back(first[forest.root(v)]);
  return out;
}

}  // namespace tyche
