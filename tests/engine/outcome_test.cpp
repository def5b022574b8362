// What an evaluation reports, where a trial has a test part, a validation part and several draws at once: against the
// definitions, written out over a table of outputs that has a place for each.
#include "engine/core/outcome.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "engine/cases.hpp"
#include "engine/real_targets_cases.hpp"

namespace tyche::engine {
namespace {

constexpr std::size_t kDraws = 3, kOutputs = 2;
/// Outputs of evaluated graph i under draw r, with more between two draws than the graphs take (as engines have it
/// whose buffers are rounded up).
struct Table {
  std::size_t graphs, stride;
  std::vector<float> values;

  explicit Table(std::size_t evaluated)
      : graphs(evaluated), stride(kOutputs * evaluated + 5), values(kDraws * stride, std::nanf("")) {
    Stream stream(derive_key(71, Purpose::test));
    for (std::size_t r = 0; r < kDraws; ++r) {
      for (std::size_t i = 0; i < graphs * kOutputs; ++i) {
        values[r * stride + i] = static_cast<float>(4 * stream.uniform() - 2);
      }
    }
  }
  [[nodiscard]] float at(std::size_t draw, std::size_t graph, std::size_t c) const {
    return values[draw * stride + graph * kOutputs + c];
  }
  [[nodiscard]] double mean(std::size_t graph, std::size_t c) const {
    double sum = 0;
    for (std::size_t r = 0; r < kDraws; ++r) sum += at(r, graph, c);
    return sum / kDraws;
  }
  [[nodiscard]] double probability(std::size_t draw, std::size_t graph, std::size_t c) const {
    return 1 / (1 + std::exp(double{at(draw, graph, 1 - c)} - at(draw, graph, c)));
  }
  [[nodiscard]] TestOutputs outputs() const { return {values, kOutputs, kDraws, stride}; }
};

/// Ten graphs without edges: 0 to 3 train, 4 to 6 are tested, 7 to 9 validate.
struct Evaluated {
  std::vector<Graph> graphs = std::vector<Graph>(10, Graph::from_edges(1, {}));
  std::vector<std::uint32_t> labels = {0, 1, 0, 1, 0, 1, 1, 0, 0, 1};
  std::vector<std::vector<float>> features = std::vector<std::vector<float>>(10, std::vector<float>(1, 1.0f));
  std::vector<float> rows;
  Trial trial;

