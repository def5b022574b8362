#pragma once
/// Adam with PyTorch's defaults (beta 0.9 and 0.999, eps 1e-8), and what a run may add to it: decoupled weight decay
/// (AdamW) and gradients clipped by norm.
///
///   ++state.step;
///   adam_update(AdamStep(state.step, learning_rate, optimiser), p, m, v, gradient, count);
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "engine/core/job.hpp"

namespace tyche::engine {

/// The constants of one step: as PyTorch, computed in double and rounded once.
struct AdamStep {
  /// step is 1 for the first.
  AdamStep(std::uint64_t step, double learning_rate, const Optimiser& optimiser = {});

  float step_size;         ///< learning rate / (1 - beta1^step)
  float correction2_sqrt;  ///< sqrt(1 - beta2^step)
  float keep;              ///< 1 - learning rate · weight decay: what a step leaves of a parameter; 1 without decay
  float beta2, one_minus_beta2;
  float epsilon;
  float gradient_scale = 1;  ///< below 1 where the gradient is clipped

  static constexpr float kBeta1 = 0.9f;
  static constexpr float kOneMinusBeta1 = static_cast<float>(1 - 0.9);
};

/// One Adam step of `count` parameters with moments m and v:
///   g = gradient_scale · gradient;  m = m + (g - m) (1 - beta1);  v = beta2 v + (1 - beta2) g²
///   p = keep · p - step_size · m / (sqrt(v) / correction2_sqrt + epsilon)
/// Factors of 1 change no bit, so there is one formula with and without clipping and decay.
void adam_update(const AdamStep& constants, float* p, float* m, float* v, const float* gradient, std::size_t count);

/// What a gradient is multiplied by whose squares add up to `squares`: PyTorch's clip_grad_norm_.
[[nodiscard]] float clip_scale(double squares, double clip_norm);
[[nodiscard]] double sum_of_squares(std::span<const float> values);

/// A whole state: counts the step, clips and updates, by `update` where there is a faster one that gives the same bits.
/// Requires the gradient in layout order.
using AdamUpdate = std::function<decltype(adam_update)>;
void adam_step(State& state, std::span<const float> gradient, double learning_rate, const Optimiser& optimiser = {},
               const AdamUpdate& update = adam_update);

// The learning rate of an epoch, in the one place where it is computed: engines ask for it and hand the number on.
//
//   const double rate = learning_rate(job, trial, epoch);
//
// Warm-up: epoch e of the first E has e/E of the rate. Cosine: of the T epochs behind them, number i (from 0) has
// (1 + cos(π i / T)) / 2 of it. Plateau: whatever Trial::state says; Loop keeps it up to date, so the epochs of such a
// trial run one by one.

/// epoch: 1 is the first.
[[nodiscard]] double learning_rate(const Job& job, const Trial& trial, std::uint32_t epoch);

/// Whether the rate of an epoch waits for what the epoch before gave.
[[nodiscard]] inline bool follows_losses(const Job& job) { return job.schedule.kind == ScheduleKind::plateau; }

/// What an epoch gave goes to the trial's plateau (where the schedule has one): the validation loss where the trial
/// has a validation part, else the training loss. Epochs of the warm-up do not count, nor those not evaluated.
void follow(const Job& job, Trial& trial, const EpochResult& result);

/// Throws InputError on a value that makes no sense, naming it.
void validate(const Optimiser& optimiser, const Schedule& schedule, std::uint32_t epochs);

}  // namespace tyche::engine
