// bliss as Debian builds it keeps group sizes in GMP numbers; its headers must be told so, or their layout differs.
#define BLISS_USE_GMP
#include "graph/isomorphism.hpp"

#include <algorithm>
#include <bliss/graph.hh>

namespace tyche {

namespace {
/// labelling[v]: the place of node v in the canonical form.
std::vector<Node> canonical_labelling(const Graph& graph) {
  bliss::Graph native(graph.num_nodes());
  // With component recursion bliss 0.73 leaks what Partition::cr_init() allocates, on every call.
  native.set_component_recursion(false);
  for (Node v = 0; v < graph.num_nodes(); ++v) native.change_color(v, graph.type(v));
  for (const auto& [u, v] : graph.edges()) native.add_edge(u, v);
  bliss::Stats stats;
  const unsigned int* labelling = native.canonical_form(stats, nullptr, nullptr);
  return {labelling, labelling + graph.num_nodes()};
}
}  // namespace

Graph canonical_form(const Graph& graph) {
  if (graph.num_nodes() == 0) return graph;
  return graph.relabelled(canonical_labelling(graph));
}

std::optional<std::vector<Node>> isomorphism(const Graph& a, const Graph& b) {
  if (a.num_nodes() != b.num_nodes() || a.num_edges() != b.num_edges()) return std::nullopt;
  if (a.num_nodes() == 0) return std::vector<Node>{};
  const std::vector<Node> place_a = canonical_labelling(a);
  const std::vector<Node> place_b = canonical_labelling(b);
  std::vector<Node> node_at(b.num_nodes());
  for (Node v = 0; v < b.num_nodes(); ++v) node_at[place_b[v]] = v;
  std::vector<Node> map(a.num_nodes());
  for (Node v = 0; v < a.num_nodes(); ++v) map[v] = node_at[place_a[v]];
  if (a.relabelled(map) == b) return map;
  return std::nullopt;
}

}  // namespace tyche
