// The epoch loop: what it asks of a lane and tells an observer, by a lane that only counts; and the engines on the CPU.
#include "engine/core/loop.hpp"

#include <gtest/gtest.h>

#include "engine/loop_cases.hpp"

namespace tyche::engine {
namespace {

// Two trials whose parameter is the number of epochs begun.
class CountingLane : public Lane {
 public:
  explicit CountingLane(std::size_t deep) : deep_(deep) {}
  [[nodiscard]] std::size_t depth() const override { return deep_; }
  [[nodiscard]] std::uint32_t wanted() override { return 3; }
  void begin(std::span<Epochs> epochs) override {
    for (Epochs& own : epochs) own.count = std::min(own.count, most);
    under_way_.emplace_back(epochs.begin(), epochs.end());
    EXPECT_LE(under_way_.size(), deep_);
    begun->push_back(under_way_.back());
  }
  std::vector<ChunkOutput> collect() override {
    std::vector<ChunkOutput> out;
    for (const Epochs& own : under_way_.front()) {
      ChunkOutput& chunk = out.emplace_back();
      for (std::uint32_t e = 0; e < own.count; ++e) {
        EpochOutput& output = chunk.epochs.emplace_back();
        for (int graph = 0; graph < 3; ++graph) output.tally.add(own.first + e, true);
        output.tests = {logits_, 2, 2, 2};
        if (out.size() == 1 && own.first + e == bad_epoch) chunk.finite = false;
      }
      if (chunk.finite && own.count > 0) last_[out.size() - 1] = static_cast<float>(own.first + own.count - 1);
    }
    under_way_.erase(under_way_.begin());
    return out;
  }
  [[nodiscard]] bool state_due() override { return due; }
  void state(std::size_t trial, State& state) override { state.parameters = {last_[trial]}; }

  std::uint32_t most = 100, bad_epoch = 0;
  bool due = true;
  std::vector<std::vector<Epochs>>* begun = nullptr;

