// Same seed, same bits: on any number of threads, in any company, stopped and taken up again.
#include <gtest/gtest.h>

#include <cmath>

#include "engine/cases.hpp"
#include "engine/engine.hpp"

namespace tyche::engine {
namespace {

struct Outcome {
  std::vector<State> states;
  std::vector<std::vector<EpochResult>> results;
};

void expect_same(const Outcome& a, const Outcome& b, const std::string& what) {
  ASSERT_EQ(a.states.size(), b.states.size());
  for (std::size_t t = 0; t < a.states.size(); ++t) {
    EXPECT_EQ(a.states[t].parameters, b.states[t].parameters) << what << ", trial " << t;
    EXPECT_EQ(a.states[t].adam_m, b.states[t].adam_m) << what;
    EXPECT_EQ(a.states[t].adam_v, b.states[t].adam_v) << what;
    EXPECT_EQ(a.states[t].step, b.states[t].step) << what;
    ASSERT_EQ(a.results[t].size(), b.results[t].size()) << what;
    for (std::size_t e = 0; e < a.results[t].size(); ++e) {
      EXPECT_EQ(a.results[t][e].train_loss, b.results[t][e].train_loss) << what;
      EXPECT_EQ(train_accuracy(a.results[t][e]), train_accuracy(b.results[t][e])) << what;
      EXPECT_EQ(a.results[t][e].test_predictions, b.results[t][e].test_predictions) << what;
    }
  }
}

class Determinism : public testing::TestWithParam<std::pair<std::string, nn::Random>> {
 protected:
  Determinism() {
    config.width = 20;
    config.layers = 3;
    config.random = GetParam().second;
    config.depth = nn::default_depth(config.random);
    config.rni = config.random == nn::Random::features ? 0.5 : 0;
    Stream stream(derive_key(4, Purpose::test));
    // Batches of about 500 rows: two or three slices each.
    toy = random_toy(config, 34, 100, stream);
    job = toy.job(config);
    job.epochs = 3;
    job.batch = 10;
    job.eval_draws = 2;
  }
  Outcome run(unsigned threads, std::vector<std::uint32_t> folds) const {
    std::vector<Trial> trials;
    for (const std::uint32_t fold : folds) trials.push_back(trial_of(job, 9, fold, 6));
    Recorder record(trials.size());
    make_engine(GetParam().first, threads)->train(job, trials, record);
    Outcome out;
    for (Trial& trial : trials) out.states.push_back(std::move(trial.state));
    out.results = std::move(record.results);
    return out;
  }

