#include "engine/core/adam.hpp"

#include <cmath>

namespace tyche::engine {

AdamStep::AdamStep(std::uint64_t step, double learning_rate)
    : step_size(static_cast<float>(learning_rate / (1 - std::pow(0.9, static_cast<double>(step))))),
      correction2_sqrt(static_cast<float>(std::sqrt(1 - std::pow(0.999, static_cast<double>(step))))) {}

void adam_update(const AdamStep& constants, float* p, float* m, float* v, const float* gradient, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const float g = gradient[i];
    m[i] += (g - m[i]) * AdamStep::kOneMinusBeta1;
    v[i] = AdamStep::kBeta2 * v[i] + AdamStep::kOneMinusBeta2 * g * g;
    p[i] -= constants.step_size * (m[i] / (std::sqrt(v[i]) / constants.correction2_sqrt + AdamStep::kEps));
  }
}

void adam_step(State& state, std::span<const float> gradient, double learning_rate) {
  ++state.step;
  adam_update(AdamStep(state.step, learning_rate), state.parameters.data(), state.adam_m.data(), state.adam_v.data(),
              gradient.data(), gradient.size());
}

}  // namespace tyche::engine
