// Edge features in gcn and gin: gradients against finite differences, engines against each other, threads, and what can
// be learned with them alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "engine/cases.hpp"
#include "engine/core/inputs.hpp"
#include "engine/near.hpp"
#include "engine/reference_cases.hpp"
#include "support/error.hpp"

namespace tyche::engine {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

nn::ModelConfig small(const std::string& kind, double rni = 0) {
  nn::ModelConfig model;
  model.kind = kind;
  model.width = 10;
  model.layers = 3;
  model.head_hidden = 8;
  if (kind == "gcn") model.pre_hidden = 6;
  model.rni = rni;
  model.edge_features = 3;
  return model;
}

/// Every shape of model that edge features enter.
std::vector<nn::ModelConfig> models() {
  std::vector<nn::ModelConfig> all;
  for (const double rni : {0.0, 0.5, 1.0}) {
    for (const auto aggregation : {nn::Aggregation::mean, nn::Aggregation::sum}) {
      all.push_back(small("gcn", rni));
      all.back().aggregation = aggregation;
    }
    all.push_back(small("gin", rni));
  }
  all.push_back(small("gin"));
  all.back().random = nn::Random::colours;
  return all;
}

/// A path of three nodes whose edges say 1, 2 and 3, 4, and a node on its own.
struct Path {
  std::vector<Edge> ends = {{1, 2}, {0, 1}};
  std::vector<Graph> graphs = {Graph::from_edges(4, ends)};
  std::vector<std::uint32_t> labels = {0};
  std::vector<std::vector<float>> features = {std::vector<float>(8, 1.0f)};
  std::vector<std::vector<float>> edges = {{1, 2, 3, 4}};  // of 0-1, then of 1-2

