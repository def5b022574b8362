#pragma once
/// Are two graphs isomorphic? Told by the leaves of their trees of paths.
///
///   compare_leaves(rook, shrikhande).verdict          // LeafVerdict::different
///
/// Two graphs have a leaf in common if and only if they are isomorphic, and then every leaf of one is a leaf of the
/// other. So instead of both trees it is enough to look for one leaf of the first graph in the tree of the second,
/// leaving every place whose quotient differs from that at the same depth of the way to the wanted leaf. No leaf that
/// could be the wanted one is left out, so a search that ends is a proof.
#include <cstdint>
#include <string_view>

#include "wl/leaf_graph.hpp"

namespace tyche::wl {

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
