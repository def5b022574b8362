#include "train/config.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "support/error.hpp"
#include "train/data.hpp"
#include "train/samples.hpp"

namespace tyche::train {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

std::vector<std::string> keys(const std::vector<Difference>& found) {
  std::vector<std::string> names;
  for (const Difference& difference : found) names.push_back(difference.key);
  return names;
}

TEST(RunConfig, DefaultsAreThePapers) {
  const RunConfig config;
  EXPECT_EQ(config.model.width, 64u);
  EXPECT_EQ(config.model.layers, 8u);
  EXPECT_EQ(config.model.activation, nn::Activation::elu);
  EXPECT_EQ(config.model.dropout, 0.5);
  EXPECT_EQ(config.training.epochs, 500u);
  EXPECT_EQ(config.training.batch, 20u);
  EXPECT_EQ(config.folds.count, 10u);
  EXPECT_EQ(config.folds.scheme, datasets::FoldScheme::contiguous);
  const auto rate = [](const std::string& kind, double rni) {
    nn::ModelConfig model;
    model.kind = kind;
    model.rni = rni;
    return default_learning_rate(model);
  };
  EXPECT_EQ(rate("gcn", 0), 1e-4);
  EXPECT_EQ(rate("gcn", 0.125), 2e-4);
  EXPECT_EQ(rate("gcn", 0.875), 2e-4);
  EXPECT_EQ(rate("gcn", 1), 5e-4);
  EXPECT_EQ(rate("gcn3", 0), 5e-4);
  EXPECT_EQ(default_config("gcn3").training.epochs, 100u);
  EXPECT_EQ(default_config("ppgn").model.width, 400u);
  EXPECT_EQ(default_config("ppgn").training.batch, 5u);
  EXPECT_THROW((void)default_config("gcn4"), InputError);
}

TEST(RunConfig, TakesTheLearningRateOfItsShareOfRandomFeatures) {
  const datasets::Dataset dataset = small_dataset();
  RunConfig config;
  config.model.rni = 1;
  resolve(config, dataset, "small");
  EXPECT_EQ(config.training.learning_rate, 5e-4);
}

TEST(RunConfig, TakesClassesFeaturesAndFanFromTheData) {
  const datasets::Dataset dataset = small_dataset(30, 3, true);
  const RunConfig config = small_config(dataset);
  EXPECT_THAT(config.data.labels, ElementsAre(3, 5, 9));
  EXPECT_EQ(config.model.classes, 3u);
  EXPECT_EQ(config.model.input_features, 4u);
  double nodes = 0;
  for (const Graph& graph : dataset.set.graphs) nodes += graph.num_nodes();
  EXPECT_DOUBLE_EQ(config.model.xavier_fan, 4 + 20 * nodes / 30);
}

TEST(RunConfig, SurvivesTomlAndJsonToTheLastBit) {
  RunConfig config = small_config(small_dataset(30, 3, true));
  config.seed = std::numeric_limits<std::uint64_t>::max();
  config.data.path = "a \"quoted\" \\ path\twith ünïcode\n";
  config.model.rni = 0.1 + 0.2;
  config.training.learning_rate = 1.0 / 3 * 1e-7;
  config.folds.only = 2;
  const RunConfig toml = config_from_toml(to_toml(config), "config.toml");
  const RunConfig json = config_from_json(nlohmann::json::parse(to_json(config).dump()), "checkpoint");
  for (const RunConfig& back : {toml, json}) {
    EXPECT_THAT(keys(differences(config, back)), ElementsAre());
    EXPECT_EQ(back.data.path, config.data.path);
    EXPECT_EQ(back.version, config.version);
    EXPECT_EQ(to_toml(back), to_toml(config));
  }
}

RC_GTEST_PROP(RunConfig, KeepsEveryDouble, ()) {
  RunConfig config;
  config.training.learning_rate = *rc::gen::arbitrary<double>();
  config.model.xavier_fan = std::bit_cast<double>(*rc::gen::arbitrary<std::uint64_t>());
  RC_PRE(std::isfinite(config.training.learning_rate) && std::isfinite(config.model.xavier_fan));
  const RunConfig back = config_from_toml(to_toml(config), "config.toml");
  RC_ASSERT(back.training.learning_rate == config.training.learning_rate);
  RC_ASSERT(back.model.xavier_fan == config.model.xavier_fan);
}

TEST(RunConfig, NamesWhatDiffers) {
  const RunConfig config = small_config(small_dataset());
  RunConfig other = config;
  other.model.width = 9;
  other.training.learning_rate = 0.1;
  other.data.path = "elsewhere";
  other.engine.description = "another machine";
  const std::vector<Difference> found = differences(config, other);
  EXPECT_THAT(keys(found), ElementsAre("model.width", "training.learning_rate"));
  EXPECT_EQ(found[0].before, "8");
  EXPECT_EQ(found[0].after, "9");
}

TEST(RunConfig, ComplainsAboutDamagedFilesInWords) {
  const std::string good = to_toml(small_config(small_dataset()));
  const auto reading = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    return [text] { (void)config_from_toml(text, "config.toml"); };
  };
  EXPECT_THAT(reading("width = 8", "width = -8"),
              ThrowsMessage<InputError>(HasSubstr("config.toml: model.width: expected a whole number from 0")));
  EXPECT_THAT(reading("width = 8", "width = \"8\""), ThrowsMessage<InputError>(HasSubstr("model.width")));
  EXPECT_THAT(reading("width = 8", "widht = 8"),
              ThrowsMessage<InputError>(
                  HasSubstr("config.toml: model.widht: there is no such field; did you mean 'model.width'?")));
  EXPECT_THAT(reading("[folds]", "[fold]"), ThrowsMessage<InputError>(HasSubstr("did you mean 'folds.count'?")));
  EXPECT_THAT(reading("kind = \"gcn\"", "kind = \"gcn4\""),
              ThrowsMessage<InputError>(HasSubstr("config.toml: model.kind: unknown model kind 'gcn4'")));
  EXPECT_THAT(reading("\"elu\"", "\"sigmoid\""), ThrowsMessage<InputError>(HasSubstr("sigmoid")));
  EXPECT_THAT(reading("[model]", "[model"), ThrowsMessage<InputError>(HasSubstr("config.toml: line ")));
  EXPECT_THAT([] { (void)config_from_json(nlohmann::json::parse("3"), "x"); },
              ThrowsMessage<InputError>(HasSubstr("x: expected the fields of a run, found 3")));
}

