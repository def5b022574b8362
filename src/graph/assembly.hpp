#pragma once
/// What readers of graph files make graphs and sets of, so that all refuse, and clean, the same things: edges as they
/// are listed one after another (TUDatasets, JSON lines, GraphML, CSV), neighbours listed node by node (GIN text,
/// planar_code), sets that come whole (TUDatasets, CSV, .npz) and graph by graph (JSON lines, GraphML).
///
///   const ListedEdges listed{.ends = {{0, 1}, {1, 0}, {2, 1}, {1, 2}}, .labels = {5, 5, 6, 6}};
///   const ListedEdges edges = settle_edges(listed, Directions::either, {place, name, conflict}, nullptr);
///   // edges {0, 1}, {1, 2} with the labels 5, 6
///
///   GraphSetBuilder builder;
///   builder.add({.graph = path, .label = 1}, where);
///   const GraphSet set = builder.finish();
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/io.hpp"
#include "graph/lines.hpp"

namespace tyche {

/// What a list of edges may be: each edge once; each in both directions; or all of them once or all of them twice.
enum class Directions { once, both, either };

/// Numbers in columns, row after row; no columns: there are none.
struct Table {
  std::vector<float> values{};
  std::size_t columns = 0;

  [[nodiscard]] std::size_t rows() const { return columns == 0 ? 0 : values.size() / columns; }
  [[nodiscard]] std::span<const float> row(std::size_t i) const {
    return std::span(values).subspan(i * columns, columns);
  }
  void add_row(std::span<const float> row) { values.insert(values.end(), row.begin(), row.end()); }
  /// Puts the columns of another behind these; it has as many rows, where both have any.
  void add_columns(const Table& more) {
    values = side_by_side(std::move(values), columns, more.values, more.columns);
    columns += more.columns;
  }
};

/// Entries, and what the file says of each.
struct ListedEdges {
  std::vector<Edge> ends{};
  std::vector<EdgeLabel> labels{};  ///< one per entry, or none
  bool weighted = false;            ///< labels are weights
  Table attributes{};               ///< one row per entry, or none
  std::size_t categories = 0;       ///< its first columns, beside the labels
  Table targets{};                  ///< one row per entry, or none
};

/// What settle_edges needs for its errors.
struct EdgeListing {
  const char* whole = "file";  ///< what all the edges are of
  std::function<Where(std::size_t entry)> place;
  std::function<std::string(Node)> name;  ///< of a node, as the file has it
  /// Two entries for the same edge contradict each other: where that is said, and how. `differs`: "another label",
  /// "another weight" or "other attributes". None: on the second's line, that it is another than on the first's.
  struct Conflict {
    Where where;
    std::string message;
  };
  std::function<Conflict(std::size_t first, std::size_t second, std::string_view differs)> conflict{};
};

/// Each edge once, as (smaller, larger), ascending, with what its first entry says. Without `cleaning` fails
/// (fail_unclean) at the first loop, repeated edge, edge that lacks the other direction, or conflict, looked for in
/// this order; with it drops and counts them.
[[nodiscard]] ListedEdges settle_edges(const ListedEdges& listed, Directions directions, const EdgeListing& listing,
                                       Cleaning* cleaning);

/// Neighbour lists as they stand in a file: row v is targets[offsets[v]] … targets[offsets[v + 1] - 1], in any order.
struct Rows {
  std::vector<std::uint64_t> offsets{0};
  std::vector<Node> targets;
  std::vector<NodeType> types;  ///< one per row, or none

  void clear() {
    offsets.assign(1, 0);
    targets.clear();
    types.clear();
  }
  void end_row() { offsets.push_back(targets.size()); }
  [[nodiscard]] std::size_t size() const { return offsets.size() - 1; }
};

/// The graph of the rows (sorted on the way, so `rows` is changed). Fails at place_of(v) where row v has a loop, a
/// neighbour twice, or one that does not list v in return; `first` is the file's number of node 0 (0 or 1). With
/// `cleaning` these are mended. Requires targets below the number of rows.
[[nodiscard]] Graph graph_from_rows(Rows& rows, const std::function<Where(Node)>& place_of, Node first = 0,
                                    Cleaning* cleaning = nullptr);

/// The masks of nodes that files may have, by the names of their arrays: the part they stand for is one more.
inline constexpr std::string_view kMaskNames[] = {"train_mask", "validation_mask", "test_mask"};

/// A set whose file numbers, or names, the nodes of all graphs together and lists all edges after another: what it
/// says, before it is taken apart into graphs.
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

  /// Makes the graph, and takes what the settled edges say.
  void take(Node nodes, ListedEdges settled, const std::vector<NodeType>& types);
};

/// A GraphSet made graph by graph, for files that say everything about a graph before they go on to the next. What one
/// graph has, all must have: labels, targets, attributes of one dimension.
class GraphSetBuilder {
 public:
  /// Adds to an empty set, whose records may go elsewhere (graph/packed.hpp).
  explicit GraphSetBuilder(GraphSet empty = {}) : set_(std::move(empty)) {}
  /// Fails at `where` where the graph does not have what those before it have.
  void add(GraphItem item, const Where& where);
  [[nodiscard]] std::size_t size() const { return set_.graphs.size(); }
  /// The set, without a name. The builder is spent.
  [[nodiscard]] GraphSet finish();

 private:
  GraphSet set_;
  std::optional<bool> has_label_, has_target_, has_node_labels_, has_parts_, weighted_;
  /// Once a graph with nodes, with edges, has said so.
  std::optional<std::size_t> categories_, edge_categories_, dim_, edge_dim_, node_target_dim_, edge_target_dim_;
  std::optional<std::size_t> target_dim_;
  std::vector<NodePart> parts_;
};

}  // namespace tyche
