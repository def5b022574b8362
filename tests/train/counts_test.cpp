// Counts of subgraphs as columns of nodes, columns of targets, and targets that are scaled or not.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/engine.hpp"
#include "graph/patterns.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "support/temporary_folder.hpp"
#include "train/checkpoint.hpp"
#include "train/fields.hpp"
#include "train/parts.hpp"
#include "train/predict.hpp"
#include "train/run.hpp"
#include "train/samples.hpp"
#include "wl/sample_graphs.hpp"

namespace tyche::train {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

// ---- counts

TEST(Counts, AreColumnsBehindTypesAndAttributes) {
  GraphSet set;
  set.name = "house";  // a square with a roof: nodes 0 and 1 carry it
  const std::vector<Edge> edges = {{0, 1}, {1, 2}, {2, 3}, {3, 0}, {0, 4}, {1, 4}};
  set.graphs = {Graph::from_edges(5, edges, {0, 0, 0, 0, 7})};
  set.attribute_dim = 1;
  set.attributes = {{10, 20, 30, 40, 50}};
  set.labels = {0};
  const FeatureSpec spec = feature_spec(set, true, "cycle3,cycle4");
  EXPECT_EQ(spec.columns(), 5u);
  EXPECT_EQ(spec.numbers(), 3u);
  EXPECT_THAT(make_features(set, spec)[0], ElementsAre(1, 0, 10, 1, 1,  //
                                                       1, 0, 20, 1, 1,  //
                                                       1, 0, 30, 0, 1,  //
                                                       1, 0, 40, 0, 1,  //
                                                       0, 1, 50, 1, 0));
  const std::vector<std::uint32_t> all = {0};
  const InputScale scale = input_scale(make_features(set, spec), {}, spec, all);
  EXPECT_THAT(scale.nodes.mean, ElementsAre(30, testing::DoubleNear(0.6, 1e-12), testing::DoubleNear(0.8, 1e-12)));
  EXPECT_NEAR(scale.nodes.deviation[2], 0.4, 1e-12);
  EXPECT_NEAR(make_features(set, spec, scale)[0][4], 0.5, 1e-6);
  set.attribute_dim = 0;
  set.attributes.clear();
  set.graphs = {Graph::from_edges(5, edges)};
  EXPECT_THAT(make_features(set, feature_spec(set, true, "cycle3"))[0], ElementsAre(1, 1, 0, 0, 1))
      << "in place of the constant";
}

/// Cycles of 6 nodes and pairs of triangles, which no network on nodes tells apart, in turn.
datasets::Dataset alike(std::uint32_t count) {
  datasets::Dataset dataset;
  dataset.name = dataset.set.name = "alike";
  dataset.hash = 17;
  Stream stream(derive_key(5, Purpose::test));
  for (std::uint32_t g = 0; g < count; ++g) {
    dataset.set.graphs.push_back(wl::shuffled(g % 2 == 0 ? wl::cycle(6) : wl::two_triangles(), stream));
    dataset.set.labels.push_back(static_cast<int>(g % 2));
  }
  return dataset;
}

RunConfig counting_config(const datasets::Dataset& dataset, const std::string& counts, std::uint32_t epochs) {
  RunConfig config = call_config("gin", nn::Random::features);
  config.model.width = 16;
  config.training.batch = 4;
  config.folds.count = 4;
  config.folds.only = 0;
  config.training.epochs = epochs;
  config.training.learning_rate = 1e-2;
  config.given.insert({"training.epochs", "folds.count", "model.width"});
  find_field("data.counts")->assign(config, counts, "--counts");
  resolve(config, dataset, "alike");
  return config;
}

TEST(Counts, TellApartWhatTheNetworkAloneDoesNotAndTravelWithTheRun) {
  const TemporaryFolder folder;
  const datasets::Dataset dataset = alike(24);
  write_file(folder / "three.g6", "Bw\n");
  const auto accuracy = [&](const std::string& counts, const std::string& name) {
    const RunConfig config = counting_config(dataset, counts, 12);
    const TrainingData data = prepare(dataset, config);
    const Summary summary = Run::begin(folder / name, config, data).train(*engine::make_engine("cpu", 1), nullptr);
    return summary.folds[0].reported.value().metrics.find("test_accuracy").value();
  };
  EXPECT_EQ(accuracy("", "without"), 0.5);
  EXPECT_EQ(accuracy((folder / "three.g6").string(), "with"), 1.0);
  std::filesystem::remove(folder / "three.g6");

  const Checkpoint checkpoint = read_checkpoint(folder / "with/fold-0/last.safetensors");
  EXPECT_EQ(checkpoint.config.data.features.counts, "three=Bw");
  EXPECT_EQ(checkpoint.scale.nodes.mean.size(), 1u) << "recipe own standardises them like attributes";
  GraphSet fresh;
  fresh.name = "fresh";
  fresh.graphs = {wl::cycle(6), wl::two_triangles(), wl::cycle(6)};
  const auto said = predict(*engine::make_engine("cpu", 1), checkpoint, fresh, {});
  EXPECT_EQ(said[0].label, 0);
  EXPECT_EQ(said[1].label, 1);
  const RunConfig read = read_config(folder / "with/config.toml");
  EXPECT_EQ(read.data.features.counts, "three=Bw");
  RunConfig on = checkpoint.config;
  on.training.epochs = 14;
  const TrainingData data = prepare(dataset, on);
  EXPECT_NO_THROW(Run::resume(folder / "with", on, data).train(*engine::make_engine("cpu", 1), nullptr));
  export_model(checkpoint, folder / "exported");
  EXPECT_THAT(read_file(folder / "exported/model.py"), HasSubstr("COUNTS = [[3,[[0,1],[0,2],[1,2]]]]"));

  RunConfig start = call_config("gin", nn::Random::features);
  start.folds.count = 4;
  start.training.start_from = (folder / "with/fold-0/last.safetensors").string();
  resolve(start, dataset, "alike");
  EXPECT_EQ(start.data.features.counts, "three=Bw") << "a network is begun with its own inputs";
}

TEST(Counts, AreRefusedWhereNothingSeesThem) {
  RunConfig config = call_config("gcn3", nn::Random::features);
  find_field("data.counts")->assign(config, "cycle3", "--counts");
  EXPECT_THAT(refusal(*find_field("data.counts"), config), HasSubstr("gcn3 sees sets of nodes"));
  EXPECT_THAT([&] { find_field("data.counts")->assign(config, "cycle3,heptagon", "--counts"); },
              ThrowsMessage<InputError>(HasSubstr("unknown pattern 'heptagon'")));
}

// ---- columns of targets, and their scale

/// Three targets per graph: its nodes, its edges, and 1000 times the nodes; label 0 or 1 beside them.
datasets::Dataset three_targets(std::uint32_t count) {
  datasets::Dataset dataset = small_dataset(count, 3);
  dataset.set.target_dim = 3;
  for (const Graph& graph : dataset.set.graphs) {
    const auto nodes = static_cast<float>(graph.num_nodes());
    dataset.set.targets.insert(dataset.set.targets.end(), {nodes, static_cast<float>(graph.num_edges()), 1000 * nodes});
  }
  return dataset;
}

RunConfig column_config(const datasets::Dataset& dataset, const std::string& columns, bool scale = true) {
  RunConfig config = call_config("gin", nn::Random::features);
  config.model.width = 8;
  config.training.epochs = 3;
  config.folds.count = 3;
  config.folds.only = 0;
  config.data.scale_targets = scale;
  config.given.insert({"training.epochs", "folds.count", "model.width"});
  find_field("data.target_columns")->assign(config, columns, "--target-columns");
  resolve(config, dataset, "three");
  return config;
}

TEST(TargetColumns, AreThoseThatAreLearnedAndKeepTheirNames) {
  const TemporaryFolder folder;
  const datasets::Dataset dataset = three_targets(24);
  const RunConfig config = column_config(dataset, "2,0");
  EXPECT_EQ(config.data.target, TargetKind::attributes) << "though there are labels";
  EXPECT_EQ(config.model.classes, 2u);
  const TrainingData data = prepare(dataset, config);
  EXPECT_EQ(data.learned.rows[0], 1000 * data.learned.rows[1]);
  EXPECT_THAT(describe(data, config), HasSubstr("2 real targets each (columns 2, 0)"));
  const auto engine = engine::make_engine("cpu", 1);
  const Summary summary = Run::begin(folder / "run", config, data).train(*engine, nullptr);
  const NamedValues metrics = summary.folds[0].reported.value().metrics;
  EXPECT_GT(metrics.find("test_mae_2").value(), 100 * metrics.find("test_mae_0").value()) << "in its own unit";
  EXPECT_FALSE(metrics.find("test_mae_1").has_value());
  EXPECT_EQ(read_config(folder / "run/config.toml").data.target_columns, (std::vector<std::uint32_t>{2, 0}));

  const Checkpoint checkpoint = read_checkpoint(folder / "run/fold-0/last.safetensors");
  const auto said = predict(*engine, checkpoint, dataset.set, {});
  EXPECT_EQ(said[0].values.size(), 2u);
  std::vector<Answered> answered;
  for (const std::uint32_t g : data.folds[0].test) answered.push_back({g, 0, Part::test, said[g]});
  const auto scores = part_scores(answered, {dataset.set, checkpoint.config});
  EXPECT_NEAR(scores[0].scores[0].over.mean, metrics.find("test_mae").value(), 1e-2);
  const Explanation why = explain(*engine, checkpoint, dataset.set, 0, {}, 0);
  EXPECT_EQ(why.column, 0u);
  EXPECT_EQ(why.value, said[0].values[1]) << "column 0 is the second that is learned";
  EXPECT_EQ(to_json(why, dataset.set, 0)["target"].get<float>(), dataset.set.targets[0]);
  EXPECT_THAT([&] { (void)explain(*engine, checkpoint, dataset.set, 0, {}, 1); },
              ThrowsMessage<InputError>(HasSubstr("column 1 was asked about; the model gives 2, 0")));

  GraphSet fewer = dataset.set;
  fewer.target_dim = 0;
  fewer.targets.clear();
  EXPECT_EQ(predict(*engine, checkpoint, fewer, {})[0].values, said[0].values) << "graphs may have no targets";
}

TEST(TargetColumns, ThatThereAreNotAreRefusedByName) {
  const datasets::Dataset dataset = three_targets(12);
  EXPECT_THAT([&] { (void)column_config(dataset, "0,3"); },
              ThrowsMessage<InputError>(HasSubstr("target column 3: small: the graphs have 3 real targets")));
  EXPECT_THAT([&] { (void)column_config(dataset, "1,1"); }, ThrowsMessage<InputError>(HasSubstr("a column once")));
  for (const char* wrong : {"-1", "0;1", "a", "1.5"}) {
    EXPECT_THAT([&] { (void)column_config(dataset, wrong); },
                ThrowsMessage<InputError>(HasSubstr("--target-columns: expected numbers of columns")))
        << wrong;
  }
  RunConfig labels = column_config(dataset, "0");
  labels.data.target = TargetKind::labels;
  EXPECT_THAT(refusal(*find_field("data.target_columns"), labels), HasSubstr("labels are learned"));
}

TEST(TargetColumns, AreOfNodesAndEdgesToo) {
  datasets::Dataset dataset = small_dataset(9);
  dataset.set.labels.clear();
  dataset.set.node_target_dim = dataset.set.edge_target_dim = 2;
  for (const Graph& graph : dataset.set.graphs) {
    std::vector<float> nodes, edges;
    for (Node v = 0; v < graph.num_nodes(); ++v) {
      nodes.insert(nodes.end(), {static_cast<float>(graph.degree(v)), static_cast<float>(v)});
    }
    for (std::size_t e = 0; e < graph.num_edges(); ++e) edges.insert(edges.end(), {0.5f, static_cast<float>(e)});
    dataset.set.node_targets.push_back(nodes);
    dataset.set.edge_targets.push_back(edges);
  }
  for (const TargetKind kind : {TargetKind::node_targets, TargetKind::edge_targets}) {
    RunConfig config = call_config("gin", nn::Random::features);
    config.data.target = kind;
    config.data.target_columns = {1};
    config.folds.count = 3;
    resolve(config, dataset, "small");
    EXPECT_EQ(config.model.classes, 1u);
    const TrainingData data = prepare(dataset, config);
    EXPECT_EQ(data.learned.rows[2], 2) << "the number of the third";
    config.data.target_columns = {2};
    EXPECT_THAT(
        [&] { (void)Learned(dataset.set, config); },
        ThrowsMessage<InputError>(HasSubstr(fmt::format("the {}s have 2 real targets", name(unit_of(config))))));
  }
}

TEST(ScaleTargets, IsTheSameNetworkInOtherUnits) {
  const TemporaryFolder folder;
  const datasets::Dataset dataset = three_targets(24);
  const RunConfig scaled = column_config(dataset, "0"), plain = column_config(dataset, "0", false),
                  thousands = column_config(dataset, "2");
  EXPECT_NEAR(prepare(dataset, scaled).standards[0].mean[0], 7, 0.7);
  EXPECT_EQ(prepare(dataset, plain).standards[0], (engine::Standard{{0}, {1}}));
  const auto engine = engine::make_engine("cpu", 1);
  const auto loss = [&](const RunConfig& config, const std::string& name) {
    const TrainingData data = prepare(dataset, config);
    return Run::begin(folder / name, config, data).train(*engine, nullptr).folds[0].reported.value();
  };
  const auto a = loss(scaled, "scaled"), b = loss(plain, "plain"), c = loss(thousands, "thousands");
  EXPECT_NEAR(a.train_loss, c.train_loss, 1e-4) << "the unit does not matter to what is scaled";
  EXPECT_NEAR(1000 * a.metrics.find("test_mae").value(), c.metrics.find("test_mae").value(), 0.1);
  EXPECT_GT(b.train_loss, 5 * a.train_loss) << "as they are, errors begin at 7";
  const Checkpoint checkpoint = read_checkpoint(folder / "plain/fold-0/last.safetensors");
  EXPECT_EQ(checkpoint.standard, (engine::Standard{{0}, {1}}));
  export_model(checkpoint, folder / "exported");
  EXPECT_THAT(read_file(folder / "exported/model.py"), HasSubstr("TARGET_SCALE = ([0.0], [1.0])"));
}

}  // namespace
}  // namespace tyche::train
