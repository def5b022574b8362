#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "nn/levels.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "support/remedy.hpp"
#include "support/replaced.hpp"
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
  std::vector<Graph> untyped = dataset.set.graphs.all();
  for (Graph& graph : untyped) graph = Graph::from_edges(graph.num_nodes(), graph.edges());
  dataset.set.graphs = untyped;
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

TEST(Recipe, SumsSeeDegreesCountsAndSizes) {
  for (const datasets::Dataset& dataset : {small_dataset(), bare(small_dataset()), small_dataset(24, 2, true)}) {
    const RunConfig config = called(dataset);
    EXPECT_EQ(config.model.aggregation, nn::Aggregation::sum);
    EXPECT_EQ(config.model.readout, nn::Readout::sum);
    EXPECT_EQ(config.model.dropout, 0);
    EXPECT_EQ(config.training.optimiser.clip_norm, 1);
    EXPECT_EQ(config.training.schedule.warm_up, 10u);
    EXPECT_THAT(config.chosen, AllOf(HasSubstr("sum over neighbours (means see neither"), HasSubstr("sum readout (")));
  }
  EXPECT_EQ(called(small_dataset(), {{"model.aggregation", "mean"}}).model.aggregation, nn::Aggregation::mean);
  EXPECT_EQ(called(small_dataset(), {{"model.kind", "gin"}}, "gin").model.kind, "gin");
  const RunConfig sets = called(small_dataset(), {}, "gcn2");
  EXPECT_EQ(sets.model.aggregation, nn::Aggregation::mean) << "sets are another matter";
  EXPECT_EQ(sets.training.optimiser.clip_norm, 0);
}

TEST(Recipe, TheActivationGoesByWhatNodesBring) {
  EXPECT_EQ(called(small_dataset()).model.activation, nn::Activation::relu);
  EXPECT_THAT(called(small_dataset()).chosen, HasSubstr("relu (nodes have 2 types and no attributes)"));
  EXPECT_EQ(called(small_dataset(24, 2, true)).model.activation, nn::Activation::elu);
  EXPECT_EQ(called(bare(small_dataset())).model.activation, nn::Activation::elu);
  EXPECT_EQ(called(small_dataset(), {{"model.activation", "tanh"}}).model.activation, nn::Activation::tanh);
}

