// Values per node and edge, and weights of edges: gradients against finite differences, engines against each other,
// which nodes count, threads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/near.hpp"
#include "engine/node_values_cases.hpp"
#include "engine/reference_cases.hpp"
#include "support/error.hpp"

namespace tyche::engine {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(NodeValues, UnitsAreNumberedThroughAllGraphs) {
  const std::vector<Edge> path = {{0, 1}, {1, 2}}, edge = {{0, 1}};
  const std::vector<Graph> graphs = {Graph::from_edges(3, path), Graph::from_edges(1, {}), Graph::from_edges(2, edge)};
  const Units nodes(graphs, Unit::node), edges(graphs, Unit::edge);
  EXPECT_EQ(nodes.size(), 6u);
  EXPECT_EQ(nodes.place(3).graph, 1u);
  EXPECT_EQ(nodes.place(5).graph, 2u);
  EXPECT_EQ(nodes.place(5).index, 1u);
  EXPECT_THAT(nodes.graphs_of(std::vector<std::uint32_t>{4, 0, 5}), ElementsAre(0, 2));
  EXPECT_THAT(nodes.units_of(std::vector<std::uint32_t>{2, 1}), ElementsAre(4, 5, 3));
  EXPECT_EQ(edges.size(), 3u);
  EXPECT_EQ(edges.place(2).graph, 2u) << "graph 1 has none";
}

TEST(NodeValues, WeightsMultiplyMessages) {
  const std::vector<Edge> path = {{0, 1}, {1, 2}};
  const std::vector<EdgeLabel> weights = {label_of_weight(0.5f), label_of_weight(-2.0f)};
  const Graph graph = Graph::from_edges(3, path, {}, weights);
  const MessageGraph sum = node_messages(graph, nn::Aggregation::sum, true);
  EXPECT_THAT(sum.gather.weights, ElementsAre(0.5f, 0.5f, -2.0f, -2.0f)) << "0-1, 1-0, 1-2, 2-1";
  const MessageGraph mean = node_messages(graph, nn::Aggregation::mean, true);
  EXPECT_EQ(mean.gather.value(1, 2), -1.0f) << "node 1 has two neighbours";
  EXPECT_EQ(weight_of(label_of_weight(-0.0f)), 0.0f);
  EXPECT_EQ(label_of_weight(-0.0f), 0u);
}

TEST(NodeValues, GradientIsThatOfFiniteDifferences) {
  Stream stream(derive_key(301, Purpose::test));
  for (const nn::ModelConfig& model : valued_models()) {
    const Nodes nodes(model, 1, stream, model.on_nodes());
    const Job job = nodes.job();
    const Inputs inputs = inputs_of(Draw{});
    const reference::GraphScene scene(job, 0, inputs, 0);
    const reference::Interpreter<double> network(nn::program(model));
    expect_finite_differences(network, scene, parameters_of(model, stream), stream);
  }
}

TEST(NodeValues, EnginesAgree) {
  Stream stream(derive_key(302, Purpose::test));
  for (const nn::ModelConfig& model : valued_models()) {
    for (const bool weighted : {false, true}) {
      if (weighted && !model.on_nodes()) continue;  // pairs are not joined by edges
      const Nodes nodes(model, 12, stream, weighted);
      const Job job = nodes.job();
      const std::vector<float> parameters = parameters_of(model, stream);
      const Draw draw{.seed = 4, .epoch = 2, .pinned = {}};
      std::vector<float> expected, actual;
      Logits logits, own;
      const double loss =
          make_engine("reference", 1)->gradient(job, parameters, nodes.toy.all(), draw, expected, logits);
      EXPECT_EQ(logits.values.size(), nodes.units.size() * model.classes);
      for (const std::string& name : cpu_engine_names()) {
        const auto engine = make_engine(name, 2);
        EXPECT_NEAR(engine->gradient(job, parameters, nodes.toy.all(), draw, actual, own), loss, 1e-5);
        expect_near(own.values, logits.values, 2e-5, name + " logits");
        expect_tensors_near(model, actual, expected, 2e-5, name);
        EXPECT_EQ(engine->predict(job, parameters, nodes.toy.all(), draw).values, own.values) << name;
      }
    }
  }
}

TEST(NodeValues, TrainTheSameBitsOnAnyNumberOfThreadsAndAfterAStop) {
  Stream stream(derive_key(303, Purpose::test));
  for (const Unit unit : {Unit::node, Unit::edge}) {
    const nn::ModelConfig model = valued("gcn", unit, 0.5);
    const Nodes nodes(model, 40, stream, true);
    Job job = nodes.job();
    job.eval_draws = 3;
    const std::vector<std::uint32_t> all = nodes.labelled();
    const auto run = [&](unsigned threads, std::uint32_t stop) {
      Trial trial;
      trial.seed = 8;
      trial.state = fresh_state(model, 8, 0);
      for (std::size_t i = 0; i < all.size(); ++i) (i % 3 == 0 ? trial.test : trial.train).push_back(all[i]);
      for (const std::uint32_t epochs : {stop, 3u}) {
        Recorder seen(1);
        job.epochs = epochs;
        make_engine("cpu", threads)->train(job, std::span(&trial, 1), seen);
      }
      return trial.state.parameters;
    };
    const std::vector<float> expected = run(1, 3);
    EXPECT_NE(expected, fresh_state(model, 8, 0).parameters);
    for (const unsigned threads : {2u, 3u, 4u}) EXPECT_EQ(run(threads, threads == 3 ? 1 : 3), expected);
  }
}

TEST(NodeValues, OnlyNodesOfTheTrainingPartCount) {
  Stream stream(derive_key(304, Purpose::test));
  const nn::ModelConfig model = valued("gin", Unit::node);
  Nodes nodes(model, 1, stream);
  const auto run = [&] {
    Job job = nodes.job();
    job.epochs = 3;
    Trial trial;
    trial.state = fresh_state(model, 1, 0);
    trial.train = {0, 2};
    trial.test = {1};
    Recorder seen(1);
    make_engine("reference", 1)->train(job, std::span(&trial, 1), seen);
    return trial.state.parameters;
  };
  nodes.labels = std::vector<std::uint32_t>(nodes.labels.size(), 0);
  const std::vector<float> before = run();
  nodes.labels[1] = 2;
  EXPECT_EQ(run(), before) << "node 1 is tested";
  nodes.labels[2] = 2;
  EXPECT_NE(run(), before) << "node 2 trains";
}

TEST(NodeValues, WhatDoesNotFitIsRefused) {
  Stream stream(derive_key(305, Purpose::test));
  const Nodes nodes(valued("gcn", Unit::node), 2, stream, true);
  Job job = nodes.job();
  job.data.units = nullptr;
  EXPECT_THAT([&] { validate(job); }, ThrowsMessage<InputError>(HasSubstr("the model gives a value per node")));
  job = nodes.job();
  job.data.targets = std::span(nodes.labels).first(3);
  EXPECT_THAT([&] { validate(job); }, ThrowsMessage<InputError>(HasSubstr("nodes but 3 labels")));
  for (const char* kind : {"gcn3", "ppgn"}) {
    nn::ModelConfig model;
    model.kind = kind;
    model.unit = Unit::node;
    EXPECT_THAT([&] { nn::validate(model); }, ThrowsMessage<InputError>(HasSubstr("give a value per node or edge")));
  }
}

}  // namespace
}  // namespace tyche::engine
