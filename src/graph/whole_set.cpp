#include "graph/whole_set.hpp"

#include <algorithm>

namespace tyche {

const char* difference(const WholeSet& whole, std::size_t first, std::size_t second) {
  if (!whole.labels.empty() && whole.labels[first] != whole.labels[second]) return "another label";
  const auto mine = whole.edge_attributes.row(first), other = whole.edge_attributes.row(second);
  return std::equal(mine.begin(), mine.end(), other.begin()) ? nullptr : "other attributes";
}

void take_apart(const WholeSet& whole, const EdgeListing& listing, Cleaning* cleaning, GraphSet& set) {
  const std::size_t graphs = whole.graphs;
  std::vector<Node> sizes(graphs, 0);
  std::vector<Node> index_in(whole.graph_of.size());
  std::vector<std::vector<NodeType>> types_of(graphs);
  set.attribute_dim = whole.attributes.columns;
  if (set.attribute_dim > 0) set.attributes.resize(graphs);
  for (std::size_t v = 0; v < whole.graph_of.size(); ++v) {
    const Node graph = whole.graph_of[v];
    index_in[v] = sizes[graph]++;
    if (!whole.types.empty()) types_of[graph].push_back(whole.types[v]);
    if (set.attribute_dim == 0) continue;
    const auto row = whole.attributes.row(v);
    set.attributes[graph].insert(set.attributes[graph].end(), row.begin(), row.end());
  }

  std::vector<std::vector<Edge>> edges_of(graphs);
  std::vector<std::vector<EdgeLabel>> labels_of(graphs);
  const SettledEdges settled = settle_edges(whole.listed, Directions::either, listing, cleaning);
  // Cleaning may leave no edge at all, and then there is nothing to have attributes.
  set.edge_attribute_dim = settled.edges.empty() ? 0 : whole.edge_attributes.columns;
  if (set.edge_attribute_dim > 0) set.edge_attributes.resize(graphs);
  for (std::size_t e = 0; e < settled.edges.size(); ++e) {
    // Nodes keep their order within a graph, so its edges come in the order of Graph::edges().
    const auto& [u, v] = settled.edges[e];
    const Node graph = whole.graph_of[u];
    edges_of[graph].emplace_back(index_in[u], index_in[v]);
    const std::size_t entry = settled.entry_of[e];
    if (!whole.labels.empty()) labels_of[graph].push_back(whole.labels[entry]);
    if (set.edge_attribute_dim == 0) continue;
    const auto row = whole.edge_attributes.row(entry);
    set.edge_attributes[graph].insert(set.edge_attributes[graph].end(), row.begin(), row.end());
  }
  set.graphs.reserve(graphs);
  for (std::size_t g = 0; g < graphs; ++g) {
    set.graphs.push_back(Graph::from_edges(sizes[g], edges_of[g], std::move(types_of[g]), labels_of[g]));
  }
}

}  // namespace tyche
