#include "engine/core/numbered.hpp"

#include <gtest/gtest.h>

#include "engine/cases.hpp"
#include "nn/levels.hpp"

namespace tyche::engine {
namespace {

TEST(Numbered, NamesThingsByOneNumberEachOrBySeveral) {
  const std::vector<int> things = {7, 8};
  const std::vector<std::uint32_t> of = {1, 0, 1};
  const Numbered<int> plain(things), several(things, of);
  EXPECT_EQ(std::vector<int>(things), (std::vector<int>{plain[0], plain[1]}));
  ASSERT_EQ(several.size(), 3u);
  std::vector<int> seen;
  for (const int thing : several) seen.push_back(thing);
  EXPECT_EQ(seen, (std::vector<int>{8, 7, 8}));
  EXPECT_EQ(several.things().size(), 2u);
  EXPECT_EQ(several.first(2).size(), 2u);
  EXPECT_EQ(plain.first(1).size(), 1u);
  EXPECT_TRUE(Numbered<int>().empty());
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
    once.data.graphs = {toy.graphs, of};
    once.data.features = {toy.features, of};
    for (const char* engine : {"cpu", "reference"}) {
      EXPECT_EQ(trained(engine, once).parameters, trained(engine, many).parameters) << kind << " " << engine;
    }
  }
}

}  // namespace
}  // namespace tyche::engine