TEST(Recipe, FewEpochsHaveNoWarmUp) {
  EXPECT_EQ(called(small_dataset(), {{"training.epochs", 20}}).training.schedule.warm_up, 0u);
  EXPECT_EQ(called(small_dataset(), {{"training.epochs", 21}}).training.schedule.warm_up, 10u);
  EXPECT_EQ(called(small_dataset(), {{"training.schedule", "constant"}}).training.schedule.warm_up, 0u);
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

/// Its first weight before and after division, by tensor; `at`: another place in the tensor.
double divided(const datasets::Dataset& dataset, RunConfig config, const std::string& tensor, std::size_t at = 0) {
  const TrainingData data = prepare(dataset, config);
  const std::size_t place = nn::layout(config.model).at(tensor).offset + at;
  const engine::State own = start_of(data, config, 0);
  config.recipe = "paper";
  return start_of(data, config, 0).parameters[place] / own.parameters[place];
}

TEST(Recipe, SumsOfEveryNetworkAreFoundByItsSteps) {
  const datasets::Dataset dataset = bare(small_dataset());
  const std::vector<std::pair<std::string, nlohmann::json>> sums = {{"model.aggregation", "sum"},
                                                                    {"model.readout", "sum"}};
  const RunConfig gcn = called(dataset, sums), sage = called(dataset, sums, "sage");
  const double degree = divided(dataset, gcn, "convs.0.lin_rel.weight");
  EXPECT_GT(degree, 1.1);
  EXPECT_NEAR(divided(dataset, sage, "convs.0.weight"), 1, 1e-6) << "the node itself";
  EXPECT_NEAR(divided(dataset, sage, "convs.0.weight", sage.model.width), degree, 1e-4) << "its neighbours";
  const double nodes = divided(dataset, gcn, "head.fc1.weight");
  EXPECT_NEAR(divided(dataset, sage, "head.fc1.weight"), nodes, 1e-4);
  const RunConfig ppgn = called(dataset, {{"model.readout", "sum"}, {"model.width", 8}, {"model.layers", 2}}, "ppgn");
  EXPECT_NEAR(divided(dataset, ppgn, "vote.1.weight"), nodes, 1e-4) << "pairs (v, v)";
  EXPECT_NEAR(divided(dataset, ppgn, "vote.1.weight", 8), nodes * (nodes - 1), 1e-2) << "other pairs";
  EXPECT_NEAR(divided(dataset, called(dataset, {{"model.readout", "mean"}}, "gin"), "convs.1.nn.0.weight"), 1, 1e-6);
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
  auto far = dataset.set.attributes.all();
  for (auto& block : far) {
    for (std::size_t i = 0; i < block.size(); i += 2) block[i] = 1000 + 1e3f * block[i];
  }
  dataset.set.attributes = far;
  const RunConfig config = called(dataset, {{"folds.count", 3}});
  const TrainingData data = prepare(dataset, config);
  ASSERT_TRUE(data.scaled());
  EXPECT_NE(data.scales[0], data.scales[1]);
  const engine::FeatureBlocks nodes = data.job(config, 1).data.features;
  for (const std::size_t column : {3u, 4u}) {  // behind two types and others
    double sum = 0, squares = 0, count = 0;
    for (const std::uint32_t g : data.folds[1].train) {
      for (std::size_t at = column; at < nodes[g].size(); at += config.model.input_features) {
        sum += nodes[g][at];
        squares += nodes[g][at] * nodes[g][at];
        ++count;
      }
    }
    EXPECT_NEAR(sum / count, 0, 1e-5);
    EXPECT_NEAR(squares / count, 1, 1e-5);
  }
  // A test graph changes nothing of it.
  datasets::Dataset other = dataset;
  const std::uint32_t tested = data.folds[1].test.front();
  far[tested][0] = 1e6f;
  other.set.attributes = far;
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
  auto same = dataset.set.attributes.all();
  for (auto& block : same) {
    for (std::size_t i = 1; i < block.size(); i += 2) block[i] = 7;
  }
  dataset.set.attributes = same;
  const std::vector<std::uint32_t> all = {0, 1, 2, 3, 4, 5};
  const FeatureSpec spec = feature_spec(dataset.set);
  const InputScale scale = input_scale(make_features(dataset.set, spec), {}, spec, all);
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
  dataset.set.graphs = replaced(dataset.set.graphs, g, Graph::from_edges(graph.num_nodes(), graph.edges(), types));
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
  for (const std::string recipe : {"own", "paper"}) {
    for (const std::string kind : {"gcn", "gin", "ppgn", "gcn2", "gcn3", "gcn123"}) {
      if (recipe == "paper" && kind.starts_with("gcn") && kind != "gcn") continue;  // below
      datasets::Dataset dataset = small_dataset();
      const RunConfig config = called(
          dataset,
          {{"recipe", recipe}, {"folds.count", 3}, {"training.epochs", 2}, {"model.width", 8}, {"model.layers", 2}},
          kind);
      const TrainingData data = prepare(dataset, config);
      const auto engine = engine::make_engine("cpu", 1);
      const auto out = folder / (recipe + kind);
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

TEST(Unseen, TypesOfSetsAreCountedAndTakeNoPart) {
  datasets::Dataset dataset = small_dataset();
  const RunConfig config = called(dataset, {{"folds.count", 3}}, "gcn3");
  ASSERT_EQ(config.model.triple_types.back(), nn::kOtherType);
  EXPECT_EQ(config_from_toml(to_toml(config), "config.toml").model.triple_types, config.model.triple_types);
  retype(dataset, 3, 16);
  EXPECT_THAT(
      unseen(dataset.set, config.data.features, {3, 5}, config.model),
      testing::ElementsAre(testing::MatchesRegex("1 of 24 graphs has sets of nodes of types that training did not "
                                                 "see \\([0-9]+ of 3 nodes\\): they count as 'other'")));
  // Where the set is trained on with that type, it is seen, but not by the fold that tests the graph.
  const RunConfig own = called(dataset, {{"folds.count", 3}}, "gcn3");
  const TrainingData data = prepare(dataset, own);
  const nn::Tensor first = nn::layout(own.model).at("convs.0.lin_root.weight");
  ASSERT_EQ(first.shape[1], own.model.triple_types.size());
  for (std::uint32_t fold = 0; fold < 3; ++fold) {
    const auto& train = data.folds[fold].train;
    const bool seen = std::find(train.begin(), train.end(), 3u) != train.end();
    const engine::State state = start_of(data, own, fold);
    std::size_t zero = 0;
    for (std::size_t c = 0; c < first.shape[1]; ++c) zero += state.parameters[first.offset + c] == 0 ? 1 : 0;
    EXPECT_EQ(state.parameters[first.offset + first.shape[1] - 1], 0);
    EXPECT_EQ(zero > 1, !seen);
  }
  EXPECT_THAT(fold_warnings(data, own), Contains(testing::ContainsRegex("node type 16; [0-9]+ types of sets")));
}

TEST(Unseen, TypesOfSetsAreRefusedByThePapersModelsAsBefore) {
  const TemporaryFolder folder;
  datasets::Dataset dataset = small_dataset();
  const RunConfig config =
      called(dataset,
             {{"recipe", "paper"}, {"folds.count", 3}, {"training.epochs", 1}, {"model.width", 8}, {"model.layers", 1}},
             "gcn3");
  const TrainingData data = prepare(dataset, config);
  const auto engine = engine::make_engine("cpu", 1);
  (void)train::Run::begin(folder / "run", config, data).train(*engine, nullptr);
  retype(dataset, 3, 16);
  EXPECT_THAT(
      [&] { (void)predict(*engine, read_checkpoint(folder / "run" / "fold-0" / "last.safetensors"), dataset.set, {}); },
      ThrowsMessage<InputError>(HasSubstr("isomorphism type")));
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
  const auto warnings = [&](const std::vector<std::pair<std::string, nlohmann::json>>& options,
                            const std::string& kind = "gcn") {
    const RunConfig config = called(dataset, options, kind);
    return fold_warnings(prepare(dataset, config), config);
  };
  EXPECT_THAT(warnings({{"model.aggregation", "mean"}, {"model.readout", "mean"}}, "sage"),
              Contains(HasSubstr("cannot tell graphs apart")));
  EXPECT_THAT(warnings({{"model.aggregation", "mean"}, {"model.readout", "sum"}}, "sage"),
              Each(Not(HasSubstr("cannot tell graphs apart"))));
  for (const char* kind : {"gin", "gcn2", "ppgn"}) {
    EXPECT_THAT(warnings({{"recipe", "paper"}}, kind), Each(Not(HasSubstr("cannot tell graphs apart")))) << kind;
  }
  EXPECT_THAT(warnings({{"model.aggregation", "mean"}, {"model.readout", "max"}}),
              Contains(HasSubstr("cannot tell graphs apart")));
  EXPECT_THAT(warnings({{"recipe", "paper"}}), Contains(HasSubstr("model gin, aggregation sum or random inputs")));
  EXPECT_THAT(warnings({{"recipe", "paper"}, {"model.rni", 0.5}}), Each(Not(HasSubstr("cannot tell graphs apart"))));
  EXPECT_THAT(warnings({}), Each(Not(HasSubstr("cannot tell graphs apart"))));
}

}  // namespace
}  // namespace tyche::train
