// Parity with PyTorch in every engine: logits, loss, gradients, and parameters after 1 and 5 Adam steps.
#include "engine/golden.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "engine/core/adam.hpp"
#include "engine/near.hpp"

namespace tyche::engine {
namespace {

constexpr double kTolerance = 2e-5;  // relative to the largest entry of each tensor

void expect_close(std::span<const float> actual, std::span<const float> expected, const std::string& what) {
  expect_near(actual, expected, kTolerance, what);
}

void expect_tensors_close(const nn::ModelConfig& model, std::span<const float> actual, std::span<const float> expected,
                          const std::string& what) {
  for (const nn::Tensor& tensor : nn::layout(model).tensors) {
    expect_close(actual.subspan(tensor.offset, tensor.size), expected.subspan(tensor.offset, tensor.size),
                 what + "." + tensor.name);
  }
}

class Golden : public testing::TestWithParam<std::tuple<std::string, std::string>> {};

TEST_P(Golden, LogitsLossAndGradientsArePyTorchs) {
  const auto& [name, engine_name] = GetParam();
  const GoldenCase golden(name);
  const Job job = golden.job();
  const auto engine = make_engine(engine_name, 1);
  std::vector<float> gradient;
  Logits logits;
  const double loss = engine->gradient(job, golden.flat("init"), golden.which, golden.draw(), gradient, logits);
  expect_close(logits.values, golden.values("out.logits"), "logits");
  const float as_float = static_cast<float>(loss);
  expect_close(std::span(&as_float, 1), golden.values("out.loss"), "loss");
  expect_tensors_close(job.model, gradient, golden.flat("grad"), "grad");
  EXPECT_EQ(engine->predict(job, golden.flat("init"), golden.which, golden.draw()).values, logits.values);
}

TEST_P(Golden, AdamStepsArePyTorchs) {
  const auto& [name, engine_name] = GetParam();
  const GoldenCase golden(name);
  const Job job = golden.job();
  const auto engine = make_engine(engine_name, 1);
  State state = fresh_state(job.model, 1, 0);
  state.parameters = golden.flat("init");
  std::vector<float> gradient;
  Logits logits;
  for (int step = 1; step <= 5; ++step) {
    (void)engine->gradient(job, state.parameters, golden.which, golden.draw(), gradient, logits);
    adam_step(state, gradient, golden.learning_rate);
    if (step == 1) expect_tensors_close(job.model, state.parameters, golden.flat("adam1"), "adam1");
  }
  expect_tensors_close(job.model, state.parameters, golden.flat("adam5"), "adam5");
}

// Clipping, decay, Adam's constants and the rates of a schedule, each alone and together: eight steps, an epoch each.
class GoldenOptimiser : public testing::TestWithParam<std::string> {};

TEST_P(GoldenOptimiser, StepsArePyTorchs) {
  const GoldenCase golden("gcn_optimisers");
  struct Case {
    std::string name;
    Optimiser optimiser;
    Schedule schedule;
  };
  const Case cases[] = {
      {"clip", {.clip_norm = 0.05}, {}},
      {"adamw", {.weight_decay = 0.5}, {}},
      {"constants", {.beta2 = 0.95, .epsilon = 1e-3}, {}},
      {"cosine", {}, {.kind = ScheduleKind::cosine, .warm_up = 3}},
      {"all", {.clip_norm = 0.1, .weight_decay = 0.1}, {.kind = ScheduleKind::cosine, .warm_up = 2}},
  };
  const auto engine = make_engine(GetParam(), 1);
  for (const Case& given : cases) {
    Job job = golden.job();
    job.epochs = 8;
    job.optimiser = given.optimiser;
    job.schedule = given.schedule;
    Trial trial;
    trial.learning_rate = golden.learning_rate;
    trial.state = fresh_state(job.model, 1, 0);
    trial.state.parameters = golden.flat("init");
    const std::vector<float> rates = golden.values("rates." + given.name);
    std::vector<float> gradient;
    Logits logits;
    for (std::uint32_t epoch = 1; epoch <= 8; ++epoch) {
      const double rate = learning_rate(job, trial, epoch);
      EXPECT_NEAR(rate, rates[epoch - 1], 1e-7 * golden.learning_rate + 1e-9) << given.name << ", epoch " << epoch;
      (void)engine->gradient(job, trial.state.parameters, golden.which, golden.draw(), gradient, logits);
      adam_step(trial.state, gradient, rate, job.optimiser);
    }
    expect_tensors_close(job.model, trial.state.parameters, golden.flat(given.name), given.name);
  }
}

INSTANTIATE_TEST_SUITE_P(EveryEngine, GoldenOptimiser, testing::Values("reference", "cpu"),
                         [](const auto& engine) { return engine.param; });

TEST(GoldenPlateau, RatesArePyTorchs) {
  const GoldenCase golden("gcn_optimisers");
  Job job = golden.job();
  job.schedule = {.kind = ScheduleKind::plateau, .warm_up = 0, .plateau_factor = 0.5, .patience = 2};
  Trial trial;
  trial.learning_rate = golden.learning_rate;
  const std::vector<float> losses = golden.values("in.losses"), rates = golden.values("rates.plateau");
  for (std::uint32_t epoch = 1; epoch <= losses.size(); ++epoch) {
    EXPECT_NEAR(learning_rate(job, trial, epoch), rates[epoch - 1], 1e-9) << "epoch " << epoch;
    EpochResult result;
    result.epoch = epoch;
    result.train_loss = losses[epoch - 1];
    follow(job, trial, result);
  }
  EXPECT_LT(rates.back(), rates.front() / 4);
}

std::string case_and_engine(const testing::TestParamInfo<Golden::ParamType>& info) {
  std::string text = std::get<0>(info.param) + "_" + std::get<1>(info.param);
  std::replace_if(
      text.begin(), text.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return text;
}

INSTANTIATE_TEST_SUITE_P(
    EveryCaseAndEngine, Golden,
    testing::Combine(testing::Values("gcn_rni100_elu", "gcn_rni50_elu", "gcn_deterministic_elu", "gcn_rni100_tanh",
                                     "gcn_rni12_paper_size", "gcn_colours", "gcn_marks", "gcn3", "gcn123",
                                     "gcn123_rni50", "ppgn", "ppgn_mean", "ppgn_sum", "ppgn_rni50", "gin",
                                     "gin_rni50_sum", "gcn_edges_mean", "gcn_edges_sum_rni50", "gine", "gine_rni50_sum",
                                     "gcn_squared", "gcn_absolute", "gcn_huber", "gcn_squared_missing",
                                     "gcn_huber_missing", "gcn_binary", "gcn_binary_missing", "gcn_class_weights",
                                     "sage", "sage_rni50_sum"),
                     testing::ValuesIn(cpu_engine_names())),
    case_and_engine);

}  // namespace
}  // namespace tyche::engine
