#pragma once
/// What every engine and path owes its observer, whoever runs the epochs.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <mutex>
#include <set>
#include <string>

#include "engine/cases.hpp"
#include "nn/levels.hpp"

namespace tyche::engine {

/// Trains like Engine::train().
using Train = std::function<void(const Job&, std::span<Trial>, Observer&)>;

/// Says who may begin and when to stop; checks the order of calls.
class Gate : public Recorder {
 public:
  explicit Gate(std::size_t trials) : Recorder(trials), states(trials) {}
  bool on_begin(std::size_t trial) override {
    EXPECT_TRUE(results[trial].empty()) << "asked after the first epoch";
    const std::lock_guard lock(mutex_);  // trials side by side are asked for by several threads
    asked.push_back(trial);
    return !closed.contains(trial) && !interrupted;
  }
  bool on_epoch(std::size_t trial, const EpochResult& result, const State* state) override {
    if (state == nullptr) return hear(trial, result);
    EXPECT_EQ(state->epoch, result.epoch);
    states[trial] = *state;
    return hear(trial, result);
  }

  std::set<std::size_t> closed;    ///< may not begin
  bool interrupts = false;         ///< the first stop is the user's: from then on all are told to stop
  std::vector<std::size_t> asked;  ///< in order
  std::vector<State> states;       ///< as last seen
  bool interrupted = false;

 private:
  std::mutex mutex_;

  bool hear(std::size_t trial, const EpochResult& result) {
    EXPECT_EQ(std::count(asked.begin(), asked.end(), trial), 1);
    if (!results[trial].empty()) {
      EXPECT_EQ(result.epoch, results[trial].back().epoch + 1);
    }
    results[trial].push_back(result);
    const bool stop = result.epoch == stop_after;
    interrupted = interrupted || (stop && interrupts);
    return !stop && !interrupted;
  }
};

inline void expect_same_state(const State& actual, const State& expected, const std::string& what) {
  EXPECT_EQ(actual.epoch, expected.epoch) << what;
  EXPECT_EQ(actual.step, expected.step) << what;
  EXPECT_TRUE(actual.parameters == expected.parameters) << what;
  EXPECT_TRUE(actual.adam_m == expected.adam_m && actual.adam_v == expected.adam_v) << what;
}

inline std::vector<Trial> three_trials(const Job& job) {
  return {trial_of(job, 1, 0, 2), trial_of(job, 2, 1, 2), trial_of(job, 3, 2, 2)};
}

/// on_begin is asked once before every trial, and `false` leaves a trial as it is.
inline void expect_asks_before_it_begins(const Train& train, Job job, const std::string& what) {
  job.epochs = 2;
  std::vector<Trial> trials = three_trials(job);
  const State before = trials[1].state;
  Gate gate(3);
  gate.closed = {1};
  train(job, trials, gate);
  std::sort(gate.asked.begin(), gate.asked.end());
  EXPECT_EQ(gate.asked, (std::vector<std::size_t>{0, 1, 2})) << what;
  EXPECT_EQ(gate.results[0].size(), 2u) << what;
  EXPECT_TRUE(gate.results[1].empty()) << what;
  EXPECT_EQ(gate.results[2].size(), 2u) << what;
  expect_same_state(trials[1].state, before, what);
  expect_same_state(trials[2].state, gate.states[2], what);
  // Nobody is asked about a trial that has no epoch left.
  Gate again(3);
  again.closed = {1};
  train(job, trials, again);
  EXPECT_EQ(again.asked, (std::vector<std::size_t>{1})) << what;
}

/// A stop after an epoch leaves the state that training to that epoch gives, whatever was under way. `latest`: the
/// epoch it may come to where the state of `epoch` stays on the device.
inline void expect_stops_with_the_state_of_the_epoch(const Train& train, Job job, const std::string& what,
                                                     std::uint32_t epoch = 2, std::uint32_t latest = 2) {
  job.epochs = 6;
  std::vector<Trial> trials = {trial_of(job, 5, 1, 2)};
  Gate gate(1);
  gate.stop_after = epoch;
  train(job, trials, gate);
  const auto stopped = static_cast<std::uint32_t>(gate.results[0].size());
  EXPECT_GE(stopped, epoch) << what;
  EXPECT_LE(stopped, latest) << what;
  expect_same_state(trials[0].state, gate.states[0], what);
  job.epochs = stopped;
  std::vector<Trial> expected = {trial_of(job, 5, 1, 2)};
  Gate all(1);
  train(job, expected, all);
  expect_same_state(trials[0].state, expected[0].state, what);
  ASSERT_EQ(all.results[0].size(), stopped) << what;
  EXPECT_EQ(all.results[0].back().train_loss, gate.results[0].back().train_loss) << what;
  EXPECT_EQ(all.results[0].back().test_predictions, gate.results[0].back().test_predictions) << what;
}

/// Where asked for, every evaluated epoch comes with its state, whatever a chunk holds; a validation part is reported
/// apart, and the test part is what it is without one.
inline void expect_evaluations_come_with_their_states(const Train& train, Job job, const std::string& what) {
  job.epochs = 5;
  job.eval_every = 2;
  std::vector<Trial> plain = {trial_of(job, 5, 1, 3)}, validated = plain;
  validated[0].validation = 1;
  Gate without(1);
  train(job, plain, without);
  class Stated : public Gate {
   public:
    using Gate::Gate;
    bool on_epoch(std::size_t trial, const EpochResult& result, const State* state) override {
      if (state == nullptr) {
        EXPECT_FALSE(result.evaluated) << "epoch " << result.epoch;
      }
      return Gate::on_epoch(trial, result, state);
    }
  } gate(1);
  job.states_of_evaluations = true;
  train(job, validated, gate);
  ASSERT_EQ(gate.results[0].size(), 5u) << what;
  expect_same_state(validated[0].state, plain[0].state, what);
  for (std::size_t e = 0; e < 5; ++e) {
    const EpochResult &with = gate.results[0][e], &all = without.results[0][e];
    EXPECT_EQ(with.evaluated, e == 1 || e >= 3) << what;
    EXPECT_EQ(with.metrics.find("validation_loss").has_value(), with.evaluated) << what;
    if (!with.evaluated) continue;
    ASSERT_EQ(all.test_predictions.size(), 3u) << what;
    EXPECT_EQ(with.test_predictions, (std::vector{all.test_predictions[0], all.test_predictions[1]})) << what;
    EXPECT_EQ(with.validation_predictions, (std::vector{all.test_predictions[2]})) << what;
  }
}

/// After an interrupt nothing begins that was waiting. Requires trials to be trained one after another.
inline void expect_nothing_begins_after_an_interrupt(const Train& train, Job job, const std::string& what) {
  job.epochs = 6;
  std::vector<Trial> trials = three_trials(job);
  const State before = trials[1].state;
  Gate gate(3);
  gate.stop_after = 1;
  gate.interrupts = true;
  train(job, trials, gate);
  EXPECT_EQ(gate.results[0].size(), 1u) << what;
  EXPECT_TRUE(gate.results[1].empty() && gate.results[2].empty()) << what;
  expect_same_state(trials[1].state, before, what);
}

}  // namespace tyche::engine
