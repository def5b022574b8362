#include "nn/kinds.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nn/levels.hpp"
#include "support/error.hpp"

namespace tyche::nn {
namespace {

ModelConfig of_kind(const std::string& kind) {
  ModelConfig config;
  config.kind = kind;
  return config;
}

std::string refusal(const ModelConfig& config) {
  try {
    validate(config);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(Kinds, AreNamedInOneTable) {
  EXPECT_EQ(model_kinds(), (std::vector<std::string>{"gcn", "gcn2", "gcn3", "gcn123", "ppgn", "gin", "sage", "mp",
                                                     "subgraph", "local2", "folklore2"}));
  for (const char* kind : {"gcn", "gin", "sage"}) EXPECT_TRUE(of_kind(kind).on_nodes()) << kind;
  for (const char* kind : {"ppgn", "gcn3", "subgraph", "local2", "folklore2"})
    EXPECT_FALSE(of_kind(kind).on_nodes()) << kind;
  for (const char* kind : {"gcn2", "gcn3", "gcn123"}) EXPECT_TRUE(of_kind(kind).on_sets()) << kind;
  EXPECT_THAT(refusal(of_kind("gcn4")), testing::HasSubstr("gcn, gcn2, gcn3, gcn123, ppgn"));
}

TEST(Kinds, TakeTheirDefaults) {
  for (const std::string& kind : model_kinds()) EXPECT_EQ(refusal(of_kind(kind)), "") << kind;
}

// Every field of every kind, set to something else: used, or refused with the reason; never ignored.
TEST(Kinds, TrainByTheRateOfTheirShareOfRandomFeatures) {
  ModelConfig config = of_kind("gcn");
  const auto rate = [&](double rni) {
    config.rni = rni;
    return kind_of(config).learning_rate(config);
  };
  EXPECT_EQ(rate(0), 1e-4);
  for (const double share : {0.125, 0.5, 0.875}) EXPECT_EQ(rate(share), 2e-4) << share;
  EXPECT_EQ(rate(1), 5e-4);
}

TEST(RandomFeatures, AreAsManyColumnsAsTheirShareSaysInDecimal) {
  ModelConfig config = of_kind("gcn");
  config.width = 100;
  for (const std::uint32_t percent : {7u, 29u, 57u, 58u, 100u}) {  // 100 * 0.29 is 28.999999999999996
    config.rni = percent / 100.0;
    EXPECT_EQ(config.random_dims(), percent);
  }
  config.width = 64;
  config.rni = 0.3;
  EXPECT_EQ(config.random_dims(), 19u) << "a part of a column is none";
}

TEST(Kinds, RefuseWhatTheyHaveNoUseFor) {
  struct Change {
    const char* field;
    void (*make)(ModelConfig&);
    std::vector<std::string> users;
  };
  const Change changes[] = {
      {"rni",
       [](ModelConfig& c) { c.rni = 0.5; },
       {"gcn", "gcn123", "ppgn", "gin", "sage", "mp", "subgraph", "local2", "folklore2"}},
      {"distribution",
       [](ModelConfig& c) { c.distribution = Distribution::uniform; },
       {"gcn", "gcn123", "ppgn", "gin", "sage", "mp", "subgraph", "local2", "folklore2"}},
      {"norm",
       [](ModelConfig& c) { c.norm = Norm::layer; },
       {"gcn", "ppgn", "gin", "sage", "mp", "subgraph", "local2", "folklore2"}},
      {"residual",
       [](ModelConfig& c) { c.residual = true; },
       {"gcn", "gin", "sage", "mp", "subgraph", "local2", "folklore2"}},
      {"virtual_node", [](ModelConfig& c) { c.virtual_node = true; }, {"gcn", "gin", "sage", "mp"}},
      {"node_readout", [](ModelConfig& c) { c.node_readout = true; }, {"ppgn"}},
      {"global", [](ModelConfig& c) { c.global = true; }, {"subgraph", "local2", "folklore2"}},
      {"roots", [](ModelConfig& c) { c.roots = 3; }, {"subgraph", "local2", "folklore2"}},
      {"distance_cut", [](ModelConfig& c) { c.distance_cut = 3; }, {"subgraph", "local2", "folklore2"}},
      {"pre_hidden", [](ModelConfig& c) { c.pre_hidden = 7; }, {"gcn"}},
      {"head_hidden", [](ModelConfig& c) { c.head_hidden = 7; }, {"gcn", "gcn2", "gcn3", "gcn123", "gin", "sage"}},
      {"activation",
       [](ModelConfig& c) { c.activation = Activation::tanh; },
       {"gcn", "gcn2", "gcn3", "gcn123", "gin", "sage"}},
      {"aggregation",
       [](ModelConfig& c) { c.aggregation = Aggregation::sum; },
       {"gcn", "gcn2", "gcn3", "gcn123", "sage"}},
      {"readout",
       [](ModelConfig& c) { c.readout = Readout::sum; },
       {"gcn", "gcn2", "gcn3", "gcn123", "ppgn", "gin", "sage"}},
      {"dropout", [](ModelConfig& c) { c.dropout = 0; }, {"gcn", "gcn2", "gcn3", "gcn123", "gin", "sage"}},
      {"node_layers", [](ModelConfig& c) { c.node_layers = 2; }, {"gcn123"}},
      {"pair_layers", [](ModelConfig& c) { c.pair_layers = 3; }, {"gcn123"}},
      {"two_sets", [](ModelConfig& c) { c.two_sets = TwoSets::all; }, {"gcn123"}},
      {"mlp_depth", [](ModelConfig& c) { c.mlp_depth = 1; }, {"ppgn"}}};
  for (const Change& change : changes) {
    for (const std::string& kind : model_kinds()) {
      ModelConfig config = of_kind(kind);
      change.make(config);
      const bool used = std::find(change.users.begin(), change.users.end(), kind) != change.users.end();
      const std::string why = why_unused(config, change.field);
      EXPECT_EQ(why.empty(), used) << kind << " " << change.field;
      EXPECT_EQ(refusal(config), used ? "" : "model: " + kind + " has no use for " + change.field + ": " + why);
    }
  }
}

TEST(Kinds, SayWhySetsTakeNoRandomFeatures) {
  ModelConfig config = of_kind("gcn3");
  config.rni = 0.5;
  EXPECT_THAT(refusal(config), testing::HasSubstr("start from their isomorphism types"));
}

TEST(RandomFeatures, OfGcn123AreColumnsBehindTheNodesFeatures) {
  ModelConfig config = of_kind("gcn123");
  config.width = 10;
  config.input_features = 3;
  set_types_from(std::vector<Graph>{Graph::from_edges(3, std::vector<Edge>{{0, 1}, {1, 2}})}, config, 1);
  const Layout plain = layout(config);
  config.rni = 0.49;
  EXPECT_EQ(levels(config)[0].random, 4u);
  EXPECT_EQ(layout(config).at("level1.0.lin_rel.weight").shape, (std::vector<std::size_t>{10, 7}));
  EXPECT_EQ(layout(config).at("level1.1.lin_rel.weight").shape, plain.at("level1.1.lin_rel.weight").shape);
  EXPECT_EQ(layout(config).size, plain.size + 2 * 10 * 4);
}

TEST(RandomFeatures, OfPpgnAreChannelsBehindTheNodesFeatures) {
  ModelConfig config = of_kind("ppgn");
  config.width = 10;
  config.layers = 2;
  config.input_features = 3;
  const Layout plain = layout(config);
  config.rni = 1;
  EXPECT_TRUE(config.uses_features());  // unlike gcn's, they stay
  EXPECT_EQ(layout(config).at("mlp1.0.0.weight").shape, (std::vector<std::size_t>{10, 14}));
  EXPECT_EQ(layout(config).at("skip.0.weight").shape, (std::vector<std::size_t>{10, 24}));
  EXPECT_EQ(layout(config).at("skip.1.weight").shape, plain.at("skip.1.weight").shape);
  config.distribution = Distribution::xavier_normal;
  EXPECT_THAT(refusal(config), testing::HasSubstr("xavier_fan"));
}

TEST(Gin, HasTheTensorsOfPyTorchGeometric) {
  ModelConfig config = of_kind("gin");
  config.width = 6;
  config.layers = 2;
  config.input_features = 3;
  config.rni = 0.5;
  std::vector<std::string> names;
  for (const Tensor& tensor : layout(config).tensors) names.push_back(tensor.name);
  EXPECT_EQ(names, (std::vector<std::string>{
                       "pre.weight", "pre.bias", "convs.0.eps", "convs.0.nn.0.weight", "convs.0.nn.0.bias",
                       "convs.0.nn.2.weight", "convs.0.nn.2.bias", "convs.1.eps", "convs.1.nn.0.weight",
                       "convs.1.nn.0.bias", "convs.1.nn.2.weight", "convs.1.nn.2.bias", "head.fc1.weight",
                       "head.fc1.bias", "head.fc2.weight", "head.fc2.bias", "head.fc3.weight", "head.fc3.bias"}));
  EXPECT_EQ(layout(config).at("pre.weight").shape, (std::vector<std::size_t>{3, 3}));
  EXPECT_EQ(initial_parameters(config, 5, 0)[layout(config).at("convs.1.eps").offset], 0.0f);
  config.random = Random::marks;
  config.rni = 0;
  config.depth = 2;
  EXPECT_EQ(layout(config).at("pre.weight").shape, (std::vector<std::size_t>{6, 5})) << "marks stand behind features";
  config = of_kind("gin");
  config.rni = 1;
  EXPECT_FALSE(config.uses_features());
  EXPECT_THROW((void)layout(config).at("pre.weight"), InputError);
}

}  // namespace
}  // namespace tyche::nn
