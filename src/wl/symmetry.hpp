#pragma once
/// Automorphisms of a graph, and what they spare a refinement of tuples: tuples of one orbit have one colour in every
/// round, so that one of them is enough.
///
///   const std::vector<Permutation> some = find_automorphisms(graph);
///   const Symmetry symmetry(graph.num_nodes(), some);
///   symmetry.home[v], symmetry.way(v)[w]      // an automorphism that takes v to its orbit's first node
#include <cstdint>
#include <span>
#include <vector>

#include "graph/graph.hpp"

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

}  // namespace tyche::wl