  Evaluated() {
    trial.train = {0, 1, 2, 3};
    trial.test = {4, 5, 6, 7, 8, 9};
    trial.validation = 3;
    Stream stream(derive_key(72, Purpose::test));
    for (std::size_t i = 0; i < 10 * kOutputs; ++i) rows.push_back(static_cast<float>(6 * stream.uniform() - 3));
  }
  [[nodiscard]] Job job() const {
    Job job;
    job.data = {graphs, labels, features};
    job.model.classes = kOutputs;
    job.eval_draws = kDraws;
    return job;
  }
  [[nodiscard]] Job real_job(Loss loss) const {
    Job out = job();
    out.data.targets = Targets::real(rows, kOutputs);
    out.loss = loss;
    return out;
  }
};

TEST(Outcome, OfLabelsWithATestAndAValidationPartAndSeveralDraws) {
  const Evaluated own;
  const Table table(6);
  EpochResult result;
  report_evaluation(own.job(), own.trial, table.outputs(), result);
  ASSERT_EQ(result.test_predictions.size(), 3u);
  ASSERT_EQ(result.validation_predictions.size(), 3u);
  ASSERT_EQ(result.validation_probabilities.size(), 6u);
  double loss = 0, agreeing = 0, spread = 0;
  for (std::size_t i = 0; i < 6; ++i) {
    double mean[kOutputs] = {0, 0};
    for (std::size_t r = 0; r < kDraws; ++r) {
      for (std::size_t c = 0; c < kOutputs; ++c) mean[c] += table.probability(r, i, c) / kDraws;
      if (i >= 3) loss -= std::log(table.probability(r, i, own.labels[own.trial.test[i]]));
    }
    const std::uint32_t said = mean[1] > mean[0] ? 1 : 0;
    EXPECT_EQ(i < 3 ? result.test_predictions[i] : result.validation_predictions[i - 3], said) << i;
    for (std::size_t c = 0; c < kOutputs; ++c) {
      const auto& probabilities = i < 3 ? result.test_probabilities : result.validation_probabilities;
      EXPECT_NEAR(probabilities[(i % 3) * kOutputs + c], mean[c], 1e-12) << i;
    }
    if (i >= 3) continue;
    double squares = 0;
    for (std::size_t r = 0; r < kDraws; ++r) {
      const double p = table.probability(r, i, said);
      squares += (p - mean[said]) * (p - mean[said]);
      agreeing += p > 0.5 ? 1 : 0;
    }
    spread += std::sqrt(squares / kDraws) / 3;
  }
  EXPECT_NEAR(result.metrics.find("validation_loss").value(), loss / (3 * kDraws), 1e-6);
  EXPECT_NEAR(result.metrics.find("test_spread").value(), spread, 1e-9);
  EXPECT_NEAR(result.metrics.find("test_agreement").value(), agreeing / (3 * kDraws), 1e-12);
}

TEST(Outcome, AValidationLossWithClassWeightsIsTheWeightedMean) {
  Evaluated own;
  own.trial.class_weights = {0.5f, 3};
  const Table table(6);
  EpochResult result;
  report_evaluation(own.job(), own.trial, table.outputs(), result);
  double sum = 0, weights = 0;
  for (std::size_t i = 3; i < 6; ++i) {
    const std::uint32_t label = own.labels[own.trial.test[i]];
    const double weight = own.trial.class_weights[label];
    for (std::size_t r = 0; r < kDraws; ++r) {
      sum -= weight * std::log(table.probability(r, i, label));
      weights += weight;
    }
  }
  EXPECT_NEAR(result.metrics.find("validation_loss").value(), sum / weights, 1e-6);
}

TEST(Outcome, OfRealTargetsWithATestAndAValidationPartSeveralDrawsAndMissingOnes) {
  Evaluated own;
  for (const std::size_t missing : {9u, 14u, 17u}) own.rows[missing] = std::nanf("");  // graphs 4, 7 and 8
  own.trial.standard = {{1, -2}, {2, 0.5}};
  const Table table(6);
  for (const Loss kind : {Loss::squared, Loss::absolute, Loss::huber}) {
    EpochResult result;
    report_evaluation(own.real_job(kind), own.trial, table.outputs(), result);
    ASSERT_EQ(result.test_outputs.size(), 6u);
    double absolute[2] = {0, 0}, squared[2] = {0, 0}, there[2] = {0, 0}, loss = 0;
    double by_column[2][kOutputs] = {}, in_column[2][kOutputs] = {};
    for (std::size_t i = 0; i < 6; ++i) {
      const std::size_t part = i / 3;
      for (std::size_t c = 0; c < kOutputs; ++c) {
        const double said = own.trial.standard.own(table.mean(i, c), c);
        if (part == 0) {
          EXPECT_NEAR(result.test_outputs[i * kOutputs + c], said, 1e-6);
        }
        const double wanted = own.rows[own.trial.test[i] * kOutputs + c];
        if (std::isnan(wanted)) continue;
        absolute[part] += std::abs(said - wanted);
        squared[part] += (said - wanted) * (said - wanted);
        by_column[part][c] += std::abs(said - wanted);
        in_column[part][c] += 1;
        there[part] += 1;
        if (part == 0) continue;
        const double scaled = (wanted - own.trial.standard.mean[c]) / own.trial.standard.deviation[c];
        for (std::size_t r = 0; r < kDraws; ++r) loss += error_cost<double>(kind, table.at(r, i, c) - scaled);
      }
    }
    for (std::size_t part = 0; part < 2; ++part) {
      const std::string name = part == 0 ? "test" : "validation";
      EXPECT_NEAR(result.metrics.find(name + "_mae").value(), absolute[part] / there[part], 1e-6) << name;
      EXPECT_NEAR(result.metrics.find(name + "_rmse").value(), std::sqrt(squared[part] / there[part]), 1e-6) << name;
      for (std::size_t c = 0; c < kOutputs; ++c) {
        EXPECT_NEAR(result.metrics.find(name + "_mae_" + std::to_string(c)).value(),
                    by_column[part][c] / in_column[part][c], 1e-6)
            << name;
      }
    }
    EXPECT_NEAR(result.metrics.find("validation_loss").value(), loss / (there[1] * kDraws), 2e-6);
  }
}

TEST(Outcome, WithoutATestPartTheValidationPartIsAllThereIs) {
  Evaluated own;
  own.trial.test = {7, 8, 9};
  const Table table(3);
  EpochResult labels, real;
  report_evaluation(own.job(), own.trial, table.outputs(), labels);
  EXPECT_TRUE(labels.test_predictions.empty());
  EXPECT_EQ(labels.validation_predictions.size(), 3u);
  report_evaluation(own.real_job(Loss::squared), own.trial, table.outputs(), real);
  EXPECT_TRUE(real.test_outputs.empty());
  EXPECT_FALSE(real.metrics.find("test_mae").has_value());
  double sum = 0;
  for (std::size_t i = 0; i < 3 * kOutputs; ++i) {
    sum += std::abs(table.mean(i / kOutputs, i % kOutputs) - own.rows[7 * kOutputs + i]);
  }
  EXPECT_NEAR(real.metrics.find("validation_mae").value(), sum / 6, 1e-6);
}

class EvaluatedBy : public testing::TestWithParam<std::string> {};

/// What training reports of test and validation part, against predict() on each draw.
TEST_P(EvaluatedBy, TrainingReportsBothPartsAsPredictionsOfEveryDrawGiveThem) {
  Stream stream(derive_key(73, Purpose::test));
  nn::ModelConfig model;
  model.width = 8;
  model.layers = 2;
  model.rni = 0.5;
  RealToy real = real_toy(model, 11, 8, stream);
  real.rows[2 * 8] = real.rows[2 * 9 + 1] = std::nanf("");  // of the validation part
  for (const bool labels : {true, false}) {
    Job job = labels ? real.toy.job(model) : real.job(model, Loss::squared);
    job.epochs = 2;
    job.batch = 4;
    job.eval_draws = kDraws;
    Trial trial = trial_of(job, 7, 3, 6);
    trial.validation = 3;
    if (labels) trial.class_weights = {1, 4};
    const auto engine = make_engine(GetParam(), 1);
    Recorder seen(1);
    engine->train(job, std::span(&trial, 1), seen);
    const EpochResult& last = seen.results[0].back();
    double sum = 0, count = 0, errors = 0, there = 0;
    std::vector<std::vector<float>> draws;
    for (std::uint32_t r = 0; r < kDraws; ++r) {
      const Draw draw{.seed = 7, .index = r, .fold = 3, .epoch = 2, .pinned = {}};
      draws.push_back(engine->predict(job, trial.state.parameters, trial.test, draw).values);
    }
    for (std::size_t i = 3; i < 6; ++i) {
      const std::uint32_t g = trial.test[i], label = real.toy.labels[g];
      for (std::size_t c = 0; c < kOutputs; ++c) {
        const double wanted = real.rows[g * kOutputs + c];
        double mean = 0;
        for (const std::vector<float>& z : draws) {
          mean += double{z[i * kOutputs + c]} / kDraws;
          if (labels && c == label) {
            const double weight = trial.class_weights[label];
            sum += weight * std::log1p(std::exp(double{z[i * kOutputs + 1 - c]} - z[i * kOutputs + c]));
            count += weight;
          } else if (!labels && !std::isnan(wanted)) {
            sum += (z[i * kOutputs + c] - wanted) * (z[i * kOutputs + c] - wanted);
            ++count;
          }
        }
        if (labels || std::isnan(wanted)) continue;
        errors += std::abs(mean - wanted);
        ++there;
      }
    }
    EXPECT_NEAR(last.metrics.find("validation_loss").value(), sum / count, 1e-4 * (1 + sum / count)) << labels;
    if (labels) continue;
    EXPECT_NEAR(last.metrics.find("validation_mae").value(), errors / there, 1e-4);
    ASSERT_EQ(last.test_outputs.size(), 6u);
    for (std::size_t i = 0; i < 6; ++i) {
      double mean = 0;
      for (const std::vector<float>& z : draws) mean += double{z[i]} / kDraws;
      EXPECT_NEAR(last.test_outputs[i], mean, 1e-4);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Engines, EvaluatedBy, testing::ValuesIn(cpu_engine_names()), [](const auto& at) {
  std::string name = at.param;
  for (char& c : name) c = c == '-' ? '_' : c;
  return name;
});

}  // namespace
}  // namespace tyche::engine
