#pragma once
/// Exact quotients of set graphs: which sets must share an embedding after each layer, over a whole data set.
///
///   const Quotient q = make_quotient(graphs, {.kind = {.k = 3}, .rounds = 9});
///   q.steps[4].columns                // neighbours of the classes of round 5, as classes of round 4, with counts
///
/// Sets with equal colours after l rounds of colour refinement (on the set graph, from isomorphism types) have equal
/// embeddings after l deterministic layers, whatever the weights: a layer's output depends on a set's own input and on
/// the multiset of its neighbours' inputs alone. So layer l needs one row per class of round l, and reads rows of round
/// l - 1. Classes are numbered over all graphs jointly, so that a batch is the union of its graphs' classes.
///
/// Exact: classes are merged where whole signatures are equal; hashes only find candidates.
///
/// Work goes graph by graph: a graph's set graph exists while its own classes are found (in parallel), then these are
/// looked up among those of the graphs before it (in order, so the numbering does not depend on threads: classes are
/// numbered by first occurrence). Memory: a set graph per thread (see set_graph.hpp), plus the result: 14 bytes per
/// class and round, 6 bytes per entry, 8 bytes per graph's class of the last round.
#include <cstdint>
#include <span>
#include <vector>

#include "graph/graph.hpp"
#include "support/progress.hpp"
#include "wl/set_graph.hpp"

namespace tyche::wl {

struct QuotientOptions {
  SetKind kind{};
  std::uint32_t rounds = 9;
  unsigned threads = 1;  ///< 0: all cores
  /// A colour for every node of every graph, comparable over the graphs, or nothing. With it a set starts with the
  /// multiset of its nodes' colours besides its type.
  std::span<const std::vector<std::uint32_t>> node_colours{};
  bool keep_sets = false;        ///< fill Quotient::of_set
  Progress* progress = nullptr;  ///< one unit per graph
};

/// The classes of a round, each with what made it: its class and its neighbours' classes in the round before.
struct QuotientStep {
  std::vector<std::uint32_t> roots;       ///< one per class
  std::vector<std::uint64_t> offsets{0};  ///< into columns and counts
  std::vector<std::uint32_t> columns;     ///< ascending within a class
  std::vector<std::uint16_t> counts;      ///< neighbours in that class

  [[nodiscard]] std::size_t size() const { return roots.size(); }
  friend bool operator==(const QuotientStep&, const QuotientStep&) = default;
};

struct Quotient {
  SetKind kind;
  std::vector<SetType> types;        ///< of the classes of round 0
  std::vector<std::uint32_t> bases;  ///< with node colours: k ascending colours a class of round 0
  std::vector<QuotientStep> steps;   ///< steps[l] makes round l + 1

  /// Graph g's classes in the last round are [first[g], first[g + 1]) of `classes`, with how many sets each stands for;
  /// in the order in which the graph's sets show them.
  std::vector<std::uint64_t> first{0};
  std::vector<std::uint32_t> classes;
  std::vector<std::uint32_t> multiplicity;
  std::uint64_t sets = 0;                          ///< of all graphs
  std::vector<std::vector<std::uint32_t>> of_set;  ///< with keep_sets: the last class of each set of each graph

  [[nodiscard]] std::size_t graphs() const { return first.size() - 1; }
  [[nodiscard]] std::size_t rounds() const { return steps.size(); }
  [[nodiscard]] std::size_t size(std::size_t round) const {
    return round == 0 ? types.size() : steps[round - 1].size();
  }
  friend bool operator==(const Quotient&, const Quotient&) = default;
};

/// Throws InputError like make_set_graph(), where a set has more than 65,535 neighbours in one class, or there are
/// 2^32 - 1 classes or more in a round; Interrupted where a stop was asked for.
[[nodiscard]] Quotient make_quotient(std::span<const Graph> graphs, const QuotientOptions& options);

}  // namespace tyche::wl
