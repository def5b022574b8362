#pragma once
/// The graph on the k-node sets of a graph, k = 1, 2, 3: what 2-GCN, 3-GCN and 1-2-3-GCN pass messages on.
///
///   const SetGraph triples = make_set_graph(graph, {.k = 3});
///   for (std::uint32_t t : triples.neighbours(s)) { ... }   // sets with one node of s replaced by one of its
///   neighbours
///
/// Sets stand in lexicographic order. The neighbours of s are the sets of the list that arise when one node u of s is
/// replaced by a graph neighbour of u outside s. Each arises once: different nodes replaced leave different rests.
/// Labels of edges show in the types of the sets that hold both ends, and nowhere else.
///
/// Memory: 4 bytes for every k-subset of the nodes (the place of a set is its lexicographic rank, looked up in an
/// array, so there is no hashing), then per set of the list 4 k + 16 bytes and 4 bytes per neighbour. A graph of 50
/// nodes has 19,600 triples with about 8 neighbours each: 1.3 MB; one of 200 nodes 1,313,400: about 90 MB.
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "graph/graph.hpp"

namespace tyche::wl {

/// Which sets: all, or those that induce a connected subgraph (for pairs: the edges).
enum class SetChoice : std::uint8_t { all = 0, connected = 1 };

struct SetKind {
  unsigned k = 3;
  SetChoice choice = SetChoice::all;
  friend bool operator==(const SetKind&, const SetKind&) = default;
};

/// The isomorphism type of a set with its node types: the smallest (types, adjacency) over all orders of its nodes, in
/// one number that sorts as those do. Types take 20 bits each, before them the adjacencies (first-second, first-third,
/// second-third) one bit each.
/// A set with labels other than 0 on its edges has the top bit set, and numbers in the place of adjacencies, 0 for none
/// and else one more than the label: of 9 bits for triples, whose types then have 12 each, and of 23 bits for pairs. So
/// types of sets without such labels do not depend on whether other edges have labels.
using SetType = std::uint64_t;

/// Node types from here on do not fit into a SetType.
inline constexpr NodeType kMostNodeTypes = NodeType{1} << 20;

struct SetGraph {
  unsigned k = 0;
  std::vector<Node> nodes;     ///< k a set, ascending
  std::vector<SetType> types;  ///< one per set
  std::vector<std::uint64_t> offsets{0};
  std::vector<std::uint32_t> adjacency;  ///< ascending within a set

  [[nodiscard]] std::size_t size() const { return types.size(); }
  [[nodiscard]] std::span<const Node> set(std::size_t s) const { return std::span(nodes).subspan(s * k, k); }
  [[nodiscard]] std::span<const std::uint32_t> neighbours(std::size_t s) const {
    return std::span(adjacency).subspan(offsets[s], offsets[s + 1] - offsets[s]);
  }
};

/// Throws InputError on a k other than 1, 2, 3, a node type of 2^20 or more, where the graph has more than 2^30
/// k-subsets (1,861 nodes for k = 3), and for graphs with edge labels on a label of 2^23 - 1 or more (k = 2), of 511 or
/// more or a node type of 4,096 or more (k = 3).
[[nodiscard]] SetGraph make_set_graph(const Graph& graph, SetKind kind, unsigned threads = 1);

/// How many k-subsets n nodes have.
[[nodiscard]] double subsets(std::uint64_t nodes, unsigned k);

/// The types that occur among the sets of the graphs, ascending: the columns of a one-hot encoding. Throws like
/// make_set_graph().
[[nodiscard]] std::vector<SetType> set_types(std::span<const Graph> graphs, SetKind kind, unsigned threads = 1);

/// A type and how many sets of a graph have it.
using SetTypeCount = std::pair<SetType, std::uint64_t>;
/// Counts the types among a graph's sets, ascending. Needs no memory for the sets. Throws like make_set_graph().
[[nodiscard]] std::vector<SetTypeCount> count_set_types(const Graph& graph, SetKind kind);

/// "types 0 0 1, edges 1-3 2-3", for people; "types 0 0 1, edges 1-3 (label 2) 2-3 (label 0)" with labels.
[[nodiscard]] std::string set_type_text(SetType type, unsigned k);

}  // namespace tyche::wl
