#pragma once
/// Colour refinement of ordered pairs (u, v): what networks on pairs see at most (docs/networks.md).
///
///   PairRefiner refiner(graphs, {.space = Space::rooted});
///   while (refiner.step()) continue;
///   refiner.told_apart()
///
/// rooted: a pair's next colour is its colour and the multiset of the colours of (u, w), for w next to v, each with the
/// label of the edge: colour refinement of the graph once for every root u (`subgraph`). pairs: besides, and apart from
/// these, the colours of (w, v), for w next to u (`local2`). Round 0 is the types of u and v and how they lie to each
/// other: equal, adjacent (by which label) or apart; with a distance cut D, their distance, all beyond D alike.
///
/// Both are colour refinement of a graph whose nodes are the pairs, so ColourRefiner does the work. Graphs are pooled
/// as the networks pool: the colours (u, v) of all v to a colour of u, the colours of all u to the graph's.
#include <cstdint>
#include <span>
#include <vector>

#include "wl/colour_refiner.hpp"
#include "wl/wl.hpp"

namespace tyche::wl {

class PairRefiner {
 public:
  /// Requires options.space rooted or pairs. Throws InputError where there are 2^32 - 1 pairs or more, or they need
  /// more memory than the limit.
  PairRefiner(std::span<const Graph* const> graphs, const Options& options);

  bool step();
  [[nodiscard]] std::uint32_t round() const { return refiner_.round(); }
  [[nodiscard]] std::uint32_t classes() const { return refiner_.classes(); }
  /// Whether the two graphs' multisets of colours of roots differ. Requires two graphs.
  [[nodiscard]] bool told_apart() const { return told_apart_; }
  /// The colour of every root after this round, graph by graph: equal where the multisets of its pairs are.
  [[nodiscard]] std::vector<std::uint32_t> colours() const;

 private:
  void look();

  std::vector<Node> nodes_;    // of the graphs
  std::vector<Graph> graphs_;  // of pairs
  ColourRefiner refiner_;
  bool told_apart_ = false;
};

}  // namespace tyche::wl
