// A trial that several ranks share: the bits of one process, whatever the number of ranks and threads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/cases.hpp"
#include "engine/engine.hpp"
#include "graph/units.hpp"
#include "support/thread_peers.hpp"

namespace tyche::engine {
namespace {

struct Shape {
  std::string name;
  std::string kind;
  nn::Norm norm = nn::Norm::none;
  Unit unit = Unit::graph;
  Optimiser optimiser{};
  std::uint32_t accumulate = 1;
  Node most = 100;
  std::size_t graphs = 34;
};
void PrintTo(const Shape& shape, std::ostream* out) { *out << shape.name; }

struct Came {
  State state;
  std::vector<EpochResult> results;
};

class OverRanks : public testing::TestWithParam<Shape> {
 protected:
  OverRanks() {
    const Shape& shape = GetParam();
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
  [[nodiscard]] Came run(const Peers* peers, unsigned threads, State from = {}, std::uint32_t stop_after = 0) const {
    Job own = job;
    own.peers = peers;
    std::vector<Trial> trials = {trial()};
    if (from.epoch > 0) trials[0].state = std::move(from);
    Recorder record(1);
    // One rank alone hears that it is to stop.
    record.stop_after = peers == nullptr || peers->rank() + 1 == peers->size() ? stop_after : 0;
    make_engine("cpu", threads)->train(own, trials, record);
    return {std::move(trials[0].state), std::move(record.results[0])};
  }
  static void expect_same(const Came& a, const Came& b, const std::string& what) {
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

  nn::ModelConfig model;
  Toy toy;
  Units units;
  std::vector<std::uint32_t> labels;
  Job job;
};

TEST_P(OverRanks, EveryRankHasTheBitsOfOneProcess) {
  const Came alone = run(nullptr, 1);
  for (const std::size_t ranks : {1u, 2u, 3u, 4u}) {
    std::vector<Came> came(ranks);
    on_threads(ranks, [&](const Peers& peers) { came[peers.rank()] = run(&peers, ranks == 3 ? 2 : 1); });
    for (std::size_t r = 0; r < ranks; ++r) {
      expect_same(came[r], alone, std::to_string(r) + " of " + std::to_string(ranks) + " ranks");
    }
  }
}

TEST_P(OverRanks, OneRanksWishToStopStopsAllAndOthersGoOnToTheSameBits) {
  const Came alone = run(nullptr, 2);
  std::vector<Came> came(3);
  on_threads(3, [&](const Peers& peers) { came[peers.rank()] = run(&peers, 1, {}, 1); });
  for (const Came& one : came) EXPECT_EQ(one.state.epoch, 1u);
  const State stopped = came[1].state;
  on_threads(2, [&](const Peers& peers) { came[peers.rank()] = run(&peers, 1, stopped); });
  EXPECT_EQ(came[0].state.parameters, alone.state.parameters);
  EXPECT_EQ(came[1].state.adam_v, alone.state.adam_v);
  EXPECT_EQ(came[0].results.back().train_loss, alone.results.back().train_loss);
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, OverRanks,
    testing::Values(Shape{"gcn", "gcn"},
                    Shape{.name = "gcn_clipped", .kind = "gcn", .optimiser = {.clip_norm = 0.1, .weight_decay = 0.1}},
                    Shape{.name = "gin_batch_norm", .kind = "gin", .norm = nn::Norm::batch},
                    Shape{.name = "local2", .kind = "local2", .norm = nn::Norm::batch, .most = 16},
                    Shape{.name = "nodes", .kind = "gcn", .unit = Unit::node},
                    Shape{.name = "gcn_steps", .kind = "gcn", .accumulate = 2},
                    Shape{.name = "gin_batch_norm_steps", .kind = "gin", .norm = nn::Norm::batch, .accumulate = 3},
                    // A slice per batch: most ranks have none.
                    Shape{.name = "small", .kind = "gin", .norm = nn::Norm::batch, .most = 12}),
    [](const auto& info) { return info.param.name; });

TEST(OverRanksAnyModel, WhatCannotBeCutIsRefused) {
  nn::ModelConfig model;
  model.kind = "gcn2";
  model.pair_types = {0};
  model.width = 8;
  model.layers = 2;
  Stream stream(derive_key(4, Purpose::test));
  const Toy toy = random_toy(model, 6, 6, stream);
  on_threads(2, [&](const Peers& peers) {
    Job job = toy.job(model);
    job.peers = &peers;
    for (const char* engine : {"cpu", "reference"}) {
      EXPECT_THAT([&] { (void)make_engine(engine, 1)->open(job, 1); },
                  testing::ThrowsMessage<InputError>(testing::HasSubstr("2 ranks cannot share a trial of gcn2")));
    }
  });
}

/// Several batches per step against one batch as large.
class Steps : public testing::TestWithParam<std::tuple<std::string, std::string, nn::Norm>> {};

TEST_P(Steps, AreOneLargeBatchWhereNoneIsNormalised) {
  const auto& [engine, kind, norm] = GetParam();
  nn::ModelConfig model;
  model.kind = kind;
  model.width = 12;
  model.layers = 2;
  model.norm = norm;
  Stream stream(derive_key(5, Purpose::test));
  const Toy toy = random_toy(model, 33, 40, stream);
  const auto train = [&](std::uint32_t batch, std::uint32_t accumulate) {
    Job job = toy.job(model);
    job.epochs = 2;
    job.batch = batch;
    job.accumulate = accumulate;
    std::vector<Trial> trials = {trial_of(job, 9, 0, 5)};  // 28 graphs: the last step is a short one
    Recorder record(1);
    make_engine(engine, 2)->train(job, trials, record);
    return Came{std::move(trials[0].state), std::move(record.results[0])};
  };
  const Came steps = train(4, 3), large = train(12, 1), small = train(4, 1);
  EXPECT_EQ(steps.state.step, 6u);
  EXPECT_EQ(large.state.step, 6u);
  EXPECT_EQ(small.state.step, 14u);
  const auto apart = [](const Came& a, const Came& b) {
    double most = 0;
    for (std::size_t i = 0; i < a.state.parameters.size(); ++i) {
      most = std::max(most, std::abs(double{a.state.parameters[i]} - b.state.parameters[i]));
    }
    return most;
  };
  EXPECT_GT(apart(steps, small), 1e-4);
  if (norm == nn::Norm::batch) {
    EXPECT_GT(apart(steps, large), 1e-4);  // each batch by its own figures
  } else {
    // Adam divides by the root of squares: where a gradient is nearly 0, its rounding is seen.
    EXPECT_LT(apart(steps, large), 2e-5);
    EXPECT_NEAR(steps.results[1].train_loss, large.results[1].train_loss, 1e-5);
  }
}

// The slices of the CPU engine, and the reference's batch after batch.
TEST(StepsOfBatchNorm, AreTheSameToRoundingInBothEngines) {
  nn::ModelConfig model;
  model.kind = "gin";
  model.width = 8;
  model.layers = 2;
  model.norm = nn::Norm::batch;
  Stream stream(derive_key(6, Purpose::test));
  const Toy toy = random_toy(model, 22, 60, stream);
  std::vector<State> states;
  for (const char* engine : {"cpu", "reference"}) {
    Job job = toy.job(model);
    job.epochs = 1;
    job.batch = 6;
    job.accumulate = 2;
    // Biases before a norm have gradients of rounding alone: beside this they count for nothing.
    job.optimiser = {.weight_decay = 0.5, .epsilon = 0.1};
    std::vector<Trial> trials = {trial_of(job, 9, 0, 2)};
    Recorder record(1);
    make_engine(engine, 1)->train(job, trials, record);
    states.push_back(trials[0].state);
  }
  EXPECT_EQ(states[0].step, 2u);
  for (std::size_t i = 0; i < states[0].parameters.size(); ++i) {
    EXPECT_NEAR(states[0].parameters[i], states[1].parameters[i], 1e-4) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Models, Steps,
                         testing::Combine(testing::Values("cpu", "reference"), testing::Values("gcn", "gin"),
                                          testing::Values(nn::Norm::none, nn::Norm::batch)),
                         [](const auto& info) {
                           return std::get<0>(info.param) + "_" + std::get<1>(info.param) +
                                  (std::get<2>(info.param) == nn::Norm::batch ? "_batch" : "");
                         });

}  // namespace
}  // namespace tyche::engine