 private:
  std::size_t deep_;
  std::vector<std::vector<Epochs>> under_way_;
  float last_[2] = {0, 0};
  std::vector<float> logits_ = {1, 0, -3, 0};  // first draw: class 0; both: class 1
};

struct Counted {
  explicit Counted(std::size_t deep) : lane(std::make_unique<CountingLane>(deep)) {
    job.epochs = 8;
    job.batch = 2;
    job.data.targets = labels;
    trials[0].train = trials[1].train = {0, 1, 2};
    trials[0].test = trials[1].test = {0};
    trials[1].state.epoch = 6;
    trials[1].state.step = 12;
  }
  std::vector<std::size_t> run(Observer& observer) {
    lane->begun = &begun;
    return train_lane(job, trials, 0, observer, [this] { return std::move(lane); });
  }
  const std::vector<std::uint32_t> labels = {0, 1, 0};
  Job job;
  std::vector<Trial> trials = std::vector<Trial>(2);
  std::unique_ptr<CountingLane> lane;
  std::vector<std::vector<Epochs>> begun;
};

TEST(Loop, HandsOutEveryEpochOnceAndCountsSteps) {
  for (const std::size_t depth : {std::size_t{1}, std::size_t{2}, std::size_t{5}}) {
    Counted counted(depth);
    Gate gate(2);
    EXPECT_TRUE(counted.run(gate).empty());
    ASSERT_EQ(gate.results[0].size(), 8u);
    for (std::uint32_t e = 0; e < 8; ++e) {
      EXPECT_EQ(gate.results[0][e].epoch, e + 1);
      EXPECT_EQ(gate.results[0][e].train_loss, e + 1) << "the epoch's own tally";
    }
    EXPECT_EQ(gate.results[1].size(), 2u);
    EXPECT_EQ(counted.begun.size(), 3u) << "three, three and two epochs";
    EXPECT_EQ(counted.trials[0].state.step, 16u);
    EXPECT_EQ(counted.trials[1].state.step, 16u);
    EXPECT_EQ(counted.trials[1].state.epoch, 8u);
    EXPECT_EQ(counted.trials[0].state.parameters, (std::vector<float>{8}));
  }
}

TEST(Loop, PredictsByTheMeanProbabilityOfAllDraws) {
  Counted counted(1);
  counted.job.eval_every = 3;
  Gate gate(2);
  counted.run(gate);
  EXPECT_FALSE(gate.results[0][0].evaluated);
  EXPECT_TRUE(gate.results[0][2].evaluated);
  EXPECT_EQ(gate.results[0][2].test_predictions, (std::vector<std::uint32_t>{1}));
  EXPECT_TRUE(gate.results[0][7].evaluated) << "always after the last";
}

TEST(Loop, GoesOnFromWhereALaneWithoutRoomStopped) {
  Counted counted(2);
  counted.lane->most = 1;
  Gate gate(2);
  counted.run(gate);
  EXPECT_EQ(gate.results[0].size(), 8u);
  EXPECT_EQ(counted.begun.size(), 8u);
}

TEST(Loop, PutsATrialAsideWhoseNumbersAreNotFinite) {
  Counted counted(2);
  counted.lane->bad_epoch = 5;
  Gate gate(2);
  EXPECT_EQ(counted.run(gate), (std::vector<std::size_t>{0}));
  EXPECT_EQ(gate.results[0].size(), 3u) << "nothing of the chunk that holds epoch 5, nor of the next";
  EXPECT_EQ(counted.trials[0].state.epoch, 3u);
  EXPECT_EQ(counted.trials[0].state.parameters, (std::vector<float>{3}));
  EXPECT_EQ(gate.results[1].size(), 2u);
}

TEST(Loop, TakesSlowStatesAtTheEndAndWhereTheObserverStops) {
  Counted slow(1);
  slow.lane->due = false;
  Gate gate(2);
  slow.run(gate);
  EXPECT_EQ(gate.states[0].epoch, 8u);
  Counted stopped(1);
  stopped.lane->due = false;
  Gate stopper(2);
  stopper.stop_after = 2;
  stopped.run(stopper);
  EXPECT_EQ(stopper.states[0].epoch, 3u) << "the chunk's last epoch";
  Counted broken(1);
  broken.lane->due = false;
  broken.lane->bad_epoch = 4;
  Gate listener(2);
  broken.run(listener);
  EXPECT_EQ(broken.trials[0].state.epoch, 3u) << "the last good one, though the observer had no state of it";
  EXPECT_EQ(broken.trials[0].state.parameters, (std::vector<float>{3}));
}

struct EngineAndKind {
  std::string engine, kind;
};
void PrintTo(const EngineAndKind& way, std::ostream* out) { *out << way.engine << " " << way.kind; }

class EveryCpuPath : public testing::TestWithParam<EngineAndKind> {
 protected:
  EveryCpuPath() {
    nn::ModelConfig model;
    model.kind = GetParam().kind;
    model.width = 4;
    model.layers = 1;
    model.rni = model.kind == "gcn" ? 0.5 : 0;
    Stream stream(derive_key(71, Purpose::test));
    toy_ = random_toy(model, 8, 5, stream);
    nn::set_types_from(toy_.graphs, model, 1);
    job_ = toy_.job(model);
    job_.batch = 4;
    train_ = [](const Job& job, std::span<Trial> trials, Observer& observer) {
      make_engine(GetParam().engine, 1)->train(job, trials, observer);
    };
  }
  Toy toy_;
  Job job_;
  Train train_;
};

TEST_P(EveryCpuPath, AsksBeforeATrialBegins) { expect_asks_before_it_begins(train_, job_, GetParam().kind); }
TEST_P(EveryCpuPath, StopsWithTheStateOfTheEpoch) {
  expect_stops_with_the_state_of_the_epoch(train_, job_, GetParam().kind);
}
TEST_P(EveryCpuPath, HandsOverTheStateOfEveryEvaluatedEpoch) {
  expect_evaluations_come_with_their_states(train_, job_, GetParam().kind);
}
TEST_P(EveryCpuPath, BeginsNothingAfterAnInterrupt) {
  expect_nothing_begins_after_an_interrupt(train_, job_, GetParam().kind);
}

INSTANTIATE_TEST_SUITE_P(Engines, EveryCpuPath,
                         testing::Values(EngineAndKind{"reference", "gcn"}, EngineAndKind{"reference", "gcn2"},
                                         EngineAndKind{"reference", "ppgn"}, EngineAndKind{"cpu", "gcn"},
                                         EngineAndKind{"cpu", "gcn2"}, EngineAndKind{"cpu", "gcn123"},
                                         EngineAndKind{"cpu", "ppgn"}),
                         [](const testing::TestParamInfo<EngineAndKind>& way) {
                           return way.param.engine + "_" + way.param.kind;
                         });

}  // namespace
}  // namespace tyche::engine
