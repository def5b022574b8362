// gin: its gradient against finite differences, its engines against each other, and what sums can tell apart.
#include <gtest/gtest.h>

#include <cmath>

#include "engine/cases.hpp"
#include "engine/near.hpp"
#include "engine/reference_cases.hpp"

namespace tyche::engine {
namespace {

nn::ModelConfig small_gin(double rni = 0) {
  nn::ModelConfig model;
  model.kind = "gin";
  model.width = 10;
  model.layers = 3;
  model.head_hidden = 8;
  model.rni = rni;
  return model;
}

TEST(Gin, GradientIsThatOfFiniteDifferences) {
  Stream stream(derive_key(101, Purpose::test));
  for (const double rni : {0.0, 0.5, 1.0}) {
    nn::ModelConfig model = small_gin(rni);
    model.readout = nn::Readout::sum;
    const reference::Interpreter<double> network(nn::program(model));
    const Graph graph = random_graph(7, 0.4, stream);
    const MessageGraph messages = messages_of(model, graph);
    std::vector<float> features(7 * model.pre_inputs()), random(7 * model.random_dims());
    for (auto* values : {&features, &random}) {
      for (float& value : *values) value = static_cast<float>(2 * stream.uniform() - 1);
    }
    const NodeScene scene(messages, features, random);
    const std::vector<float> start = parameters_of(model, stream);
    expect_finite_differences(network, scene, start, stream);
  }
}

TEST(Gin, EnginesAgreeWithEveryInputReadoutAndActivation) {
  Stream stream(derive_key(102, Purpose::test));
  std::vector<nn::ModelConfig> models = {small_gin(0), small_gin(0.5), small_gin(1)};
  for (const auto random : {nn::Random::marks, nn::Random::colours, nn::Random::class_marks}) {
    models.push_back(small_gin());
    models.back().random = random;
    models.back().depth = nn::default_depth(random);
  }
  for (nn::ModelConfig model : models) {
    for (const auto readout : {nn::Readout::max, nn::Readout::mean, nn::Readout::sum}) {
      model.readout = readout;
      model.activation = readout == nn::Readout::max ? nn::Activation::tanh : nn::Activation::elu;
      const Toy toy = random_toy(model, 7, 12, stream);
      Job job = toy.job(model);
      const std::vector<float> parameters = parameters_of(model, stream);
      Draw draw;
      draw.seed = 4;
      draw.epoch = 2;
      std::vector<float> expected, actual;
      Logits logits, own;
      const double loss = make_engine("reference", 1)->gradient(job, parameters, toy.all(), draw, expected, logits);
      for (const std::string& name : cpu_engine_names()) {
        job.batch = name == "cpu" ? 3 : 20;  // no answer depends on it
        const auto engine = make_engine(name, 2);
        EXPECT_NEAR(engine->gradient(job, parameters, toy.all(), draw, actual, own), loss, 1e-5);
        expect_near(own.values, logits.values, 2e-5, name + " logits");
        expect_near(actual, expected, 2e-5, name + " gradient, random inputs " + std::string(nn::name(model.random)));
        EXPECT_EQ(engine->predict(job, parameters, toy.all(), draw).values, own.values) << name;
      }
    }
  }
}

TEST(Gin, TrainsTheSameBitsOnAnyNumberOfThreadsAndAfterAStop) {
  Stream stream(derive_key(103, Purpose::test));
  nn::ModelConfig model = small_gin(0.5);
  const Toy toy = random_toy(model, 14, 10, stream);
  Job job = toy.job(model);
  job.epochs = 4;
  job.batch = 5;
  job.eval_draws = 2;
  for (const char* name : {"reference", "cpu"}) {
    const auto run = [&](unsigned threads, std::uint32_t stop) {
      Trial trial = trial_of(job, 8, 0, 3);
      for (const std::uint32_t epochs : {stop, 4u}) {
        Recorder seen(1);
        Job part = job;
        part.epochs = epochs;
        make_engine(name, threads)->train(part, std::span(&trial, 1), seen);
      }
      return trial.state.parameters;
    };
    const std::vector<float> expected = run(1, 4);
    EXPECT_NE(expected, fresh_state(model, 8, 0).parameters);
    EXPECT_EQ(run(3, 4), expected) << name;
    EXPECT_EQ(run(2, 2), expected) << name;
  }
}

// All nodes of a complete graph look alike, and means over neighbours do not count them.
TEST(Gin, CountsNeighboursWhereMeansDoNot) {
  const auto complete = [](Node nodes) {
    std::vector<Edge> edges;
    for (Node u = 0; u < nodes; ++u) {
      for (Node v = u + 1; v < nodes; ++v) edges.emplace_back(u, v);
    }
    return Graph::from_edges(nodes, edges);
  };
  for (const char* kind : {"gcn", "gin"}) {
    nn::ModelConfig model = small_gin();
    model.kind = kind;
    model.input_features = 1;
    Toy toy;
    for (const Node nodes : {3u, 4u}) {
      toy.graphs.push_back(complete(nodes));
      toy.features.emplace_back(nodes, 1.0f);
      toy.labels.push_back(nodes == 3 ? 0 : 1);
    }
    Job job = toy.job(model);
    job.epochs = 200;
    Trial trial = trial_of(job, 1, 0, 0);
    trial.test = trial.train;
    Recorder seen(1);
    make_engine("cpu", 1)->train(job, std::span(&trial, 1), seen);
    const auto& last = seen.results[0].back().test_predictions;
    EXPECT_EQ(last[0] != last[1], std::string(kind) == "gin") << kind;
  }
}

}  // namespace
}  // namespace tyche::engine
