#pragma once
/// BREC's own protocol, to stand beside published numbers: a network with 16 outputs is trained so that the outputs of
/// a pair point in different directions, and judged by T² = D̄ᵀ S⁺ D̄ of the differences between the outputs of 32
/// renumbered copies of each graph, with neither the factor q nor fresh copies. docs/brec.md says what is wrong with
/// it.
///
///   const PairResult result = judge_released(*engine, settings, a, b, seed, pair);
///   result.verdict.told_apart, result.verdict.hotelling             // T² > 72.34
///   result.control.told_apart                                       // "not reliable": T² of copies of one graph
#include <cstdint>
#include <span>

#include "distinguish/judge.hpp"
#include "distinguish/runner.hpp"
#include "distinguish/settings.hpp"

namespace tyche::distinguish {

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
