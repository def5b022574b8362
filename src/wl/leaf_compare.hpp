#pragma once
/// Are two graphs isomorphic? Told by the leaves of their trees of paths.
///
///   compare_leaves(rook, shrikhande).verdict          // LeafVerdict::different
///
/// Two graphs have a leaf in common if and only if they are isomorphic, and then every leaf of one is a leaf of the
/// other. So instead of both trees it is enough to look for one leaf of the first graph in the tree of the second,
/// leaving every place whose quotient differs from that at the same depth of the way to the wanted leaf. No leaf that
/// could be the wanted one is left out, so a search that ends is a proof.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "wl/individualise.hpp"

namespace tyche::wl {

/// The end of a path as a thing that can be compared between graphs: the graph renumbered by the ranks of its nodes.
///
///   const LeafGraph a = leaf_graph(g, g_paths.draw(choices));
///   if (a == leaf_graph(h, h_paths.draw(others)) && a.discrete) ...      // g and h are isomorphic
///
/// A leaf gives the graph with node types and edge labels, its nodes numbered by rank; equal ones prove graphs
/// isomorphic. A path that ends earlier gives its quotient, with the size of every class; isomorphic graphs have the
/// same ones, equally often.
struct LeafGraph {
  /// The number of nodes; then for every class, ascending: node type, nodes, degree, neighbours' ranks (ascending);
  /// where `labelled`, each rank is followed by the label of the edge.
  std::vector<std::uint32_t> rows;
  bool discrete = true;
  bool labelled = false;  ///< the graph has labels on its edges

  friend bool operator==(const LeafGraph&, const LeafGraph&) = default;
};

[[nodiscard]] LeafGraph leaf_graph(const Graph& graph, const Path& path);
/// The same from ranks 0 … classes - 1 of a stable colouring.
[[nodiscard]] LeafGraph leaf_graph(const Graph& graph, std::span<const std::uint32_t> ranks, std::uint32_t classes);

struct LeafGraphHash {
  [[nodiscard]] std::size_t operator()(const LeafGraph& leaf) const;
};

/// How paths are drawn where a graph is surveyed: draw r of graph g has derive_key(seed, Purpose::individualise, r).
struct PathOptions {
  std::uint32_t depth = kLeaf;
  Cell cell = Cell::first_largest;
  std::uint32_t draws = 64;
  std::uint64_t seed = 1;
  /// A tree beyond these is not walked in full.
  TreeLimits tree = {.leaves = 10000, .bytes = std::uint64_t{256} << 20};
};

[[nodiscard]] Choices choices_of(const PathOptions& options, std::uint32_t draw, std::uint32_t graph);

/// What R draws from a graph saw. Memory: as many LeafGraphs as there are distinct ones.
struct Survey {
  std::uint32_t draws = 0;
  std::uint32_t distinct = 0;  ///< different leaves (ends of paths), as LeafGraphs
  std::uint32_t discrete = 0;  ///< draws that ended with every node in a class of its own
  std::uint32_t least_depth = 0;
  std::uint32_t most_depth = 0;
  double mean_depth = 0;
  struct Whole {
    std::uint32_t leaves = 0;
    std::uint32_t distinct = 0;
  };
  std::optional<Whole> tree;  ///< where it was walked in full
};
[[nodiscard]] Survey survey(const Graph& graph, std::uint32_t index, const PathOptions& options);

enum class LeafVerdict {
  isomorphic,  ///< a leaf in common
  different,   ///< none in common, of all there are
  unknown,     ///< none in common so far, or nothing that proves either at this depth
};
[[nodiscard]] std::string_view name(LeafVerdict verdict);

struct LeafComparison {
  LeafVerdict verdict = LeafVerdict::unknown;
  std::uint64_t places = 0;  ///< of the trees looked at in the search
  std::uint32_t draws = 0;   ///< paths drawn from each graph afterwards, where the search was too long
};

/// Searches while that takes no more than about `most_work` looks at nodes and edges (seconds), and then draws
/// options.draws paths of each graph (numbers i and j in the choices) and looks for a common one. At a depth below the
/// number of nodes, whole trees are compared instead (where within options.tree): different where an end of a path, as
/// a LeafGraph, is not equally frequent in both; isomorphic where one in common is a leaf; else unknown.
[[nodiscard]] LeafComparison compare_leaves(const Graph& a, const Graph& b, const PathOptions& options = {},
                                            std::uint32_t i = 0, std::uint32_t j = 1,
                                            std::uint64_t most_work = 1000000000);

}  // namespace tyche::wl
