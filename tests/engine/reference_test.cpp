// The plain network against formulas worked by hand and against finite differences in double, for every option.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "engine/cases.hpp"
#include "engine/core/inputs.hpp"
#include "engine/reference_cases.hpp"
#include "support/step_called.hpp"

namespace tyche::engine::reference {
namespace {

TEST(Network, AGraphOfOneNodeByHand) {
  // Width 1, one layer, ReLU, two classes, all weights 1 and biases 0: the node hears only itself.
  nn::ModelConfig config;
  config.width = 1;
  config.layers = 1;
  config.head_hidden = 1;
  config.rni = 1;
  config.activation = nn::Activation::relu;
  const Interpreter<double> network(nn::program(config));
  std::vector<double> parameters(network.layout().size, 1.0);
  for (const char* name : {"convs.0.lin_rel.bias", "head.fc1.bias", "head.fc2.bias", "head.fc3.bias"}) {
    const nn::Tensor& bias = network.layout().at(name);
    std::fill_n(parameters.begin() + static_cast<std::ptrdiff_t>(bias.offset), bias.size, 0.0);
  }
  const MessageGraph messages = node_messages(Graph::from_edges(1, {}), nn::Aggregation::mean);
  const std::vector<float> random = {3}, negative = {-3};
  EXPECT_EQ(network.forward(parameters, NodeScene(messages, {}, random)).logits(), (std::vector<double>{3, 3}));
  EXPECT_EQ(network.forward(parameters, NodeScene(messages, {}, negative)).logits(), (std::vector<double>{0, 0}));
}

TEST(Network, TwoNodesHearEachOther) {
  nn::ModelConfig config;
  config.width = 1;
  config.layers = 1;
  config.head_hidden = 1;
  config.classes = 1;
  config.rni = 1;
  config.activation = nn::Activation::relu;
  config.readout = nn::Readout::sum;
  const Interpreter<double> network(nn::program(config));
  std::vector<double> parameters(network.layout().size, 0.0);
  parameters[network.layout().at("convs.0.lin_root.weight").offset] = 2;
  parameters[network.layout().at("convs.0.lin_rel.weight").offset] = 10;
  for (const char* name : {"head.fc1.weight", "head.fc2.weight", "head.fc3.weight"}) {
    parameters[network.layout().at(name).offset] = 1;
  }
  const std::vector<Edge> edge = {{0, 1}};
  const MessageGraph messages = node_messages(Graph::from_edges(2, edge), nn::Aggregation::mean);
  const std::vector<float> random = {1, 3};
  // (2 · 1 + 10 · 3) + (2 · 3 + 10 · 1)
  EXPECT_EQ(network.forward(parameters, NodeScene(messages, {}, random)).logits(), std::vector<double>{48});
}

TEST(Network, AGraphWithoutNodesPoolsToZeros) {
  for (const nn::Readout readout : {nn::Readout::max, nn::Readout::mean, nn::Readout::sum}) {
    nn::ModelConfig config;
    config.width = 3;
    config.layers = 2;
    config.readout = readout;
    const Interpreter<double> network(nn::program(config));
    const MessageGraph messages = node_messages(Graph(), nn::Aggregation::mean);
    const auto flat = nn::initial_parameters(config, 1, 0);
    const std::vector<double> parameters(flat.begin(), flat.end());
    const NodeScene scene(messages, {}, {});
    const Pass<double> pass = network.forward(parameters, scene);
    EXPECT_EQ(pass.values[nn::step_called(network.program(), "readout")].values, std::vector<double>(3, 0.0));
    std::vector<double> gradient(parameters.size(), 0.0);
    network.backward(parameters, scene, pass, std::vector<double>{1.0, -1.0}, gradient);
    EXPECT_EQ(gradient[network.layout().at("convs.1.lin_rel.bias").offset], 0);
    EXPECT_NE(gradient[network.layout().at("head.fc3.bias").offset], 0);
  }
}

// Cross-entropy of one graph, and how the analytic gradient compares with central differences along random directions
// and along single coordinates.
struct Differences {
  double worst_direction = 0;
  double largest = 0;
};

Differences compare(const nn::ModelConfig& config, Node nodes, std::uint64_t seed) {
  Stream stream(derive_key(seed, Purpose::test));
  const Graph graph = random_graph(nodes, 0.4, stream);
  const MessageGraph messages = node_messages(graph, config.aggregation);
  std::vector<float> features(std::size_t{nodes} * config.input_features),
      random(std::size_t{nodes} * config.random_dims());
  for (float& x : features) x = static_cast<float>(2 * stream.uniform() - 1);
  random_features(config, feature_key(seed, 0, 1, 0), 0, nodes, random.data(), config.random_dims());
  std::vector<float> dropout(config.width);
  dropout_factors(0.5, seed, 0, 1, 0, dropout);
  const NodeScene scene(messages, features, random, dropout);
  const Interpreter<double> network(nn::program(config));
  std::vector<double> parameters;
  for (const float p : nn::initial_parameters(config, seed, 0)) parameters.push_back(1.5 * p);
  const std::size_t label = stream.below(config.classes);
  std::vector<double> d_logits;
  const auto loss = [&](const std::vector<double>& p) {
    return plain_cross_entropy<double>(network.forward(p, scene).logits(), label, 1.0, d_logits);
  };
  const Pass<double> pass = network.forward(parameters, scene);
  (void)plain_cross_entropy<double>(pass.logits(), label, 1.0, d_logits);
  std::vector<double> gradient(parameters.size(), 0.0);
  network.backward(parameters, scene, pass, d_logits, gradient);

  Differences out;
  for (int trial = 0; trial < 12; ++trial) {
    // Odd trials move a single tensor, so that an error in a small one cannot hide behind the large ones.
    std::vector<double> direction(parameters.size(), 0.0);
    const auto& tensors = network.layout().tensors;
    const nn::Tensor& one = tensors[stream.below(tensors.size())];
    double along = 0;
    for (std::size_t i = 0; i < direction.size(); ++i) {
      if (trial % 2 == 1 && (i < one.offset || i >= one.offset + one.size)) continue;
      direction[i] = 2 * stream.uniform() - 1;
      along += direction[i] * gradient[i];
    }
    constexpr double kStep = 1e-6;
    std::vector<double> ahead = parameters, behind = parameters;
    for (std::size_t i = 0; i < direction.size(); ++i) {
      ahead[i] += kStep * direction[i];
      behind[i] -= kStep * direction[i];
    }
    const double difference = (loss(ahead) - loss(behind)) / (2 * kStep);
    out.worst_direction = std::max(out.worst_direction, std::fabs(difference - along) / (std::fabs(along) + 1e-3));
    out.largest = std::max(out.largest, std::fabs(along));
  }
  return out;
}

TEST(Gradient, AgreesWithFiniteDifferencesForEveryOption) {
  double moved = 0;
  for (const nn::Activation activation : {nn::Activation::elu, nn::Activation::tanh, nn::Activation::relu}) {
    for (const nn::Aggregation aggregation : {nn::Aggregation::mean, nn::Aggregation::sum}) {
      for (const nn::Readout readout : {nn::Readout::max, nn::Readout::mean, nn::Readout::sum}) {
        for (const double rni : {0.0, 0.3, 0.5, 1.0}) {
          nn::ModelConfig config;
          config.width = 6;
          config.layers = 3;
          config.pre_hidden = 5;
          config.head_hidden = 4;
          config.classes = 3;
          config.input_features = 3;
          config.rni = rni;
          config.activation = activation;
          config.aggregation = aggregation;
          config.readout = readout;
          const Differences d = compare(config, 7, 11);
          EXPECT_LT(d.worst_direction, 2e-5)
              << nn::name(activation) << ' ' << nn::name(aggregation) << ' ' << nn::name(readout) << ' ' << rni;
          moved += d.largest;
        }
      }
    }
  }
  EXPECT_GT(moved, 1);  // the loss does depend on the parameters
}

TEST(Gradient, AgreesWithFiniteDifferencesForOddShapes) {
  struct Shape {
    std::uint32_t width, layers, pre, head, classes, features;
    Node nodes;
  };
  for (const Shape& s : {Shape{1, 1, 1, 1, 2, 1, 1}, Shape{7, 1, 3, 2, 5, 4, 9}, Shape{33, 2, 1, 40, 2, 1, 3}}) {
    for (const double rni : {0.0, 0.5, 1.0}) {
      nn::ModelConfig config;
      config.width = s.width;
      config.layers = s.layers;
      config.pre_hidden = s.pre;
      config.head_hidden = s.head;
      config.classes = s.classes;
      config.input_features = s.features;
      config.rni = rni;
      EXPECT_LT(compare(config, s.nodes, 5).worst_direction, 2e-5) << s.width << ' ' << rni;
    }
  }
}

TEST(CrossEntropy, StaysFiniteForLargeLogits) {
  std::vector<double> d;
  EXPECT_NEAR(plain_cross_entropy<double>(std::vector<double>{1000, -1000}, 1, 1.0, d), 2000, 1e-9);
  EXPECT_NEAR(d[0], 1, 1e-12);
  EXPECT_NEAR(d[1], -1, 1e-12);
}

}  // namespace
}  // namespace tyche::engine::reference
