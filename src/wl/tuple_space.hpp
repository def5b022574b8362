#pragma once
/// The k-tuples of nodes of several graphs, up to automorphisms that are known: the items that k-WL colours.
///
/// Tuples of one orbit have one colour in every round, so an *item* is an orbit of tuples, and its weight their number.
/// Every orbit has tuples that begin with the first node u of an orbit of nodes. A *cell* is such a tuple: cells are
/// numbered graph by graph, and within a graph lexicographically by (orbit of u, the other positions). Any tuple is
/// taken to a cell by an automorphism that takes its first node to u (Symmetry::way). Cells that agree in all but the
/// last position stand together: they are a row. Without automorphisms items, cells and tuples are the same numbers.
///
///   const std::vector<Permutation> some = find_automorphisms(graph);
///   const Symmetry symmetry(graph.num_nodes(), some);
///   symmetry.home[v], symmetry.way(v)[w]      // an automorphism that takes v to its orbit's first node
#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "graph/graph.hpp"
#include "wl/refining.hpp"

namespace tyche::wl {

/// Node v goes to permutation[v].
using Permutation = std::vector<Node>;

/// Automorphisms that keep types and labels of edges, each of them checked; not always generators of the whole group.
/// They are looked for along one path of individualisation-refinement, from its end up: other members of a cell are
/// followed to one leaf each, and a leaf that shows the same graph is an automorphism. Nothing is searched further, so
/// that the time is that of a few leaves per node whatever the graph (none are found where a path has more than 256
/// steps). Where the cells of the path are orbits of what keeps the nodes chosen before (cycles, CFI graphs, rook's
/// graphs) the group is found whole.
[[nodiscard]] std::vector<Permutation> find_automorphisms(const Graph& graph);

/// The orbits of nodes under a group of automorphisms, with a way from every node to the first of its orbit.
struct Symmetry {
  /// Of the group that `generators` generate. Requires fewer than 2^16 nodes.
  Symmetry(Node nodes, std::span<const Permutation> generators);

  /// Elements of the group that keep `first[orbit]` where it is: two per generator and `extra` ones, drawn at random.
  /// It is likely, not certain, that they generate all of these. The same for the same call.
  [[nodiscard]] std::vector<Permutation> stabiliser(std::size_t orbit, std::span<const Permutation> generators,
                                                    unsigned extra) const;
  /// An automorphism that takes v to first[home[v]]: node w goes to way(v)[w].
  [[nodiscard]] std::span<const std::uint16_t> way(Node v) const {
    return std::span(ways).subspan(trivial ? 0 : std::size_t{v} * nodes, nodes);
  }

  Node nodes;
  bool trivial;                     ///< every node is an orbit, all ways are the identity
  std::vector<Node> first;          ///< orbit -> its first node
  std::vector<std::uint32_t> home;  ///< node -> its orbit
  std::vector<std::uint32_t> size;  ///< orbit -> nodes
  std::vector<std::uint16_t> ways;  ///< a row per node
};

template <unsigned K>
class TupleSpace {
 public:
  using Nodes = std::array<Node, K>;

  /// The tuples of one graph.
  struct Part {
    Node nodes = 0;
    std::uint32_t first_cell = 0;
    std::uint32_t first_item = 0;
    Symmetry symmetry;
  };

  /// Requires fewer than 2^32 - 1 tuples in all (and so fewer than 2^16 nodes in every graph). Automorphisms are looked
  /// for where a graph has `symmetric_from` nodes or more.
  TupleSpace(std::span<const Graph* const> graphs, Node symmetric_from);

  [[nodiscard]] std::uint32_t items() const { return static_cast<std::uint32_t>(cell_.size()); }
  [[nodiscard]] std::uint32_t cells() const { return static_cast<std::uint32_t>(item_.size()); }
  /// One per graph.
  [[nodiscard]] std::span<const Part> parts() const { return parts_; }
  [[nodiscard]] const Part& part_of(std::uint32_t item) const {
    if (parts_.size() == 2) return parts_[item >= parts_[1].first_item ? 1 : 0];
    const auto after = std::upper_bound(parts_.begin(), parts_.end(), item,
                                        [](std::uint32_t i, const Part& part) { return i < part.first_item; });
    return *(after - 1);
  }
  /// Cell -> its item.
  [[nodiscard]] std::span<const std::uint32_t> item_of_cell() const { return item_; }
  /// Item -> tuples it stands for.
  [[nodiscard]] std::uint32_t weight(std::uint32_t item) const { return weight_[item]; }

  /// A tuple of the item: that of its first cell.
  [[nodiscard]] Nodes nodes_of(const Part& part, std::uint32_t item) const {
    Nodes nodes;
    std::uint32_t rest = cell_[item] - part.first_cell;
    for (unsigned i = K; i-- > 1; rest /= part.nodes) nodes[i] = rest % part.nodes;
    nodes[0] = part.symmetry.first[rest];
    return nodes;
  }
  [[nodiscard]] std::uint32_t item_of(const Part& part, const Nodes& nodes) const {
    const auto way = part.symmetry.way(nodes[0]);
    std::uint32_t index = part.symmetry.home[nodes[0]];
    for (unsigned i = 1; i < K; ++i) index = index * part.nodes + way[nodes[i]];
    return item_[part.first_cell + index];
  }

  /// The rows of a tuple: [i] is without position i. Row i holds, at way[i][w], the cell of the tuple whose last node
  /// is w.
  struct Rows {
    std::array<std::uint32_t, K> cell;
    std::array<const std::uint16_t*, K> way;
  };
  [[nodiscard]] Rows rows_of(const Part& part, const Nodes& nodes) const {
    Rows rows;
    for (unsigned dropped = 0; dropped < K; ++dropped) {
      const Node head = nodes[dropped == 0 ? 1 : 0];
      const auto way = part.symmetry.way(head);
      std::uint32_t index = part.symmetry.home[head];
      for (unsigned i = dropped == 0 ? 2 : 1; i < K; ++i) {
        if (i != dropped) index = index * part.nodes + way[nodes[i]];
      }
      rows.cell[dropped] = part.first_cell + index * part.nodes;
      rows.way[dropped] = way.data();
    }
    return rows;
  }

 private:
  void number(const Part& part, std::span<const Permutation> generators, unsigned extra);
  [[nodiscard]] bool closed(const Part& part) const;

  std::vector<Part> parts_;
  std::vector<std::uint32_t> item_;
  std::vector<std::uint32_t> cell_;
  std::vector<std::uint32_t> weight_;
};

extern template class TupleSpace<2>;
extern template class TupleSpace<3>;

/// Round 0 of k-WL: the atomic type of a tuple, which is the types of its nodes and, for every two positions, whether
/// their nodes are equal, adjacent (and by an edge of which label) or apart.
///
/// A key for every item of the graphs' tuples: equal keys for equal atomic types, exactly. Their order follows the
/// order of the types of nodes. Throws InputError on more than 800,000 different node types for k = 3 (2^31 for k = 2),
/// and on fewer where there are many labels of edges too: all combinations must have numbers below 2^64.
template <unsigned K>
[[nodiscard]] std::vector<std::uint64_t> atomic_types(std::span<const Graph* const> graphs, const TupleSpace<K>& space);

extern template std::vector<std::uint64_t> atomic_types<2>(std::span<const Graph* const>, const TupleSpace<2>&);
extern template std::vector<std::uint64_t> atomic_types<3>(std::span<const Graph* const>, const TupleSpace<3>&);

}  // namespace tyche::wl
