// Marks and colours on the device: the draws are the reference's, from tables and where there are none.
#include "engine/core/draw_tables.hpp"
#include "engine_cuda/layerwise_cases.hpp"

namespace tyche::engine {
namespace {

using gpu::Precision;

Graph cycles(Node nodes, Node copies) {
  std::vector<Edge> edges;
  for (Node c = 0; c < copies; ++c) {
    for (Node v = 0; v < nodes; ++v) edges.emplace_back(c * nodes + v, c * nodes + (v + 1) % nodes);
  }
  return Graph::from_edges(nodes * copies, edges);
}

nn::ModelConfig small_model(nn::Random random) {
  nn::ModelConfig model;
  model.width = 16;
  model.layers = 1;
  model.pre_hidden = 8;
  model.head_hidden = 8;
  model.random = random;
  model.depth = random == nn::Random::colours ? nn::kLeaf : 3;
  model.readout = nn::Readout::mean;  // nodes that nothing tells apart tie under max
  return model;
}

// Small trees and, of the isolated nodes and the many cycles, trees that no table holds.
Toy some_graphs(const nn::ModelConfig& model) {
  tyche::Stream stream(derive_key(41, Purpose::test));
  Toy toy;
  for (Node nodes = 3; nodes < 8; ++nodes) toy.add(cycles(nodes, 1 + nodes % 2), model, stream);
  toy.add(cycles(5, 6), model, stream);
  toy.add(Graph::from_edges(20, {}), model, stream);
  toy.add(Graph::from_edges(1, {}), model, stream);
  for (int i = 0; i < 4; ++i) toy.add(random_graph(12, 0.3, stream), model, stream);
  return toy;
}

class DrawnOnDevice : public DeviceTest, public testing::WithParamInterface<nn::Random> {
 protected:
  DrawnOnDevice() : model(small_model(GetParam())), toy(some_graphs(model)), job(toy.job(model)) {
    job.epochs = 4;
    job.batch = 4;
    job.eval_every = 2;
    job.eval_draws = 2;
  }
  std::unique_ptr<gpu::Path> layerwise(Precision precision, std::uint32_t chunk = 0) const {
    gpu::PathOptions options;
    options.precision = precision;
    options.threads = 1;
    options.chunk_epochs = chunk;
    return gpu::make_layerwise_path(options);
  }
  nn::ModelConfig model;
  Toy toy;
  Job job;
};

TEST_P(DrawnOnDevice, TheGraphsAreWithAndWithoutTables) {
  const DrawTables tables(job, 1000, 1);
  std::size_t tabulated = 0;
  for (const std::uint32_t g : toy.all()) tabulated += tables.tabulated(g) ? 1 : 0;
  const bool paths = GetParam() == nn::Random::marks || GetParam() == nn::Random::colours;
  EXPECT_EQ(tabulated > 0, paths);
  EXPECT_LT(tabulated, toy.graphs.size());
}

TEST_P(DrawnOnDevice, LogitsAndGradientsAreTheReferences) {
  expect_agreement(job, *layerwise(Precision::fp32), tolerance(Precision::fp32), "layer-wise");
  expect_agreement(job, *layerwise(Precision::mixed), 2 * tolerance(Precision::mixed), "layer-wise, mixed");
  ASSERT_EQ(gpu::fused_refuses(job), "");
  expect_agreement(job, *gpu::make_fused_path(), 2 * tolerance(Precision::mixed), "fused");
}

TEST_P(DrawnOnDevice, TrainingFollowsTheReference) {
  Trial expected[] = {trial_of(job, 4, 2, 4)};
  Recorder by_reference(1);
  make_engine("reference", 1)->train(job, expected, by_reference);
  const auto check = [&](gpu::Path& path, double relative, const std::string& what) {
    Trial trials[] = {trial_of(job, 4, 2, 4)};
    Recorder heard(1);
    EXPECT_TRUE(path.train(job, trials, heard).empty()) << what;
    ASSERT_EQ(heard.results[0].size(), 4u) << what;
    for (std::size_t e = 0; e < 4; ++e) {
      EXPECT_NEAR(heard.results[0][e].train_loss, by_reference.results[0][e].train_loss, relative) << what;
    }
    expect_tensors_near(model, trials[0].state.parameters, expected[0].state.parameters, relative, what);
  };
  check(*layerwise(Precision::fp32), 1e-3, "layer-wise");
  check(*gpu::make_fused_path(), 2e-2, "fused");
}

TEST_P(DrawnOnDevice, ATrialHasTheSameBitsAloneInCompanyInChunksAndResumed) {
  const auto check = [&](auto make, const std::string& what) {
    Trial alone[] = {trial_of(job, 4, 2, 3)};
    Recorder heard(1);
    (void)make(4)->train(job, alone, heard);
    Trial packed[] = {trial_of(job, 9, 0, 2), trial_of(job, 4, 2, 3)};
    Recorder both(2);
    (void)make(1)->train(job, packed, both);
    EXPECT_EQ(packed[1].state.parameters, alone[0].state.parameters) << what;
    EXPECT_EQ(both.results[1].back().test_predictions, heard.results[0].back().test_predictions) << what;
    Trial parts[] = {trial_of(job, 4, 2, 3)};
    Job shorter = job;
    shorter.epochs = 2;
    Recorder rest(1);
    (void)make(3)->train(shorter, parts, rest);
    (void)make(3)->train(job, parts, rest);
    EXPECT_EQ(parts[0].state.parameters, alone[0].state.parameters) << what;
    EXPECT_EQ(parts[0].state.adam_v, alone[0].state.adam_v) << what;
  };
  check([&](std::uint32_t chunk) { return layerwise(Precision::mixed, chunk); }, "layer-wise");
  check([](std::size_t chunk) { return gpu::make_fused_path({.chunk_epochs = chunk}); }, "fused");
}

INSTANTIATE_TEST_SUITE_P(EveryKind, DrawnOnDevice,
                         testing::Values(nn::Random::marks, nn::Random::colours, nn::Random::uniform_marks,
                                         nn::Random::class_marks),
                         [](const testing::TestParamInfo<nn::Random>& one) {
                           std::string text(nn::name(one.param));
                           std::replace(text.begin(), text.end(), '-', '_');
                           return text;
                         });

}  // namespace
}  // namespace tyche::engine
