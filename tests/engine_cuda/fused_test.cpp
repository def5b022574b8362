// The fused path against the CPU engine and PyTorch, and against itself.
#include "engine/cuda/fused.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "device_fixture.hpp"
#include "engine/cases.hpp"
#include "engine/golden.hpp"

namespace tyche::engine {
namespace {

using Random = tyche::Stream;

class Fused : public DeviceTest {};

constexpr double kTolerance = 5e-3;  // relative to the largest entry

double relative_distance(std::span<const float> actual, std::span<const float> expected) {
  double largest = 0, worst = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    largest = std::max(largest, std::fabs(double{expected[i]}));
    worst = std::max(worst, std::fabs(double{actual[i]} - expected[i]));
    if (std::isnan(actual[i])) return std::numeric_limits<double>::infinity();
  }
  return largest > 0 ? worst / largest : worst;
}

void expect_close(const nn::ModelConfig& model, std::span<const float> actual, std::span<const float> expected,
                  const std::string& what) {
  ASSERT_EQ(actual.size(), expected.size());
  for (const nn::Tensor& tensor : nn::layout(model).tensors) {
    EXPECT_LE(relative_distance(actual.subspan(tensor.offset, tensor.size), expected.subspan(tensor.offset, tensor.size)),
              kTolerance)
        << what << " " << tensor.name;
  }
}

struct Case {
  std::string name;
  nn::ModelConfig model;
  Node most_nodes = 12;
  std::size_t graphs = 5;
};

nn::ModelConfig small_model(std::uint32_t width, std::uint32_t layers, double rni) {
  nn::ModelConfig model;
  model.width = width;
  model.layers = layers;
  model.rni = rni;
  model.pre_hidden = 16;
  model.head_hidden = 16;
  model.xavier_fan = 50;
  return model;
}

// One table that takes every choice at least once.
std::vector<Case> cases() {
  std::vector<Case> all;
  const auto add = [&](const std::string& name, nn::ModelConfig model, auto change) {
    Case one{name, model, 12, 5};
    change(one);
    all.push_back(one);
  };
  const auto nothing = [](Case&) {};
  add("width16", small_model(16, 2, 1), nothing);
  add("width32", small_model(32, 2, 1), [](Case& c) { c.most_nodes = 40; });
  add("width48", small_model(48, 2, 1), nothing);
  add("width64", small_model(64, 3, 1), [](Case& c) { c.most_nodes = 30; });
  add("width128", small_model(128, 2, 1), [](Case& c) { c.graphs = 3; });
  add("one_layer", small_model(32, 1, 1), nothing);
  add("no_random", small_model(32, 2, 0), nothing);
  add("half_random", small_model(64, 2, 0.5), nothing);
  add("odd_share", small_model(32, 2, 0.4), [](Case& c) { c.model.input_features = 5; });
  add("wide_features", small_model(16, 1, 0.5), [](Case& c) { c.model.input_features = 40, c.graphs = 3; });
  add("tanh_uniform", small_model(32, 2, 1), [](Case& c) {
    c.model.activation = nn::Activation::tanh;
    c.model.distribution = nn::Distribution::uniform;
  });
  add("relu_xavier_normal", small_model(32, 2, 0.5), [](Case& c) {
    c.model.activation = nn::Activation::relu;
    c.model.distribution = nn::Distribution::xavier_normal;
  });
  add("sum_xavier_uniform", small_model(32, 2, 0.75), [](Case& c) {
    c.model.aggregation = nn::Aggregation::sum;
    c.model.distribution = nn::Distribution::xavier_uniform;
  });
  add("mean_readout", small_model(32, 2, 0.5), [](Case& c) { c.model.readout = nn::Readout::mean; });
  add("sum_readout", small_model(64, 2, 1), [](Case& c) {
    c.model.readout = nn::Readout::sum;
    c.model.activation = nn::Activation::tanh;
  });
  add("many_classes", small_model(32, 1, 1), [](Case& c) {
    c.model.classes = 16;
    c.model.head_hidden = 100;
  });
  return all;
}

class FusedCases : public DeviceTest, public testing::WithParamInterface<Case> {};

TEST_P(FusedCases, GradientLossAndLogitsAreTheCpus) {
  const Case& given = GetParam();
  Random stream(derive_key(11, Purpose::test));
  Toy toy = random_toy(given.model, given.graphs, given.most_nodes, stream);
  toy.add(tyche::Graph::from_edges(1, {}), given.model, stream);
  const Job job = toy.job(given.model);
  const auto parameters = nn::initial_parameters(given.model, 3, 0);
  Draw draw;
  draw.seed = 5;
  std::vector<float> expected, actual;
  Logits expected_logits, actual_logits;
  const double loss = make_engine("cpu", 1)->gradient(job, parameters, toy.all(), draw, expected, expected_logits);
  ASSERT_EQ(gpu::fused_refuses(job), "");
  const auto path = gpu::make_fused_path();
  EXPECT_NEAR(path->gradient(job, parameters, toy.all(), draw, actual, actual_logits), loss, kTolerance * loss);
  EXPECT_LE(relative_distance(actual_logits.values, expected_logits.values), kTolerance);
  expect_close(given.model, actual, expected, "gradient");
  EXPECT_EQ(path->predict(job, parameters, toy.all(), draw).values, actual_logits.values);
}

INSTANTIATE_TEST_SUITE_P(Table, FusedCases, testing::ValuesIn(cases()),
                         [](const testing::TestParamInfo<Case>& one) { return one.param.name; });

}  // namespace
}  // namespace tyche::engine
