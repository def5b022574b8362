#pragma once
/// Sets of graphs from files that number, or name, the nodes of all graphs together and list all edges after another
/// (TUDatasets, CSV): what they say, before it is taken apart into graphs.
#include <vector>

#include "graph/cleaning.hpp"
#include "graph/io.hpp"
#include "graph/listed_edges.hpp"

namespace tyche {

struct WholeSet {
  std::size_t graphs = 0;
  std::vector<Node> graph_of;    ///< of every node; nodes keep their order within their graph
  std::vector<NodeType> types;   ///< one per node, or none
  Table attributes;              ///< one row per node, or none
  std::size_t categories = 0;    ///< its first columns, beside the types
  ListedEdges edges;             ///< between nodes of one graph each
  std::vector<int> node_labels;  ///< one per node, or none
  std::vector<NodePart> parts;   ///< one per node, or none
  Table node_targets;            ///< one row per node, or none
};

/// Fills in the graphs and the attributes of nodes and edges. Fails as settle_edges does.
void take_apart(const WholeSet& whole, const EdgeListing& listing, Cleaning* cleaning, GraphSet& set);

}  // namespace tyche
