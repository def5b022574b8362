#pragma once
/// Are two graphs told apart by colour refinement on their set graphs? What networks on sets can see at most, whatever
/// their depth and weights.
///
///   compare_sets(a, b, {.levels = {{.k = 3}}})                              // 3-GCN
///   compare_sets(a, b, hierarchy(SetChoice::connected))                     // 1-2-3-GCN with edges as 2-sets
#include <optional>
#include <span>
#include <vector>

#include "wl/set_graph.hpp"
#include "wl/wl.hpp"

namespace tyche::wl {

struct SetTest {
  std::vector<SetKind> levels;
  /// Levels start from the stable colours of nodes besides their types.
  bool on_nodes = false;
};

/// The levels of 1-2-3-GCN: nodes, pairs (all, or connected: the edges), connected triples, each starting from the
/// colours of its nodes.
[[nodiscard]] SetTest hierarchy(SetChoice pairs);

/// Refines level by level to stability, and ends at the first level that tells the graphs apart: what it says of that
/// level, or else of the last one. Throws like make_set_graph().
[[nodiscard]] Comparison compare_sets(const Graph& a, const Graph& b, const SetTest& test, unsigned threads = 1);

/// Which of several graphs colour refinement on their set graphs cannot tell from each other: one number per graph,
/// numbered in order of graphs. Refines them jointly until all are told apart or nothing changes, or gives nothing
/// where that takes more than `most_rounds`. Throws like make_quotient().
[[nodiscard]] std::optional<std::vector<std::uint32_t>> group_on_sets(std::span<const Graph> graphs, SetKind kind,
                                                                      double most_rounds);

}  // namespace tyche::wl
