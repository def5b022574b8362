// What every path on the device owes its observer.
#include "engine/loop_cases.hpp"
#include "engine_cuda/device_fixture.hpp"

namespace tyche::engine {
namespace {

class EveryDevicePath : public DeviceTest {
 protected:
  struct Way {
    std::string name;
    Toy toy;
    Job job;
    std::function<std::unique_ptr<gpu::Path>(std::uint32_t chunk)> make;  ///< trials one after another
  };

  static std::vector<std::unique_ptr<Way>> ways() {
    std::vector<std::unique_ptr<Way>> all;
    const auto add = [&](const std::string& name, const std::string& kind, auto make) {
      auto way = std::make_unique<Way>();
      way->name = name;
      nn::ModelConfig model;
      model.kind = kind;
      model.width = 16;
      model.layers = 1;
      if (kind != "ppgn") model.head_hidden = 8;
      model.rni = kind == "gcn" ? 1 : 0;
      Stream stream(derive_key(72, Purpose::test));
      way->toy = random_toy(model, 6, 5, stream);
      nn::set_types_from(way->toy.graphs, model, 1);
      way->job = way->toy.job(model);
      way->job.batch = 4;
      way->make = make;
      all.push_back(std::move(way));
    };
    add("fused", "gcn", [](std::uint32_t chunk) {
      gpu::PathOptions options;
      options.chunk_epochs = chunk;
      options.together = 1;
      return gpu::make_fused_path(options);
    });
    const auto layerwise = [](std::uint32_t chunk) {
      gpu::PathOptions options;
      options.chunk_epochs = chunk;
      options.together = 1;
      return gpu::make_layerwise_path(options);
    };
    add("layerwise gcn", "gcn", layerwise);
    add("layerwise gcn2", "gcn2", layerwise);
    add("ppgn", "ppgn", [](std::uint32_t) { return gpu::make_ppgn_path({gpu::Precision::mixed, 1}); });
    return all;
  }
  static Train train_with(const Way& way, std::uint32_t chunk) {
    return [&way, chunk](const Job& job, std::span<Trial> trials, Observer& observer) {
      EXPECT_TRUE(way.make(chunk)->train(job, trials, observer).empty());
    };
  }
};

TEST_F(EveryDevicePath, AsksBeforeATrialBegins) {
  for (const auto& way : ways()) expect_asks_before_it_begins(train_with(*way, 1), way->job, way->name);
}

TEST_F(EveryDevicePath, AsksForAllThatBeginTogether) {
  for (const auto& way : ways()) {
    if (way->name != "fused") continue;
    expect_asks_before_it_begins(
        [](const Job& job, std::span<Trial> trials, Observer& observer) {
          EXPECT_TRUE(gpu::make_fused_path()->train(job, trials, observer).empty());
        },
        way->job, "fused, in lockstep");
  }
}

TEST_F(EveryDevicePath, StopsWithTheStateOfTheEpoch) {
  for (const auto& way : ways()) {
    if (way->name == "ppgn") {
      // States are seconds apart there: the stop is heard after epoch 2, and the state is taken after the next.
      expect_stops_with_the_state_of_the_epoch(train_with(*way, 1), way->job, way->name, 2, 3);
      continue;
    }
    expect_stops_with_the_state_of_the_epoch(train_with(*way, 1), way->job, way->name);
    expect_stops_with_the_state_of_the_epoch(train_with(*way, 2), way->job, way->name + ", a passing epoch", 3, 4);
  }
}

TEST_F(EveryDevicePath, HandsOverTheStateOfEveryEvaluatedEpoch) {
  for (const auto& way : ways()) expect_evaluations_come_with_their_states(train_with(*way, 3), way->job, way->name);
}

TEST_F(EveryDevicePath, BeginsNothingAfterAnInterrupt) {
  for (const auto& way : ways()) {
    if (way->name == "ppgn") continue;  // see below
    expect_nothing_begins_after_an_interrupt(train_with(*way, 1), way->job, way->name);
  }
}

TEST_F(EveryDevicePath, BeginsNothingOfPpgnAfterAnInterrupt) {
#ifndef TYCHE_CUDA_EMULATED
  GTEST_SKIP() << "a GPU trains these three side by side: all have begun before the interrupt, and none waits";
#endif
  const auto all = ways();
  Job job = all.back()->job;
  job.epochs = 1;
  std::vector<Trial> trials = three_trials(job);
  Gate gate(3);
  gate.stop_after = 1;
  gate.interrupts = true;
  train_with(*all.back(), 1)(job, trials, gate);
  EXPECT_EQ(gate.results[0].size(), 1u);
  EXPECT_TRUE(gate.results[1].empty() && gate.results[2].empty());
  EXPECT_EQ(trials[1].state.epoch, 0u);
}

// A trial that goes on in fp32 begins again, and after an interrupt it does not.
TEST_F(EveryDevicePath, AsksBeforeATrialGoesOnInFp32) {
  const auto all = ways();
  Job job = all.front()->job;
  job.epochs = 2;
  std::vector<Trial> trials = {trial_of(job, 1, 0, 2), trial_of(job, 2, 1, 2)};
  for (float& value : trials[1].state.parameters) value *= 1e6f;  // overflows half precision
  class Once : public Recorder {
   public:
    using Recorder::Recorder;
    bool on_begin(std::size_t trial) override { return ++begun[trial] == 1; }
    void on_note(std::size_t trial, const std::string&) override { ++notes[trial]; }
    int begun[2] = {0, 0}, notes[2] = {0, 0};
  };
  Once once(2);
  gpu::make_cuda_engine({})->train(job, trials, once);
  EXPECT_EQ(once.notes[1], 1);
  EXPECT_EQ(once.begun[0], 1);
  EXPECT_EQ(once.begun[1], 2) << "asked by its number among all";
  EXPECT_EQ(once.results[0].size(), 2u);
  EXPECT_TRUE(once.results[1].empty());
  EXPECT_EQ(trials[1].state.epoch, 0u);
}

}  // namespace
}  // namespace tyche::engine
