// Training on a packed set whose graphs are read ahead, window by window: the bits of the same graphs in memory.
#include <gtest/gtest.h>

#include "engine/cases.hpp"
#include "graph/packed.hpp"
#include "support/temporary_folder.hpp"

namespace tyche::engine {
namespace {

class ReadAhead : public testing::TestWithParam<const char*> {};

TEST_P(ReadAhead, TrainsToTheBitsOfGraphsInMemory) {
  nn::ModelConfig model;
  model.kind = GetParam();
  model.width = 12;
  model.layers = 2;
  model.input_features = 2;
  model.norm = model.kind == "gin" ? nn::Norm::batch : nn::Norm::none;
  model.rni = 0.5;
  model.classes = 2;
  Stream stream(derive_key(8, Purpose::test));
  const Toy toy = random_toy(model, 300, 30, stream);
  const TemporaryFolder folder;
  GraphSet set;
  set.graphs = toy.graphs;
  write_packed(folder / "set.tyche", set);
  const auto train = [&](const Graphs& graphs) {
    Job job = toy.job(model);
    job.data.graphs = graphs;
    job.epochs = 3;
    job.batch = 7;
    std::vector<Trial> trials = {trial_of(job, 9, 0, 90)};
    Recorder record(1);
    make_engine("cpu", 2)->train(job, trials, record);
    return std::pair(std::move(trials[0].state.parameters), std::move(record.results[0]));
  };
  const auto [parameters, results] = train(toy.graphs);
  const GraphSet packed = open_packed(folder / "set.tyche", 20000);
  std::vector<std::uint32_t> all(300);
  ASSERT_NE(Graphs::Ahead(packed.graphs, all, 7).at(0), nullptr) << "it is too small to be read ahead";
  const auto [own, own_results] = train(packed.graphs);
  EXPECT_EQ(own, parameters);
  for (std::size_t e = 0; e < results.size(); ++e) {
    EXPECT_EQ(own_results[e].train_loss, results[e].train_loss);
    EXPECT_EQ(own_results[e].test_probabilities, results[e].test_probabilities);
  }
}

INSTANTIATE_TEST_SUITE_P(Models, ReadAhead, testing::Values("gcn", "gin"),
                         [](const auto& each) { return std::string(each.param); });

}  // namespace
}  // namespace tyche::engine
