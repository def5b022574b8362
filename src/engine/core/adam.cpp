#include "engine/core/adam.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "support/error.hpp"

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

constexpr std::string_view kSchedules[] = {"constant", "cosine", "plateau"};

ScheduleKind parse_schedule(std::string_view name) {
  const auto* const at = std::ranges::find(kSchedules, name);
  if (at != std::end(kSchedules)) return static_cast<ScheduleKind>(at - std::begin(kSchedules));
  throw InputError("schedule '{}' is not known; expected constant, cosine or plateau", name);
}

std::string_view name(ScheduleKind kind) { return kSchedules[static_cast<std::size_t>(kind)]; }

void Plateau::step(double loss, double factor, std::uint32_t patience) {
  constexpr double kThreshold = 1e-4, kLeastChange = 1e-8;  // PyTorch's
  if (loss < best * (1 - kThreshold)) {
    best = loss;
    bad = 0;
  } else if (++bad > patience) {
    if (rate - rate * factor > kLeastChange) rate *= factor;
    bad = 0;
  }
}

double learning_rate(const Job& job, const Trial& trial, std::uint32_t epoch) {
  const Schedule& schedule = job.schedule;
  if (epoch <= schedule.warm_up) return trial.learning_rate * epoch / schedule.warm_up;
  if (schedule.kind == ScheduleKind::plateau && trial.state.plateau.rate > 0) return trial.state.plateau.rate;
  if (schedule.kind != ScheduleKind::cosine) return trial.learning_rate;
  const double length = job.epochs - schedule.warm_up, at = epoch - schedule.warm_up - 1;
  return trial.learning_rate * (1 + std::cos(std::numbers::pi * at / length)) / 2;
}

void follow(const Job& job, Trial& trial, const EpochResult& result) {
  if (!follows_losses(job) || result.epoch <= job.schedule.warm_up) return;
  Plateau& plateau = trial.state.plateau;
  double loss = result.train_loss;
  if (trial.validation > 0) {
    if (!result.evaluated) return;
    loss = result.metrics.find("validation_loss").value_or(loss);
  }
  if (plateau.rate == 0) plateau.rate = trial.learning_rate;
  plateau.step(loss, job.schedule.plateau_factor, job.schedule.patience);
}

void validate(const Optimiser& optimiser, const Schedule& schedule, std::uint32_t epochs) {
  const auto check = [](bool good, const char* what, double came, const char* expected) {
    if (!good) throw InputError("job: {} is {}, expected {}", what, came, expected);
  };
  const auto& o = optimiser;
  check(o.clip_norm >= 0 && std::isfinite(o.clip_norm), "clip_norm", o.clip_norm, "0 or more");
  check(o.weight_decay >= 0 && std::isfinite(o.weight_decay), "weight_decay", o.weight_decay, "0 or more");
  check(o.beta2 >= 0 && o.beta2 < 1, "beta2", o.beta2, "0 or more and less than 1");
  check(o.epsilon > 0 && std::isfinite(o.epsilon), "epsilon", o.epsilon, "above 0");
  check(schedule.plateau_factor > 0 && schedule.plateau_factor < 1, "plateau_factor", schedule.plateau_factor,
        "above 0 and less than 1");
  check(schedule.kind != ScheduleKind::cosine || schedule.warm_up < epochs, "warm_up", schedule.warm_up,
        "fewer epochs than there are, so that a cosine has some");
}

}  // namespace tyche::engine
