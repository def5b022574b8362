#pragma once
/// Colours of nodes under colour refinement (1-WL), round by round.
///
///   const wl::Colouring colouring = wl::refine(graphs);
///   for (const wl::Colour c : colouring.of_graph(0)) { ... }     // stable colours, comparable across the graphs
///
///   const wl::Colouring eight = wl::refine(graphs, {.max_rounds = 8, .keep_rounds = true});
///   eight.history[3]                                             // the colours after three rounds
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "graph/graph.hpp"

namespace tyche::wl {

using Colour = std::uint32_t;

struct RefineOptions {
  std::uint32_t max_rounds = std::numeric_limits<std::uint32_t>::max();
  bool keep_rounds = false;  ///< fill Colouring::history: nodes * rounds numbers, so bound the rounds of long paths
  unsigned threads = 1;      ///< 0: all cores
};

/// Colours of all nodes of several graphs, refined jointly: equal colours mean equal colours in whichever graph. The
/// nodes of all graphs stand one after another. Colours are numbered 0 … classes - 1 in an order that depends on the
/// graphs up to isomorphism alone: renaming nodes, or reordering the graphs, moves colours along with their nodes.
struct Colouring {
  std::vector<std::size_t> first;  ///< graph g's nodes are [first[g], first[g + 1])
  std::vector<Colour> colours;     ///< after the last round made
  std::uint32_t classes = 0;
  std::uint32_t rounds = 0;  ///< rounds made; where stable, the first round that no later one refines
  bool stable = false;       ///< false where max_rounds ended it first
  /// With keep_rounds: the colours after rounds 0 … rounds, each round numbered on its own.
  std::vector<std::vector<Colour>> history;

  [[nodiscard]] std::span<const Colour> of_graph(std::size_t graph) const {
    return std::span(colours).subspan(first[graph], first[graph + 1] - first[graph]);
  }
};

/// Colour refinement of all graphs together, from their node types; where edges have labels, neighbours count by colour
/// and label of the edge. O((n + m) log n) time whatever the number of
/// rounds, O(n + m) memory (apart from history). Throws InputError where the graphs have 2^32 - 1 nodes or more in all.
[[nodiscard]] Colouring refine(std::span<const Graph> graphs, const RefineOptions& options = {});

}  // namespace tyche::wl
