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

// The mean over the targets that are there of e², |e| or Huber's, written out.
double mean_loss(Loss loss, std::span<const float> outputs, std::span<const float> targets) {
  double sum = 0, count = 0;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (std::isnan(targets[i])) continue;
    const double e = std::abs(double{outputs[i]} - targets[i]);
    sum += loss == Loss::squared ? e * e : loss == Loss::absolute ? e : e < 1 ? 0.5 * e * e : e - 0.5;
    ++count;
  }
  return sum / count;
}

constexpr Loss kLosses[] = {Loss::squared, Loss::absolute, Loss::huber};

class RealTargets : public testing::TestWithParam<std::string> {};

TEST_P(RealTargets, GradientIsThatOfTheLossOfWhatIsPredicted) {
  Stream stream(derive_key(91, Purpose::test));
  for (const char* kind : {"gcn", "ppgn", "gin"}) {
    for (const Loss loss_kind : kLosses) {
      const nn::ModelConfig model = small_model(kind);
      RealToy real = real_toy(model, 6, 9, stream);
      if (loss_kind != Loss::absolute) real.lose_some();
      const Job job = real.job(model, loss_kind);
      const auto engine = make_engine(GetParam(), 1);
      auto parameters = fresh_state(model, 4, 0).parameters;
      std::vector<float> gradient;
      Logits outputs;
      const double loss = engine->gradient(job, parameters, real.toy.all(), {}, gradient, outputs);
      EXPECT_NEAR(loss, mean_loss(loss_kind, outputs.values, real.rows), 2e-6 * (1 + loss)) << kind;
      // Of a parameter per tensor, by differences wide enough for single precision.
      for (const nn::Tensor& tensor : nn::layout(model).tensors) {
        const std::size_t p = tensor.offset + stream.below(tensor.size);
        constexpr float kStep = 5e-3f;
        const auto at = [&](float shift) {
          auto moved = parameters;
          moved[p] += shift;
          return mean_loss(loss_kind, engine->predict(job, moved, real.toy.all(), {}).values, real.rows);
        };
        EXPECT_NEAR(gradient[p], (at(kStep) - at(-kStep)) / (2 * kStep), 5e-3 * (1 + std::abs(gradient[p])))
            << kind << " " << tensor.name;
      }
    }
  }
}

TEST_P(RealTargets, AWeightedClassCountsAsThatManyGraphs) {
  Stream stream(derive_key(96, Purpose::test));
  const nn::ModelConfig model = small_model("gcn");
  const Toy toy = random_toy(model, 6, 9, stream);
  const std::vector<float> weights = {1, 3};
  Job job = toy.job(model), plain = job;
  job.data.targets = Targets(toy.labels).weighted(weights);
  std::vector<std::uint32_t> often;  // graphs of class 1 three times over
  for (const std::uint32_t g : toy.all()) {
    for (std::uint32_t i = 0; i < (toy.labels[g] == 1 ? 3u : 1u); ++i) often.push_back(g);
  }
  ASSERT_GT(often.size(), toy.graphs.size());
  const auto engine = make_engine(GetParam(), 1);
  const auto parameters = fresh_state(model, 4, 0).parameters;
  std::vector<float> gradient, expected;
  Logits ignored;
  const double loss = engine->gradient(job, parameters, toy.all(), {}, gradient, ignored);
  EXPECT_NEAR(loss, engine->gradient(plain, parameters, often, {}, expected, ignored), 1e-6);
  for (std::size_t p = 0; p < gradient.size(); ++p) ASSERT_NEAR(gradient[p], expected[p], 1e-6) << p;
}

// Labels under class weights as well, real targets of which some are missing.
TEST_P(RealTargets, AWeightedGraphCountsAsThatManyGraphs) {
  Stream stream(derive_key(196, Purpose::test));
  const std::vector<float> weights = {2, 1, 0, 3, 1, 1}, of_classes = {1, 2};
  for (const char* kind : {"gcn", "ppgn", "gin"}) {
    const nn::ModelConfig model = small_model(kind);
    RealToy real = real_toy(model, 6, 9, stream);
    real.lose_some();
    std::vector<std::uint32_t> often;
    for (const std::uint32_t g : real.toy.all()) often.insert(often.end(), static_cast<std::size_t>(weights[g]), g);
    const auto engine = make_engine(GetParam(), 1);
    const auto parameters = fresh_state(model, 4, 0).parameters;
    for (const bool numbers : {true, false}) {
      Job plain = numbers ? real.job(model) : real.toy.job(model);
      if (!numbers) plain.data.targets = plain.data.targets.weighted(of_classes);
      Job job = plain;
      job.data.targets = plain.data.targets.weighted_by_graph(weights);
      std::vector<float> gradient, expected;
      Logits ignored;
      const double loss = engine->gradient(job, parameters, real.toy.all(), {}, gradient, ignored);
      EXPECT_NEAR(loss, engine->gradient(plain, parameters, often, {}, expected, ignored), 2e-6 * (1 + loss)) << kind;
      for (std::size_t p = 0; p < gradient.size(); ++p) {
        ASSERT_NEAR(gradient[p], expected[p], 2e-6 * (1 + std::abs(expected[p]))) << kind << numbers << p;
      }
    }
  }
}

