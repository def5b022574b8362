// gin, and edge features in gcn and gin, on the layer-wise path, against the reference and CPU engines.
#include <tuple>

#include "engine_cuda/layerwise_cases.hpp"

namespace tyche::engine {
namespace {

using gpu::Precision;

class EdgesOnTheGpu : public DeviceTest {};

nn::ModelConfig small(const std::string& kind, double rni, std::uint32_t edge_features) {
  nn::ModelConfig model;
  model.kind = kind;
  model.width = 16;
  model.layers = 2;
  model.head_hidden = 8;
  if (kind == "gcn") model.pre_hidden = 8;
  model.rni = rni;
  model.edge_features = edge_features;
  return model;
}

void expect_both_precisions(const nn::ModelConfig& model, Node large, const std::string& what) {
  const Toy toy = odd_graphs(model, large);
  expect_agreement(toy.job(model), *path_of(Precision::fp32), tolerance(Precision::fp32), what);
  // Near ties of a maximum are not for half precision; everything else is.
  if (model.readout == nn::Readout::max) return;
  expect_agreement(toy.job(model), *path_of(Precision::mixed), 2 * tolerance(Precision::mixed), what + " mixed");
}

TEST_F(EdgesOnTheGpu, GcnAgreesWithTheReference) {
  std::uint32_t i = 0;
  for (const auto readout : {nn::Readout::max, nn::Readout::mean, nn::Readout::sum}) {
    for (const auto aggregation : {nn::Aggregation::mean, nn::Aggregation::sum}) {
      nn::ModelConfig model = small("gcn", std::vector{1.0, 0.5, 0.0}[i % 3], 3);
      model.readout = readout;
      model.aggregation = aggregation;
      expect_both_precisions(model, 20, "gcn, case " + std::to_string(i++));
    }
  }
}

TEST_F(EdgesOnTheGpu, GinAgreesWithTheReferenceWithAndWithoutEdgeFeatures) {
  for (const std::uint32_t columns : {0u, 3u}) {
    std::uint32_t i = 0;
    for (const auto readout : {nn::Readout::max, nn::Readout::mean, nn::Readout::sum}) {
      nn::ModelConfig model = small("gin", std::vector{1.0, 0.5, 0.0}[i % 3], columns);
      model.readout = readout;
      model.activation = std::vector{nn::Activation::elu, nn::Activation::tanh, nn::Activation::relu}[i % 3];
      expect_both_precisions(model, 20, "gin, " + std::to_string(columns) + " columns, case " + std::to_string(i++));
    }
    nn::ModelConfig drawn = small("gin", 0, columns);
    drawn.random = nn::Random::colours;
    drawn.readout = nn::Readout::mean;
    expect_both_precisions(drawn, 20, "gin with colours");
  }
}

TEST_F(EdgesOnTheGpu, AnyWidthAndNumberOfColumnsAgreesOverManyTiles) {
  for (const auto& [kind, width, columns, large] :
       {std::tuple{"gcn", 40u, 70u, 30u}, std::tuple{"gin", 80u, 70u, 30u}, std::tuple{"gin", 7u, 1u, 300u},
        std::tuple{"gcn", 7u, 17u, 300u}}) {
    nn::ModelConfig model = small(kind, 0.3, columns);
    model.width = width;
    model.layers = 1;
    model.readout = nn::Readout::mean;
    expect_both_precisions(model, large, std::string(kind) + " of width " + std::to_string(width));
  }
}

TEST_F(EdgesOnTheGpu, TwentyStepsAreTheCpus) {
  for (const auto& [kind, columns] : {std::pair{"gcn", 3u}, std::pair{"gin", 0u}, std::pair{"gin", 3u}}) {
    for (const Precision precision : {Precision::fp32, Precision::mixed}) {
      nn::ModelConfig model = small(kind, 0.5, columns);
      model.readout = nn::Readout::mean;
      Stream stream(derive_key(11, Purpose::test));
      const Toy toy = random_toy(model, 12, 12, stream);
      Job job = toy.job(model);
      job.epochs = 4;
      job.batch = 2;
      Trial ours[] = {trial_of(job, 4, 2, 2)}, theirs[] = {trial_of(job, 4, 2, 2)};
      Listener heard(1), expected(1);
      EXPECT_TRUE(path_of(precision)->train(job, ours, heard).empty());
      make_engine("cpu", 1)->train(job, theirs, expected);
      EXPECT_EQ(ours[0].state.step, 20u);
      const double relative = precision == Precision::fp32 ? 1e-3 : 2e-2;
      expect_tensors_near(model, ours[0].state.parameters, theirs[0].state.parameters, relative, kind);
      for (std::size_t e = 0; e < 4; ++e) {
        EXPECT_NEAR(heard.results[0][e].train_loss, expected.results[0][e].train_loss, relative);
      }
    }
  }
}

TEST_F(EdgesOnTheGpu, ATrialsBitsDependOnNothingElse) {
  for (const auto& [kind, columns] : {std::pair{"gcn", 3u}, std::pair{"gin", 3u}}) {
    const nn::ModelConfig model = small(kind, 0.5, columns);
    Stream stream(derive_key(12, Purpose::test));
    const Toy toy = random_toy(model, 12, 30, stream);
    Job job = toy.job(model);
    job.epochs = 3;
    job.batch = 4;
    const auto run = [&](std::uint32_t chunk, unsigned lanes, bool beside) {
      std::vector<Trial> trials = {trial_of(job, 4, 2, 3)};
      if (beside) trials.insert(trials.begin(), trial_of(job, 9, 0, 2));
      gpu::PathOptions options;
      options.threads = 1;
      options.chunk_epochs = chunk;
      options.together = lanes;
      Listener heard(trials.size());
      gpu::make_layerwise_path(options)->train(job, trials, heard);
      return trials.back().state;
    };
    const State alone = run(1, 1, false);
    EXPECT_TRUE(same_bits(run(3, 2, true), alone)) << kind;
  }
}

}  // namespace
}  // namespace tyche::engine
