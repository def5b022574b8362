#pragma once
/// Every random number a trial uses, as a pure function of who asks: it does not depend on batching, threads, the order
/// of graphs or the engine. docs/models.md has the keying; these plain versions are its definition, and the fast
/// engine's vectorised ones agree with them to rounding.
///
///   const Key key = feature_key(seed, fold, epoch, kTrainingPass);
///   random_features(config, key, graph, nodes, out, stride);
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "nn/model.hpp"
#include "support/random.hpp"

namespace tyche::engine {

/// The forward passes of an epoch: training is one, every test draw another.
inline constexpr std::uint32_t kTrainingPass = 0;
[[nodiscard]] constexpr std::uint32_t test_pass(std::uint32_t draw) { return 1 + draw; }

/// The key of the random features of one forward pass. Epoch 1 is the first.
[[nodiscard]] Key feature_key(std::uint64_t seed, std::uint32_t fold, std::uint32_t epoch, std::uint32_t pass);

/// Whether the distribution is a normal one; else it is uniform.
[[nodiscard]] bool is_normal(const nn::ModelConfig& config);
/// What the distribution is multiplied with: 1, or sqrt(2/fan) (Xavier normal), sqrt(6/fan) (Xavier uniform).
[[nodiscard]] float feature_scale(const nn::ModelConfig& config);

/// The random features of nodes 0 … nodes-1 of a graph: row v at out + v * stride, config.random_dims() columns.
/// Column c of node v is word c % 4 of philox(key, {c / 4, v, graph, 0}) turned into the distribution: uniform words
/// each for itself, as signed numbers over 2^31; normal ones in pairs by Box and Muller (radius from the first word,
/// angle from the second).
void random_features(const nn::ModelConfig& config, Key key, std::uint32_t graph, std::size_t nodes, float* out,
                     std::size_t stride);

/// Two normal variates from two words: sqrt(-2 ln u) (cos, sin)(2π w/2^32) with u = (first + 1/2) / 2^32, so that the
/// largest radius is 6.76.
struct NormalPair {
  double cosine;
  double sine;
};
[[nodiscard]] NormalPair box_muller(std::uint32_t radius_word, std::uint32_t angle_word);

/// What dropout multiplies each of the `out.size()` hidden values of a graph with in an epoch: 0 with probability
/// `rate`, else 1 / (1 - rate).
void dropout_factors(double rate, std::uint64_t seed, std::uint32_t fold, std::uint32_t epoch, std::uint32_t graph,
                     std::span<float> out);

/// The training graphs in the order an epoch visits them.
[[nodiscard]] std::vector<std::uint32_t> epoch_order(std::span<const std::uint32_t> train, std::uint64_t seed,
                                                     std::uint32_t fold, std::uint32_t epoch);

}  // namespace tyche::engine
