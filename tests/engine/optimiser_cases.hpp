#pragma once
/// What clipping, weight decay, Adam's constants and schedules do to a trial, whoever trains it.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "engine/cases.hpp"
#include "engine/core/adam.hpp"
#include "engine/loop_cases.hpp"

namespace tyche::engine {

/// The gradient of all graphs at these parameters.
using GradientOf =
    std::function<std::vector<float>(const Job&, std::span<const float>, std::span<const std::uint32_t>)>;

/// A network without randomness, so that a step can be computed from gradient() alone.
inline nn::ModelConfig plain_model(const std::string& kind) {
  nn::ModelConfig model;
  model.kind = kind;
  model.width = 16;
  model.layers = 2;
  model.dropout = kind == "ppgn" ? model.dropout : 0;
  if (kind != "ppgn") model.head_hidden = 8;
  return model;
}

/// One step on one batch, by the formulas in double: the gradient shortened to clip_norm, the parameters less their
/// decay, moments from zero. Epsilon is of the gradient's size, so that a rounding of it is one of the step.
inline void expect_a_step_by_the_formulas(const Train& train, const GradientOf& gradient_of, Job job,
                                          const std::string& what, double tolerance) {
  job.epochs = 1;
  job.batch = static_cast<std::uint32_t>(job.data.graphs.size());
  Trial begin = trial_of(job, 3, 0, 0);
  begin.learning_rate = 0.01;
  const std::vector<float> gradient = gradient_of(job, begin.state.parameters, begin.train);
  double squares = 0, largest = 0;
  for (const float g : gradient) squares += double{g} * g, largest = std::max(largest, std::fabs(double{g}));
  const double norm = std::sqrt(squares);
  for (const double share : {0.0, 0.25, 4.0}) {  // of the norm: off, shortened, left alone
    job.optimiser = {.clip_norm = share * norm, .weight_decay = 0.5, .beta2 = 0.9, .epsilon = norm / 10};
    std::vector<Trial> trials = {begin};
    Gate gate(1);
    train(job, trials, gate);
    const double scale = share == 0.25 ? 0.25 * norm / (norm + 1e-6) : 1;
    const State& after = trials[0].state;
    double worst_m = 0, worst_v = 0, worst_p = 0;
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      const double g = scale * gradient[i], p = begin.state.parameters[i];
      worst_m = std::max(worst_m, std::fabs(after.adam_m[i] - 0.1 * g));
      worst_v = std::max(worst_v, std::fabs(after.adam_v[i] - 0.1 * g * g));
      const double expected = p * (1 - 0.01 * 0.5) - 0.01 * g / (std::fabs(g) + norm / 10);
      worst_p = std::max(worst_p, std::fabs(after.parameters[i] - expected));
    }
    EXPECT_LE(worst_m, 0.1 * tolerance * scale * largest) << what << ", clipped to " << share;
    EXPECT_LE(worst_v, 0.2 * tolerance * scale * scale * largest * largest) << what << ", clipped to " << share;
    EXPECT_LE(worst_p, 0.01 * 10 * tolerance + 1e-6) << what << ", clipped to " << share;
  }
}

/// Five epochs under a schedule have the bits of five trainings of one epoch each, at rates computed here.
inline void expect_a_schedule_is_its_rates(const Train& train, Job job, const std::string& what) {
  constexpr std::uint32_t kEpochs = 5;
  constexpr double kRate = 0.02, kPi = 3.14159265358979323846;
  for (const ScheduleKind kind : {ScheduleKind::constant, ScheduleKind::cosine, ScheduleKind::plateau}) {
    job.epochs = kEpochs;
    // A factor and a patience that an improving loss meets too: every second epoch has another rate.
    job.schedule = {.kind = kind, .warm_up = 2, .plateau_factor = 0.5, .patience = 0};
    job.optimiser = {.clip_norm = 0.3, .weight_decay = 0.01};
    std::vector<Trial> whole = {trial_of(job, 5, 1, 2)};
    whole[0].learning_rate = kRate;
    std::vector<Trial> pieces = whole;
    Gate gate(1);
    train(job, whole, gate);
    ASSERT_EQ(gate.results[0].size(), kEpochs) << what;

    double rate = kRate, best = std::numeric_limits<double>::infinity();
    for (std::uint32_t epoch = 1; epoch <= kEpochs; ++epoch) {
      Job one = job;
      one.epochs = epoch;
      one.schedule = {};
      pieces[0].learning_rate = epoch <= 2                     ? kRate * epoch / 2
                                : kind == ScheduleKind::cosine ? kRate * (1 + std::cos(kPi * (epoch - 3) / 3)) / 2
                                                               : rate;
      Gate now(1);
      train(one, pieces, now);
      ASSERT_EQ(now.results[0].size(), 1u) << what;
      EXPECT_EQ(now.results[0][0].train_loss, gate.results[0][epoch - 1].train_loss) << what << ", epoch " << epoch;
      if (epoch <= 2 || kind != ScheduleKind::plateau) continue;
      const double loss = now.results[0][0].train_loss;
      if (loss < best * (1 - 1e-4)) {
        best = loss;
      } else {
        rate *= 0.5;
      }
    }
    expect_same_state(whole[0].state, pieces[0].state, what + ", " + std::string(name(kind)));
    if (kind == ScheduleKind::plateau) {
      EXPECT_EQ(whole[0].state.plateau.rate, rate) << what;
    }
  }
}

/// Stopped after any epoch and taken up again from the state, a trial has the bits of one that was not.
inline void expect_options_survive_a_stop(const Train& train, Job job, const std::string& what,
                                          std::uint32_t stop = 2) {
  job.epochs = 5;
  job.schedule = {.kind = ScheduleKind::plateau, .warm_up = 1, .plateau_factor = 0.5, .patience = 0};
  job.optimiser = {.clip_norm = 0.2, .weight_decay = 0.1, .beta2 = 0.95, .epsilon = 1e-6};
  std::vector<Trial> whole = {trial_of(job, 5, 1, 2)}, parts = whole;
  whole[0].learning_rate = parts[0].learning_rate = 0.05;
  Gate all(1), first(1), second(1);
  train(job, whole, all);
  first.stop_after = stop;
  train(job, parts, first);
  EXPECT_LT(parts[0].state.epoch, 5u) << what;
  train(job, parts, second);
  expect_same_state(parts[0].state, whole[0].state, what);
  EXPECT_EQ(parts[0].state.plateau, whole[0].state.plateau) << what;
}

}  // namespace tyche::engine
