// Clipping, weight decay and schedules on the CPU's engines.
#include <gtest/gtest.h>

#include "engine/optimiser_cases.hpp"
#include "nn/levels.hpp"

namespace tyche::engine {
namespace {

class EveryOptimiser : public testing::TestWithParam<std::pair<std::string, std::string>> {
 protected:
  EveryOptimiser() {
    nn::ModelConfig model = plain_model(GetParam().second);
    Stream stream(derive_key(61, Purpose::test));
    toy = random_toy(model, 9, 7, stream);
    nn::set_types_from(toy.graphs, model, 1);
    job = toy.job(model);
    job.batch = 4;
  }
  static Train train(unsigned threads = 1) {
    return [threads](const Job& own, std::span<Trial> trials, Observer& observer) {
      make_engine(GetParam().first, threads)->train(own, trials, observer);
    };
  }
  Toy toy;
  Job job;
};

TEST_P(EveryOptimiser, TakesStepsByTheFormulas) {
  const GradientOf gradient = [](const Job& own, std::span<const float> parameters,
                                 std::span<const std::uint32_t> which) {
    std::vector<float> out;
    Logits logits;
    (void)make_engine(GetParam().first, 1)->gradient(own, parameters, which, {}, out, logits);
    return out;
  };
  expect_a_step_by_the_formulas(train(), gradient, job, GetParam().first, 2e-5);
}

TEST_P(EveryOptimiser, GivesASchedulesRates) { expect_a_schedule_is_its_rates(train(), job, GetParam().first); }

TEST_P(EveryOptimiser, SurvivesAStop) { expect_options_survive_a_stop(train(), job, GetParam().first); }

TEST_P(EveryOptimiser, HasTheSameBitsOnAnyNumberOfThreads) {
  job.epochs = 3;
  job.schedule = {.kind = ScheduleKind::cosine, .warm_up = 1};
  job.optimiser = {.clip_norm = 0.1, .weight_decay = 0.1};
  std::vector<Trial> alone = {trial_of(job, 5, 1, 2)};
  Gate gate(1);
  train(1)(job, alone, gate);
  for (const unsigned threads : {2u, 3u}) {
    std::vector<Trial> trials = {trial_of(job, 5, 1, 2)};
    Gate own(1);
    train(threads)(job, trials, own);
    expect_same_state(trials[0].state, alone[0].state, std::to_string(threads) + " threads");
  }
}

std::vector<std::pair<std::string, std::string>> ways() {
  std::vector<std::pair<std::string, std::string>> all = {
      {"reference", "gcn"}, {"cpu", "gcn2"}, {"cpu", "ppgn"}, {"cpu", "gin"}};
  for (const std::string& name : cpu_engine_names()) {
    if (name != "reference") all.emplace_back(name, "gcn");
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Engines, EveryOptimiser, testing::ValuesIn(ways()), [](const auto& way) {
  std::string text = way.param.first + "_" + way.param.second;
  std::replace(text.begin(), text.end(), '-', '_');
  return text;
});

// A batch in several slices: the gradients of other threads' slices are added before the norm is taken.
TEST(ClippedSlices, HaveTheSameBitsOnAnyNumberOfThreads) {
  nn::ModelConfig model = plain_model("gcn");
  model.rni = 0.5;
  Stream stream(derive_key(62, Purpose::test));
  const Toy toy = random_toy(model, 24, 100, stream);
  Job job = toy.job(model);
  job.epochs = 2;
  job.batch = 10;
  job.optimiser.clip_norm = 0.05;
  std::vector<Trial> alone = {trial_of(job, 5, 1, 4)};
  Recorder ignored(1);
  make_engine("cpu", 1)->train(job, alone, ignored);
  std::vector<Trial> unclipped = {trial_of(job, 5, 1, 4)};
  Job free = job;
  free.optimiser.clip_norm = 0;
  make_engine("cpu", 1)->train(free, unclipped, ignored);
  EXPECT_NE(alone[0].state.parameters, unclipped[0].state.parameters);
  for (const unsigned threads : {2u, 4u}) {
    std::vector<Trial> trials = {trial_of(job, 5, 1, 4)};
    make_engine("cpu", threads)->train(job, trials, ignored);
    expect_same_state(trials[0].state, alone[0].state, std::to_string(threads) + " threads");
  }
}

}  // namespace
}  // namespace tyche::engine