  nn::ModelConfig config;
  Toy toy;
  Job job;
};

TEST_P(Determinism, OneTrialGivesTheSameBitsOnAnyNumberOfThreads) {
  const Outcome alone = run(1, {0});
  for (const unsigned threads : {2u, 3u, 4u})
    expect_same(run(threads, {0}), alone, std::to_string(threads) + " threads");
}

TEST_P(Determinism, AGroupOfTrialsGivesTheBitsOfEachAlone) {
  Outcome apart;
  for (const std::uint32_t fold : {0u, 1u, 2u}) {
    Outcome one = run(1, {fold});
    apart.states.push_back(std::move(one.states[0]));
    apart.results.push_back(std::move(one.results[0]));
  }
  for (const unsigned threads : {1u, 2u, 3u, 4u}) {
    expect_same(run(threads, {0, 1, 2}), apart, std::to_string(threads) + " threads");
  }
  EXPECT_NE(apart.states[0].parameters, apart.states[1].parameters);
}

TEST_P(Determinism, StoppingAndGoingOnChangesNothing) {
  const Outcome whole = run(2, {0});
  for (const std::uint32_t stop : {1u, 2u}) {
    std::vector<Trial> trials = {trial_of(job, 9, 0, 6)};
    Recorder first(1), second(1);
    first.stop_after = stop;
    make_engine(GetParam().first, 1)->train(job, trials, first);
    EXPECT_EQ(trials[0].state.epoch, stop);
    // What a checkpoint keeps is the state.
    Trial resumed = trial_of(job, 9, 0, 6);
    resumed.state = trials[0].state;
    trials = {resumed};
    make_engine(GetParam().first, 3)->train(job, trials, second);
    EXPECT_EQ(first.results[0].size(), stop);
    EXPECT_EQ(trials[0].state.parameters, whole.states[0].parameters);
    EXPECT_EQ(trials[0].state.adam_v, whole.states[0].adam_v);
    EXPECT_EQ(second.results[0].back().train_loss, whole.results[0].back().train_loss);
  }
}

TEST_P(Determinism, PredictingWithATrialsKeysRepeatsItsLastEvaluation) {
  const auto engine = make_engine(GetParam().first, 2);
  std::vector<Trial> trials = {trial_of(job, 9, 3, 6)};
  Recorder record(1);
  engine->train(job, trials, record);
  std::vector<double> mean(trials[0].test.size() * 2, 0.0);
  for (std::uint32_t r = 0; r < 2; ++r) {
    Draw draw;
    draw.seed = 9;
    draw.fold = 3;
    draw.epoch = 3;
    draw.index = r;
    const Logits logits = engine->predict(job, trials[0].state.parameters, trials[0].test, draw);
    for (std::size_t g = 0; g < trials[0].test.size(); ++g) {
      const double a = std::exp(logits.values[2 * g]), b = std::exp(logits.values[2 * g + 1]);
      mean[2 * g] += a / (a + b);
      mean[2 * g + 1] += b / (a + b);
    }
  }
  for (std::size_t g = 0; g < trials[0].test.size(); ++g) {
    EXPECT_EQ(record.results[0].back().test_predictions[g], mean[2 * g + 1] > mean[2 * g] ? 1u : 0u);
  }
}

TEST_P(Determinism, EvaluationHappensWhenItIsDue) {
  job.epochs = 5;
  job.eval_every = 2;
  const Outcome out = run(1, {0});
  std::vector<bool> evaluated;
  for (const EpochResult& result : out.results[0]) evaluated.push_back(result.evaluated);
  EXPECT_EQ(evaluated, (std::vector<bool>{false, true, false, true, true}));
  EXPECT_TRUE(out.results[0][0].test_predictions.empty());
}

TEST_P(Determinism, ATrialTheObserverDoesNotWantIsLeftAsItWas) {
  struct First : Recorder {
    using Recorder::Recorder;
    bool on_begin(std::size_t trial) override { return trial == 0; }
  };
  std::vector<Trial> trials = {trial_of(job, 9, 0, 6), trial_of(job, 9, 1, 6)};
  const State before = trials[1].state;
  First record(2);
  make_engine(GetParam().first, 1)->train(job, trials, record);
  EXPECT_EQ(record.results[0].size(), job.epochs);
  EXPECT_TRUE(record.results[1].empty());
  EXPECT_EQ(trials[1].state.parameters, before.parameters);
  EXPECT_EQ(trials[1].state.epoch, 0u);
}

// Every engine with random features, and the two that draw in ways of their own with marks and colours.
std::vector<std::pair<std::string, nn::Random>> engines_and_inputs() {
  std::vector<std::pair<std::string, nn::Random>> all;
  for (const std::string& name : cpu_engine_names()) all.emplace_back(name, nn::Random::features);
  for (const auto random :
       {nn::Random::marks, nn::Random::colours, nn::Random::uniform_marks, nn::Random::class_marks}) {
    all.emplace_back("cpu", random);
  }
  all.emplace_back("reference", nn::Random::colours);
  return all;
}
std::string engine_and_input(const testing::TestParamInfo<std::pair<std::string, nn::Random>>& info) {
  std::string text = info.param.first + "_" + std::string(nn::name(info.param.second));
  for (char& c : text) c = c == '-' ? '_' : c;
  return text;
}
INSTANTIATE_TEST_SUITE_P(EveryEngine, Determinism, testing::ValuesIn(engines_and_inputs()), engine_and_input);

// An observer that throws must not hang the other threads, and the error must come out.
class Thrower : public Observer {
 public:
  bool on_epoch(std::size_t trial, const EpochResult& result, const State*) override {
    if (trial == 1 && result.epoch == 2) throw std::runtime_error("disk full");
    return true;
  }
};

TEST(Observer, AnErrorEndsTheWholeGroup) {
  nn::ModelConfig config;
  config.width = 4;
  config.layers = 1;
  Stream stream(derive_key(4, Purpose::test));
  const Toy toy = random_toy(config, 10, 8, stream);
  Job job = toy.job(config);
  job.epochs = 1000000;  // without the error this would not end
  for (const unsigned threads : {2u, 4u}) {
    std::vector<Trial> trials = {trial_of(job, 1, 0, 2), trial_of(job, 1, 1, 2)};
    Thrower thrower;
    EXPECT_THROW(make_engine("cpu", threads)->train(job, trials, thrower), std::runtime_error);
  }
}

TEST(Train, WithNothingToDoReturnsAtOnce) {
  nn::ModelConfig config;
  config.width = 4;
  config.layers = 1;
  Stream stream(derive_key(4, Purpose::test));
  const Toy toy = random_toy(config, 3, 8, stream);
  Job job = toy.job(config);
  job.epochs = 0;
  for (const std::string& name : cpu_engine_names()) {
    std::vector<Trial> none, done = {trial_of(job, 1, 0, 1)};
    Recorder record(1);
    make_engine(name, 2)->train(job, none, record);
    make_engine(name, 2)->train(job, done, record);
    EXPECT_TRUE(record.results[0].empty());
  }
}

}  // namespace
}  // namespace tyche::engine
