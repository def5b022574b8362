// Networks that a file describes, as runs see them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nn/description.hpp"
#include "nn/program_text.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "support/temporary_folder.hpp"
#include "train/data.hpp"
#include "train/fields.hpp"
#include "train/samples.hpp"

namespace tyche::train {
namespace {

using testing::HasSubstr;

using Settings = std::vector<std::pair<std::string, nlohmann::json>>;

RunConfig asked(const std::string& kind, const Settings& settings, nn::Random random = nn::Random::features) {
  RunConfig config = call_config(kind, random);
  config.training.epochs = 3;
  for (const auto& [key, value] : settings) find_field(key)->assign(config, value, key);
  return config;
}

RunConfig described(const std::string& network) {
  const nn::ModelConfig said = nn::described_by(network);
  return asked(said.kind, {{"model.network", network}}, said.random);
}

std::string why_not(RunConfig config, const datasets::Dataset& data) {
  try {
    resolve(config, data, "data");
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

datasets::Dataset labelled_edges() {
  datasets::Dataset data = small_dataset();
  std::vector<Graph> graphs = data.set.graphs.all();
  for (Graph& graph : graphs) {
    const std::vector<Edge> edges = graph.edges();
    std::vector<EdgeLabel> labels(edges.size());
    for (std::size_t e = 0; e < labels.size(); ++e) labels[e] = static_cast<EdgeLabel>(e % 3);
    graph = Graph::from_edges(graph.num_nodes(), edges,
                              std::vector<NodeType>(graph.types().begin(), graph.types().end()), labels);
  }
  data.set.graphs = graphs;
  return data;
}

TEST(NetworkFile, OfAModelIsTheRunOfThatModel) {
  const std::vector<RunConfig> runs = {asked("gcn", {}),
                                       asked("gcn", {{"model.rni", 0.5}, {"model.rni_dist", "xavier-normal"}}),
                                       asked("gcn", {{"model.random", "marks"}, {"model.depth", 2}}, nn::Random::marks),
                                       asked("gin", {{"model.random", "colours"}}, nn::Random::colours),
                                       asked("gin", {{"model.width", 16}}),
                                       asked("sage", {{"model.rni", 1.0}}),
                                       asked("gcn2", {}),
                                       asked("gcn3", {{"model.layers", 2}}),
                                       asked("gcn123", {{"model.rni", 0.5}}),
                                       asked("ppgn", {{"model.width", 10}, {"model.rni", 0.5}})};
  for (const datasets::Dataset& data : {small_dataset(24, 3), small_dataset(24, 2, true), labelled_edges()}) {
    for (RunConfig run : runs) {
      const bool edges = !data.set.graphs[0].edge_labels().empty();
      if (edges && run.model.kind != "gcn" && run.model.kind != "gin") continue;
      resolve(run, data, "data");
      RunConfig own = described(nn::to_toml(nn::program(run.model)));
      resolve(own, data, "data");
      EXPECT_EQ(to_toml(own), to_toml(run));
      EXPECT_EQ(own.model, run.model);
      RunConfig read = config_from_toml(to_toml(own), "again");
      EXPECT_EQ(read.model, own.model);
    }
  }
}

const std::string& of_no_kind() {
  static const std::string text = R"([[step]]
name = "x"
operation = "input"
source = "features"
[[step]]
name = "r"
operation = "input"
source = "random"
columns = 3
[[step]]
name = "xr"
operation = "concat"
from = ["x", "r"]
[[step]]
name = "h"
operation = "linear"
columns = 5
[[step]]
name = "most"
operation = "aggregate"
link = "neighbours"
reduce = "max"
[[step]]
name = "pooled"
operation = "aggregate"
link = "whole"
reduce = "mean"
[[step]]
name = "logits"
operation = "linear"
columns = "classes"
)";
  return text;
}

TEST(NetworkFile, OfNoKindIsKeptWhole) {
  RunConfig run = described(of_no_kind());
  EXPECT_EQ(run.model.kind, "network");
  const datasets::Dataset data = small_dataset(24, 3);
  resolve(run, data, "data");
  EXPECT_THAT(run.model.network, HasSubstr("columns = 3\n"));
  EXPECT_EQ(nn::layout(run.model).at("h.weight").shape, (std::vector<std::size_t>{5, run.model.input_features + 3u}));
  EXPECT_EQ(run.model.random_dims(), 3u);
  const RunConfig read = config_from_toml(to_toml(run), "again");
  EXPECT_EQ(read.model, run.model);
  EXPECT_EQ(to_toml(read), to_toml(run));
  validate(read);
  RunConfig again = read;  // as a run that is taken up again
  resolve(again, data, "data");
  EXPECT_EQ(to_toml(again), to_toml(run));
}

TEST(NetworkFile, LeavesEdgesUnreadThatItDoesNotReadItself) {
  RunConfig run = described(of_no_kind());
  resolve(run, labelled_edges(), "data");
  EXPECT_EQ(run.model.edge_features, 0u);
  EXPECT_FALSE(run.data.features.edges);
}

TEST(NetworkFile, SaysWhatTheModelIsAndNobodyElseDoes) {
  const datasets::Dataset data = small_dataset();
  const auto beside = [&](const std::string& key, const nlohmann::json& value, bool before) -> std::string {
    RunConfig config = call_config("gin", nn::Random::features);
    const std::string text = nn::to_toml(nn::program([] {
      nn::ModelConfig model;
      model.kind = "gin";
      model.input_features = 3;
      return model;
    }()));
    try {
      if (before) find_field(key)->assign(config, value, key);
      find_field("model.network")->assign(config, text, "network");
      if (!before) find_field(key)->assign(config, value, key);
      resolve(config, data, "data");
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  for (const bool before : {false, true}) {
    EXPECT_THAT(beside("model.width", 32, before), HasSubstr("width is 32, but the network's description says 64"));
    EXPECT_THAT(beside("model.layers", 3, before), HasSubstr("layers is 3, but the network's description says 8"));
    EXPECT_THAT(beside("model.rni", 0.5, before), HasSubstr("rni is 0.5, but the network's description says 0"));
    EXPECT_THAT(beside("model.kind", "gcn", before),
                HasSubstr("is \"gcn\", but the network's description says \"gin\""));
    EXPECT_THAT(beside("model.dropout", 0.1, before),
                HasSubstr("dropout is 0.1, but the network's description says 0.5"));
    EXPECT_EQ(beside("model.width", 64, before), "") << "said twice, and alike";
    EXPECT_EQ(beside("training.epochs", 7, before), "");
  }
}

TEST(NetworkFile, IsReadFromWhereItIs) {
  const TemporaryFolder folder;
  const std::string path = (folder / "mine.toml").string();
  write_file(path, of_no_kind());
  EXPECT_EQ(described(path).model, described(of_no_kind()).model);
  write_file(path, "[[step]]\nname = 3\n");
  EXPECT_THAT([&] { described(path); },
              testing::ThrowsMessage<InputError>(HasSubstr("mine.toml: line 2: step number 0: name: expected a name")));
  EXPECT_THAT([&] { described((folder / "none.toml").string()); },
              testing::ThrowsMessage<InputError>(HasSubstr("none.toml: there is no such file")));
}

TEST(NetworkFile, ThatSaysOtherSizesThanTheDataIsRefused) {
  nn::ModelConfig model;
  model.kind = "gin";
  model.input_features = 4;
  EXPECT_THAT(why_not(described(nn::to_toml(nn::program(model))), small_dataset()),
              HasSubstr("step features: columns: 4 are said, but the data has"));
}

}  // namespace
}  // namespace tyche::train
