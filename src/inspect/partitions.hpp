#pragma once
/// Which graphs of a set each test leaves together: 1-WL, isomorphism, tests on pairs, refinement on sets. Exact.
///
///   const Partition one = by_refinement(graphs, 0);
///   const Partition copies = by_isomorphism(graphs, one, work);
///   const std::optional<Partition> two = by_pairs("folklore", graphs, answers, one, copies, work);
///
/// Most graphs of most sets are told apart by 1-WL already, and what it leaves together are mostly copies. So the dear
/// tests look at one graph of each isomorphism class, and only at groups in which graphs that are no copies have
/// different answers: elsewhere the answer of a test changes no score.
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "graph/graph.hpp"
#include "inspect/answers.hpp"
#include "support/progress.hpp"

namespace tyche::inspect {

struct Partition {
  std::vector<std::uint32_t> group;  ///< one number per graph, numbered in order of first graphs
  std::uint32_t groups = 0;

  /// The graphs of each group, ascending.
  [[nodiscard]] std::vector<std::vector<std::uint32_t>> members() const;
};

/// Numbers of keys by first occurrence.
template <class Key>
Partition by_key(std::vector<Key> keys) {
  Partition out;
  std::map<Key, std::uint32_t> numbers;
  for (Key& key : keys) {
    out.group.push_back(numbers.try_emplace(std::move(key), static_cast<std::uint32_t>(numbers.size())).first->second);
  }
  out.groups = static_cast<std::uint32_t>(numbers.size());
  return out;
}

/// What the dear tests may take: a few seconds of a core each. A test that would take more is left out.
struct Limits {
  double tuples = 4e9;    ///< pairs: the cubes of the graphs' sizes, summed: steps per round of 2-WL
  double bytes = 0x1p30;  ///< pairs: for the graphs of one group of 1-WL
  double sets = 1e8;      ///< sets of nodes whose types are counted
  double refined = 3e8;   ///< sets that are refined, times rounds

  /// Whatever it takes, as far as memory goes.
  static constexpr Limits none() {
    constexpr double kMost = std::numeric_limits<double>::infinity();
    return {kMost, kMost, kMost, kMost};
  }
};

/// How much work the tests may do, and who is told.
struct Work {
  unsigned threads = 0;
  Limits limits{};
  Progress* progress = nullptr;    ///< by_isomorphism: one unit per graph
  std::vector<std::string> notes;  ///< why tests were left out, a sentence each
};

/// By the stable colours of 1-WL, all graphs refined together.
[[nodiscard]] Partition by_refinement(std::span<const Graph> graphs, unsigned threads);

/// Isomorphic graphs together (types and edge labels respected); canonical forms are made where 1-WL leaves several.
[[nodiscard]] Partition by_isomorphism(std::span<const Graph> graphs, const Partition& one_wl, const Work& work);

/// As good as the partition by a test on pairs of nodes ("rooted", "pairs", "folklore": wl::space_test) for the
/// answers: groups in which all answers are equal may stay whole. Nothing, and a note, where it would take too long or
/// too much memory.
[[nodiscard]] std::optional<Partition> by_pairs(const std::string& space, std::span<const Graph> graphs,
                                                const Answers& answers, const Partition& one_wl,
                                                const Partition& copies, Work& work);

/// Likewise by colour refinement on all sets of k = 2 or 3 nodes (wl/set_compare.hpp): what networks on sets see at
/// most. Not finer than 1-WL in general: a graph of one node has no 2-sets.
[[nodiscard]] std::optional<Partition> by_sets(std::span<const Graph> graphs, unsigned k, const Answers& answers,
                                               const Partition& copies, Work& work);

}  // namespace tyche::inspect
