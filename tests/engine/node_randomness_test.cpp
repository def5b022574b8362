// Random node features of the models beside gcn: gcn123 has columns of them on its nodes, ppgn channels on its
// diagonal.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "engine/cases.hpp"
#include "engine/core/inputs.hpp"
#include "engine/core/outcome.hpp"
#include "engine/near.hpp"
#include "engine/sets/set_data.hpp"
#include "nn/levels.hpp"
#include "support/error.hpp"

namespace tyche::engine {
namespace {

class NodeRandomness : public testing::TestWithParam<std::string> {
 protected:
  NodeRandomness() {
    Stream stream(derive_key(11, Purpose::test));
    model_.kind = GetParam();
    model_.width = 12;
    model_.layers = 2;
    model_.rni = 0.5;
    // Nodes that nothing but their random features tells apart.
    for (const Node nodes : {6u, 1u, 8u, 5u, 7u}) {
      toy_.add(nodes == 8 ? random_graph(8, 0.5, stream) : ring(nodes), model_, stream);
      std::fill(toy_.features.back().begin(), toy_.features.back().end(), 1.0f);
    }
    nn::set_types_from(toy_.graphs, model_, 1);
    parameters_ = nn::initial_parameters(model_, 3, 0);
  }
  static Graph ring(Node nodes) {
    std::vector<Edge> edges;
    for (Node v = 0; v + 1 < nodes; ++v) edges.emplace_back(v, v + 1);
    if (nodes > 2) edges.emplace_back(0, nodes - 1);
    return Graph::from_edges(nodes, edges);
  }
  [[nodiscard]] Job job() const { return toy_.job(model_); }
  // What a draw gives to all nodes of all graphs.
  [[nodiscard]] std::vector<float> features_of(const Draw& draw) const {
    std::vector<float> all;
    const std::size_t columns = model_.random_dims();
    for (std::uint32_t g = 0; g < toy_.graphs.size(); ++g) {
      std::vector<float> own(toy_.graphs[g].num_nodes() * columns);
      random_features(model_, feature_key(draw.seed, draw.fold, draw.epoch, test_pass(draw.index)), g,
                      toy_.graphs[g].num_nodes(), own.data(), columns);
      all.insert(all.end(), own.begin(), own.end());
    }
    return all;
  }

