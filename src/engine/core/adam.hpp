#pragma once
/// Adam with PyTorch's defaults (beta 0.9 and 0.999, eps 1e-8, no decay).
///
///   ++state.step;
///   adam_update(AdamStep(state.step, learning_rate), p, m, v, gradient, count);
#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/engine.hpp"

namespace tyche::engine {

/// The constants of one step: as PyTorch, computed in double and rounded once.
struct AdamStep {
  /// step is 1 for the first.
  AdamStep(std::uint64_t step, double learning_rate);

  float step_size;         ///< learning rate / (1 - beta1^step)
  float correction2_sqrt;  ///< sqrt(1 - beta2^step)

  static constexpr float kBeta1 = 0.9f;
  static constexpr float kOneMinusBeta1 = static_cast<float>(1 - 0.9);
  static constexpr float kBeta2 = 0.999f;
  static constexpr float kOneMinusBeta2 = static_cast<float>(1 - 0.999);
  static constexpr float kEps = 1e-8f;
};

/// One Adam step of `count` parameters with moments m and v:
///   m = m + (g - m) (1 - beta1);  v = beta2 v + (1 - beta2) g²;  p = p - step_size · m / (sqrt(v) / correction2_sqrt +
///   eps)
void adam_update(const AdamStep& constants, float* p, float* m, float* v, const float* gradient, std::size_t count);

/// A whole state: counts the step and updates. Requires the gradient in layout order.
void adam_step(State& state, std::span<const float> gradient, double learning_rate);

}  // namespace tyche::engine
