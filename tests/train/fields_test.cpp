#include "train/fields.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "support/error.hpp"
#include "train/config.hpp"
#include "train/data.hpp"
#include "train/samples.hpp"

namespace tyche::train {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// A configuration of a kind of model with one field set.
RunConfig with(const std::string& kind, const std::string& key, const nlohmann::json& value) {
  RunConfig config = default_config(kind);
  find_field(key)->assign(config, value, key);
  return config;
}

std::string refused(const std::string& kind, const std::string& key, const nlohmann::json& value) {
  return refusal(*find_field(key), with(kind, key, value));
}

TEST(Fields, HaveNamesOfTheirOwn) {
  std::set<std::string> keys, options;
  for (const Field& field : fields()) {
    EXPECT_TRUE(keys.insert(field.key).second) << field.key;
    if (field.option.empty()) continue;
    EXPECT_TRUE(options.insert(field.option).second) << field.option;
    EXPECT_TRUE(field.option.starts_with("--")) << field.option;
    EXPECT_NE(field.help, "") << field.option;
    EXPECT_NE(field.origin, Field::Origin::derived) << field.key << " follows, so nobody can ask for it";
  }
  EXPECT_EQ(find_field("model.widht"), nullptr);
}

TEST(Fields, MayBeCalledAsOthersCallThemWhereThatIsClear) {
  std::set<std::string> names;
  for (const Field& field : fields()) {
    if (!field.option.empty()) names.insert(field.option.substr(2));
  }
  for (const Field& field : fields()) {
    EXPECT_TRUE(field.also.empty() || !field.option.empty()) << field.key;
    for (const std::string& also : field.also) {
      EXPECT_TRUE(names.insert(also).second) << also << " is clear";
      EXPECT_EQ(also.find('_'), std::string::npos) << also;
      EXPECT_EQ(field_called(also), &field);
    }
  }
  EXPECT_EQ(field_called("learning_rate")->key, "training.learning_rate");
  EXPECT_EQ(field_called("weight_decay")->key, "training.weight_decay");
  EXPECT_EQ(field_called("hidden")->option, "--width");
  EXPECT_EQ(field_called("no-such"), nullptr);
  EXPECT_EQ(settled_key("training.lr"), "training.learning_rate");
  EXPECT_EQ(settled_key("lr"), "training.learning_rate");
  EXPECT_EQ(settled_key("model.lr"), "model.lr") << "no field of the model";
  EXPECT_EQ(settled_key("training.epochs"), "training.epochs");
  EXPECT_EQ(settled_key("folds.run"), "folds.run");
}

TEST(Fields, TheDefaultsOfEveryKindSpeakAgainstNothing) {
  for (const std::string& kind : nn::model_kinds()) {
    RunConfig config = default_config(kind);
    config.training.learning_rate = default_learning_rate(config.model);
    for (const Field& field : fields()) EXPECT_EQ(refusal(field, config), "") << kind << ", " << field.key;
  }
}

TEST(Fields, GiveBackEveryValueTheyAreGiven) {
  const RunConfig from = small_config(small_dataset(30, 3, true));
  RunConfig to;
  for (const Field& field : fields()) field.assign(to, field.value(from), field.key);
  EXPECT_EQ(to_toml(to), to_toml(from));
}

TEST(Fields, WhatAModelDoesNotUseIsRefusedWithTheReason) {
  EXPECT_EQ(refused("gcn", "model.mlp_depth", 3),
            "is 3, but gcn has no use for it: that is for ppgn, whose blocks have MLPs");
  EXPECT_THAT(refused("gcn3", "model.rni", 0.5), HasSubstr("random node features are for gcn and others"));
  EXPECT_THAT(refused("gcn2", "model.rni_dist", "uniform"), HasSubstr("random node features are for gcn and others"));
  EXPECT_THAT(refused("gcn3", "training.eval_draws", 4), HasSubstr("random node features are for gcn and others"));
  EXPECT_THAT(refused("gcn3", "model.two_sets", "all"), HasSubstr("that is for gcn123"));
  EXPECT_THAT(refused("gcn", "model.pair_layers", 3), HasSubstr("that is for gcn123"));
  EXPECT_THAT(refused("gcn", "engine.compress", false), HasSubstr("gcn has no use for it"));
  for (const char* key : {"model.activation", "model.aggregation", "model.dropout", "model.head_hidden"}) {
    const nlohmann::json other = std::string(key) == "model.activation"    ? nlohmann::json("tanh")
                                 : std::string(key) == "model.aggregation" ? nlohmann::json("sum")
                                 : std::string(key) == "model.dropout"     ? nlohmann::json(0.1)
                                                                           : nlohmann::json(7);
    EXPECT_THAT(refused("ppgn", key, other), HasSubstr("ppgn has no")) << key;
    EXPECT_EQ(refused("gcn123", key, other), "") << key;
  }
  EXPECT_EQ(refused("gcn", "model.mlp_depth", 2), "") << "the default contradicts nothing";
  RunConfig config = small_config(small_dataset());
  config.model.node_layers = 5;
  EXPECT_THAT([&] { validate(config); }, testing::ThrowsMessage<InputError>(HasSubstr(
                                             "model.node_layers is 5, but gcn has no use for it: that is for gcn123")));
}

TEST(Fields, RandomInputsHaveDefaultsOfTheirOwn) {
  EXPECT_EQ(default_config("gcn", nn::Random::colours).model.depth, nn::kLeaf);
  EXPECT_EQ(default_config("gcn", nn::Random::colours).model.layers, 4u);
  EXPECT_EQ(default_config("gcn", nn::Random::marks).model.depth, 1u);
  EXPECT_EQ(default_learning_rate(default_config("gcn", nn::Random::marks).model), 5e-4);
  EXPECT_THROW((void)default_config("ppgn", nn::Random::colours), InputError);
  const RunConfig read = config_from_toml("[model]\nrandom = \"marks\"\n", "config.toml");
  EXPECT_EQ(read.model.depth, 1u);
  EXPECT_EQ(read.model.layers, 4u);
  // What 0.1.0 could say keeps its text; what it could not is said, but for defaults.
  EXPECT_THAT(identity(default_config("gcn"), {}), Not(HasSubstr("model.random")));
  RunConfig config = default_config("gcn", nn::Random::colours);
  EXPECT_THAT(identity(config, {}), HasSubstr("model.random = \"colours\"\n"));
  EXPECT_THAT(identity(config, {}), Not(HasSubstr("model.depth")));
  config.model.depth = 2;
  EXPECT_THAT(identity(config, {}), HasSubstr("model.depth = 2\n"));
}

TEST(Fields, ADepthIsANumberOrTheLeaf) {
  RunConfig config = default_config("gcn", nn::Random::colours);
  const Field& depth = *find_field("model.depth");
  for (const auto& [given, meant] :
       {std::pair<nlohmann::json, std::uint32_t>{"leaf", nn::kLeaf}, {"3", 3}, {7, 7}, {1'000'000, 1'000'000}}) {
    depth.assign(config, given, "--depth");
    EXPECT_EQ(config.model.depth, meant);
    EXPECT_EQ(refusal(depth, config), "");
  }
  for (const nlohmann::json& given : std::vector<nlohmann::json>{0, "0", -1, 2.5, "leaves", "", true}) {
    EXPECT_THAT([&] { depth.assign(config, given, "--depth"); },
                testing::ThrowsMessage<InputError>(HasSubstr("--depth: expected a whole number from 1")))
        << given;
  }
  EXPECT_THAT(refused("gcn", "model.depth", 2), HasSubstr("random features have no depth"));
  EXPECT_THAT(refused("gcn3", "model.random", "colours"), HasSubstr("gcn3 has no use for it: marks and colours"));
  config = default_config("gcn", nn::Random::colours);
  config.model.rni = 0.5;
  EXPECT_THAT(refusal(*find_field("model.rni"), config), HasSubstr("the random inputs are colours"));
  EXPECT_THAT([&] { validate(config); }, testing::ThrowsMessage<InputError>(HasSubstr("rni")));
}

TEST(Fields, OneFoldSetsNoGraphsAsideUnlessTheyAreToChoose) {
  const datasets::Dataset dataset = small_dataset();
  RunConfig config = small_config(dataset);
  config.folds.count = 1;
  resolve(config, dataset, "small");
  EXPECT_EQ(config.folds.validation, 0);
  const TrainingData data = prepare(dataset, config);
  ASSERT_EQ(data.folds.size(), 1u);
  EXPECT_EQ(data.folds[0].train.size(), 24u);
  EXPECT_EQ(data.folds[0].test, data.folds[0].train);
  EXPECT_THAT(data.folds[0].validation, IsEmpty());
  config.folds.validation = 0.25;
  EXPECT_THAT(
      [&] { resolve(config, dataset, "small"); },
      testing::ThrowsMessage<InputError>(HasSubstr("folds.validation is 0.25, but one fold trains on all graphs")));
  config.selection.by = "loss";
  config.folds.scheme = datasets::FoldScheme::stratified;
  resolve(config, dataset, "small");
  EXPECT_EQ(prepare(dataset, config).folds[0].validation.size(), 6u) << "some are to choose";
}

TEST(Identity, AYoungerFieldAtItsDefaultIsNoPartOfIt) {
  std::vector<Field> table = fields();
  Field younger = *find_field("model.width");
  younger.key = "model.breadth";
  younger.since = "0.2.0";
  table.insert(table.begin() + 3, younger);
  RunConfig config = default_config("ppgn");
  EXPECT_EQ(identity(config, {}, table), identity(config, {}));
  config.model.width = 401;
  EXPECT_NE(identity(config, {}, table), identity(config, {}));
  EXPECT_THAT(identity(config, {}, table), HasSubstr("model.breadth = 401\n"));
}

TEST(Identity, IsWhatDecidesAResult) {
  RunConfig config;
  const std::string text = identity(config, {});
  EXPECT_THAT(text, testing::StartsWith("seed = 1\ndata.hash = \"\"\n"));
  EXPECT_THAT(text, Not(HasSubstr("engine.name")));
  EXPECT_THAT(identity(config, {"seed"}), testing::StartsWith("data.hash"));
}

TEST(Upgrade, WhatVersion010DidNotLookAtBecomesTheDefaultAndIsSaid) {
  RunConfig config = with("ppgn", "model.readout", "sum");
  config.model.dropout = 0.25;
  RunConfig today = config;
  config.version = "0.1.0";
  today.version = "0.2.0";
  Notes notes;
  upgrade(config, &notes);
  EXPECT_EQ(config.model.readout, nn::Readout::max);
  EXPECT_EQ(config.model.dropout, 0.5);
  EXPECT_THAT(notes, ElementsAre(HasSubstr("model.readout = \"sum\": it trained with \"max\""),
                                 HasSubstr("model.dropout = 0.25")));
  notes.clear();
  upgrade(today, &notes);
  EXPECT_EQ(today.model.readout, nn::Readout::sum);
  EXPECT_THAT(notes, IsEmpty());
}

TEST(Upgrade, RunsOfVersion010GoOnWithoutEdgeLabels) {
  RunConfig config = small_config(small_dataset());
  config.version = "0.1.0";
  EXPECT_FALSE(config_from_toml(to_toml(config), "config.toml").data.features.edges);
  config.version = "0.2.0";
  EXPECT_TRUE(config_from_toml(to_toml(config), "config.toml").data.features.edges);
}

TEST(Identity, HasTheColumnsOfEdgesAndNotTheOptionThatLeavesThemOut) {
  RunConfig config;
  const std::string plain = identity(config, {});
  EXPECT_THAT(plain, Not(HasSubstr("edge_")));
  config.data.features.edges = false;
  EXPECT_EQ(identity(config, {}), plain);
  config.data.features.edge_labels = {1, 2};
  EXPECT_THAT(identity(config, {}), HasSubstr("data.edge_labels = [1,2]\n"));
}

TEST(Upgrade, RunsOfTheEngineCpuXsmmGoOnWithCpu) {
  RunConfig config = small_config(small_dataset());
  config.engine.name = "cpu-xsmm";
  Notes notes;
  const RunConfig read = config_from_toml(to_toml(config), "config.toml", &notes);
  EXPECT_EQ(read.engine.name, "cpu");
  EXPECT_THAT(notes, ElementsAre(HasSubstr("cpu-xsmm")));
}

}  // namespace
}  // namespace tyche::train
