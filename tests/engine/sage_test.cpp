// sage: a network that is a function in nn/ and nothing else. Every engine of the CPU runs it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/cases.hpp"
#include "engine/near.hpp"
#include "engine/reference_cases.hpp"

namespace tyche::engine {
namespace {

nn::ModelConfig small_sage(double rni) {
  nn::ModelConfig model;
  model.kind = "sage";
  model.width = 10;
  model.layers = 3;
  model.head_hidden = 8;
  model.rni = rni;
  return model;
}

TEST(Sage, GradientIsThatOfFiniteDifferences) {
  Stream stream(derive_key(301, Purpose::test));
  for (const double rni : {0.0, 0.5, 1.0}) {
    for (const auto readout : {nn::Readout::max, nn::Readout::mean, nn::Readout::sum}) {
      nn::ModelConfig model = small_sage(rni);
      model.readout = readout;
      const reference::Interpreter<double> network(nn::program(model));
      const Graph graph = random_graph(7, 0.4, stream);
      const MessageGraph messages = messages_of(model, graph);
      std::vector<float> features(7 * model.pre_inputs()), random(7 * model.random_dims());
      for (auto* values : {&features, &random}) {
        for (float& value : *values) value = static_cast<float>(2 * stream.uniform() - 1);
      }
      const NodeScene scene(messages, features, random);
      expect_finite_differences(network, scene, parameters_of(model, stream), stream);
    }
  }
}

TEST(Sage, EnginesAgreeWithEveryInputReadoutAndAggregation) {
  Stream stream(derive_key(302, Purpose::test));
  for (const double rni : {0.0, 0.5, 1.0}) {
    for (const auto readout : {nn::Readout::max, nn::Readout::mean, nn::Readout::sum}) {
      nn::ModelConfig model = small_sage(rni);
      model.width = readout == nn::Readout::sum ? 64 : 10;
      model.readout = readout;
      model.aggregation = readout == nn::Readout::max ? nn::Aggregation::mean : nn::Aggregation::sum;
      model.activation = readout == nn::Readout::max ? nn::Activation::tanh : nn::Activation::elu;
      const Toy toy = random_toy(model, 7, 12, stream);
      Job job = toy.job(model);
      const std::vector<float> parameters = parameters_of(model, stream);
      Draw draw;
      draw.seed = 4;
      std::vector<float> expected, actual;
      Logits logits, own;
      const double loss = make_engine("reference", 1)->gradient(job, parameters, toy.all(), draw, expected, logits);
      for (const std::string& name : cpu_engine_names()) {
        job.batch = name == "cpu" ? 3 : 20;  // no answer depends on it
        const auto engine = make_engine(name, 2);
        EXPECT_NEAR(engine->gradient(job, parameters, toy.all(), draw, actual, own), loss, 1e-5);
        expect_near(own.values, logits.values, 2e-5, name + " logits");
        expect_near(actual, expected, 5e-5, name + " gradient");
        EXPECT_EQ(engine->predict(job, parameters, toy.all(), draw).values, own.values) << name;
      }
    }
  }
}

TEST(Sage, TrainsTheSameBitsOnAnyNumberOfThreads) {
  Stream stream(derive_key(303, Purpose::test));
  const nn::ModelConfig model = small_sage(0.5);
  const Toy toy = random_toy(model, 40, 40, stream);
  Job job = toy.job(model);
  job.epochs = 2;
  job.batch = 30;
  const auto run = [&](unsigned threads) {
    Trial trial = trial_of(job, 8, 0, 3);
    Recorder seen(1);
    make_engine("cpu", threads)->train(job, std::span(&trial, 1), seen);
    EXPECT_EQ(trial.state.epoch, 2u);
    return trial.state.parameters;
  };
  const std::vector<float> expected = run(1);
  EXPECT_NE(expected, fresh_state(model, 8, 0).parameters);
  for (const unsigned threads : {2u, 3u}) EXPECT_EQ(run(threads), expected);
}

TEST(Sage, IsRunByAFastEngineWhereNobodyAskedForOne) {
  Stream stream(derive_key(304, Purpose::test));
  const nn::ModelConfig model = small_sage(0);
  EXPECT_THAT(make_engine("auto", 1)->description(random_toy(model, 5, 9, stream).job(model)),
              testing::Not(testing::StartsWith("reference")));
}

}  // namespace
}  // namespace tyche::engine
