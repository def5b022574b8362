// Models on sets on the layer-wise path, against the CPU engines.
#include "engine/sets/set_data.hpp"
#include "engine_cuda/layerwise_cases.hpp"
#include "nn/levels.hpp"
#include "support/error.hpp"

namespace tyche::engine {
namespace {

using gpu::Precision;

class SetsOnGpu : public DeviceTest {};

nn::ModelConfig small_set_model(const std::string& kind) {
  nn::ModelConfig model;
  model.kind = kind;
  model.width = 16;
  model.layers = 2;
  if (kind == "gcn123") {
    model.node_layers = 2;
    model.pair_layers = 1;
  }
  model.head_hidden = 8;
  return model;
}

// Features that some nodes share, so that classes are larger than one.
Toy coloured(const nn::ModelConfig& model, std::size_t count, Node most, std::uint64_t seed) {
  Stream stream(derive_key(seed, Purpose::test));
  Toy toy = random_toy(model, count - 1, most, stream);
  toy.add(Graph::from_edges(4, std::vector<Edge>{{0, 1}, {1, 2}, {2, 3}}), model, stream);
  for (std::size_t g = 0; g < count; ++g) {
    for (std::size_t i = 0; i < toy.features[g].size(); ++i) toy.features[g][i] = i % 2 == 0 ? 1.0f : 0.0f;
  }
  return toy;
}

struct Kind {
  const char* name;
  nn::TwoSets two_sets;
};
constexpr Kind kKinds[] = {{"gcn2", nn::TwoSets::edges},
                           {"gcn3", nn::TwoSets::edges},
                           {"gcn123", nn::TwoSets::edges},
                           {"gcn123", nn::TwoSets::all}};

TEST_F(SetsOnGpu, AgreeWithTheReferenceCompressedAndNot) {
  std::size_t i = 0;
  for (const Kind& kind : kKinds) {
    for (const auto readout : {nn::Readout::max, nn::Readout::mean, nn::Readout::sum}) {
      nn::ModelConfig model = small_set_model(kind.name);
      model.two_sets = kind.two_sets;
      model.readout = readout;
      model.aggregation = i % 2 == 0 ? nn::Aggregation::mean : nn::Aggregation::sum;
      model.activation = std::vector{nn::Activation::elu, nn::Activation::tanh, nn::Activation::relu}[i % 3];
      const Toy toy = coloured(model, 4, 6, 20 + i);
      nn::set_types_from(toy.graphs, model, 1);
      Job job = toy.job(model);
      for (const bool compress : {true, false}) {
        job.compress = compress;
        const std::string what =
            std::string(kind.name) + " case " + std::to_string(i) + (compress ? " compressed" : " plain");
        expect_agreement(job, *gpu::make_layerwise_path({Precision::fp32, 2}), tolerance(Precision::fp32), what);
        // Near ties of a maximum are not for half precision; everything else is.
        if (readout == nn::Readout::max) continue;
        expect_agreement(job, *gpu::make_layerwise_path({Precision::mixed, 1}), 2 * tolerance(Precision::mixed),
                         what + " mixed");
      }
      ++i;
    }
  }
}

// gcn123's nodes may have random features: then all sets have rows of their own, whatever was asked for.
TEST_F(SetsOnGpu, AgreeWithTheReferenceWithRandomFeatures) {
  std::size_t i = 0;
  for (const auto readout : {nn::Readout::max, nn::Readout::mean}) {
    nn::ModelConfig model = small_set_model("gcn123");
    model.rni = 0.3;
    model.readout = readout;
    model.distribution = i == 0 ? nn::Distribution::uniform : nn::Distribution::normal;
    const Toy toy = coloured(model, 4, 6, 70 + i++);
    nn::set_types_from(toy.graphs, model, 1);
    const Job job = toy.job(model);
    expect_agreement(job, *gpu::make_layerwise_path({Precision::fp32, 2}), tolerance(Precision::fp32), "fp32");
    if (readout == nn::Readout::max) continue;
    expect_agreement(job, *gpu::make_layerwise_path({Precision::mixed, 1}), 2 * tolerance(Precision::mixed), "mixed");
  }
}

TEST_F(SetsOnGpu, TrainLikeTheCpuWithRandomFeatures) {
  nn::ModelConfig model = small_set_model("gcn123");
  model.rni = 0.5;
  const Toy toy = coloured(model, 7, 6, 40);
  nn::set_types_from(toy.graphs, model, 1);
  Job job = toy.job(model);
  job.epochs = 3;
  job.batch = 2;
  job.eval_draws = 2;
  Trial ours[] = {trial_of(job, 4, 2, 2)}, theirs[] = {trial_of(job, 4, 2, 2)};
  Listener heard(1), expected(1);
  EXPECT_TRUE(gpu::make_layerwise_path({Precision::fp32, 1})->train(job, ours, heard).empty());
  make_engine("cpu", 1)->train(job, theirs, expected);
  expect_tensors_near(model, ours[0].state.parameters, theirs[0].state.parameters, 1e-3, "parameters");
  for (std::size_t e = 0; e < 3; ++e) {
    EXPECT_NEAR(heard.results[0][e].train_loss, expected.results[0][e].train_loss, 1e-4);
    EXPECT_EQ(heard.results[0][e].test_predictions, expected.results[0][e].test_predictions);
    EXPECT_EQ(heard.results[0][e].rows, heard.results[0][e].full_rows);
  }
}

TEST_F(SetsOnGpu, TrainLikeTheCpu) {
  for (const Kind& kind : kKinds) {
    nn::ModelConfig model = small_set_model(kind.name);
    model.two_sets = kind.two_sets;
    const Toy toy = coloured(model, 7, 6, 40);
    nn::set_types_from(toy.graphs, model, 1);
    Job job = toy.job(model);
    job.epochs = 3;
    job.batch = 2;
    for (const bool compress : {true, false}) {
      SetOptions options;
      options.compress = compress;
      job.sets = prepare_sets(model, job.data, options);
      Trial ours[] = {trial_of(job, 4, 2, 2)}, theirs[] = {trial_of(job, 4, 2, 2)};
      Listener heard(1), expected(1);
      EXPECT_TRUE(gpu::make_layerwise_path({Precision::fp32, 1})->train(job, ours, heard).empty());
      make_engine("cpu", 1)->train(job, theirs, expected);
      expect_tensors_near(model, ours[0].state.parameters, theirs[0].state.parameters, 1e-3, kind.name);
      for (std::size_t e = 0; e < 3; ++e) {
        const EpochResult &a = heard.results[0][e], &b = expected.results[0][e];
        EXPECT_NEAR(a.train_loss, b.train_loss, 1e-4);
        EXPECT_EQ(a.test_predictions, b.test_predictions);
        EXPECT_EQ(a.full_rows, b.full_rows);
        EXPECT_TRUE(compress ? a.rows < a.full_rows : a.rows == a.full_rows) << a.rows << " of " << a.full_rows;
      }
    }
  }
}

TEST_F(SetsOnGpu, BitsDependOnNothingElse) {
  nn::ModelConfig model = small_set_model("gcn123");
  const Toy toy = coloured(model, 8, 7, 50);
  nn::set_types_from(toy.graphs, model, 1);
  Job job = toy.job(model);
  job.epochs = 2;
  job.batch = 3;
  Trial alone[] = {trial_of(job, 4, 2, 2)};
  Trial packed[] = {trial_of(job, 1, 0, 1), trial_of(job, 4, 2, 2)};
  Listener one(1), two(2);
  gpu::PathOptions options;
  options.chunk_epochs = 2;
  gpu::make_layerwise_path({Precision::mixed, 1})->train(job, alone, one);
  gpu::make_layerwise_path(options)->train(job, packed, two);
  EXPECT_TRUE(same_bits(alone[0].state, packed[1].state));
}

TEST_F(SetsOnGpu, ATypeTheModelWasNotMadeForIsNamed) {
  nn::ModelConfig model = small_set_model("gcn2");
  const Toy toy = coloured(model, 2, 6, 60);
  nn::set_types_from(std::vector<Graph>{Graph::from_edges(2, std::vector<Edge>{{0, 1}})}, model, 1);
  Job job = toy.job(model);
  job.compress = false;
  const auto parameters = fresh_state(model, 1, 0).parameters;
  const std::vector<std::uint32_t> which = {0, 1};
  EXPECT_THROW((void)gpu::make_layerwise_path({Precision::fp32, 1})->predict(job, parameters, which, Draw{}),
               InputError);
}

}  // namespace
}  // namespace tyche::engine
