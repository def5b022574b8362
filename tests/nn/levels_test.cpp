#include "nn/levels.hpp"

#include <gtest/gtest.h>

#include "support/error.hpp"

namespace tyche::nn {
namespace {

std::vector<Graph> triangle_and_path() {
  return {Graph::from_edges(3, std::vector<Edge>{{0, 1}, {1, 2}, {0, 2}}),
          Graph::from_edges(4, std::vector<Edge>{{0, 1}, {1, 2}, {2, 3}}, {0, 0, 1, 1})};
}

TEST(Levels, OfGcn3HaveAColumnForEveryTypeOfTriple) {
  ModelConfig config;
  config.kind = "gcn3";
  config.layers = 2;
  EXPECT_THROW((void)levels(config), InputError);
  set_types_from(triangle_and_path(), config, 1);
  EXPECT_EQ(config.pair_types.size(), 0u);
  // A triangle; paths 0-0-1 and 0-1-1; an edge and a node: 00-1 and 0-11.
  EXPECT_EQ(config.triple_types.size(), 5u);
  const auto all = levels(config);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].inputs, 5u);
  EXPECT_EQ(all[0].convs, (std::vector<std::string>{"convs.0", "convs.1", "convs.2"}));
  EXPECT_EQ(layout(config).at("convs.0.lin_rel.weight").shape, (std::vector<std::size_t>{64, 5}));
}

TEST(Levels, OfGcn123StandOnNodes) {
  ModelConfig config;
  config.kind = "gcn123";
  config.width = 10;
  set_types_from(triangle_and_path(), config, 1);
  EXPECT_EQ(config.pair_types.size(), 3u);    // edges 0-0, 0-1, 1-1
  EXPECT_EQ(config.triple_types.size(), 3u);  // connected
  const auto all = levels(config);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_TRUE(all[0].features);
  EXPECT_EQ(all[1].inputs, 13u);
  EXPECT_TRUE(all[1].on_nodes);
  EXPECT_EQ(all[1].convs.size(), 2u);
  EXPECT_EQ(all[2].convs.size(), 8u);
  EXPECT_EQ(layout(config).at("head.fc1.weight").shape, (std::vector<std::size_t>{10, 30}));
  config.two_sets = TwoSets::all;
  set_types_from(triangle_and_path(), config, 1);
  EXPECT_EQ(config.pair_types.size(), 4u);  // and 0 1 without an edge
}

TEST(Levels, PpgnHasNone) {
  ModelConfig config;
  config.kind = "ppgn";
  config.layers = 2;
  config.width = 5;
  EXPECT_THROW((void)levels(config), InputError);
  EXPECT_EQ(layout(config).at("mlp1.0.0.weight").shape, (std::vector<std::size_t>{5, 3}));
  EXPECT_EQ(layout(config).at("skip.1.weight").shape, (std::vector<std::size_t>{5, 10}));
  EXPECT_EQ(layout(config).at("vote.1.weight").shape, (std::vector<std::size_t>{2, 10}));
}

TEST(ModelConfig, RefusesTypesOutOfOrder) {
  ModelConfig config;
  config.kind = "gcn2";
  config.pair_types = {3, 3};
  EXPECT_THROW(validate(config), InputError);
}

}  // namespace
}  // namespace tyche::nn
