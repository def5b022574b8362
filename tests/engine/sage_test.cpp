// sage: a network that is a function in nn/ and nothing else. The plain engine runs it; the others name what they lack.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/cases.hpp"
#include "engine/reference_cases.hpp"
#include "nn/levels.hpp"
#include "support/error.hpp"

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

TEST(Sage, TrainsAndOtherEnginesSayWhichStepTheyLack) {
  Stream stream(derive_key(302, Purpose::test));
  const nn::ModelConfig model = small_sage(0.5);
  const Toy toy = random_toy(model, 14, 10, stream);
  Job job = toy.job(model);
  job.epochs = 2;
  job.batch = 5;
  for (const std::string& name : cpu_engine_names()) {
    Trial trial = trial_of(job, 8, 0, 3);
    Recorder seen(1);
    const auto train = [&] { make_engine(name, 1)->train(job, std::span(&trial, 1), seen); };
    if (name == "reference") {
      train();
      EXPECT_NE(trial.state.parameters, fresh_state(model, 8, 0).parameters);
      EXPECT_EQ(trial.state.epoch, 2u);
      continue;
    }
    EXPECT_THAT(train, testing::ThrowsMessage<InputError>(testing::HasSubstr(
                           "the step convs.0.neighbours of sage (aggregate, mean over neighbours) runs on the engine "
                           "reference alone")));
    EXPECT_THROW((void)make_engine(name, 1)->predict(job, trial.state.parameters, toy.all(), Draw{}), InputError);
  }
}

TEST(Sage, IsRunByThePlainEngineWhereNobodyAskedForAnother) {
  Stream stream(derive_key(303, Purpose::test));
  const nn::ModelConfig model = small_sage(0);
  const Toy toy = random_toy(model, 5, 9, stream);
  const Job job = toy.job(model);
  const std::vector<float> parameters = parameters_of(model, stream);
  const auto engine = make_engine("auto", 1);
  EXPECT_THAT(engine->description(job), testing::StartsWith("reference"));
  EXPECT_EQ(engine->predict(job, parameters, toy.all(), Draw{}).values,
            make_engine("reference", 1)->predict(job, parameters, toy.all(), Draw{}).values);
  nn::ModelConfig known;
  known.width = 8;
  known.layers = 1;
  EXPECT_THAT(engine->description(random_toy(known, 2, 5, stream).job(known)),
              testing::Not(testing::StartsWith("reference")));
}

TEST(Supports, EveryStepOfTheNetworksThatFastEnginesKnow) {
  for (const std::string& kind : nn::model_kinds()) {
    nn::ModelConfig model;
    model.kind = kind;
    nn::set_types_from(std::vector<Graph>{Graph::from_edges(3, std::vector<Edge>{{0, 1}, {1, 2}})}, model, 1);
    bool all = true;
    for (const nn::Step& step : nn::program(model).steps) all = all && supports(step);
    EXPECT_EQ(all, model.body() != nn::Body::steps) << kind;
  }
}

}  // namespace
}  // namespace tyche::engine
