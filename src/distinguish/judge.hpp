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

/// Of rows of `columns` numbers each, row-major: their mean, and their sample covariance (of q rows, with q - 1).
struct Moments {
  std::vector<double> mean, covariance;
};
[[nodiscard]] Moments moments(std::span<const double> rows, std::size_t columns);

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

/// Renumbered copies of two graphs with what an engine needs of them: first those of a, then those of b; or in turn.
struct Copies {
  Copies(const FeaturedGraph& a, const FeaturedGraph& b, std::uint32_t of_each, bool in_turn, Stream stream);

  std::vector<Graph> graphs;
  std::vector<std::vector<float>> features;
  std::vector<std::uint32_t> labels;   ///< all 0
  std::vector<std::uint32_t> numbers;  ///< 0, 1, 2, …
};

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

}  // namespace tyche::distinguish
