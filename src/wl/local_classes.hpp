#pragma once
/// Colour refinement of one set graph, round by round: the part of make_quotient() that knows one graph only.
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "wl/set_graph.hpp"

namespace tyche::wl {

/// The partition after a round. Classes are numbered in the order in which the sets show them.
struct LocalRound {
  std::vector<std::uint32_t> of_set;  ///< set -> class
  std::vector<std::uint32_t> shown;   ///< class -> its first set
};

struct LocalClasses {
  SetGraph graph;
  /// Rounds 0, 1, … until the last one asked for, or the first that equals the one before it (which is then not kept).
  std::vector<LocalRound> rounds;

  [[nodiscard]] const LocalRound& round(std::size_t l) const { return rounds[std::min(l, rounds.size() - 1)]; }
};

/// Refines from the sets' types, and from their nodes' colours where there are any.
[[nodiscard]] LocalClasses local_classes(SetGraph graph, std::uint32_t rounds,
                                         std::span<const std::uint32_t> node_colours);

/// The colours of a set's nodes, ascending.
void sorted_colours(std::span<const Node> set, std::span<const std::uint32_t> node_colours,
                    std::vector<std::uint32_t>& out);

/// Sorts a few numbers.
void sort_few(std::uint32_t* begin, std::uint32_t* end);

/// A 64-bit hash of a list, for finding candidates.
[[nodiscard]] std::uint64_t hash_list(std::uint64_t start, std::span<const std::uint32_t> list);

}  // namespace tyche::wl
