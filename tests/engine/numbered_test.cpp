// Graphs that stand once and have several numbers.
#include <gtest/gtest.h>

#include "engine/cases.hpp"
#include "graph/graphs.hpp"
#include "nn/levels.hpp"

namespace tyche::engine {
namespace {

TEST(Numbered, GraphsAndBlocksHaveOneNumberEachOrSeveral) {
  const Graph one = Graph::from_edges(1, {}), two = Graph::from_edges(2, std::vector<Edge>{{0, 1}});
  const std::vector<std::vector<float>> blocks = {{7}, {8, 9}};
  const Graphs plain = {one, two}, several = plain.numbered({1, 0, 1});
  ASSERT_EQ(several.size(), 3u);
  EXPECT_EQ(several.all(), (std::vector<Graph>{two, one, two}));
  EXPECT_EQ(several.num_nodes(2), 2u);
  EXPECT_EQ(several.things(), plain);
  EXPECT_EQ(several.subspan(1, 2).all(), (std::vector<Graph>{one, two}));
  EXPECT_EQ(several.summary().nodes, 5u);
  const FeatureBlocks of_several = FeatureBlocks(blocks).numbered({1, 0, 1});
  EXPECT_EQ(of_several.all(), (std::vector<std::vector<float>>{blocks[1], blocks[0], blocks[1]}));
  EXPECT_EQ(of_several.things().all(), blocks);
  EXPECT_EQ(of_several.first(1).size(), 1u);
}

/// What a trial on all graphs of the job ends with.
State trained(const std::string& engine, Job job) {
  job.epochs = 3;
  job.batch = 4;
  Trial trial = trial_of(job, 5, 1, 0);
  Recorder recorder(1);
  make_engine(engine, 2)->train(job, {&trial, 1}, recorder);
  return trial.state;
}

TEST(Numbered, AGraphUnderSeveralNumbersTrainsAsItsCopiesDo) {
  struct Case {
    const char* kind;
    nn::Random random;
    float rni;
  };
  for (const auto& [kind, random, rni] :
       {Case{"gcn", nn::Random::features, 0.5f}, Case{"gcn", nn::Random::colours, 0},
        Case{"gcn2", nn::Random::features, 0}, Case{"gcn123", nn::Random::features, 0}}) {
    nn::ModelConfig model;
    model.kind = kind;
    model.layers = 2;
    model.width = 8;
    model.input_features = 2;
    model.random = random;
    model.rni = rni;
    Stream stream(derive_key(3, Purpose::graph_sample));
    Toy toy, copies;
    std::vector<std::uint32_t> of;
    for (std::uint32_t g = 0; g < 4; ++g) {
      toy.add(random_graph(6, 0.7, stream), model, stream);
      for (int draw = 0; draw < 3; ++draw) {
        of.push_back(g);
        copies.graphs.push_back(toy.graphs[g]);
        copies.features.push_back(toy.features[g]);
        copies.labels.push_back(toy.labels[g]);
      }
    }
    nn::set_types_from(toy.graphs, model);
    Job once = copies.job(model), many = copies.job(model);
    once.data.graphs = Graphs(toy.graphs).numbered(of);
    once.data.features = FeatureBlocks(toy.features).numbered(of);
    for (const char* engine : {"cpu", "reference"}) {
      EXPECT_EQ(trained(engine, once).parameters, trained(engine, many).parameters) << kind << " " << engine;
    }
  }
}

}  // namespace
}  // namespace tyche::engine
