#include "graph/whole_set.hpp"

#include <algorithm>

namespace tyche {

const char* difference(const WholeSet& whole, std::size_t first, std::size_t second) {
  const auto mine = whole.edge_attributes.row(first), other = whole.edge_attributes.row(second);
  if ((!whole.labels.empty() && whole.labels[first] != whole.labels[second]) ||
      !std::ranges::equal(mine.first(whole.edge_categories), other.first(whole.edge_categories))) {
    return whole.weighted ? "another weight" : "another label";
  }
  return std::equal(mine.begin(), mine.end(), other.begin()) ? nullptr : "other attributes";
}

void take_apart(const WholeSet& whole, const EdgeListing& listing, Cleaning* cleaning, GraphSet& set) {
  const std::size_t graphs = whole.graphs;
  std::vector<Node> sizes(graphs, 0);
  std::vector<Node> index_in(whole.graph_of.size());
  std::vector<std::vector<NodeType>> types_of(graphs);
  const auto prepare = [graphs](const Table& table, std::vector<std::vector<float>>& blocks, std::size_t& dim) {
    dim = table.columns;
    if (dim > 0) blocks.resize(graphs);
  };
  const auto take = [](const Table& table, std::size_t row, std::vector<std::vector<float>>& blocks, Node graph) {
    if (table.columns == 0) return;
    blocks[graph].insert(blocks[graph].end(), table.row(row).begin(), table.row(row).end());
  };
  prepare(whole.attributes, set.attributes, set.attribute_dim);
  prepare(whole.node_targets, set.node_targets, set.node_target_dim);
  if (!whole.node_labels.empty()) set.node_labels.resize(graphs);
  std::vector<std::vector<NodePart>> parts_of(whole.parts.empty() ? 0 : graphs);
  for (std::size_t v = 0; v < whole.graph_of.size(); ++v) {
    const Node graph = whole.graph_of[v];
    index_in[v] = sizes[graph]++;
    if (!whole.types.empty()) types_of[graph].push_back(whole.types[v]);
    take(whole.attributes, v, set.attributes, graph);
    take(whole.node_targets, v, set.node_targets, graph);
    if (!whole.node_labels.empty()) set.node_labels[graph].push_back(whole.node_labels[v]);
    if (!parts_of.empty()) parts_of[graph].push_back(whole.parts[v]);
  }
  if (!parts_of.empty()) set.node_parts.emplace_back();
  for (const auto& own : parts_of) set.node_parts.front().insert(set.node_parts.front().end(), own.begin(), own.end());

  std::vector<std::vector<Edge>> edges_of(graphs);
  std::vector<std::vector<EdgeLabel>> labels_of(graphs);
  const SettledEdges settled = settle_edges(whole.listed, Directions::either, listing, cleaning);
  set.weighted = whole.weighted && !settled.edges.empty();
  // Cleaning may leave no edge at all, and then there is nothing to have attributes.
  set.edge_attribute_dim = settled.edges.empty() ? 0 : whole.edge_attributes.columns;
  if (set.edge_attribute_dim > 0) set.edge_attributes.resize(graphs);
  set.categories = whole.categories;
  set.edge_categories = settled.edges.empty() ? 0 : whole.edge_categories;
  if (!settled.edges.empty()) prepare(whole.edge_targets, set.edge_targets, set.edge_target_dim);
  for (std::size_t e = 0; e < settled.edges.size(); ++e) {
    // Nodes keep their order within a graph, so its edges come in the order of Graph::edges().
    const auto& [u, v] = settled.edges[e];
    const Node graph = whole.graph_of[u];
    edges_of[graph].emplace_back(index_in[u], index_in[v]);
    const std::size_t entry = settled.entry_of[e];
    if (!whole.labels.empty()) labels_of[graph].push_back(whole.labels[entry]);
    take(whole.edge_attributes, entry, set.edge_attributes, graph);
    take(whole.edge_targets, entry, set.edge_targets, graph);
  }
  set.graphs.reserve(graphs);
  for (std::size_t g = 0; g < graphs; ++g) {
    set.graphs.push_back(Graph::from_edges(sizes[g], edges_of[g], std::move(types_of[g]), labels_of[g]));
  }
}

}  // namespace tyche
