// Graphs that are to give numbers rather than classes: losses, gradients, training and what an epoch reports.
#include <gtest/gtest.h>

#include <cmath>

#include "engine/core/outcome.hpp"
#include "engine/real_targets_cases.hpp"
#include "support/error.hpp"

namespace tyche::engine {
namespace {

nn::ModelConfig small_model(const std::string& kind) {
  nn::ModelConfig model;
  model.kind = kind;
  model.width = 8;
  model.layers = 2;
  if (kind == "gcn") model.pre_hidden = 8;
  if (kind != "ppgn") {
    model.head_hidden = 8;
    model.dropout = 0;
  }
  model.readout = nn::Readout::mean;
  return model;
}

// torch.nn.HuberLoss() of outputs and targets, written out.
double huber_loss(std::span<const float> outputs, std::span<const float> targets) {
  double sum = 0;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const double e = std::abs(double{outputs[i]} - targets[i]);
    sum += e < 1 ? 0.5 * e * e : e - 0.5;
  }
  return sum / static_cast<double>(outputs.size());
}

class RealTargets : public testing::TestWithParam<std::string> {};

TEST_P(RealTargets, GradientIsThatOfTheLossOfWhatIsPredicted) {
  Stream stream(derive_key(91, Purpose::test));
  for (const char* kind : {"gcn", "ppgn"}) {
    const nn::ModelConfig model = small_model(kind);
    const RealToy real = real_toy(model, 6, 9, stream);
    const Job job = real.job(model);
    const auto engine = make_engine(GetParam(), 1);
    auto parameters = fresh_state(model, 4, 0).parameters;
    std::vector<float> gradient;
    Logits outputs;
    const double loss = engine->gradient(job, parameters, real.toy.all(), {}, gradient, outputs);
    EXPECT_NEAR(loss, huber_loss(outputs.values, real.rows), 1e-6) << kind;
    // Of a parameter per tensor, by differences wide enough for single precision.
    for (const nn::Tensor& tensor : nn::layout(model).tensors) {
      const std::size_t p = tensor.offset + stream.below(tensor.size);
      constexpr float kStep = 1e-2f;
      const auto at = [&](float shift) {
        auto moved = parameters;
        moved[p] += shift;
        return huber_loss(engine->predict(job, moved, real.toy.all(), {}).values, real.rows);
      };
      EXPECT_NEAR(gradient[p], (at(kStep) - at(-kStep)) / (2 * kStep), 2e-3) << kind << " " << tensor.name;
    }
  }
}

TEST_P(RealTargets, TrainingLearnsThemAndReportsErrorsInTheirUnit) {
  Stream stream(derive_key(92, Purpose::test));
  const nn::ModelConfig model = small_model("gcn");
  const RealToy real = real_toy(model, 8, 9, stream);
  Job job = real.job(model);
  job.epochs = 300;
  job.batch = 4;
  Trial trial = trial_of(job, 7, 0, 0);
  trial.learning_rate = 1e-2;
  trial.test = trial.train;
  Recorder seen(1);
  make_engine(GetParam(), 1)->train(job, std::span(&trial, 1), seen);
  const EpochResult& first = seen.results[0].front();
  const EpochResult& last = seen.results[0].back();
  EXPECT_LT(last.train_loss, 0.2 * first.train_loss);
  EXPECT_LT(last.metrics.find("test_mae").value(), 0.4 * first.metrics.find("test_mae").value());
  EXPECT_FALSE(last.metrics.find("train_accuracy").has_value()) << "numbers are not right or wrong";
  EXPECT_TRUE(last.test_predictions.empty()) << "there are no classes";
  double absolute = 0, squared = 0;
  ASSERT_EQ(last.test_outputs.size(), real.rows.size());
  for (std::size_t i = 0; i < real.rows.size(); ++i) {
    const double error = double{last.test_outputs[i]} - real.rows[i];
    absolute += std::abs(error);
    squared += error * error;
  }
  EXPECT_NEAR(last.metrics.find("test_mae").value(), absolute / 16, 1e-9);
  EXPECT_NEAR(last.metrics.find("test_rmse").value(), std::sqrt(squared / 16), 1e-9);
}

INSTANTIATE_TEST_SUITE_P(Engines, RealTargets, testing::ValuesIn(cpu_engine_names()), [](const auto& at) {
  std::string name = at.param;
  for (char& c : name) c = c == '-' ? '_' : c;
  return name;
});

TEST(RealTargetsOf, SeveralDrawsAreTheMeanOfTheirOutputs) {
  const std::vector<float> values = {1, 2, 3, 4, 3, 6, 5, 0};  // two draws of two graphs with two outputs
  EXPECT_EQ(mean_outputs({values, 2, 2, 4}, 2), (std::vector<float>{2, 4, 4, 2}));
}

TEST(RealTargetsOf, AJobMustHaveTheirLossTheirNumberAndFiniteValues) {
  Stream stream(derive_key(93, Purpose::test));
  const nn::ModelConfig model = small_model("gcn");
  RealToy real = real_toy(model, 3, 5, stream);
  const auto complaint = [&](const Job& job) {
    try {
      validate(job);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(complaint(real.job(model)), "");
  Job job = real.job(model);
  job.loss = Loss::cross_entropy;
  EXPECT_EQ(complaint(job), "job: cross-entropy is for labels, and the data has real targets");
  job = real.toy.job(model);
  job.loss = Loss::huber;
  EXPECT_EQ(complaint(job), "job: the Huber loss is for real targets, and the data has labels");
  job = real.job(model);
  job.data.targets = Targets::real(std::span(real.rows).first(3), 1);
  EXPECT_EQ(complaint(job), "data: 1 targets per graph, but the model has 2 outputs");
  job.data.targets = Targets::real(std::span(real.rows).first(4), 2);
  EXPECT_EQ(complaint(job), "data: 3 graphs but 2 rows of targets");
  real.rows[3] = std::nanf("");
  EXPECT_EQ(complaint(real.job(model)), "data: graph 1, target 1 is nan, expected a finite number");
}

}  // namespace
}  // namespace tyche::engine
