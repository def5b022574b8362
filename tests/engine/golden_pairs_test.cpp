// Networks on pairs, and batches that are normalised, beside PyTorch: a pass of training, five steps with what they
// leave of means and variances, and tests after them.
#include <gtest/gtest.h>

#include <tuple>

#include "engine/golden.hpp"
#include "engine/near.hpp"

namespace tyche::engine {
namespace {
namespace golden_pairs {

struct Silent final : Observer {
  bool on_epoch(std::size_t, const EpochResult&, const State*) override { return true; }
};

class GoldenPairs : public testing::TestWithParam<std::tuple<std::string, std::string, unsigned>> {
 protected:
  [[nodiscard]] std::unique_ptr<Engine> engine() const {
    return make_engine(std::get<1>(GetParam()), std::get<2>(GetParam()));
  }
};

TEST_P(GoldenPairs, APassOfTrainingIsPyTorchs) {
  const GoldenCase golden(std::get<0>(GetParam()));
  const Job job = golden.job();
  std::vector<float> gradient;
  Logits logits;
  Draw draw = golden.draw();
  draw.training = true;
  const auto loss =
      static_cast<float>(engine()->gradient(job, golden.flat("init"), golden.which, draw, gradient, logits));
  expect_near(logits.values, golden.values("out.logits"), 2e-5, "logits");
  expect_near(std::span(&loss, 1), golden.values("out.loss"), 2e-5, "loss");
  expect_tensors_near(job.model, gradient, golden.flat("grad"), 5e-5, "gradient");
}

TEST_P(GoldenPairs, FiveStepsOfTrainingArePyTorchs) {
  const GoldenCase golden(std::get<0>(GetParam()));
  Job job = golden.job();
  job.epochs = 5;
  job.eval_every = 5;
  Trial trial;
  trial.learning_rate = golden.learning_rate;
  trial.train = trial.test = golden.which;
  trial.state = fresh_state(job.model, 1, 0);
  trial.state.parameters = golden.flat("init");
  Silent silent;
  engine()->train(job, std::span(&trial, 1), silent);
  expect_tensors_near(job.model, trial.state.parameters, golden.flat("adam5"), 2e-4, "after five steps");
}

TEST_P(GoldenPairs, ATestNormalisesByWhatTrainingSaw) {
  const GoldenCase golden(std::get<0>(GetParam()));
  const Job job = golden.job();
  std::vector<float> gradient;
  Logits logits;
  (void)engine()->gradient(job, golden.flat("adam5"), golden.which, golden.draw(), gradient, logits);
  expect_near(logits.values, golden.values("test.logits"), 2e-5, "logits");
  expect_tensors_near(job.model, gradient, golden.flat("test"), 5e-5, "gradient");
  EXPECT_EQ(engine()->predict(job, golden.flat("adam5"), golden.which, golden.draw()).values, logits.values);
}

INSTANTIATE_TEST_SUITE_P(EveryCaseAndEngine, GoldenPairs,
                         testing::Combine(testing::Values("mp", "subgraph", "local2", "folklore2", "subgraph_layer",
                                                          "folklore2_none"),
                                          testing::Values("reference", "cpu", "cpu-portable"), testing::Values(1u, 2u)),
                         [](const auto& each) {
                           std::string name = std::get<0>(each.param) + "_" + std::get<1>(each.param) + "_" +
                                              std::to_string(std::get<2>(each.param));
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace golden_pairs
}  // namespace
}  // namespace tyche::engine
