#pragma once
/// Pairs of nodes that a network on pairs (PPGN) cannot tell apart: the classes of a graph's stable 2-WL colouring.
///
///   const wl::PairClasses classes = wl::pair_classes(graph, colours);
///
/// Matrices that are constant on these classes are closed under products, transposes and all that works entry by entry
/// (the classes are a coherent configuration). So whatever the weights are, PPGN's tensors are constant on them, and so
/// are the gradients of its tensors: one entry per class is enough.
#include <cstdint>
#include <span>
#include <vector>

#include "graph/graph.hpp"

namespace tyche::wl {

struct PairClasses {
  struct Class {
    Node x = 0, y = 0;       ///< its first pair, in the order (0, 0), (0, 1), …
    std::uint32_t size = 0;  ///< pairs
  };
  /// Classes of pairs (v, v) first, then the others; in the order of their first pairs within both.
  std::vector<Class> classes;
  std::uint32_t diagonal = 0;     ///< so many are of pairs (v, v)
  std::vector<std::uint32_t> of;  ///< class of pair (x, y) at x · n + y
};

/// Round 0 tells equal, adjacent (by the label of the edge) and other pairs apart, and nodes by their colours (one per
/// node). Exact. Requires a graph of fewer than 2^16 nodes; the work grows with the cube of their number.
[[nodiscard]] PairClasses pair_classes(const Graph& graph, std::span<const NodeType> colours);

/// Every pair a class of its own.
[[nodiscard]] PairClasses single_pairs(Node nodes);

}  // namespace tyche::wl