TEST_P(RealTargets, WeightsOfOneChangeNoBitAndOfNoneLeaveOut) {
  Stream stream(derive_key(197, Purpose::test));
  const nn::ModelConfig model = small_model("gcn");
  const RealToy real = real_toy(model, 9, 9, stream);
  const auto trained = [&](const std::vector<float>& weights, std::uint32_t train) {
    Job job = real.job(model);
    job.data.targets = job.data.targets.weighted_by_graph(weights);
    job.epochs = 3;
    job.batch = 9;
    Trial trial = trial_of(job, 7, 0, 4);
    trial.validation = 2;  // of the test graphs
    trial.train.resize(train);
    Recorder seen(1);
    make_engine(GetParam(), 1)->train(job, std::span(&trial, 1), seen);
    return std::pair(trial.state.parameters, seen.results[0].back());
  };
  const auto none = trained({}, 5);
  EXPECT_EQ(trained(std::vector<float>(9, 1.0f), 5).first, none.first);
  EXPECT_EQ(trained(std::vector<float>(9, 1.0f), 5).second.train_loss, none.second.train_loss);
  // Twice the weight everywhere is the same mean.
  const auto twice = trained(std::vector<float>(9, 2.0f), 5);
  EXPECT_NEAR(twice.second.train_loss, none.second.train_loss, 1e-6 * (1 + none.second.train_loss));
  std::vector<float> weights(9, 1.0f);
  const std::vector<std::uint32_t> train = trial_of(real.job(model), 7, 0, 4).train;
  weights[train[4]] = 0;
  const auto without = trained(weights, 5);
  EXPECT_NE(without.first, none.first);
  EXPECT_NEAR(without.second.train_loss, trained({}, 4).second.train_loss, 1e-3);
  // The validation part's loss is weighted too.
  std::vector<float> heavy(9, 1.0f);
  heavy[trial_of(real.job(model), 7, 0, 4).test.back()] = 5;
  EXPECT_NE(trained(heavy, 5).second.metrics.find("validation_loss").value(),
            none.second.metrics.find("validation_loss").value());
}

TEST_P(RealTargets, AStandardisedTrialIsOneOnStandardisedTargetsInItsOwnUnit) {
  Stream stream(derive_key(97, Purpose::test));
  const nn::ModelConfig model = small_model("gcn");
  RealToy real = real_toy(model, 9, 9, stream);
  real.lose_some();
  RealToy scaled = real;
  const Standard standard = {{2, -100}, {4, 0.5}};  // exact in binary, so that both ways round the same
  for (std::size_t i = 0; i < real.rows.size(); ++i) {
    real.rows[i] = static_cast<float>(standard.own(scaled.rows[i], i % 2));
    scaled.rows[i] = static_cast<float>((real.rows[i] - standard.mean[i % 2]) / standard.deviation[i % 2]);
  }
  Job job = real.job(model, Loss::squared), plain = scaled.job(model, Loss::squared);
  job.epochs = plain.epochs = 3;
  job.batch = plain.batch = 3;
  Trial own = trial_of(job, 7, 0, 4), same = trial_of(plain, 7, 0, 4);
  own.standard = standard;
  Recorder seen(1), expected(1);
  make_engine(GetParam(), 1)->train(job, std::span(&own, 1), seen);
  make_engine(GetParam(), 1)->train(plain, std::span(&same, 1), expected);
  EXPECT_EQ(own.state.parameters, same.state.parameters);
  const EpochResult &a = seen.results[0].back(), &b = expected.results[0].back();
  EXPECT_EQ(a.train_loss, b.train_loss);
  ASSERT_EQ(a.test_outputs.size(), 8u);
  for (std::size_t i = 0; i < 8; ++i) {
    EXPECT_FLOAT_EQ(a.test_outputs[i], static_cast<float>(standard.own(b.test_outputs[i], i % 2)));
  }
  for (std::size_t c = 0; c < 2; ++c) {
    const std::string mae = "test_mae_" + std::to_string(c), r2 = "test_r2_" + std::to_string(c);
    EXPECT_NEAR(a.metrics.find(mae).value(), standard.deviation[c] * b.metrics.find(mae).value(), 1e-4);
    EXPECT_NEAR(a.metrics.find(r2).value(), b.metrics.find(r2).value(), 1e-3);
  }
}

