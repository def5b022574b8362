// Labels and targets of nodes and edges from data set to prediction: folds, masks, missing ones, what is learned.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "datasets/split.hpp"
#include "graph/sets.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "support/replaced.hpp"
#include "support/temporary_folder.hpp"
#include "train/checkpoint.hpp"
#include "train/objective.hpp"
#include "train/parts.hpp"
#include "train/predict.hpp"
#include "train/run.hpp"

namespace tyche::train {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

/// Random trees. A node's label is 7 where it is a leaf, else 4; its target its degree; an edge's target the sum of the
/// degrees of its ends.
datasets::Dataset trees(std::size_t count, Node nodes = 12) {
  Stream stream(derive_key(9, Purpose::test));
  datasets::Dataset dataset;
  dataset.name = dataset.set.name = "trees";
  dataset.set.node_target_dim = dataset.set.edge_target_dim = 1;
  for (std::size_t g = 0; g < count; ++g) {
    std::vector<Edge> edges;
    for (Node v = 1; v < nodes; ++v) edges.emplace_back(static_cast<Node>(stream.below(v)), v);
    const Graph graph = Graph::from_edges(nodes, edges);
    std::vector<int> labels;
    std::vector<float> targets, sums;
    for (Node v = 0; v < nodes; ++v) {
      labels.push_back(graph.degree(v) == 1 ? 7 : 4);
      targets.push_back(static_cast<float>(graph.degree(v)));
    }
    for (const auto& [u, v] : graph.edges()) sums.push_back(static_cast<float>(graph.degree(u) + graph.degree(v)));
    dataset.set.graphs.push_back(graph);
    dataset.set.node_labels.push_back(labels);
    dataset.set.node_targets.push_back(targets);
    dataset.set.edge_targets.push_back(sums);
  }
  dataset.hash = content_hash(dataset.set);
  return dataset;
}

RunConfig nodes_config(const datasets::Dataset& dataset, TargetKind target, std::uint32_t epochs = 40) {
  RunConfig config = default_config("gin");
  config.data.target = target;
  config.model.width = 16;
  config.model.layers = 2;
  config.model.dropout = 0;
  config.training.epochs = epochs;
  config.training.batch = 10;
  config.training.learning_rate = 3e-3;
  config.folds.count = 4;
  config.folds.only = 0;
  resolve(config, dataset, "trees");
  return config;
}

Summary trained(const datasets::Dataset& dataset, const RunConfig& config, const std::filesystem::path& folder) {
  const TrainingData data = prepare(dataset, config);
  return Run::begin(folder, config, data).train(*engine::make_engine("cpu", 2), nullptr);
}

TEST(Nodes, LeavesAreToldFromOthersAndRowsAreOfNodes) {
  const TemporaryFolder folder;
  const datasets::Dataset dataset = trees(60);
  const RunConfig config = nodes_config(dataset, TargetKind::node_labels);
  EXPECT_EQ(config.model.unit, Unit::node);
  EXPECT_THAT(config.data.labels, ElementsAre(4, 7));
  const Summary summary = trained(dataset, config, folder / "run");
  EXPECT_EQ(summary.folds[0].reported->metrics.find("test_accuracy"), 1.0);
  EXPECT_EQ(summary.folds[0].reported->metrics.find("test_roc_auc"), 1.0);

  const Checkpoint checkpoint = read_checkpoint(folder / "run" / "fold-0" / "last.safetensors");
  const auto said = predict(*engine::make_engine("reference", 1), checkpoint, dataset.set, {});
  const Learned truth(dataset.set, TargetKind::node_labels);
  ASSERT_EQ(said.size(), truth.units.size());
  const OwnGraphs own = own_graphs(dataset, config);
  const std::vector<Part> parts = parts_of(own, dataset, config, 0);
  std::vector<Answered> answered;
  for (std::uint32_t i = 0; i < said.size(); ++i) answered.push_back({i, 0, parts[i], said[i]});
  const auto scores = part_scores(answered, truth, config.data.labels);
  EXPECT_EQ(scores.front().part, Part::test);
  EXPECT_EQ(scores.front().graphs, own.folds[0].test.size());
  EXPECT_EQ(scores.front().scores[0].over.mean, 1.0);
  EXPECT_EQ(scores.front().scores[3].name, "roc_auc");
  EXPECT_EQ(scores.front().scores[3].over.mean, 1.0);
  const auto some =
      predict(*engine::make_engine("cpu", 1), checkpoint, dataset.set, {.graphs = std::vector<std::uint32_t>{25, 3}});
  EXPECT_EQ(some[0].label, said[25].label);
  EXPECT_EQ(some[1].label, said[3].label);
}

TEST(Nodes, TargetsOfNodesAndEdgesAreLearnedInTheirUnit) {
  const datasets::Dataset dataset = trees(80);
  for (const TargetKind target : {TargetKind::node_targets, TargetKind::edge_targets}) {
    const TemporaryFolder folder;
    const RunConfig config = nodes_config(dataset, target, 60);
    const Summary summary = trained(dataset, config, folder / "run");
    EXPECT_GE(summary.folds[0].reported->metrics.find("test_r2").value(), 0.97) << name(target);
    EXPECT_LT(summary.folds[0].reported->metrics.find("test_mae").value(), 0.4) << name(target);
  }
}

TEST(Nodes, FoldsOfSeveralGraphsPartGraphsAndOfOneItsNodes) {
  const datasets::Dataset several = trees(8);
  const RunConfig config = nodes_config(several, TargetKind::node_labels);
  const Units units(several.set.graphs, Unit::node);
  for (const datasets::Fold& fold : folds_of(several, config)) {
    EXPECT_EQ(fold.test.size(), 24u);
    const auto trains = units.graphs_of(fold.train), tests = units.graphs_of(fold.test);
    for (const std::uint32_t g : tests) EXPECT_EQ(std::count(trains.begin(), trains.end(), g), 0);
  }
  datasets::Dataset one = trees(1, 40);
  std::vector<int> labels = one.set.node_labels.all()[0];
  labels[5] = kNoLabel;
  one.set.node_labels = replaced(one.set.node_labels, 0, labels);
  std::set<std::uint32_t> tested;
  for (const datasets::Fold& fold : folds_of(one, nodes_config(one, TargetKind::node_labels))) {
    tested.insert(fold.test.begin(), fold.test.end());
  }
  EXPECT_EQ(tested.size(), 39u);
  EXPECT_FALSE(tested.contains(5)) << "it has no label";
}

TEST(Nodes, MasksAndSplitsOfNodesAreFolds) {
  const TemporaryFolder folder;
  datasets::Dataset one = trees(1, 6);
  one.set.node_labels = replaced(one.set.node_labels, 0, std::vector<int>{4, 7, 4, 7, 4, 7});
  using enum NodePart;
  one.set.node_parts = {{train, train, train, test, test, validation}, {test, train, train, train, none, none}};
  RunConfig config = default_config("gcn");
  config.data.target = TargetKind::node_labels;
  resolve(config, one, "one");
  EXPECT_EQ(config.folds.split, kMasks);
  EXPECT_EQ(config.folds.count, 2u);
  const auto folds = folds_of(one, config);
  EXPECT_THAT(folds[0].train, ElementsAre(0, 1, 2));
  EXPECT_THAT(folds[0].validation, ElementsAre(5));
  EXPECT_THAT(folds[1].test, ElementsAre(0));

  write_file(folder / "split.json", R"({"unit": "nodes", "train": [0, 1], "test": [5, 4]})");
  RunConfig other = default_config("gcn");
  other.data.target = TargetKind::node_labels;
  other.folds.split = (folder / "split.json").string();
  resolve(other, one, "one");
  EXPECT_THAT(folds_of(one, other)[0].test, ElementsAre(4, 5));
  const Units nodes(one.set.graphs, Unit::node);
  EXPECT_THAT([&] { (void)datasets::parse_split(R"({"unit": "nodes", "train": [0], "test": [6]})", "s", nodes); },
              ThrowsMessage<InputError>(HasSubstr("node 6 is out of range: the data has 6 nodes")));
  EXPECT_THAT([&] { (void)datasets::parse_split(R"({"unit": "edges", "train": [0], "test": [1]})", "s", nodes); },
              ThrowsMessage<InputError>(HasSubstr("splits edges, but what is learned is of nodes")));
  EXPECT_THAT([&] { (void)datasets::parse_split(R"({"unit": "nodes", "train": [0], "test": [1]})", "s", 6); },
              ThrowsMessage<InputError>(HasSubstr("what is learned is of graphs")));
}

TEST(Nodes, TypesBecomeLabelsAndAreSeenNoMore) {
  datasets::Dataset dataset;
  dataset.name = dataset.set.name = "typed";
  const std::vector<Edge> edge = {{0, 1}};
  dataset.set.graphs = {Graph::from_edges(2, edge, {3, 5}), Graph::from_edges(2, edge, {5, 5})};
  RunConfig config;
  config.data.target = TargetKind::node_labels;
  take_targets(dataset, config);
  EXPECT_THAT(dataset.set.node_labels.all(), ElementsAre(ElementsAre(3, 5), ElementsAre(5, 5)));
  EXPECT_TRUE(feature_spec(dataset.set).types.empty());
}

TEST(Nodes, AResumedRunEndsAtTheSameBits) {
  const TemporaryFolder folder;
  const datasets::Dataset dataset = trees(1, 60);
  RunConfig config = nodes_config(dataset, TargetKind::node_labels, 4);
  (void)trained(dataset, config, folder / "whole");
  config.training.epochs = 2;
  (void)trained(dataset, config, folder / "part");
  config.training.epochs = 4;
  const TrainingData data = prepare(dataset, config);
  (void)Run::resume(folder / "part", config, data).train(*engine::make_engine("cpu", 1), nullptr);
  EXPECT_EQ(read_file(folder / "part" / "fold-0" / "last.safetensors"),
            read_file(folder / "whole" / "fold-0" / "last.safetensors"));
}

TEST(Nodes, WeightsAreSeenAndWithoutEdgesAreNot) {
  datasets::Dataset dataset = trees(6);
  std::vector<Graph> graphs = dataset.set.graphs.all();
  for (Graph& graph : graphs) {
    std::vector<EdgeLabel> weights;
    for (std::size_t e = 0; e < graph.num_edges(); ++e)
      weights.push_back(label_of_weight(0.5f + static_cast<float>(e)));
    graph = Graph::from_edges(graph.num_nodes(), graph.edges(), {}, weights);
  }
  dataset.set.graphs = graphs;
  dataset.set.weighted = true;
  RunConfig config = nodes_config(dataset, TargetKind::node_labels, 1);
  EXPECT_TRUE(config.data.features.weighted);
  EXPECT_EQ(config.data.features.edge_columns(), 0u) << "a weight is no kind of edge";
  EXPECT_TRUE(prepare(dataset, config).view().weighted);
  RunConfig unread = default_config("gcn3");
  unread.data.target = TargetKind::node_labels;
  EXPECT_THROW(resolve(unread, dataset, "trees"), InputError);
  RunConfig plain = default_config("gin");
  plain.data.target = TargetKind::node_labels;
  plain.data.features.edges = false;
  plain.folds.count = 2;
  resolve(plain, dataset, "trees");
  const TrainingData data = prepare(dataset, plain);
  EXPECT_FALSE(data.view().weighted);
  EXPECT_FALSE(data.view().graphs[0].has_edge_labels());
}

TEST(Nodes, CommandsForGraphsSaySo) {
  RunConfig config;
  config.data.target = TargetKind::node_targets;
  EXPECT_THAT(
      [&] { require_graphs(config, "tyche compare"); },
      ThrowsMessage<InputError>(HasSubstr("tyche compare is for values of graphs, and node-targets are learned")));
}

}  // namespace
}  // namespace tyche::train
