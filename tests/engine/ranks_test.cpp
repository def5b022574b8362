// A trial that several ranks share: the bits of one process, whatever the number of ranks and threads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/ranks_cases.hpp"

namespace tyche::engine {
namespace {

class OverRanks : public testing::TestWithParam<RanksShape> {
 protected:
  [[nodiscard]] Came run(const Peers* peers, unsigned threads, State from = {}, std::uint32_t stop_after = 0) const {
    return trial.run(*make_engine("cpu", threads), peers, std::move(from), stop_after);
  }
  SharedTrial trial{GetParam()};
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
    testing::Values(
        RanksShape{"gcn", "gcn"},
        RanksShape{.name = "gcn_clipped", .kind = "gcn", .optimiser = {.clip_norm = 0.1, .weight_decay = 0.1}},
        RanksShape{.name = "gin_batch_norm", .kind = "gin", .norm = nn::Norm::batch},
        RanksShape{.name = "local2", .kind = "local2", .norm = nn::Norm::batch, .most = 16},
        RanksShape{.name = "nodes", .kind = "gcn", .unit = Unit::node},
        RanksShape{.name = "gcn_steps", .kind = "gcn", .accumulate = 2},
        RanksShape{.name = "gin_batch_norm_steps", .kind = "gin", .norm = nn::Norm::batch, .accumulate = 3},
        // More slices than are worked through at once.
        RanksShape{.name = "gin_long_steps", .kind = "gin", .norm = nn::Norm::batch, .accumulate = 120, .graphs = 1100},
        // A slice per batch: most ranks have none.
        RanksShape{.name = "small", .kind = "gin", .norm = nn::Norm::batch, .most = 12}),
    [](const auto& each) { return each.param.name; });

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
                         [](const auto& each) {
                           return std::get<0>(each.param) + "_" + std::get<1>(each.param) +
                                  (std::get<2>(each.param) == nn::Norm::batch ? "_batch" : "");
                         });

}  // namespace
}  // namespace tyche::engine
