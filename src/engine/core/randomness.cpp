#include "engine/core/randomness.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tyche::engine {

Key feature_key(std::uint64_t seed, std::uint32_t fold, std::uint32_t epoch, std::uint32_t pass) {
  return derive_key(seed, Purpose::random_features, fold, epoch, pass);
}

bool is_normal(const nn::ModelConfig& config) {
  return config.distribution == nn::Distribution::normal || config.distribution == nn::Distribution::xavier_normal;
}

float feature_scale(const nn::ModelConfig& config) {
  switch (config.distribution) {
    case nn::Distribution::xavier_normal:
      return static_cast<float>(std::sqrt(2 / config.xavier_fan));
    case nn::Distribution::xavier_uniform:
      return static_cast<float>(std::sqrt(6 / config.xavier_fan));
    default:
      return 1;
  }
}

NormalPair box_muller(std::uint32_t radius_word, std::uint32_t angle_word) {
  const double u = (radius_word + 0.5) * 0x1p-32;
  const double radius = std::sqrt(-2 * std::log(u));
  const double angle = 2 * std::numbers::pi * (angle_word * 0x1p-32);
  return {radius * std::cos(angle), radius * std::sin(angle)};
}

void random_features(const nn::ModelConfig& config, Key key, std::uint32_t graph, std::size_t nodes, float* out,
                     std::size_t stride) {
  const bool normal = is_normal(config);
  const float scale = feature_scale(config);
  const std::uint32_t columns = config.random_dims();
  for (std::size_t v = 0; v < nodes; ++v) {
    for (std::uint32_t first = 0; first < columns; first += 4) {
      const Block words = philox(key, {first / 4, static_cast<std::uint32_t>(v), graph, 0});
      float values[4];
      for (std::size_t i = 0; i < 4; i += 2) {
        if (normal) {
          const NormalPair pair = box_muller(words[i], words[i + 1]);
          values[i] = static_cast<float>(pair.cosine);
          values[i + 1] = static_cast<float>(pair.sine);
        } else {
          values[i] = static_cast<float>(static_cast<std::int32_t>(words[i])) * 0x1p-31f;
          values[i + 1] = static_cast<float>(static_cast<std::int32_t>(words[i + 1])) * 0x1p-31f;
        }
      }
      for (std::uint32_t c = first; c < std::min(first + 4, columns); ++c) {
        out[v * stride + c] = values[c - first] * scale;
      }
    }
  }
}

void dropout_factors(double rate, std::uint64_t seed, std::uint32_t fold, std::uint32_t epoch, std::uint32_t graph,
                     std::span<float> out) {
  const Key key = derive_key(seed, Purpose::dropout, fold, epoch);
  const float keep = static_cast<float>(1 / (1 - rate));
  const double threshold = rate * 0x1p32;
  Block words{};
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (i % 4 == 0) words = philox(key, {static_cast<std::uint32_t>(i / 4), graph, 0, 0});
    out[i] = words[i % 4] < threshold ? 0.0f : keep;
  }
}

std::vector<std::uint32_t> epoch_order(std::span<const std::uint32_t> train, std::uint64_t seed, std::uint32_t fold,
                                       std::uint32_t epoch) {
  std::vector<std::uint32_t> order(train.begin(), train.end());
  Stream stream(derive_key(seed, Purpose::batch_shuffle, fold, epoch));
  shuffle(order, stream);
  return order;
}

}  // namespace tyche::engine
