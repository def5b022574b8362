#include "engine/core/schedule.hpp"

#include <cmath>
#include <numbers>

#include "support/error.hpp"
#include "support/words.hpp"

namespace tyche::engine {

namespace {
constexpr std::string_view kKinds[] = {"constant", "cosine", "plateau"};
}

ScheduleKind parse_schedule(std::string_view name) {
  return static_cast<ScheduleKind>(place_of(kKinds, "schedule", name));
}

std::string_view name(ScheduleKind kind) { return kKinds[static_cast<std::size_t>(kind)]; }

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
