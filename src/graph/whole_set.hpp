#pragma once
/// Sets of graphs from files that number, or name, the nodes of all graphs together and list all edges after another
/// (TUDatasets, CSV): what they say, before it is taken apart into graphs.
#include <span>
#include <vector>

#include "graph/cleaning.hpp"
#include "graph/io.hpp"
#include "graph/listed_edges.hpp"

namespace tyche {

/// Numbers in columns, row after row.
struct Table {
  std::vector<float> values;
  std::size_t columns = 0;

  [[nodiscard]] std::size_t rows() const { return columns == 0 ? 0 : values.size() / columns; }
  [[nodiscard]] std::span<const float> row(std::size_t i) const {
    return std::span(values).subspan(i * columns, columns);
  }
};

struct WholeSet {
  std::size_t graphs = 0;
  std::vector<Node> graph_of;                       ///< of every node; nodes keep their order within their graph
  std::vector<NodeType> types;                      ///< one per node, or none
  Table attributes;                                 ///< one row per node, or none
  std::vector<Edge> listed;                         ///< the entries of the list of edges, between nodes of one graph
  std::vector<EdgeLabel> labels;                    ///< one per entry, or none
  Table edge_attributes;                            ///< one row per entry, or none
  std::size_t categories = 0, edge_categories = 0;  ///< the first columns of both, beside types and labels
  bool weighted = false;                            ///< labels are weights
  std::vector<int> node_labels;                     ///< one per node, or none
  std::vector<NodePart> parts;                      ///< one per node, or none
  Table node_targets;                               ///< one row per node, or none
  Table edge_targets;                               ///< one row per entry, or none
};

/// Whether two entries say the same of an edge, and if not what differs: "another label", "other attributes".
[[nodiscard]] const char* difference(const WholeSet& whole, std::size_t first, std::size_t second);

/// Fills in the graphs and the attributes of nodes and edges. Fails as settle_edges does.
void take_apart(const WholeSet& whole, const EdgeListing& listing, Cleaning* cleaning, GraphSet& set);

}  // namespace tyche