  nn::ModelConfig model_;
  Toy toy_;
  std::vector<float> parameters_;
};

TEST_P(NodeRandomness, IsTheSameInEveryEngineAndBatch) {
  for (const auto distribution : {nn::Distribution::normal, nn::Distribution::uniform, nn::Distribution::xavier_normal,
                                  nn::Distribution::xavier_uniform}) {
    for (const auto readout : {nn::Readout::max, nn::Readout::mean, nn::Readout::sum}) {
      model_.distribution = distribution;
      model_.xavier_fan = 9;
      model_.readout = readout;
      Draw draw;
      draw.seed = 8;
      std::vector<float> expected, gradient;
      Logits expected_logits, logits;
      const double loss =
          make_engine("reference", 1)->gradient(job(), parameters_, toy_.all(), draw, expected, expected_logits);
      double largest = 0;
      for (const float g : expected) largest = std::max(largest, std::fabs(double{g}));
      Job other = job();
      for (const std::uint32_t batch : {20u, 2u}) {
        other.batch = batch;
        EXPECT_NEAR(make_engine("cpu", 2)->gradient(other, parameters_, toy_.all(), draw, gradient, logits), loss,
                    1e-5 * loss);
        for (std::size_t i = 0; i < logits.values.size(); ++i) {
          EXPECT_NEAR(logits.values[i], expected_logits.values[i], 1e-5 * (1 + std::fabs(expected_logits.values[i])));
        }
        for (std::size_t p = 0; p < gradient.size(); ++p) ASSERT_NEAR(gradient[p], expected[p], 5e-5 * largest);
        EXPECT_EQ(make_engine("cpu", 1)->predict(other, parameters_, toy_.all(), draw).values, logits.values);
      }
    }
  }
}

TEST_P(NodeRandomness, PinnedFeaturesTakeThePlaceOfDrawnOnes) {
  Draw draw;
  draw.seed = 4;
  draw.index = 2;
  const std::vector<float> features = features_of(draw);
  Draw pinned;
  pinned.pinned = features;
  for (const char* engine : {"reference", "cpu"}) {
    for (const std::uint32_t batch : {20u, 2u}) {
      Job asked = job();
      asked.batch = batch;
      // Vectors of random numbers agree with plain ones, which were pinned, to rounding.
      expect_near(make_engine(engine, 1)->predict(asked, parameters_, toy_.all(), pinned).values,
                  make_engine(engine, 1)->predict(asked, parameters_, toy_.all(), draw).values, 1e-6, engine);
    }
  }
  pinned.pinned = std::span(features).first(features.size() - 1);
  EXPECT_THROW((void)make_engine("cpu", 1)->predict(job(), parameters_, toy_.all(), pinned), InputError);
}

TEST_P(NodeRandomness, LeavesNothingToCompress) {
  if (model_.on_sets()) {
    const auto sets = prepare_sets(model_, job().data, SetOptions{});
    EXPECT_FALSE(sets->compressed());
    EXPECT_TRUE(sets->quotients().empty());
  }
  for (const wl::PairClasses& rows : pair_rows(job(), 1)) {
    for (const auto& row : rows.classes) EXPECT_EQ(row.size, 1u);
  }
  // Without them the rings have few classes.
  model_.rni = 0;
  EXPECT_LT(pair_rows(job(), 1)[0].classes.size(), 36u);
}

TEST_P(NodeRandomness, TestPredictionsAreTheMeanOfTheDraws) {
  Job training = job();
  training.epochs = 1;
  training.batch = 2;
  training.eval_draws = 5;
  for (const char* engine : {"reference", "cpu"}) {
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      std::vector<Trial> trials = {trial_of(training, seed, 1, 3)};
      Recorder recorder(1);
      make_engine(engine, 1)->train(training, trials, recorder);
      const std::vector<std::uint32_t>& test = trials[0].test;
      std::vector<double> probabilities(test.size() * 2, 0.0);
      std::vector<float> first;
      for (std::uint32_t index = 0; index < training.eval_draws; ++index) {
        Draw draw;
        draw.seed = seed;
        draw.fold = trials[0].fold;
        draw.epoch = 1;
        draw.index = index;
        const Logits logits = make_engine(engine, 1)->predict(training, trials[0].state.parameters, test, draw);
        if (index == 0) first = logits.values;
        if (index == 1) {
          EXPECT_NE(logits.values, first);
        }
        for (std::size_t g = 0; g < test.size(); ++g) {
          add_probabilities(std::span(logits.values).subspan(2 * g, 2), std::span(probabilities).subspan(2 * g, 2));
        }
      }
      std::vector<std::uint32_t> expected;
      for (std::size_t g = 0; g < test.size(); ++g) {
        expected.push_back(predicted_class(std::span(probabilities).subspan(2 * g, 2)));
      }
      EXPECT_EQ(recorder.results[0][0].test_predictions, expected) << engine << " " << seed;
      EXPECT_EQ(recorder.results[0][0].rows, recorder.results[0][0].full_rows);  // ppgn on a CPU counts neither
    }
  }
}

TEST_P(NodeRandomness, TrainsTheSameBitsOnAnyNumberOfThreadsAndAfterAStop) {
  Job training = job();
  training.epochs = 3;
  training.batch = 2;
  std::vector<std::vector<float>> parameters;
  for (const unsigned threads : {1u, 3u}) {
    std::vector<Trial> trials = {trial_of(training, 1, 0, 1)};
    Recorder recorder(1);
    recorder.stop_after = threads == 3 ? 1 : 0;
    make_engine("cpu", threads)->train(training, trials, recorder);
    recorder.stop_after = 0;
    make_engine("cpu", threads)->train(training, trials, recorder);
    parameters.push_back(trials[0].state.parameters);
  }
  EXPECT_EQ(parameters[0], parameters[1]);
}

INSTANTIATE_TEST_SUITE_P(EveryKind, NodeRandomness, testing::Values("gcn123", "ppgn"),
                         [](const auto& kind) { return kind.param; });

}  // namespace
}  // namespace tyche::engine
