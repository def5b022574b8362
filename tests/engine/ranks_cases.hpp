#pragma once
/// A trial that several ranks share, on any engine: models, and what must be the same.
#include <gtest/gtest.h>

#include "engine/cases.hpp"
#include "engine/engine.hpp"
#include "graph/units.hpp"
#include "support/thread_peers.hpp"

namespace tyche::engine {

struct RanksShape {
  std::string name;
  std::string kind;
  nn::Norm norm = nn::Norm::none;
  Unit unit = Unit::graph;
  Optimiser optimiser{};
  std::uint32_t accumulate = 1;
  Node most = 100;
  std::size_t graphs = 34;
};
inline void PrintTo(const RanksShape& shape, std::ostream* out) { *out << shape.name; }

struct Came {
  State state;
  std::vector<EpochResult> results;
};

struct SharedTrial {
  explicit SharedTrial(const RanksShape& shape) {
    model.kind = shape.kind;
    model.width = 20;
    model.layers = 3;
    model.norm = shape.norm;
    model.unit = shape.unit;
    model.rni = 0.5;
    model.classes = 3;
    if (model.kind == "local2") model.rni = 0;
    Stream stream(derive_key(4, Purpose::test));
    toy = random_toy(model, shape.graphs, shape.most, stream);
    job = toy.job(model);
    job.epochs = 2;
    job.batch = 10;
    job.accumulate = shape.accumulate;
    job.eval_draws = 2;
    job.optimiser = shape.optimiser;
    if (shape.unit == Unit::graph) return;
    units = Units(toy.graphs, shape.unit);
    for (std::size_t i = 0; i < units.size(); ++i) labels.push_back(static_cast<std::uint32_t>(stream.below(3)));
    job.data.targets = labels;
    job.data.units = &units;
  }
  [[nodiscard]] Trial trial() const {
    Trial own = trial_of(job, 9, 0, 6);
    if (job.data.units == nullptr) return own;
    own.train.clear();
    own.test.clear();
    for (std::uint32_t i = 0; i < units.size(); ++i) (i % 4 == 0 ? own.test : own.train).push_back(i);
    return own;
  }
  [[nodiscard]] Came run(Engine& engine, const Peers* peers, State from = {}, std::uint32_t stop_after = 0) const {
    Job own = job;
    own.peers = peers;
    std::vector<Trial> trials = {trial()};
    if (from.epoch > 0) trials[0].state = std::move(from);
    Recorder record(1);
    // One rank alone hears that it is to stop.
    record.stop_after = peers == nullptr || peers->rank() + 1 == peers->size() ? stop_after : 0;
    engine.train(own, trials, record);
    return {std::move(trials[0].state), std::move(record.results[0])};
  }

  nn::ModelConfig model;
  Toy toy;
  Units units;
  std::vector<std::uint32_t> labels;
  Job job;
};

inline void expect_same(const Came& a, const Came& b, const std::string& what) {
  EXPECT_EQ(a.state.parameters, b.state.parameters) << what;
  EXPECT_EQ(a.state.adam_m, b.state.adam_m) << what;
  EXPECT_EQ(a.state.adam_v, b.state.adam_v) << what;
  EXPECT_EQ(a.state.step, b.state.step) << what;
  ASSERT_EQ(a.results.size(), b.results.size()) << what;
  for (std::size_t e = 0; e < a.results.size(); ++e) {
    EXPECT_EQ(a.results[e].train_loss, b.results[e].train_loss) << what;
    EXPECT_EQ(train_accuracy(a.results[e]), train_accuracy(b.results[e])) << what;
    EXPECT_EQ(a.results[e].test_probabilities, b.results[e].test_probabilities) << what;
  }
}

}  // namespace tyche::engine
