#include "inspect/seen.hpp"

#include <span>

#include "graph/folding.hpp"

namespace tyche::inspect {
namespace {

std::span<const float> row(const Ragged<float>& blocks, std::size_t g, std::size_t dim, std::size_t i) {
  return blocks[g].subspan(i * dim, dim);
}

}  // namespace

std::vector<Graph> seen(const GraphSet& set, const Look& look) {
  // The first columns are categories and go with the types, the others are attributes.
  const std::size_t from = look.node_types ? 0 : set.categories, edge_from = look.edge_labels ? 0 : set.edge_categories;
  const std::size_t to = look.node_attributes ? set.attribute_dim : set.categories;
  const std::size_t edge_to = look.edge_attributes ? set.edge_attribute_dim : set.edge_categories;
  const bool on_nodes = to > from, on_edges = edge_to > edge_from;
  Folding types, labels;
  std::vector<Graph> out;
  out.reserve(set.graphs.size());
  for (std::size_t g = 0; g < set.graphs.size(); ++g) {
    const Graph& graph = set.graphs[g];
    std::vector<NodeType> type(graph.num_nodes(), 0);
    for (Node v = 0; v < graph.num_nodes(); ++v) {
      if (look.node_types) type[v] = graph.type(v);
      if (on_nodes) type[v] = types(type[v], row(set.attributes, g, set.attribute_dim, v).subspan(from, to - from));
    }
    std::vector<EdgeLabel> label;
    if (look.edge_labels) label = graph.labels_of_edges();
    if (on_edges) {
      label.resize(graph.num_edges(), 0);
      for (std::size_t e = 0; e < label.size(); ++e) {
        label[e] = labels(
            label[e], row(set.edge_attributes, g, set.edge_attribute_dim, e).subspan(edge_from, edge_to - edge_from));
      }
    }
    out.push_back(Graph::from_edges(graph.num_nodes(), graph.edges(), std::move(type), label));
  }
  return out;
}

}  // namespace tyche::inspect