TEST_P(RealTargets, BatchesWithoutAnyTargetAreHarmless) {
  Stream stream(derive_key(98, Purpose::test));
  const nn::ModelConfig model = small_model("gcn");
  RealToy real = real_toy(model, 4, 9, stream);
  real.lose_some();
  Job job = real.job(model, Loss::squared);
  job.epochs = 2;
  job.batch = 1;  // the first graph, whose targets are all missing, is a batch of its own
  Trial trial = trial_of(job, 7, 0, 1);
  Recorder seen(1);
  make_engine(GetParam(), 1)->train(job, std::span(&trial, 1), seen);
  EXPECT_TRUE(std::isfinite(seen.results[0].back().train_loss));
  for (const float value : trial.state.parameters) ASSERT_TRUE(std::isfinite(value));
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
  EXPECT_EQ(complaint(job),
            "job: the squared, absolute, Huber and binary losses are for rows of targets, and the data has labels");
  job = real.job(model);
  job.data.targets = Targets::real(std::span(real.rows).first(3), 1);
  EXPECT_EQ(complaint(job), "data: 1 targets per graph, but the model has 2 outputs");
  job.data.targets = Targets::real(std::span(real.rows).first(4), 2);
  EXPECT_EQ(complaint(job), "data: 3 graphs but 2 rows of targets");
  job = real.job(model);
  const std::vector<float> negative = {1, -2, 1}, broken = {1, 1, std::nanf("")};
  job.data.targets = real.job(model).data.targets.weighted_by_graph(negative);
  EXPECT_EQ(complaint(job), "data: graph 1 has the weight -2, expected a number from 0 on");
  job.data.targets = real.job(model).data.targets.weighted_by_graph(broken);
  EXPECT_EQ(complaint(job), "data: graph 2 has the weight nan, expected a number from 0 on");
  real.rows[3] = std::nanf("");
  EXPECT_EQ(complaint(real.job(model)), "") << "it is missing";
  real.rows[3] = -INFINITY;
  EXPECT_EQ(complaint(real.job(model)),
            "data: graph 1, target 1 is -inf, expected a finite number, or NaN where it is missing");
}

TEST(RealTargetsOf, ATrialMustHaveAMeanPerColumnAndATargetToLearn) {
  Stream stream(derive_key(99, Purpose::test));
  const nn::ModelConfig model = small_model("gcn");
  RealToy real = real_toy(model, 3, 5, stream);
  const auto complaint = [&](const Job& job, const auto& change) {
    Trial trial = trial_of(job, 1, 0, 1);
    change(trial);
    try {
      validate(job, trial);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const Job job = real.job(model), labels = real.toy.job(model);
  EXPECT_EQ(complaint(job, [](Trial& t) { t.standard = {{0, 0}, {1, 1}}; }), "");
  EXPECT_EQ(complaint(job,
                      [](Trial& t) {
                        t.standard = {{0}, {1}};
                      }),
            "trial: 1 means and 1 deviations, expected 2 of each");
  EXPECT_EQ(complaint(job,
                      [](Trial& t) {
                        t.standard = {{0, 0}, {1, 0}};
                      }),
            "trial: column 1 has the mean 0 and the deviation 0, expected finite numbers, the deviation above 0");
  EXPECT_EQ(complaint(job, [](Trial& t) { t.class_weights = {1, 1}; }), "trial: real targets have no class weights");
  EXPECT_EQ(complaint(labels, [](Trial& t) { t.class_weights = {1}; }),
            "trial: 1 class weights, but the model has 2 classes");
  EXPECT_EQ(complaint(labels,
                      [](Trial& t) {
                        t.class_weights = {1, -1};
                      }),
            "trial: a class weight is -1, expected a number from 0 on");
  EXPECT_EQ(complaint(labels,
                      [](Trial& t) {
                        t.class_weights = {0, 0};
                      }),
            "trial: every training graph, or its class, has the weight 0");
  for (std::size_t i = 0; i < 4; ++i) real.rows[i] = std::nanf("");
  EXPECT_EQ(complaint(real.job(model), [](Trial&) {}),
            "trial: every target of the training graphs is missing, or its graph has the weight 0");
}

}  // namespace
}  // namespace tyche::engine