  [[nodiscard]] Job job(nn::Aggregation aggregation) const {
    Job job;
    job.data = {graphs, labels, features, edges};
    job.model = small("gcn");
    job.model.edge_features = 2;
    job.model.aggregation = aggregation;
    return job;
  }
};

TEST(EdgeFeatures, AreSummedOrAveragedAtTheirNodes) {
  const Path path;
  EXPECT_THAT(edge_sums(path.job(nn::Aggregation::sum), 0), ElementsAre(1, 2, 4, 6, 3, 4, 0, 0));
  EXPECT_THAT(edge_sums(path.job(nn::Aggregation::mean), 0), ElementsAre(1, 2, 2, 3, 3, 4, 0, 0));
  EXPECT_THAT(arc_features(path.job(nn::Aggregation::sum), 0), ElementsAre(1, 2, 1, 2, 3, 4, 3, 4));
}

TEST(EdgeFeatures, HaveARowForWhatEdgesShare) {
  Path path;
  path.edges = {{5, 6, 5, 6}};
  const EdgeRows rows = edge_rows(path.job(nn::Aggregation::sum), 0);
  EXPECT_THAT(rows.rows, ElementsAre(5, 6));
  EXPECT_THAT(rows.row_of, ElementsAre(0, 0, 0, 0));
}

TEST(EdgeFeatures, OfTheWrongSizeOrNotFiniteAreRefused) {
  Path path;
  path.edges = {{1, 2, 3}};
  EXPECT_THAT([&] { validate(path.job(nn::Aggregation::sum)); },
              ThrowsMessage<InputError>(HasSubstr("3 edge feature values, expected 4 (2 edges x 2 features)")));
  path.edges = {{1, 2, 3, std::nanf("")}};
  EXPECT_THAT([&] { validate(path.job(nn::Aggregation::sum)); },
              ThrowsMessage<InputError>(HasSubstr("graph 0, edge 1, feature 1 is nan")));
  path.edges.clear();
  EXPECT_THAT([&] { validate(path.job(nn::Aggregation::sum)); },
              ThrowsMessage<InputError>(HasSubstr("1 graphs but 0 blocks of edge features")));
}

TEST(EdgeFeatures, GradientIsThatOfFiniteDifferences) {
  Stream stream(derive_key(201, Purpose::test));
  for (nn::ModelConfig model : models()) {
    model.readout = nn::Readout::sum;
    const reference::Interpreter<double> network(nn::program(model));
    const Graph graph = random_graph(7, 0.4, stream);
    const MessageGraph messages = messages_of(model, graph);
    std::vector<float> features(7 * model.pre_inputs()), random(7 * model.random_dims());
    for (auto* values : {&features, &random}) {
      for (float& value : *values) value = static_cast<float>(2 * stream.uniform() - 1);
    }
    std::vector<float> arcs;
    std::vector<float> of_edge(graph.num_edges() * model.edge_features);
    for (float& value : of_edge) value = static_cast<float>(2 * stream.uniform() - 1);
    for (const std::uint64_t edge : graph.edges_of_arcs()) {
      for (std::size_t c = 0; c < model.edge_features; ++c) arcs.push_back(of_edge[edge * model.edge_features + c]);
    }
    const NodeScene scene(messages, features, random, {}, arcs);
    const std::vector<float> start = parameters_of(model, stream);
    expect_finite_differences(network, scene, start, stream);
  }
}

TEST(EdgeFeatures, EnginesAgree) {
  Stream stream(derive_key(202, Purpose::test));
  for (nn::ModelConfig model : models()) {
    for (const auto readout : {nn::Readout::max, nn::Readout::mean, nn::Readout::sum}) {
      model.readout = readout;
      model.activation = readout == nn::Readout::mean ? nn::Activation::tanh : nn::Activation::elu;
      const Toy toy = random_toy(model, 9, 12, stream);
      Job job = toy.job(model);
      const std::vector<float> parameters = parameters_of(model, stream);
      Draw draw;
      draw.seed = 4;
      draw.epoch = 2;
      std::vector<float> expected, actual;
      Logits logits, own;
      const double loss = make_engine("reference", 1)->gradient(job, parameters, toy.all(), draw, expected, logits);
      for (const std::string& name : cpu_engine_names()) {
        const auto engine = make_engine(name, 2);
        EXPECT_NEAR(engine->gradient(job, parameters, toy.all(), draw, actual, own), loss, 1e-5);
        expect_near(own.values, logits.values, 2e-5, name + " logits");
        expect_tensors_near(model, actual, expected, 2e-5, name);
        EXPECT_EQ(engine->predict(job, parameters, toy.all(), draw).values, own.values) << name;
      }
    }
  }
}

TEST(EdgeFeatures, TrainTheSameBitsOnAnyNumberOfThreadsAndAfterAStop) {
  Stream stream(derive_key(203, Purpose::test));
  for (const char* kind : {"gcn", "gin"}) {
    const nn::ModelConfig model = small(kind, 0.5);
    const Toy toy = random_toy(model, 40, 10, stream);
    Job job = toy.job(model);
    job.epochs = 3;
    const auto run = [&](unsigned threads, std::uint32_t stop) {
      Trial trial = trial_of(job, 8, 0, 3);
      for (const std::uint32_t epochs : {stop, 3u}) {
        Recorder seen(1);
        Job part = job;
        part.epochs = epochs;
        make_engine("cpu", threads)->train(part, std::span(&trial, 1), seen);
      }
      return trial.state.parameters;
    };
    const std::vector<float> expected = run(1, 3);
    EXPECT_NE(expected, fresh_state(model, 8, 0).parameters);
    for (const unsigned threads : {2u, 3u, 4u}) EXPECT_EQ(run(threads, threads == 3 ? 1 : 3), expected) << kind;
  }
}

/// Pairs of graphs that differ in the labels of their edges alone: one of two edges in five is of kind 1, or three in
/// five; the class says which.
Toy pairs_by_edges(std::size_t pairs, const nn::ModelConfig& model, Stream& stream) {
  Toy toy;
  for (std::size_t p = 0; p < pairs; ++p) {
    const Graph graph = random_graph(10, 0.5, stream);
    for (const std::uint32_t label : {0u, 1u}) {
      toy.graphs.push_back(graph);
      toy.features.emplace_back(std::size_t{graph.num_nodes()} * model.input_features, 1.0f);
      toy.labels.push_back(label);
      std::vector<float>& edges = toy.edge_features.emplace_back();
      for (std::size_t e = 0; e < graph.num_edges(); ++e) {
        const bool first = (e + p) % 5 < (label == 0 ? 2u : 3u);
        edges.push_back(first ? 1.0f : 0.0f);
        edges.push_back(first ? 0.0f : 1.0f);
      }
    }
  }
  return toy;
}

TEST(EdgeFeatures, AreLearnedFromAndNothingIsWithoutThem) {
  for (const char* kind : {"gcn", "gin"}) {
    nn::ModelConfig model;
    model.kind = kind;
    model.width = 16;
    model.layers = 2;
    model.dropout = 0;
    model.readout = nn::Readout::sum;
    if (model.kind == "gcn") model.aggregation = nn::Aggregation::sum;
    for (const std::uint32_t columns : {2u, 0u}) {
      Stream stream(derive_key(204, Purpose::test));
      model.edge_features = columns;
      const Toy toy = pairs_by_edges(60, model, stream);
      Job job = toy.job(model);
      job.epochs = 60;
      job.eval_every = 60;
      Trial trial = trial_of(job, 1, 0, 40);
      trial.learning_rate = 3e-3;
      Recorder seen(1);
      make_engine("cpu", 1)->train(job, std::span(&trial, 1), seen);
      const auto& said = seen.results[0].back().test_predictions;
      std::size_t right = 0;
      for (std::size_t i = 0; i < said.size(); ++i) right += said[i] == toy.labels[trial.test[i]] ? 1 : 0;
      if (columns > 0) {
        EXPECT_GE(right, 38u) << kind;
      } else {
        EXPECT_EQ(right, 20u) << kind;  // both of a pair look the same
      }
    }
  }
}

/// 1 - squared error / variance, of one number per test graph.
double r_squared(std::span<const float> outputs, std::span<const std::uint32_t> test, std::span<const float> targets) {
  double mean = 0, error = 0, variance = 0;
  for (const std::uint32_t g : test) mean += targets[g] / static_cast<double>(test.size());
  for (std::size_t i = 0; i < test.size(); ++i) {
    error += std::pow(double{outputs[i]} - targets[test[i]], 2);
    variance += std::pow(targets[test[i]] - mean, 2);
  }
  return 1 - error / variance;
}

// How many edges are of the first kind, of which every graph has a share of its own.
TEST(EdgeFeatures, AreCountedByGinAndSumsAndByNothingWithoutThem) {
  for (const std::uint32_t columns : {2u, 0u}) {
    nn::ModelConfig model;
    model.kind = "gin";
    model.width = 16;
    model.layers = 2;
    model.dropout = 0;
    model.readout = nn::Readout::sum;
    model.classes = 1;
    model.edge_features = columns;
    Stream stream(derive_key(205, Purpose::test));
    Toy toy;
    std::vector<float> targets;
    for (int g = 0; g < 150; ++g) {
      const Graph graph = random_graph(10, 0.4, stream);
      const double share = stream.uniform();
      float count = 0;
      std::vector<float>& edges = toy.edge_features.emplace_back();
      for (std::size_t e = 0; e < graph.num_edges(); ++e) {
        const bool first = stream.uniform() < share;
        count += first ? 1.0f : 0.0f;
        edges.push_back(first ? 1.0f : 0.0f);
        edges.push_back(first ? 0.0f : 1.0f);
      }
      toy.graphs.push_back(graph);
      toy.features.emplace_back(std::size_t{graph.num_nodes()} * model.input_features, 1.0f);
      targets.push_back((count - 9) / 5);
    }
    toy.labels.assign(toy.graphs.size(), 0);
    Job job = toy.job(model);
    job.data.targets = Targets::real(targets, 1);
    job.loss = Loss::huber;
    job.epochs = 150;
    job.eval_every = 150;
    Trial trial = trial_of(job, 1, 0, 40);
    trial.learning_rate = 2e-3;
    Recorder seen(1);
    make_engine("cpu", 1)->train(job, std::span(&trial, 1), seen);
    const double fit = r_squared(seen.results[0].back().test_outputs, trial.test, targets);
    if (columns > 0) {
      EXPECT_GE(fit, 0.95);
    } else {
      EXPECT_LE(fit, 0.5);
    }
  }
}

}  // namespace
}  // namespace tyche::engine
