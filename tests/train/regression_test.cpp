// Real targets from data set to prediction: what is learned, in which unit it is reported, and what is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "support/error.hpp"
#include "support/temporary_folder.hpp"
#include "train/fields.hpp"
#include "train/objective.hpp"
#include "train/parts.hpp"
#include "train/predict.hpp"
#include "train/run.hpp"
#include "train/run_contents.hpp"
#include "train/samples.hpp"

namespace tyche::train {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::ThrowsMessage;

/// Random graphs of 4 to 9 nodes whose target is 1000 + 25 per edge: far from zero and from a deviation of 1.
datasets::Dataset counted_edges(std::size_t count) {
  Stream stream(derive_key(7, Purpose::test));
  datasets::Dataset dataset;
  dataset.name = dataset.set.name = "edges";
  dataset.hash = 77;
  dataset.set.target_dim = 1;
  for (std::size_t g = 0; g < count; ++g) {
    const auto nodes = static_cast<Node>(4 + stream.below(6));
    std::vector<Edge> edges;
    for (Node u = 0; u < nodes; ++u) {
      for (Node v = u + 1; v < nodes; ++v) {
        if (stream.uniform() < 0.4) edges.emplace_back(u, v);
      }
    }
    dataset.set.graphs.push_back(Graph::from_edges(nodes, edges));
    dataset.set.targets.push_back(1000 + 25 * static_cast<float>(edges.size()));
  }
  return dataset;
}

RunConfig gin_config(const datasets::Dataset& dataset, std::uint32_t epochs) {
  RunConfig config = default_config("gin");
  config.model.width = 16;
  config.model.layers = 2;
  config.model.readout = nn::Readout::sum;
  config.model.dropout = 0;
  config.training.epochs = epochs;
  config.training.batch = 10;
  config.training.learning_rate = 2e-3;
  config.folds.count = 4;
  config.folds.validation = 0;
  config.folds.only = 0;
  resolve(config, dataset, "edges");
  return config;
}

TEST(Regression, LearnsTheNumberOfEdgesAndSaysItInItsUnit) {
  const TemporaryFolder folder;
  const datasets::Dataset dataset = counted_edges(160);
  const RunConfig config = gin_config(dataset, 60);
  EXPECT_EQ(config.data.target, TargetKind::attributes) << "there are no labels";
  EXPECT_EQ(config.model.classes, 1u);
  EXPECT_EQ(loss_of(config), engine::Loss::squared);
  const TrainingData data = prepare(dataset, config);
  EXPECT_THAT(describe(data, config), HasSubstr("1 real target each"));
  const Summary summary = Run::begin(folder / "run", config, data).train(*engine::make_engine("cpu", 1), nullptr);
  const NamedValues metrics = summary.folds[0].reported.value().metrics;
  EXPECT_GE(metrics.find("test_r2").value(), 0.95);
  EXPECT_LT(metrics.find("test_mae").value(), 40);
  EXPECT_GT(metrics.find("test_mae").value(), 0.5) << "edges count 25 each";
  EXPECT_FALSE(metrics.find("test_accuracy").has_value());
  EXPECT_THAT(to_table(summary), testing::AllOf(HasSubstr("test MAE"), HasSubstr("test R²"), Not(HasSubstr("±"))));
  const auto json = to_json(summary, config);
  EXPECT_EQ(json["test_r2_mean"].get<double>(), metrics.find("test_r2").value());
  EXPECT_EQ(json["folds"][0]["test_rmse"].get<double>(), metrics.find("test_rmse").value());

  // predict gives the same numbers, by what the checkpoint says of their unit.
  GraphSet tested;
  tested.target_dim = 1;
  for (const std::uint32_t g : data.folds[0].test) {
    tested.graphs.push_back(dataset.set.graphs[g]);
    tested.targets.push_back(dataset.set.targets[g]);
  }
  const Checkpoint checkpoint = read_checkpoint(folder / "run/fold-0/last.safetensors");
  EXPECT_EQ(checkpoint.standard, data.standards[0]);
  const auto predictions = predict(*engine::make_engine("cpu", 1), checkpoint, tested, {});
  std::vector<Answered> answered;
  for (const Prediction& own : predictions) {
    answered.push_back({static_cast<std::uint32_t>(answered.size()), 0, Part::test, own});
  }
  const std::vector<PartScores> scores = part_scores(answered, tested);
  ASSERT_EQ(scores.size(), 1u);
  ASSERT_EQ(scores[0].scores.size(), 3u);
  EXPECT_EQ(scores[0].scores[0].name, "mae");
  EXPECT_NEAR(scores[0].scores[0].over.mean, metrics.find("test_mae").value(), 1e-3);
  EXPECT_EQ(scores[0].scores[2].name, "r2");
  EXPECT_NEAR(scores[0].scores[2].over.mean, metrics.find("test_r2").value(), 1e-6);
  tested.target_dim = 2;
  tested.targets.resize(2 * tested.graphs.size());
  EXPECT_THAT([&] { (void)predict(*engine::make_engine("cpu", 1), checkpoint, tested, {}); },
              ThrowsMessage<InputError>(HasSubstr("the graphs have 2 real targets; the model gives 1")));
}

TEST(Regression, GoesOnToTheSameBitsOnAnyNumberOfThreads) {
  const TemporaryFolder folder;
  datasets::Dataset dataset = counted_edges(24);
  dataset.set.targets[3] = dataset.set.targets[17] = std::nanf("");
  RunConfig config = gin_config(dataset, 4), half = gin_config(dataset, 2);
  config.training.loss = half.training.loss = engine::Loss::huber;
  config.folds.only = half.folds.only = std::nullopt;
  const TrainingData data = prepare(dataset, config);
  Run::begin(folder / "whole", config, data).train(*engine::make_engine("cpu", 1), nullptr);
  Run::begin(folder / "half", half, data).train(*engine::make_engine("cpu", 2), nullptr);
  Run::resume(folder / "half", config, data).train(*engine::make_engine("cpu", 3), nullptr);
  EXPECT_EQ(run_contents(folder / "whole"), run_contents(folder / "half"));
}

TEST(Regression, ConfigurationsKeepWhatIsLearned) {
  const datasets::Dataset dataset = counted_edges(8);
  RunConfig config = gin_config(dataset, 4);
  config.training.loss = engine::Loss::absolute;
  const RunConfig read = config_from_toml(to_toml(config), "x");
  EXPECT_EQ(read.data.target, TargetKind::attributes);
  EXPECT_EQ(read.training.loss, engine::Loss::absolute);
  EXPECT_TRUE(differences(config, read).empty());
  // A run on labels says what it always said: its trials keep the names that 0.1.0 gave them.
  const datasets::Dataset labels = small_dataset();
  EXPECT_THAT(identity(small_config(labels), {}),
              testing::Not(testing::AnyOf(HasSubstr("target"), HasSubstr("loss"), HasSubstr("class_weights"))));
}

TEST(Regression, WhatIsLearnedIsLabelsWhereThereAreAnyUnlessSaidOtherwise) {
  datasets::Dataset both = small_dataset();
  both.set.target_dim = 1;
  for (std::size_t g = 0; g < both.set.graphs.size(); ++g) both.set.targets.push_back(static_cast<float>(g));
  EXPECT_EQ(small_config(both).data.target, TargetKind::labels);
  RunConfig config;
  config.data.target = TargetKind::attributes;
  resolve(config, both, "both");
  EXPECT_EQ(config.model.classes, 1u);
  EXPECT_TRUE(config.data.labels.empty());

  const auto resolving = [](const datasets::Dataset& dataset, const auto& change) {
    return [&dataset, change] {
      RunConfig own;
      change(own);
      resolve(own, dataset, "data");
    };
  };
  const datasets::Dataset labels = small_dataset(), numbers = counted_edges(8);
  EXPECT_THAT(resolving(labels, [](RunConfig& c) { c.data.target = TargetKind::attributes; }),
              ThrowsMessage<InputError>(HasSubstr("the graphs have no real targets to learn")));
  EXPECT_THAT(resolving(numbers, [](RunConfig& c) { c.data.target = TargetKind::labels; }),
              ThrowsMessage<InputError>(HasSubstr("the graphs have no labels, but real targets")));
  EXPECT_THAT(resolving(labels, [](RunConfig& c) { c.training.loss = engine::Loss::huber; }),
              ThrowsMessage<InputError>(HasSubstr("training.loss must be cross-entropy where labels are learned; came "
                                                  "\"huber\"")));
  EXPECT_THAT(resolving(numbers, [](RunConfig& c) { c.training.loss = engine::Loss::cross_entropy; }),
              ThrowsMessage<InputError>(HasSubstr("training.loss must be squared, absolute, huber or binary")));
  EXPECT_THAT(resolving(numbers, [](RunConfig& c) { c.training.class_weights = "balanced"; }),
              ThrowsMessage<InputError>(HasSubstr("real targets have no classes")));
  datasets::Dataset bad = counted_edges(8);
  bad.set.targets[5] = INFINITY;
  EXPECT_THAT(resolving(bad, [](RunConfig&) {}), ThrowsMessage<InputError>(HasSubstr("graph 5, target 0 is inf")));
  bad.set.targets.assign(8, std::nanf(""));
  EXPECT_THAT(resolving(bad, [](RunConfig&) {}),
              ThrowsMessage<InputError>(HasSubstr("target 0 is missing in every graph")));
}

TEST(Standard, IsMeanAndDeviationOfTheTargetsThatAreThere) {
  GraphSet set;
  set.target_dim = 3;
  const float none = std::nanf("");
  set.targets = {1, 7, none, 3, 7, none, none, 7, none, 100, 8, 1};
  const std::vector<std::uint32_t> train = {0, 1, 2};
  const engine::Standard standard = standard_of(set, train);
  EXPECT_THAT(standard.mean, ElementsAre(2, 7, 0));
  EXPECT_THAT(standard.deviation, ElementsAre(1, 1, 1)) << "of 1 and 3; of a constant; of nothing";
  EXPECT_FALSE(constant_column(set, train, 0));
  EXPECT_TRUE(constant_column(set, train, 1));
  EXPECT_DOUBLE_EQ(standard.own(0.5, 0), 2.5);
}

TEST(Standard, OddColumnsOfAFoldAreSaid) {
  datasets::Dataset dataset = counted_edges(8);
  GraphSet& set = dataset.set;
  set.target_dim = 2;
  set.targets.assign(16, std::nanf(""));
  for (std::size_t g = 0; g < 8; ++g) set.targets[2 * g] = g < 4 ? 3.0f : 5.0f;
  set.targets[1] = 1;  // of graph 0, which fold 0 tests
  RunConfig config;
  config.folds.count = 2;
  config.folds.validation = 0;
  config.model.aggregation = nn::Aggregation::sum;  // nodes have no features, of which there is a warning too
  resolve(config, dataset, "odd");
  const auto warnings = fold_warnings(prepare(dataset, config), config);
  ASSERT_EQ(warnings.size(), 4u);
  EXPECT_EQ(warnings[0], "fold 0: target 0 is 5 in every training graph; it is not scaled (deviation 1)");
  EXPECT_EQ(warnings[1], "fold 0 has no training graphs with target 1; it cannot learn it");
}

TEST(ClassWeights, AreNoneBalancedOrOnePerClass) {
  const std::vector<std::uint32_t> classes = {0, 0, 0, 1, 2, 0}, train = {0, 1, 2, 3};
  EXPECT_TRUE(class_weights_of("none", classes, train, 3).empty());
  const std::vector<float> balanced = class_weights_of("balanced", classes, train, 3);
  EXPECT_THAT(balanced, ElementsAre(4.0f / 9, 4.0f / 3, 0.0f)) << "graphs / (classes · graphs of the class)";
  EXPECT_THAT(class_weights_of("1,0,2.5", classes, train, 3), ElementsAre(1.0f, 0.0f, 2.5f));
  for (const char* wrong : {"1,2", "1,2,x", "1,2,-3", "0,0,0", "", "1,2,3,", "inf,1,1", "Balanced"}) {
    EXPECT_THAT([&] { (void)class_weights_of(wrong, classes, train, 3); },
                ThrowsMessage<InputError>(HasSubstr("expected none, balanced, or 3 numbers from 0 on")))
        << wrong;
  }
}

TEST(ClassWeights, ReachTheTrialsOfARun) {
  const TemporaryFolder folder;
  const datasets::Dataset dataset = small_dataset();
  RunConfig plain = small_config(dataset, 2), weighted = plain;
  weighted.training.class_weights = "1,9";
  const TrainingData data = prepare(dataset, plain), own = prepare(dataset, weighted);
  EXPECT_THAT(own.class_weights[1], ElementsAre(1.0f, 9.0f));
  const Summary a = Run::begin(folder / "a", plain, data).train(*engine::make_engine("cpu", 1), nullptr);
  const Summary b = Run::begin(folder / "b", weighted, own).train(*engine::make_engine("cpu", 1), nullptr);
  EXPECT_NE(a.folds[0].last->train_loss, b.folds[0].last->train_loss);
}

TEST(Losses, HaveTheNamesThatOthersGiveThem) {
  for (const char* name : {"absolute", "mae", "l1", "absolute_error"}) {
    EXPECT_EQ(parse_loss(name), engine::Loss::absolute) << name;
  }
  for (const char* name : {"squared", "mse", "l2", "squared_error"}) {
    EXPECT_EQ(parse_loss(name), engine::Loss::squared) << name;
  }
  EXPECT_EQ(parse_loss("smooth_l1"), engine::Loss::huber);
  EXPECT_EQ(parse_loss("cross_entropy"), engine::Loss::cross_entropy);
  EXPECT_EQ(loss_name(engine::Loss::absolute), "absolute");
}

TEST(GraphWeights, StandardiseAsThatManyGraphsWould) {
  datasets::Dataset dataset = counted_edges(4);
  GraphSet& set = dataset.set;
  set.target_dim = 1;
  set.targets = {1, 2, 4, 100};
  const std::vector<std::uint32_t> once = {0, 1, 2, 3}, often = {0, 0, 1, 2, 2, 2};
  const std::vector<float> weights = {2, 1, 3, 0}, ones(4, 1.0f);
  EXPECT_EQ(standard_of(set, once, ones), standard_of(set, once));
  const engine::Standard own = standard_of(set, once, weights), expected = standard_of(set, often);
  EXPECT_NEAR(own.mean[0], expected.mean[0], 1e-12);
  EXPECT_NEAR(own.deviation[0], expected.deviation[0], 1e-12);
}

TEST(GraphWeights, BelongToTheRunAndMustBeGivenAgain) {
  const TemporaryFolder folder;
  const datasets::Dataset dataset = small_dataset();
  const std::size_t graphs = dataset.set.graphs.size();
  RunConfig plain = small_config(dataset, 2), weighted = plain;
  std::vector<float> weights(graphs, 1.0f);
  EXPECT_EQ(weights_hash(weights, graphs), "") << "as if there were none";
  for (std::size_t g = 0; g < graphs; g += 3) weights[g] = 4;
  weighted.data.weights = weights_hash(weights, graphs);
  const TrainingData data = prepare(dataset, plain), own = prepare(dataset, weighted, weights);
  const Summary a = Run::begin(folder / "a", plain, data).train(*engine::make_engine("cpu", 1), nullptr);
  const Summary b = Run::begin(folder / "b", weighted, own).train(*engine::make_engine("cpu", 1), nullptr);
  EXPECT_NE(a.folds[0].last->train_loss, b.folds[0].last->train_loss);
  const RunConfig stored = read_config(folder / "b" / "config.toml");
  EXPECT_EQ(stored.data.weights, weighted.data.weights);
  EXPECT_THAT([&] { (void)prepare(dataset, stored); }, ThrowsMessage<InputError>(HasSubstr("given again")));
  std::vector<float> others = weights;
  others[2] = 0;
  EXPECT_THAT([&] { (void)prepare(dataset, stored, others); }, ThrowsMessage<InputError>(HasSubstr("are not those")));
  others[2] = -1;
  EXPECT_THAT([&] { (void)weights_hash(others, graphs); },
              ThrowsMessage<InputError>(HasSubstr("graph 2 has the weight -1")));
  others.pop_back();
  EXPECT_THAT([&] { (void)weights_hash(others, graphs); },
              ThrowsMessage<InputError>(HasSubstr("expected one for each")));
}

TEST(Scores, OfLabelsStandBehindTheAccuracyInARecord) {
  const TemporaryFolder folder;
  const datasets::Dataset dataset = small_dataset();
  const RunConfig config = small_config(dataset, 2);
  const TrainingData data = prepare(dataset, config);
  const Summary summary = Run::begin(folder / "run", config, data).train(*engine::make_engine("cpu", 1), nullptr);
  std::vector<std::string> names;
  for (const auto& metric : summary.folds[0].last->metrics) names.push_back(metric.first);
  EXPECT_THAT(names, ElementsAre("train_accuracy", "test_accuracy", "test_balanced_accuracy", "test_f1", "test_roc_auc",
                                 "test_average_precision"));
  const auto json = to_json(summary, config);
  EXPECT_TRUE(json.contains("test_roc_auc_mean"));
  EXPECT_TRUE(json.contains("test_f1_std"));
  EXPECT_THAT(to_table(summary), HasSubstr("ROC AUC"));
}

}  // namespace
}  // namespace tyche::train
