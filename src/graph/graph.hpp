#pragma once
/// An undirected simple graph with a type on every node and, where there are any, a label on every edge, in compressed
/// sparse rows.
///
///   const std::vector<Edge> edges = {{0, 1}, {1, 2}};
///   const Graph path = Graph::from_edges(3, edges);
///   for (Node u : path.neighbours(1)) { ... }     // 0, 2: ascending
///
/// Immutable once made: no loops, no repeated edges, every edge stored in both directions, neighbours ascending.
/// A graph is a handle: a copy shares the rows with what it was copied from.
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace tyche {

using Node = std::uint32_t;
using NodeType = std::uint32_t;
using Edge = std::pair<Node, Node>;
using EdgeLabel = std::uint32_t;

class Graph {
 public:
  /// The graph without nodes.
  Graph() = default;
  Graph(const Graph&) = default;
  ~Graph() = default;
  Graph& operator=(const Graph&) & = default;  ///< to a name, not to what a list of graphs has just made

  /// Edges in any order and direction, each once. `types` has one entry per node, or none (all 0).
  /// `labels` has one entry per edge, in the order of `edges`, or none (all 0).
  /// Throws InputError on a loop, a repeated edge, a node out of range, or a wrong number of types or labels.
  static Graph from_edges(Node nodes, std::span<const Edge> edges, const std::vector<NodeType>& types = {},
                          std::span<const EdgeLabel> labels = {});

  /// Memory of a graph that is about to be: its owner fills in all of it, rows as a Graph has them, and then makes the
  /// graph.
  struct Rows {
    Rows(Node nodes, std::uint64_t arcs, bool labelled);
    Node nodes;
    std::uint64_t arcs;
    std::shared_ptr<std::uint64_t[]> memory;
    std::uint64_t* offsets;
    Node* adjacency;
    NodeType* types;
    EdgeLabel* labels;  ///< null: all are 0
  };
  explicit Graph(const Rows& rows);

  [[nodiscard]] Node num_nodes() const { return nodes_; }
  /// Undirected edges, each counted once.
  [[nodiscard]] std::uint64_t num_edges() const { return arcs_ / 2; }
  [[nodiscard]] std::span<const Node> neighbours(Node v) const {
    return {adjacency_ + offsets_[v], adjacency_ + offsets_[v + 1]};
  }
  [[nodiscard]] Node degree(Node v) const { return static_cast<Node>(offsets_[v + 1] - offsets_[v]); }
  /// Binary search in the neighbours of u.
  [[nodiscard]] bool has_edge(Node u, Node v) const;
  [[nodiscard]] NodeType type(Node v) const { return types_[v]; }
  [[nodiscard]] std::span<const NodeType> types() const { return {types_, nodes_}; }
  /// Every edge once, as (smaller, larger), ascending.
  [[nodiscard]] std::vector<Edge> edges() const;

  /// The rows as they are stored: offsets (num_nodes + 1 of them) into adjacency (both directions). An *arc* is a place
  /// in adjacency: one direction of an edge.
  [[nodiscard]] std::span<const std::uint64_t> offsets() const { return {offsets_, std::size_t{nodes_} + 1}; }
  [[nodiscard]] std::span<const Node> adjacency() const { return {adjacency_, arcs_}; }

  /// Whether some edge has a label other than 0.
  [[nodiscard]] bool has_edge_labels() const { return edge_labels_ != nullptr; }
  /// One per arc, the same on both arcs of an edge; empty where all labels are 0.
  [[nodiscard]] std::span<const EdgeLabel> edge_labels() const {
    return {edge_labels_, edge_labels_ == nullptr ? 0 : arcs_};
  }
  [[nodiscard]] EdgeLabel edge_label(std::uint64_t arc) const {
    return edge_labels_ == nullptr ? EdgeLabel{0} : edge_labels_[arc];
  }
  /// One per edge, in the order of edges(); empty where all labels are 0.
  [[nodiscard]] std::vector<EdgeLabel> labels_of_edges() const;
  /// The arc from u to v. Requires has_edge(u, v).
  [[nodiscard]] std::uint64_t arc(Node u, Node v) const;
  /// For every arc the place of its edge in edges(): what stands per edge (attributes) is read per arc with it.
  [[nodiscard]] std::vector<std::uint64_t> edges_of_arcs() const;

  /// The same graph with node v renamed to permutation[v]. Requires a permutation of the nodes.
  [[nodiscard]] Graph relabelled(std::span<const Node> permutation) const;
  /// The same graph with every label of an edge 0.
  [[nodiscard]] Graph without_labels() const;

  /// Equal as labelled graphs (not up to isomorphism).
  friend bool operator==(const Graph& a, const Graph& b);

 private:
  static constexpr std::uint64_t kNoRows[1] = {0};
  Node nodes_ = 0;
  std::uint64_t arcs_ = 0;
  const std::uint64_t* offsets_ = kNoRows;
  const Node* adjacency_ = nullptr;
  const NodeType* types_ = nullptr;
  const EdgeLabel* edge_labels_ = nullptr;
  std::shared_ptr<const void> memory_;
};

/// Both graphs side by side: b's nodes follow a's.
[[nodiscard]] Graph disjoint_union(const Graph& a, const Graph& b);

/// A component number for every node, numbered by their smallest node; and how many there are.
struct Components {
  std::vector<Node> of_node;
  Node count = 0;
  /// The nodes of each, ascending.
  [[nodiscard]] std::vector<std::vector<Node>> members() const;
};
[[nodiscard]] Components connected_components(const Graph& graph);

/// The edges whose removal would disconnect their component, as (smaller, larger), ascending.
[[nodiscard]] std::vector<Edge> bridges(const Graph& graph);

/// The side (0 or 1) of every node such that every edge joins one side to the other, each component's smallest node on
/// side 0; nothing where the graph is not bipartite.
[[nodiscard]] std::optional<std::vector<int>> bipartition(const Graph& graph);
[[nodiscard]] inline bool is_bipartite(const Graph& graph) { return bipartition(graph).has_value(); }

/// The subgraph induced by `nodes` (distinct); node i of the result is nodes[i].
[[nodiscard]] Graph induced_subgraph(const Graph& graph, std::span<const Node> nodes);

}  // namespace tyche
