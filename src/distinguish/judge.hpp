#pragma once
/// Does a trained network tell two graphs apart? docs/brec.md states the test.
///
/// A network with random inputs is shown `draws` draws of each graph, each in a fresh numbering of its nodes, and says
/// of each which of the two it is. Fisher's exact test, one-sided, compares how often either was called the first. A
/// network without random inputs gives the same answer every time, so its outputs on renumbered copies are compared,
/// and have to differ by more than rounding.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/engine.hpp"
#include "support/random.hpp"

namespace tyche::distinguish {

struct Settings;

/// Hotelling's T² of paired differences, which BREC's own test is made of (without its factor q):
/// q · D̄ᵀ S⁻¹ D̄ of q differences of `columns` numbers each, row-major; S is their sample covariance (q - 1). Nothing
/// where S is not regular to the precision of floats, as when a graph has one leaf: then T² says nothing.
///
///   const std::vector<double> d = {1, 2, 3};
///   hotelling(d, 1)                                   // q mean² / variance: 12
[[nodiscard]] std::optional<double> hotelling(std::span<const double> differences, std::size_t columns);

/// A graph with its features.
struct FeaturedGraph {
  Graph graph;
  std::vector<float> features;
};
/// In another numbering of its nodes, drawn from the stream.
[[nodiscard]] FeaturedGraph renumbered(const FeaturedGraph& sample, Stream& stream);

/// What was seen of a pair.
struct Verdict {
  bool told_apart = false;
  double p = 1;                     ///< Fisher's; without draws 0 or 1
  std::uint32_t first_a = 0;        ///< how many draws of the first graph were called the first
  std::uint32_t first_b = 0;        ///< and of the second
  std::optional<double> hotelling;  ///< where its covariance is regular; released scoring: T² without the factor q
  bool singular = false;            ///< released scoring: S is zero to rounding, and D̄ alone decided

  friend bool operator==(const Verdict&, const Verdict&) = default;
};

/// Two outputs count as different where they differ by more than kSpreads times what renumbered copies of one graph
/// differ by, and kRounding of their size.
inline constexpr double kSpreads = 16;
inline constexpr double kRounding = 1e-4;
/// Renumbered copies of each graph that a network without random inputs is shown.
inline constexpr std::uint32_t kCopies = 32;
/// And one on sets of nodes: refining the sets of one copy costs as much as hundreds of epochs on it.
inline constexpr std::uint32_t kSetCopies = 4;
[[nodiscard]] inline std::uint32_t fixed_copies(const nn::ModelConfig& model) {
  return model.on_sets() ? kSetCopies : kCopies;
}

/// Of a network whose first output stands for `a`. `job` has the model; its data is not looked at. `draw` says under
/// which seed, fold and epoch to draw; its index must be one that training did not use.
[[nodiscard]] Verdict judge(engine::Engine& engine, const engine::Job& job, std::span<const float> parameters,
                            const FeaturedGraph& a, const FeaturedGraph& b, const engine::Draw& draw,
                            std::uint32_t draws, double level);

/// The part of judge() that looks at outputs, row-major (first those of a, then as many of b; `outputs` per row).
[[nodiscard]] Verdict judge_random(std::span<const float> outputs, std::size_t columns, double level);
[[nodiscard]] Verdict judge_fixed(std::span<const float> outputs, std::size_t columns);

struct PairResult {
  std::uint64_t seed = 1;
  std::uint32_t pair = 0;
  std::uint32_t epochs = 0;  ///< that its network, and that of its control, was trained for
  Verdict verdict;
  Verdict control;

  friend bool operator==(const PairResult&, const PairResult&) = default;
};

/// BREC's own protocol, to stand beside published numbers: a network with 16 outputs is trained so that the outputs of
/// a pair point in different directions, and judged by T² = D̄ᵀ S⁺ D̄ of the differences between the outputs of 32
/// renumbered copies of each graph, with neither the factor q nor fresh copies. docs/brec.md says what is wrong with
/// it.
///
///   const PairResult result = judge_released(*engine, settings, a, b, seed, pair);
///   result.verdict.told_apart, result.verdict.hotelling             // T² > 72.34
///   result.control.told_apart                                       // "not reliable": T² of copies of one graph
inline constexpr std::uint32_t kReleasedOutputs = 16;
inline constexpr std::uint32_t kReleasedCopies = 32;
inline constexpr std::uint32_t kReleasedBatch = 16;  ///< graphs: eight of each
inline constexpr std::uint32_t kReleasedEpochs = 20;
inline constexpr double kReleasedRate = 1e-4;  ///< and weight decay
inline constexpr double kReleasedStop = 0.2;   ///< training ends below this loss
inline constexpr double kReleasedThreshold = 72.34;
/// The rounding of outputs, as a share of their size: a spread below this is zero, and so is a mean below kSpreads of
/// it.
inline constexpr double kReleasedRounding = 1e-5;

/// The mean over pairs of max(0, cosine of x and y), PyTorch's CosineEmbeddingLoss with target -1 and margin 0, and its
/// gradient; rows of `outputs` are x₀, y₀, x₁, y₁, …
double cosine_loss(std::span<const float> outputs, std::size_t columns, std::span<float> gradient);

/// D̄ᵀ pinv(S) D̄ of differences (row-major), with PyTorch's cutoff for floats: eigenvalues of S below the largest times
/// columns times 2⁻²³ count as zero.
[[nodiscard]] double released_statistic(std::span<const double> differences, std::size_t columns);

/// By outputs of copies, x₀, y₀, x₁, y₁, …: T² in `hotelling`, and its nominal p if it had the factor q. Where S is
/// zero to rounding but D̄ is not, the pair counts as told apart and `singular` is set; where both are, T² is noise and
/// the pair does not count.
[[nodiscard]] Verdict judge_outputs(std::span<const float> outputs, std::size_t columns);

/// Trains and judges one pair. `engine` must be one of the CPU's.
[[nodiscard]] PairResult judge_released(engine::Engine& engine, const Settings& settings, const FeaturedGraph& a,
                                        const FeaturedGraph& b, std::uint64_t seed, std::uint32_t pair);

}  // namespace tyche::distinguish
