#include "graph/whole_set.hpp"

#include <span>

namespace tyche {

namespace {

/// One array per graph, filled in any order.
template <class T>
struct ByGraph {
  ByGraph(bool any, std::size_t graphs) : arrays(any ? graphs : 0) {}
  void add(Node graph, std::span<const T> values) {
    if (!arrays.empty()) arrays[graph].insert(arrays[graph].end(), values.begin(), values.end());
  }
  std::vector<std::vector<T>> arrays;
};

}  // namespace

void take_apart(const WholeSet& whole, const EdgeListing& listing, Cleaning* cleaning, GraphSet& set) {
  const std::size_t graphs = whole.graphs;
  std::vector<Node> sizes(graphs, 0);
  std::vector<Node> index_in(whole.graph_of.size());
  std::vector<std::vector<NodeType>> types_of(graphs);
  ByGraph<float> attributes(whole.attributes.columns > 0, graphs), targets(whole.node_targets.columns > 0, graphs);
  ByGraph<int> labels(!whole.node_labels.empty(), graphs);
  ByGraph<NodePart> parts(!whole.parts.empty(), graphs);
  for (std::size_t v = 0; v < whole.graph_of.size(); ++v) {
    const Node graph = whole.graph_of[v];
    index_in[v] = sizes[graph]++;
    if (!whole.types.empty()) types_of[graph].push_back(whole.types[v]);
    attributes.add(graph, whole.attributes.row(v));
    targets.add(graph, whole.node_targets.row(v));
    if (!whole.node_labels.empty()) labels.add(graph, std::span(whole.node_labels).subspan(v, 1));
    if (!whole.parts.empty()) parts.add(graph, std::span(whole.parts).subspan(v, 1));
  }
  set.attribute_dim = whole.attributes.columns;
  set.attributes = attributes.arrays;
  set.node_target_dim = whole.node_targets.columns;
  set.node_targets = targets.arrays;
  set.node_labels = labels.arrays;
  if (!whole.parts.empty()) set.node_parts.emplace_back();
  for (const auto& own : parts.arrays)
    set.node_parts.front().insert(set.node_parts.front().end(), own.begin(), own.end());

  std::vector<std::vector<Edge>> edges_of(graphs);
  std::vector<std::vector<EdgeLabel>> labels_of(graphs);
  const ListedEdges settled = settle_edges(whole.edges, Directions::either, listing, cleaning);
  const bool any = !settled.ends.empty();
  set.weighted = settled.weighted && any;
  // Cleaning may leave no edge at all, and then there is nothing to have attributes.
  set.edge_attribute_dim = any ? settled.attributes.columns : 0;
  set.categories = whole.categories;
  set.edge_categories = any ? settled.categories : 0;
  if (any) set.edge_target_dim = settled.targets.columns;
  ByGraph<float> edge_attributes(set.edge_attribute_dim > 0, graphs), edge_targets(set.edge_target_dim > 0, graphs);
  for (std::size_t e = 0; e < settled.ends.size(); ++e) {
    // Nodes keep their order within a graph, so its edges come in the order of Graph::edges().
    const auto& [u, v] = settled.ends[e];
    const Node graph = whole.graph_of[u];
    edges_of[graph].emplace_back(index_in[u], index_in[v]);
    if (!settled.labels.empty()) labels_of[graph].push_back(settled.labels[e]);
    edge_attributes.add(graph, settled.attributes.row(e));
    edge_targets.add(graph, settled.targets.row(e));
  }
  set.edge_attributes = edge_attributes.arrays;
  set.edge_targets = edge_targets.arrays;
  for (std::size_t g = 0; g < graphs; ++g) {
    set.graphs.push_back(Graph::from_edges(sizes[g], edges_of[g], types_of[g], labels_of[g]));
  }
}

}  // namespace tyche
