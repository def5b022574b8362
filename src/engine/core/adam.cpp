#include "engine/core/adam.hpp"

#include <algorithm>
#include <cmath>

namespace tyche::engine {

AdamStep::AdamStep(std::uint64_t step, double learning_rate, const Optimiser& optimiser)
    : step_size(static_cast<float>(learning_rate / (1 - std::pow(0.9, static_cast<double>(step))))),
      correction2_sqrt(static_cast<float>(std::sqrt(1 - std::pow(optimiser.beta2, static_cast<double>(step))))),
      keep(static_cast<float>(1 - learning_rate * optimiser.weight_decay)),
      beta2(static_cast<float>(optimiser.beta2)),
      one_minus_beta2(static_cast<float>(1 - optimiser.beta2)),
      epsilon(static_cast<float>(optimiser.epsilon)) {}

void adam_update(const AdamStep& constants, float* p, float* m, float* v, const float* gradient, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const float g = gradient[i] * constants.gradient_scale;
    m[i] += (g - m[i]) * AdamStep::kOneMinusBeta1;
    v[i] = constants.beta2 * v[i] + constants.one_minus_beta2 * g * g;
    p[i] = p[i] * constants.keep -
           constants.step_size * (m[i] / (std::sqrt(v[i]) / constants.correction2_sqrt + constants.epsilon));
  }
}

float clip_scale(double squares, double clip_norm) {
  constexpr double kBeside = 1e-6;  // PyTorch's
  return static_cast<float>(std::min(1.0, clip_norm / (std::sqrt(squares) + kBeside)));
}

double sum_of_squares(std::span<const float> values) {
  // Eight sums side by side: one would wait for every addition before it.
  double sums[8] = {};
  std::size_t i = 0;
  for (; i + 8 <= values.size(); i += 8) {
    for (std::size_t k = 0; k < 8; ++k) sums[k] += double{values[i + k]} * values[i + k];
  }
  for (; i < values.size(); ++i) sums[0] += double{values[i]} * values[i];
  return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

void adam_step(State& state, std::span<const float> gradient, double learning_rate, const Optimiser& optimiser,
               const AdamUpdate& update) {
  ++state.step;
  AdamStep constants(state.step, learning_rate, optimiser);
  const std::size_t first = optimiser.frozen;
  const std::span<const float> moved = gradient.subspan(first);
  if (optimiser.clip_norm > 0) constants.gradient_scale = clip_scale(sum_of_squares(moved), optimiser.clip_norm);
  update(constants, state.parameters.data() + first, state.adam_m.data() + first, state.adam_v.data() + first,
         moved.data(), moved.size());
}

}  // namespace tyche::engine
