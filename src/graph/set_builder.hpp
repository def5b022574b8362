#pragma once
/// A GraphSet made graph by graph, for readers of files that say everything about a graph before they go on to the next
/// (JSON lines, GraphML). What one graph has, all must have: labels, targets, attributes of one dimension.
///
///   GraphSetBuilder builder;
///   builder.add({.graph = path, .label = 1}, where);
///   const GraphSet set = builder.finish();
#include <optional>
#include <vector>

#include "graph/io.hpp"
#include "graph/lines.hpp"
#include "graph/listed_edges.hpp"

namespace tyche {

/// A graph and what its file says of it.
struct GraphItem {
  Graph graph;
  std::optional<int> label{};
  Table attributes{};                               ///< of nodes
  std::size_t categories = 0, edge_categories = 0;  ///< the first columns of attributes, of edge_attributes
  Table edge_attributes{};                          ///< in the order of Graph::edges()
  std::optional<std::vector<float>> target{};  ///< missing ones NaN; empty: all are missing, however many there are
  std::optional<std::vector<int>> node_labels{};
  Table node_targets{}, edge_targets{};
  std::vector<NodePart> node_parts{};  ///< one per node, or none
  bool weighted = false;
};

class GraphSetBuilder {
 public:
  GraphSetBuilder() = default;
  /// Adds to an empty set, whose records may go elsewhere (graph/packed.hpp).
  explicit GraphSetBuilder(GraphSet empty) : set_(std::move(empty)) {}
  /// Fails at `where` where the graph does not have what those before it have.
  void add(GraphItem item, const Where& where);
  [[nodiscard]] std::size_t size() const { return set_.graphs.size(); }
  /// The set, without a name. The builder is spent.
  [[nodiscard]] GraphSet finish();

 private:
  GraphSet set_;
  std::optional<bool> has_label_;
  std::optional<bool> has_target_;
  std::optional<bool> has_node_labels_, has_parts_, weighted_;
  /// Once a graph with nodes, with edges, has said so.
  std::optional<std::size_t> categories_, edge_categories_, dim_, edge_dim_, node_target_dim_, edge_target_dim_;
  std::vector<NodePart> parts_;
};

}  // namespace tyche