TEST(RunConfig, AFieldThatAFileLacksHasTheDefaultOfItsKindOfModel) {
  const RunConfig config = config_from_toml("[model]\nkind = \"ppgn\"\nlayers = 3\n", "config.toml");
  EXPECT_EQ(config.model.layers, 3u);
  EXPECT_EQ(config.model.width, 400u);
  EXPECT_EQ(config.training.batch, 5u);
  EXPECT_EQ(to_toml(config_from_toml("", "config.toml")), to_toml(default_config("gcn")));
}

TEST(RunConfig, DoesNotSayHowManyThreadsThereWere) {
  EXPECT_EQ(without_threads("cpu: libxsmm, AVX2, 2 threads"), "cpu: libxsmm, AVX2");
  EXPECT_EQ(without_threads("reference: plain loops, 1 thread"), "reference: plain loops");
  EXPECT_EQ(without_threads("another"), "another");
}

TEST(RunConfig, RefusesValuesOutOfRange) {
  const RunConfig good = small_config(small_dataset());
  const auto with = [&](auto change) {
    return [=] {
      RunConfig config = good;
      change(config);
      validate(config);
    };
  };
  EXPECT_NO_THROW(validate(good));
  EXPECT_THAT(with([](RunConfig& c) { c.training.epochs = 0; }), ThrowsMessage<InputError>(HasSubstr("epochs")));
  EXPECT_THAT(with([](RunConfig& c) { c.training.batch = 0; }), ThrowsMessage<InputError>(HasSubstr("batch")));
  EXPECT_THAT(with([](RunConfig& c) { c.training.learning_rate = -1; }), ThrowsMessage<InputError>(HasSubstr("rate")));
  EXPECT_THAT(with([](RunConfig& c) { c.training.eval_every = 0; }),
              ThrowsMessage<InputError>(HasSubstr("training.eval_every must be at least 1")));
  EXPECT_THAT(with([](RunConfig& c) { c.training.eval_draws = 0; }),
              ThrowsMessage<InputError>(HasSubstr("training.eval_draws must be at least 1")));
  EXPECT_THAT(with([](RunConfig& c) { c.folds.only = 3; }), ThrowsMessage<InputError>(HasSubstr("numbered 0 to 2")));
  EXPECT_THAT(with([](RunConfig& c) { c.model.rni = 1.5; }), ThrowsMessage<InputError>(HasSubstr("rni")));
  EXPECT_THAT(with([](RunConfig& c) { c.model.dropout = 1; }), ThrowsMessage<InputError>(HasSubstr("dropout")));
}

}  // namespace
}  // namespace tyche::train
