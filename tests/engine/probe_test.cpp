// What is seen inside a network, against finite differences and against its own outputs.
#include "engine/probe.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "engine/engine.hpp"
#include "support/error.hpp"
#include "support/random.hpp"
#include "wl/sample_graphs.hpp"

namespace tyche::engine {
namespace {

struct Case {
  std::vector<Graph> graphs = {wl::path(4)};
  std::vector<std::vector<float>> features = {{1, 0, 0, 1, 0.5f, 0, 1, 1}};
  std::vector<std::vector<float>> edges = {{1, 0.5f, 2}};
  std::vector<std::uint32_t> labels = {0};
  Job job;

  explicit Case(const char* kind) {
    job.model.kind = kind;
    job.model.width = 6;
    job.model.layers = 2;
    job.model.input_features = 2;
    job.model.edge_features = 1;
    job.model.dropout = 0;
    job.model.readout = nn::Readout::sum;
    job.data = {graphs, labels, features, edges};
  }
};

class ProbeOf : public testing::TestWithParam<const char*> {};

TEST_P(ProbeOf, GradientsOfInputsAreThoseOfFiniteDifferences) {
  Case own(GetParam());
  const std::vector<float> parameters = nn::initial_parameters(own.job.model, 3, 0);
  const float weights[] = {1, -1};
  const InputGradients d = input_gradients(own.job, parameters, 0, {}, weights);
  const auto engine = make_engine("reference", 1);
  const auto margin = [&] {
    const std::uint32_t which[] = {0};
    const Logits z = engine->predict(own.job, parameters, which, {});
    return static_cast<double>(z.values[0]) - z.values[1];
  };
  EXPECT_NEAR(d.outputs[0] - d.outputs[1], margin(), 1e-6);
  const auto check = [&](std::vector<float>& inputs, const std::vector<float>& gradient) {
    ASSERT_EQ(inputs.size(), gradient.size());
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const float before = inputs[i];
      inputs[i] = before + 1e-2f;
      const double more = margin();
      inputs[i] = before - 1e-2f;
      const double less = margin();
      inputs[i] = before;
      EXPECT_NEAR(gradient[i], (more - less) / 2e-2, 2e-3) << i;
    }
  };
  check(own.features[0], d.nodes);
  check(own.edges[0], d.edges);
}

INSTANTIATE_TEST_SUITE_P(Kinds, ProbeOf, testing::Values("gcn", "gin"),
                         [](const auto& own) { return std::string(own.param); });

TEST(Probe, TheReadoutIsTheSumOfTheLastLayerOfNodes) {
  Case own("gin");
  const nn::Program network = nn::program(own.job.model);
  const std::vector<float> parameters = nn::initial_parameters(own.job.model, 3, 0);
  const std::vector<float> nodes = step_values(own.job, parameters, 0, {}, node_step(network));
  const std::vector<float> graph = step_values(own.job, parameters, 0, {}, readout_step(network));
  ASSERT_EQ(nodes.size(), 4 * graph.size());
  for (std::size_t c = 0; c < graph.size(); ++c) {
    float sum = 0;
    for (std::size_t v = 0; v < 4; ++v) sum += nodes[v * graph.size() + c];
    EXPECT_NEAR(graph[c], sum, 1e-5);
  }
}

}  // namespace
}  // namespace tyche::engine
