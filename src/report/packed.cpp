#include "report/packed.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "graph/graph6.hpp"
#include "support/error.hpp"

namespace tyche::report {

nlohmann::ordered_json pack_graph(const NamedGraph& named) {
  std::string dense = to_graph6(named.graph), sparse = to_sparse6(named.graph);
  nlohmann::ordered_json json = {{"title", named.name},
                                 {"code", sparse.size() < dense.size() ? std::move(sparse) : std::move(dense)}};
  const auto types = named.graph.types();
  if (std::any_of(types.begin(), types.end(), [](NodeType t) { return t != 0; })) json["type"] = types;
  if (named.graph.has_edge_labels()) json["edge_label"] = named.graph.labels_of_edges();
  return json;
}

bool can_pack(const Graph& a, const Graph& b) { return std::max(a.num_nodes(), b.num_nodes()) <= kMaxPackedNodes; }

nlohmann::ordered_json pack_pair(std::string_view title, const NamedGraph& a, const NamedGraph& b) {
  for (const NamedGraph* named : {&a, &b}) {
    if (named->graph.num_nodes() <= kMaxPackedNodes) continue;
    throw InputError(fmt::format("{} has {} nodes; the page draws graphs of up to {}", named->name,
                                 named->graph.num_nodes(), kMaxPackedNodes));
  }
  nlohmann::ordered_json json = {{"title", title}};
  json["graphs"] = {pack_graph(a), pack_graph(b)};
  return json;
}

}  // namespace tyche::report
