#pragma once
/// From random numbers to colours that tell nodes apart (the paper's lemma on s_ij), and how often that works.
///
///   const Thresholds t = lemma_thresholds(10, 0.1);           // c = 20, k = 400000, c n² = 2000 colours
///   const auto report = measure_individualisation({.nodes = 10, .delta = 0.1, .trials = 100000});
///
/// A node that drew r gets colour R_j, 1 <= j <= c n², where σ(k r - (j-1) k / (c n²)) is 1: those up to its number, so
/// the colours of a node are all up to some j, and more of them mean a larger r. It fails where some σ is neither 0
/// nor 1 (condition i of the lemma) or where two nodes have the same colours (condition ii).
#include <cstdint>
#include <optional>
#include <span>

#include "graph/graph.hpp"
#include "support/statistics.hpp"
#include "theory/acr.hpp"

namespace tyche::theory {

/// Colour j (from 1) is σ(slope · r - (j-1) · slope / colours).
struct Thresholds {
  std::uint32_t colours = 0;
  double slope = 0;

  [[nodiscard]] double offset(std::uint32_t j) const { return (j - 1) * (slope / colours); }
};

/// The lemma's: c n² colours with c = ⌈2/δ⌉, and the slope k = c² n³. Throws InputError unless n >= 1 and 0 < δ < 1,
/// and where c n² passes 10^8.
[[nodiscard]] Thresholds lemma_thresholds(std::uint32_t n, double delta);

/// A layer that makes colours of random numbers: inputs are `handed_on` numbers in [0, 1] and then r; units are the
/// handed-on numbers and then the colours. Purely local: no message is passed.
[[nodiscard]] AcrLayer individualising_layer(const Thresholds& thresholds, std::uint32_t handed_on);

/// The network with that layer in front: R1 … R<handed_on> stay inputs, the colours after them come from r, the last
/// input. Requires network.inputs == handed_on + thresholds.colours.
[[nodiscard]] AcrNetwork with_random_colours(AcrNetwork network, const Thresholds& thresholds, std::uint32_t handed_on);

/// Throws InputError unless trials can be numbered in 32 bits, and there are any.
void check_trials(std::uint64_t trials);

/// What became of one draw.
struct Outcome {
  bool blurred = false;  ///< some σ(s_ij) is neither 0 nor 1
  bool equal = false;    ///< two nodes have the same colours
  [[nodiscard]] bool failed() const { return blurred || equal; }
};
/// The outcome of these numbers, computed as the layer computes it, but by bisection over j (σ(s_ij) falls with j).
[[nodiscard]] Outcome individualise(const Thresholds& thresholds, std::span<const double> random_numbers);

/// Spreading: what partial random initialisation needs. Each round x_v becomes the fraction of 3 x_v + Σ_{u∈N(v)} x_u,
/// by two layers: the sum (scaled into [0, 1]) with one step function for every integer it can pass, then the
/// difference. Integer combinations of independent uniform numbers are uniform modulo 1, so a node that hears of a
/// random node gets a uniform number, and two nodes that hear differently get independent ones (or multiples).
/// One input and one output, both the number x; for graphs of at most n nodes.
[[nodiscard]] AcrNetwork spreading_network(std::uint32_t n, std::uint32_t rounds);

struct IndividualiseOptions {
  std::uint32_t nodes = 10;
  double delta = 0.1;
  std::uint64_t trials = 100'000;
  std::uint64_t seed = 1;
  unsigned threads = 0;
  std::uint32_t one_in = 1;  ///< one node in so many draws a number (⌈nodes / one_in⌉ of them), others start at 0
  std::uint32_t rounds = 0;  ///< of spreading
  /// Where numbers spread; none: for every trial a new random graph, each pair joined with probability
  /// min(1, 2 ln n / n), drawn again until connected. Not looked at when rounds == 0.
  std::optional<Graph> graph = std::nullopt;
};

struct IndividualiseReport {
  Thresholds thresholds;
  std::uint64_t trials = 0;
  std::uint64_t failures = 0;
  std::uint64_t blurred = 0;
  std::uint64_t equal = 0;
  /// Those of `equal` in which two nodes had the same number already (twins, or nodes the randomness did not reach),
  /// so that no threshold could tell them apart.
  std::uint64_t same_number = 0;
  Interval failure_interval;  ///< 95 %
  /// Trials computed by the network's own layer too; both agreed.
  std::uint64_t checked_on_engine = 0;
};

/// Throws InputError on options that make no sense.
[[nodiscard]] IndividualiseReport measure_individualisation(const IndividualiseOptions& options);

}  // namespace tyche::theory
