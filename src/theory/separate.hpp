#pragma once
/// Beyond 1-WL, shown: for two graphs a C² sentence over randomly coloured graphs whose truth has a different
/// probability on each, its network, and what the network puts out.
///
///   Separation s = separate(two_triangles, hexagon);
///   const auto report = measure_separation(s, two_triangles, hexagon, {.trials = 10000});
///
/// Random numbers make leaders: L1 is the node with the largest number, L2 the one with the next, definable in C² from
/// the colours of individualise.hpp: L1(x) := ⋁_j (R_j(x) ∧ ¬∃^{≥2} y R_j(y)). A graph with one or a few marked nodes
/// can be told from another by C² although the graphs themselves cannot, and all it takes is that the number of choices
/// of leaders that make a sentence true differs. Sentences are looked for in this order, for 0, 1, 2, … leaders:
///   1. "the leader lies on a closed walk of k steps", k odd (the shortest that helps);
///   2. "at least m nodes (of a type) are within d steps of the leader";
///   3. "at least m nodes have this colour after r rounds of colour refinement", which finds a sentence whenever there
///      is one for so many leaders.
/// With no leader only the third applies, and it finds one exactly where 1-WL tells the graphs apart.
#include <cstdint>
#include <optional>
#include <string>

#include "graph/graph.hpp"
#include "support/statistics.hpp"
#include "theory/acr.hpp"
#include "theory/formula.hpp"
#include "theory/individualise.hpp"

namespace tyche::theory {

struct SeparateOptions {
  double delta = 0.05;            ///< how often leaders may fail to be defined, at most
  std::uint32_t max_leaders = 4;  ///< where to give up
};

/// A sentence about graphs with marked nodes, the leaders, that more choices of leaders make true in one graph than in
/// the other.
struct Pattern {
  FormulaId pattern = 0;  ///< over R1 … R<types> (node types), L<i> written as R<types + i>
  std::string family;     ///< which of the three kinds, in words
  std::uint64_t choices = 1;
  std::uint64_t true_on_a = 0, true_on_b = 0;  ///< choices of leaders that make it true; not equal
};

struct Separation : Pattern {
  std::optional<std::uint32_t> wl_round;  ///< where 1-WL tells the graphs apart; nothing where it cannot
  std::uint32_t leaders = 0;
  std::uint32_t types = 0;  ///< R1 … R<types> are node types
  FormulaPool pool;
  FormulaId sentence = 0;  ///< R<types + 1> … are the random colours
  Thresholds thresholds;
  AcrNetwork network;  ///< inputs: types one-hot, then one random number; output: the truth value

  /// The pattern as text, with L1, L2, … for the leaders.
  [[nodiscard]] std::string pattern_text(std::size_t limit = std::string::npos) const;
};

/// Throws InputError where the graphs are isomorphic, where one has no node, or where no sentence with max_leaders (or
/// within reach of memory) tells them apart.
[[nodiscard]] Separation separate(const Graph& a, const Graph& b, const SeparateOptions& options = {});

/// How often the network's output was 1, and how often it was neither 0 nor 1.
struct OutputCounts {
  std::uint64_t trials = 0, ones = 0, blurred = 0;
  [[nodiscard]] double mean() const { return static_cast<double>(ones) / static_cast<double>(trials); }
  [[nodiscard]] Interval interval() const { return clopper_pearson(ones, trials); }
};

struct SeparationReport {
  OutputCounts a, b;
  OutputCounts relabelled_a;  ///< every trial on a copy of A with its nodes renamed at random
  double p_a_and_b = 1;       ///< Fisher's exact test that A and B have the same chance of a 1
  double p_a_and_relabelled = 1;
};

struct SeparationTrials {
  std::uint64_t trials = 10'000;
  std::uint64_t seed = 1;
  unsigned threads = 0;
};

[[nodiscard]] SeparationReport measure_separation(const Separation& separation, const Graph& a, const Graph& b,
                                                  const SeparationTrials& options);

}  // namespace tyche::theory
