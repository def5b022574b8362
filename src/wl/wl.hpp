#pragma once
/// The Weisfeiler-Leman tests: are two graphs told apart, and when?
///
///   const wl::Comparison answer = wl::compare(a, b, {.dim = 2});
///   if (answer.distinguished) fmt::print("told apart at round {}\n", *answer.round);
///
/// dim 1 is colour refinement: a node's next colour is its colour and the multiset of its neighbours' colours. dim k =
/// 2 or 3 is the folklore test on k-tuples of nodes: a tuple's next colour is its colour and the multiset, over all
/// nodes w, of the k colours of the tuples that have one position replaced by w. (So 2-WL here is what other texts call
/// 3-dimensional "oblivious" WL; it tells the pairs of EXP apart.) Round 0 is the colouring by node types (dim 1), or
/// by types, equalities and adjacencies among the tuple's nodes (dim 2 and 3). Where edges have labels, a neighbour's
/// colour counts together with the label of the edge (dim 1), and adjacencies by their labels (dim 2 and 3).
///
/// Answers are exact: hashes only bring candidates together, and every equality is then checked on whole signatures.
/// They do not depend on the numbering of the nodes or on the number of threads.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "graph/graph.hpp"
#include "support/progress.hpp"

namespace tyche::wl {

/// What is coloured: nodes or tuples, as dim says; or ordered pairs of nodes, by what networks on pairs look at
/// (pair_refiner.hpp), dim not looked at: rooted (`subgraph`) and pairs (`local2`). Folklore is dim 2.
enum class Space { tuples, rooted, pairs };

struct Options {
  unsigned dim = 1;      ///< 1, 2 or 3
  unsigned threads = 1;  ///< 0: all cores. Many small pairs are better spread over threads by the caller, one pair each
  /// End at the first round that tells the graphs apart; later rounds, and so stability, are then not known.
  bool stop_when_distinguished = false;
  Space space = Space::tuples;
  /// rooted and pairs: begin with distances, those beyond it all alike, instead of equal, adjacent and apart. Distances
  /// that are reached come out in later rounds anyway: it changes rounds, never who is told apart.
  std::optional<std::uint32_t> distance_cut{};
  /// What dim 2 and 3 and pairs may use, in bytes; 0: 75 % of the machine's memory.
  std::uint64_t memory_limit = 0;
};

struct Comparison {
  bool distinguished = false;
  /// The first round after which the multisets of colours of the two graphs differ; nothing where no round does.
  /// Graphs of different size differ at round 0.
  std::optional<std::uint32_t> round;
  /// The first round whose partition no later round refines; nothing where stop_when_distinguished ended the work.
  std::optional<std::uint32_t> stable_after;
  /// Colour classes over both graphs (of nodes, or of tuples) at stability, or where the work ended.
  std::uint64_t classes = 0;

  friend bool operator==(const Comparison&, const Comparison&) = default;
};

/// Refines the two graphs jointly. Throws InputError on a dim other than 1, 2, 3, and where dim 2 or 3 would need more
/// memory than the limit (the message says how much).
[[nodiscard]] Comparison compare(const Graph& a, const Graph& b, const Options& options = {});

/// compare() of graphs 2i and 2i + 1, for all i. Pairs are spread over the threads (as many at a time as memory
/// allows), unless there is only one. Counts pairs on `progress`. Throws InputError on an odd number of graphs, and
/// like compare().
[[nodiscard]] std::vector<Comparison> compare_pairs(std::span<const Graph> graphs, const Options& options = {},
                                                    Progress* progress = nullptr);

/// Which graphs a test cannot tell from each other.
struct Grouping {
  std::vector<std::uint32_t>
      group;  ///< one number per graph; equal numbers: not told apart. Numbered in order of graphs
  std::uint32_t groups = 0;
  std::uint32_t stable_after = 0;  ///< of all graphs refined together
  std::uint64_t classes = 0;
};

/// Refines all graphs jointly to stability (stop_when_distinguished is not looked at). Throws like compare().
[[nodiscard]] Grouping group(std::span<const Graph> graphs, const Options& options = {});

/// The test that "rooted", "pairs" or "folklore" names (docs/networks.md), with a distance cut or none. Throws
/// InputError that lists the names on any other, and where folklore has a cut.
[[nodiscard]] Options space_test(const std::string& name, const std::optional<std::uint32_t>& distance_cut = {});

/// The memory that options allow.
[[nodiscard]] double memory_limit(const Options& options);

/// The bytes that dim 2 or 3 takes on graphs with so many nodes (an upper bound, rounded to a double).
[[nodiscard]] double memory_needed(unsigned dim, std::span<const Node> nodes);

}  // namespace tyche::wl
