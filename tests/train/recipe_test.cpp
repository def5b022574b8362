#include "train/recipe.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "support/error.hpp"
#include "support/file.hpp"
#include "support/remedy.hpp"
#include "support/temporary_folder.hpp"
#include "train/data.hpp"
#include "train/fields.hpp"
#include "train/predict.hpp"
#include "train/run.hpp"
#include "train/samples.hpp"
#include "train/start.hpp"

namespace tyche::train {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::ThrowsMessage;

/// What a call with these options makes of a data set.
RunConfig called(const datasets::Dataset& dataset,
                 const std::vector<std::pair<std::string, nlohmann::json>>& options = {},
                 const std::string& kind = "gcn") {
  RunConfig config = call_config(kind, nn::Random::features);
  for (const auto& [key, value] : options) find_field(key)->assign(config, value, key);
  resolve(config, dataset, "small");
  return config;
}

/// The graphs of a set without what is known of their nodes.
datasets::Dataset bare(datasets::Dataset dataset) {
  for (Graph& graph : dataset.set.graphs) graph = Graph::from_edges(graph.num_nodes(), graph.edges());
  return dataset;
}

/// A set as tyche generates them.
datasets::Dataset generated(datasets::Dataset dataset) {
  for (std::uint32_t g = 0; g < dataset.set.graphs.size(); ++g) {
    dataset.subset.push_back(datasets::Subset::exp);
    dataset.pair.push_back(g / 2);
  }
  return dataset;
}

/// Real targets: number of nodes times `by`, and something that does not grow.
datasets::Dataset with_targets(datasets::Dataset dataset, double by) {
  dataset.set.labels.clear();
  dataset.set.target_dim = 1;
  for (std::size_t g = 0; g < dataset.set.graphs.size(); ++g) {
    const double sway = static_cast<double>(g * 7 % 5);
    dataset.set.targets.push_back(static_cast<float>(by * dataset.set.graphs[g].num_nodes() + sway));
  }
  return dataset;
}

TEST(Recipe, ASetThatTycheMadeHasThePapers) {
  const datasets::Dataset exp = generated(small_dataset());
  RunConfig config = called(exp), paper = default_config("gcn");
  resolve(paper, exp, "small");
  EXPECT_EQ(to_toml(config), to_toml(paper));
  EXPECT_EQ(config.recipe, "paper");
  EXPECT_EQ(config.chosen, "");
  EXPECT_EQ(identity(config, {}), identity(paper, {}));
  EXPECT_THAT(identity(config, {}), AllOf(Not(HasSubstr("recipe")), Not(HasSubstr("standardise"))));
  EXPECT_EQ(config.model.layers, 8u);
  EXPECT_EQ(config.training.epochs, 500u);
  EXPECT_EQ(config.training.learning_rate, 1e-4);
  EXPECT_EQ(config.folds.scheme, datasets::FoldScheme::contiguous);
  EXPECT_EQ(config.model.input_features, 2u);
}

TEST(Recipe, ThePapersCanBeHadForAnyData) {
  const datasets::Dataset own = small_dataset(24, 2, true);
  const RunConfig config = called(own, {{"recipe", "paper"}});
  EXPECT_EQ(config.model.layers, 8u);
  EXPECT_EQ(config.model.readout, nn::Readout::max);
  EXPECT_FALSE(config.selection.on());
  EXPECT_FALSE(config.data.standardise);
  EXPECT_FALSE(prepare(own, config).scaled());
}

TEST(Recipe, OwnDataIsStratifiedAndValidated) {
  const RunConfig config = called(small_dataset(160, 2, true));
  EXPECT_EQ(config.recipe, "own");
  EXPECT_EQ(config.model.kind, "gcn");
  EXPECT_EQ(config.model.layers, 4u);
  EXPECT_EQ(config.training.learning_rate, 1e-3);
  EXPECT_EQ(config.training.schedule.kind, engine::ScheduleKind::cosine);
  EXPECT_EQ(config.folds.scheme, datasets::FoldScheme::stratified);
  EXPECT_TRUE(config.selection.on());
  EXPECT_TRUE(config.data.standardise);
  EXPECT_EQ(config.model.input_features, 5u) << "two types, others, two attributes";
  EXPECT_THAT(config.chosen, AllOf(HasSubstr("stratified folds"), HasSubstr("4 layers"), HasSubstr("cosine"),
                                   HasSubstr("attributes standardised")));
  // What was chosen is in the file, and reading it back chooses nothing.
  RunConfig stored = config_from_toml(to_toml(config), "config.toml");
  resolve(stored, small_dataset(160, 2, true), "small");
  EXPECT_EQ(to_toml(stored), to_toml(config));
  EXPECT_EQ(stored.chosen, "");
  EXPECT_FALSE(called(small_dataset()).selection.on()) << "two graphs choose no epoch";
}

TEST(Recipe, WhatIsGivenWins) {
  const RunConfig config = called(small_dataset(24, 2, true), {{"model.layers", 8},
                                                               {"training.learning_rate", 0.02},
                                                               {"folds.scheme", "contiguous"},
                                                               {"selection.by", "none"},
                                                               {"model.readout", "max"},
                                                               {"data.standardise", false}});
  EXPECT_EQ(config.model.layers, 8u);
  EXPECT_EQ(config.training.learning_rate, 0.02);
  EXPECT_EQ(config.folds.scheme, datasets::FoldScheme::contiguous);
  EXPECT_FALSE(config.selection.on());
  EXPECT_EQ(config.model.readout, nn::Readout::max);
  EXPECT_FALSE(config.data.standardise);
  EXPECT_THAT(config.chosen, AllOf(Not(HasSubstr("layers")), Not(HasSubstr("readout")), Not(HasSubstr("folds"))));
}

TEST(Recipe, NodesWithoutFeaturesAreSeenByTheirDegrees) {
  const RunConfig config = called(bare(small_dataset()));
  EXPECT_EQ(config.model.aggregation, nn::Aggregation::sum);
  EXPECT_EQ(config.model.readout, nn::Readout::max);
  EXPECT_THAT(config.chosen, AllOf(HasSubstr("sum over neighbours"), HasSubstr("nodes have no features")));
  EXPECT_EQ(called(bare(small_dataset()), {{"model.aggregation", "mean"}}).model.aggregation, nn::Aggregation::mean);
  EXPECT_EQ(called(bare(small_dataset()), {{"model.kind", "gin"}}, "gin").model.kind, "gin");
  EXPECT_EQ(called(small_dataset()).model.aggregation, nn::Aggregation::mean);
}

TEST(Recipe, SumsBeginAtTheSizeOfMeans) {
  const datasets::Dataset dataset = bare(small_dataset());
  RunConfig config = called(dataset, {{"folds.count", 3}, {"model.readout", "sum"}});
  const TrainingData data = prepare(dataset, config);
  const nn::Layout layout = nn::layout(config.model);
  double nodes = 0, arcs = 0;
  for (const std::uint32_t g : data.folds[1].train) {
    nodes += dataset.set.graphs[g].num_nodes();
    arcs += 2.0 * static_cast<double>(dataset.set.graphs[g].num_edges());
  }
  const engine::State own = start_of(data, config, 1);
  config.recipe = "paper";
  const engine::State plain = start_of(data, config, 1);
  const auto ratio = [&](const std::string& tensor) {
    const std::size_t at = layout.at(tensor).offset;
    return plain.parameters[at] / own.parameters[at];
  };
  EXPECT_NEAR(ratio("convs.2.lin_rel.weight"), arcs / nodes, 1e-4);
  EXPECT_NEAR(ratio("convs.2.lin_root.weight"), 1, 1e-6);
  EXPECT_NEAR(ratio("head.fc1.weight"), nodes / static_cast<double>(data.folds[1].train.size()), 1e-4);
}

TEST(Recipe, ATargetThatGrowsIsSummedUp) {
  const RunConfig grows = called(with_targets(small_dataset(60), 100));
  EXPECT_EQ(grows.model.readout, nn::Readout::sum);
  EXPECT_EQ(grows.model.dropout, 0);
  EXPECT_THAT(grows.chosen, HasSubstr("correlation with the number of nodes is 1.00"));
  EXPECT_EQ(called(with_targets(small_dataset(60), -100)).model.readout, nn::Readout::sum);
  EXPECT_EQ(called(with_targets(small_dataset(60), 0.01)).model.readout, nn::Readout::mean);
}

TEST(Recipe, OneFoldOfAllGraphsHasNothingToChooseBy) {
  const RunConfig config = called(small_dataset(), {{"folds.count", 1}});
  EXPECT_FALSE(config.selection.on());
  EXPECT_EQ(config.training.schedule.kind, engine::ScheduleKind::cosine);
}

TEST(Recipe, LargeSetsHaveFewerEpochs) {
  EXPECT_EQ(called(small_dataset(24)).training.epochs, called(small_dataset(300)).training.epochs);
  EXPECT_LT(called(small_dataset(9000)).training.epochs, called(small_dataset(300)).training.epochs);
}

TEST(Recipe, PairsStayWithTheirScheme) {
  datasets::Dataset paired = generated(small_dataset());
  const RunConfig config = called(paired, {{"recipe", "own"}});
  EXPECT_EQ(config.folds.scheme, datasets::FoldScheme::contiguous);
}

// ---- attributes

TEST(Standardised, AttributesGoByTheFiguresOfTheTrainingPart) {
  datasets::Dataset dataset = small_dataset(30, 2, true);
  for (auto& block : dataset.set.attributes) {
    for (std::size_t i = 0; i < block.size(); i += 2) block[i] = 1000 + 1e3f * block[i];
  }
  const RunConfig config = called(dataset, {{"folds.count", 3}});
  const TrainingData data = prepare(dataset, config);
  ASSERT_TRUE(data.scaled());
  EXPECT_NE(data.scales[0], data.scales[1]);
  const TrainingData::Inputs inputs = data.inputs_of(config, 1);
  for (const std::size_t column : {3u, 4u}) {  // behind two types and others
    double sum = 0, squares = 0, count = 0;
    for (const std::uint32_t g : data.folds[1].train) {
      for (std::size_t at = column; at < inputs.nodes[g].size(); at += config.model.input_features) {
        sum += inputs.nodes[g][at];
        squares += inputs.nodes[g][at] * inputs.nodes[g][at];
        ++count;
      }
    }
    EXPECT_NEAR(sum / count, 0, 1e-5);
    EXPECT_NEAR(squares / count, 1, 1e-5);
  }
  // A test graph changes nothing of it.
  datasets::Dataset other = dataset;
  other.set.attributes[data.folds[1].test.front()][0] = 1e6f;
  EXPECT_EQ(prepare(other, config).scales[1], data.scales[1]);
  EXPECT_NE(prepare(other, config).scales[0], data.scales[0]);
}

TEST(Standardised, ACheckpointKeepsTheFigures) {
  const TemporaryFolder folder;
  datasets::Dataset dataset = small_dataset(30, 2, true);
  const RunConfig config = called(dataset, {{"folds.count", 3}, {"training.epochs", 2}, {"model.width", 8}});
  const TrainingData data = prepare(dataset, config);
  const auto engine = engine::make_engine("cpu", 1);
  (void)train::Run::begin(folder / "run", config, data).train(*engine, nullptr);
  for (const std::uint32_t fold : {0u, 2u}) {
    const Checkpoint checkpoint = read_checkpoint(folder / "run" / fmt::format("fold-{}", fold) / "last.safetensors");
    EXPECT_EQ(checkpoint.scale, data.scales[fold]);
    // What it says of the test graphs is what the run's last line says.
    const auto said = predict(*engine, checkpoint, dataset.set, {});
    std::size_t right = 0;
    for (const std::uint32_t g : data.folds[fold].test) right += said[g].label == dataset.set.labels[g] ? 1 : 0;
    const auto last = read_metrics(folder / "run" / fmt::format("fold-{}", fold) / "metrics.jsonl", 2).records.back();
    EXPECT_NEAR(last.metrics.find("test_accuracy").value(),
                static_cast<double>(right) / static_cast<double>(data.folds[fold].test.size()), 1e-9);
  }
  EXPECT_NO_THROW((void)train::Run::resume(folder / "run", config, data)) << "and it can be taken up again";
}

TEST(Standardised, AnAttributeThatDoesNotVaryIsNotDivided) {
  datasets::Dataset dataset = small_dataset(6, 2, true);
  for (auto& block : dataset.set.attributes) {
    for (std::size_t i = 1; i < block.size(); i += 2) block[i] = 7;
  }
  const std::vector<std::uint32_t> all = {0, 1, 2, 3, 4, 5};
  const InputScale scale = input_scale(dataset.set, feature_spec(dataset.set), all);
  EXPECT_EQ(scale.nodes.mean[1], 7);
  EXPECT_EQ(scale.nodes.deviation[1], 1);
  EXPECT_THAT(scale.edges.mean, IsEmpty());
}

// ---- the unseen

/// Another type on the first node of a graph.
void retype(datasets::Dataset& dataset, std::size_t g, NodeType type) {
  const Graph& graph = dataset.set.graphs[g];
  std::vector<NodeType> types(graph.types().begin(), graph.types().end());
  types[0] = type;
  dataset.set.graphs[g] = Graph::from_edges(graph.num_nodes(), graph.edges(), types);
}

TEST(Unseen, TypesAreOthersAndCounted) {
  datasets::Dataset dataset = small_dataset();
  FeatureSpec spec = feature_spec(dataset.set);
  retype(dataset, 3, 16);
  EXPECT_EQ(make_features(dataset.set, spec)[3][0], 0) << "without a column, all are 0";
  EXPECT_EQ(make_features(dataset.set, spec)[3][1], 0);
  EXPECT_THAT(unseen(dataset.set, spec, {3, 5}),
              testing::ElementsAre("1 of 24 graphs has node types that training did not see (16: 1 node): all their "
                                   "columns are 0"));
  spec.other = true;
  EXPECT_EQ(spec.columns(), 3u);
  EXPECT_EQ(make_features(dataset.set, spec)[3][2], 1);
  retype(dataset, 4, 17);
  EXPECT_THAT(unseen(dataset.set, spec, {3, 5}),
              testing::ElementsAre("2 of 24 graphs have node types that training did not see (16: 1 node, 17: 1 node): "
                                   "they count as 'other'"));
  EXPECT_THAT(unseen(dataset.set, spec, {3}), Contains(HasSubstr("12 of 24 graphs have a label that training did not "
                                                                 "see (5)")));
  EXPECT_THAT(unseen(small_dataset().set, spec, {3, 5}), IsEmpty());
}

TEST(Unseen, EveryGraphHasAnAnswer) {
  const TemporaryFolder folder;
  for (const char* recipe : {"own", "paper"}) {
    for (const char* kind : {"gcn", "gin", "ppgn"}) {
      datasets::Dataset dataset = small_dataset();
      const RunConfig config = called(
          dataset,
          {{"recipe", recipe}, {"folds.count", 3}, {"training.epochs", 2}, {"model.width", 8}, {"model.layers", 2}},
          kind);
      const TrainingData data = prepare(dataset, config);
      const auto engine = engine::make_engine("cpu", 1);
      const auto out = folder / (std::string(recipe) + kind);
      (void)train::Run::begin(out, config, data).train(*engine, nullptr);
      retype(dataset, 3, 16);
      dataset.set.labels[5] = 77;
      const auto said = predict(*engine, read_checkpoint(out / "fold-0" / "last.safetensors"), dataset.set, {});
      ASSERT_EQ(said.size(), 24u);
      EXPECT_TRUE(std::isfinite(said[3].probability));
      EXPECT_NE(said[5].label, 77) << "a label that training did not see is never the answer";
    }
  }
}

TEST(Unseen, NothingIsSaidOfWhatTrainingNeverSaw) {
  datasets::Dataset dataset = small_dataset();
  retype(dataset, 3, 16);
  const RunConfig config = called(dataset, {{"folds.count", 3}});
  const TrainingData data = prepare(dataset, config);
  const nn::Layout layout = nn::layout(config.model);
  const nn::Tensor& first = layout.at("pre.0.lin_root.weight");
  ASSERT_EQ(first.shape[1], 4u) << "types 0, 1 and 16, and others";
  for (std::uint32_t fold = 0; fold < 3; ++fold) {
    const auto& train = data.folds[fold].train;
    const bool seen = std::find(train.begin(), train.end(), 3u) != train.end();
    const engine::State state = start_of(data, config, fold);
    for (std::size_t row = 0; row < first.shape[0]; ++row) {
      const float* at = state.parameters.data() + first.offset + row * 4;
      EXPECT_NE(at[0], 0);
      EXPECT_EQ(at[2] != 0, seen);
      EXPECT_EQ(at[3], 0);
    }
  }
  EXPECT_THAT(fold_warnings(data, config),
              Contains(HasSubstr("1 graph is tested with what its fold's training part did "
                                 "not see: node type 16")));
}

// ---- folds and warnings

TEST(SortedLabels, AreRefusedInContiguousFolds) {
  datasets::Dataset dataset = small_dataset(40);
  std::stable_partition(dataset.set.labels.begin(), dataset.set.labels.end(), [](int label) { return label == 3; });
  RunConfig config = called(dataset, {{"folds.scheme", "contiguous"}, {"folds.count", 4}, {"selection.by", "none"}});
  EXPECT_THAT(
      [&] { (void)prepare(dataset, config); },
      ThrowsMessage<InputError>(HasSubstr("small: the graphs are sorted by label, and folds are contiguous: fold 0 "
                                          "would test on graphs with label 3 alone")));
  EXPECT_THROW((void)prepare(dataset, config), HasRemedy);
  config = called(dataset, {{"folds.scheme", "contiguous"}, {"folds.count", 2}, {"selection.by", "none"}});
  EXPECT_THAT([&] { (void)prepare(dataset, config); },
              ThrowsMessage<InputError>(HasSubstr("would train on none of the 20 graphs with label 3")));
  EXPECT_NO_THROW((void)prepare(dataset, called(dataset)));
  // A run of an earlier version goes on; pairs are where they are; leave-one-out has one class per test part.
  config.version = "0.2.0";
  EXPECT_NO_THROW((void)prepare(dataset, config));
  config = called(dataset, {{"folds.scheme", "contiguous"}, {"folds.count", 40}, {"selection.by", "none"}});
  EXPECT_NO_THROW((void)prepare(dataset, config));
}

TEST(Warnings, ANetworkToWhichAllNodesAreAlikeIsNamed) {
  const datasets::Dataset dataset = bare(small_dataset());
  const auto warnings = [&](const std::vector<std::pair<std::string, nlohmann::json>>& options) {
    const RunConfig config = called(dataset, options);
    return fold_warnings(prepare(dataset, config), config);
  };
  EXPECT_THAT(warnings({{"model.kind", "gcn"}, {"model.aggregation", "mean"}}),
              Contains(HasSubstr("cannot tell graphs apart")));
  EXPECT_THAT(warnings({{"recipe", "paper"}}), Contains(HasSubstr("model gin, aggregation sum or random inputs")));
  EXPECT_THAT(warnings({{"recipe", "paper"}, {"model.rni", 0.5}}), Each(Not(HasSubstr("cannot tell graphs apart"))));
  EXPECT_THAT(warnings({}), Each(Not(HasSubstr("cannot tell graphs apart"))));
}

}  // namespace
}  // namespace tyche::train
