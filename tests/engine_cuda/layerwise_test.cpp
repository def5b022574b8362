// The layer-wise path on nodes, against PyTorch's answers and the CPU engines.
#include <tuple>

#include "engine/core/inputs.hpp"
#include "engine/core/outcome.hpp"
#include "engine/reference_cases.hpp"
#include "engine_cuda/layerwise_cases.hpp"
#include "support/step_called.hpp"

namespace tyche::engine {
namespace {

using gpu::Precision;

gpu::PathOptions chunks_of(Precision precision, std::uint32_t epochs, unsigned lanes) {
  gpu::PathOptions options;
  options.precision = precision;
  options.threads = 1;
  options.chunk_epochs = epochs;
  options.together = lanes;
  return options;
}

nn::ModelConfig small_gcn(double rni) {
  nn::ModelConfig model;
  model.width = 16;
  model.layers = 2;
  model.head_hidden = 8;
  model.pre_hidden = 8;
  model.rni = rni;
  return model;
}

class LayerwiseGolden : public testing::TestWithParam<std::tuple<std::string, Precision>> {
 protected:
  void SetUp() override {
    const gpu::DeviceState device = gpu::device_state();
    if (!device.usable) GTEST_SKIP() << "needs a GPU: " << device.text;
  }
};
std::string case_and_precision(const testing::TestParamInfo<LayerwiseGolden::ParamType>& at) {
  return std::get<0>(at.param) + "_" + precision_name(std::get<1>(at.param));
}

// The reference's gradient where the given rows win, each of which must be a maximum to `relative`.
std::vector<float> gradient_of_winners(const GoldenCase& golden, std::span<const std::uint32_t> winners,
                                       double relative) {
  const Job job = golden.job();
  const reference::Interpreter<float> network(nn::program(job.model));
  const std::size_t readout = nn::step_called(network.program(), "readout");
  const auto parameters = golden.flat("init");
  const Draw draw = golden.draw();
  std::vector<float> gradient(parameters.size(), 0.0f), d;
  std::size_t nodes = 0;
  for (const std::uint32_t g : golden.which) {
    const MessageGraph messages = messages_of(job.model, job.data.graphs[g]);
    const std::vector<float> arcs = job.model.edge_features > 0 ? arc_features(job, g) : std::vector<float>();
    const std::vector<float> features = pre_inputs(job, draw, g);
    const std::size_t columns = job.model.random_dims();
    std::span<const float> random;
    if (columns > 0) random = draw.pinned.subspan(nodes * columns, messages.rows_in * columns);
    nodes += messages.rows_in;
    const NodeScene scene(messages, features, random, {}, arcs);
    auto pass = network.forward(parameters, scene);
    const auto& h = pass.values[network.program().steps[readout].terms[0].value];
    for (std::size_t c = 0; c < job.model.width; ++c) {
      const std::uint32_t row = winners[g * job.model.width + c];
      EXPECT_NEAR(h(row, c), pass.values[readout](0, c), relative) << "graph " << g << " column " << c;
      pass.winners[readout][c] = row;
    }
    d.resize(pass.logits().size());
    (void)loss_of(job.loss, SerialOutputs<float>(pass.logits().data(), pass.logits().size(), d.data()),
                  job.data.targets[g], 1 / static_cast<float>(mean_divisor(job.data.targets, golden.which)));
    network.backward(parameters, scene, pass, d, gradient);
  }
  return gradient;
}

TEST_P(LayerwiseGolden, LogitsLossAndGradientsArePyTorchs) {
  const auto& [name, precision] = GetParam();
  const GoldenCase golden(name);
  const Job job = golden.job();
  gpu::PathOptions options;
  options.precision = precision;
  options.threads = 1;
  std::vector<std::uint32_t> winners;
  options.winners = &winners;
  const auto path = gpu::make_layerwise_path(options);
  const Answer actual = answer_of(*path, job, golden.flat("init"), golden.draw());
  Answer expected;
  expected.logits.values = golden.values("out.logits");
  expected.loss = golden.values("out.loss")[0];
  // In half precision nearly equal rows may win in another order: then the gradient is that of the rows that won.
  const bool on_nodes = !job.model.on_sets();
  const bool ties = on_nodes && job.model.readout == nn::Readout::max && precision == Precision::mixed;
  expected.gradient = ties ? gradient_of_winners(golden, winners, 1e-3) : golden.flat("grad");
  expect_answer(job, actual, expected, tolerance(precision), name);
}

INSTANTIATE_TEST_SUITE_P(
    EveryCase, LayerwiseGolden,
    testing::Combine(testing::Values("gcn_rni100_elu", "gcn_rni50_elu", "gcn_deterministic_elu", "gcn_rni100_tanh",
                                     "gcn_rni12_paper_size", "gcn_colours", "gcn_marks", "gcn3", "gcn123",
                                     "gcn123_rni50", "gin", "gin_rni50_sum", "sage", "sage_rni50_sum", "gcn_edges_mean",
                                     "gcn_edges_sum_rni50", "gine", "gine_rni50_sum", "gcn_squared", "gcn_absolute",
                                     "gcn_huber_missing", "gcn_binary_missing", "gcn_class_weights"),
                     testing::Values(Precision::fp32, Precision::mixed)),
    case_and_precision);

class Layerwise : public DeviceTest {};

TEST_F(Layerwise, AgreesWithTheReferenceInEveryOption) {
  std::uint32_t i = 0;
  for (const auto activation : {nn::Activation::elu, nn::Activation::tanh, nn::Activation::relu}) {
    for (const auto readout : {nn::Readout::max, nn::Readout::mean, nn::Readout::sum}) {
      nn::ModelConfig model = small_gcn(std::vector{1.0, 0.5, 0.0}[i % 3]);
      model.activation = activation;
      model.readout = readout;
      model.aggregation = i % 2 == 0 ? nn::Aggregation::mean : nn::Aggregation::sum;
      model.distribution = std::vector{nn::Distribution::normal, nn::Distribution::uniform,
                                       nn::Distribution::xavier_normal, nn::Distribution::xavier_uniform}[i % 4];
      model.xavier_fan = 30;
      model.classes = 2 + i % 3;
      model.layers = 1 + i % 3;
      model.input_features = 1 + i % 4;
      const Toy toy = odd_graphs(model, 20);
      const std::string what = "case " + std::to_string(i);
      expect_agreement(toy.job(model), *path_of(Precision::fp32), tolerance(Precision::fp32), what);
      // Near ties of a maximum are not for half precision; everything else is.
      if (readout != nn::Readout::max) {
        expect_agreement(toy.job(model), *path_of(Precision::mixed), 2 * tolerance(Precision::mixed), what + " mixed");
      }
      ++i;
    }
  }
}

TEST_F(Layerwise, AgreesWithTheReferenceInAnyWidth) {
  for (const std::uint32_t width : {7u, 40u, 80u}) {
    nn::ModelConfig model = small_gcn(0.3);
    model.width = width;
    model.layers = 1;
    model.pre_hidden = 5;
    const Toy toy = odd_graphs(model, 30);
    expect_agreement(toy.job(model), *path_of(Precision::fp32), tolerance(Precision::fp32),
                     "width " + std::to_string(width));
    model.readout = nn::Readout::mean;
    expect_agreement(toy.job(model), *path_of(Precision::mixed), 2 * tolerance(Precision::mixed),
                     "width " + std::to_string(width) + " mixed");
  }
}

TEST_F(Layerwise, AgreesWithTheReferenceOverManyTiles) {
  nn::ModelConfig model = small_gcn(0.5);
  model.layers = 1;
  const Toy toy = odd_graphs(model, 600);
  expect_agreement(toy.job(model), *path_of(Precision::fp32), tolerance(Precision::fp32), "600 nodes");
}

TEST_F(Layerwise, FiftyStepsAreTheCpus) {
  for (const Precision precision : {Precision::fp32, Precision::mixed}) {
    nn::ModelConfig model = small_gcn(0.5);
    if (precision == Precision::mixed) model.readout = nn::Readout::mean;
    Stream stream(derive_key(11, Purpose::test));
    const Toy toy = random_toy(model, 14, 12, stream);
    Job job = toy.job(model);
    job.epochs = 10;
    job.batch = 2;
    job.eval_draws = 2;
    job.eval_every = 3;
    Trial ours[] = {trial_of(job, 4, 2, 4)}, theirs[] = {trial_of(job, 4, 2, 4)};
    Listener heard(1), expected(1);
    EXPECT_TRUE(path_of(precision)->train(job, ours, heard).empty());
    make_engine("cpu", 1)->train(job, theirs, expected);
    EXPECT_EQ(ours[0].state.step, 50u);
    EXPECT_EQ(ours[0].state.epoch, 10u);
    const double relative = precision == Precision::fp32 ? 1e-3 : 2e-2;
    expect_tensors_near(model, ours[0].state.parameters, theirs[0].state.parameters, relative, "parameters");
    ASSERT_EQ(heard.results[0].size(), 10u);
    for (std::size_t e = 0; e < 10; ++e) {
      const EpochResult &a = heard.results[0][e], &b = expected.results[0][e];
      EXPECT_EQ(a.epoch, e + 1);
      EXPECT_NEAR(a.train_loss, b.train_loss, relative);
      EXPECT_EQ(a.evaluated, b.evaluated);
      if (precision == Precision::mixed) continue;
      EXPECT_EQ(train_accuracy(a), train_accuracy(b));
      EXPECT_EQ(a.test_predictions, b.test_predictions);
    }
  }
}

TEST_F(Layerwise, ATrialsBitsDependOnNothingElse) {
  for (const Precision precision : {Precision::fp32, Precision::mixed}) {
    nn::ModelConfig model = small_gcn(0.5);
    model.layers = 1;
    Stream stream(derive_key(12, Purpose::test));
    const Toy toy = random_toy(model, 12, 30, stream);
    Job job = toy.job(model);
    job.epochs = 4;
    job.batch = 4;
    Trial alone[] = {trial_of(job, 4, 2, 3)};
    alone[0].train.resize(5);
    Listener heard(1);
    gpu::make_layerwise_path(chunks_of(precision, 1, 1))->train(job, alone, heard);
    EXPECT_EQ(heard.passing, 0u);
    for (const auto& [chunk, lanes] : {std::pair{3u, 2u}, std::pair{4u, 1u}}) {
      Trial packed[] = {trial_of(job, 9, 0, 2), trial_of(job, 4, 2, 3), trial_of(job, 5, 1, 1)};
      packed[1].train.resize(5);
      Listener all(3);
      gpu::make_layerwise_path(chunks_of(precision, chunk, lanes))->train(job, packed, all);
      EXPECT_GT(all.passing, 0u);
      EXPECT_TRUE(same_bits(packed[1].state, alone[0].state));
      ASSERT_EQ(all.results[1].size(), 4u);
      for (std::size_t e = 0; e < 4; ++e) {
        EXPECT_EQ(all.results[1][e].train_loss, heard.results[0][e].train_loss);
        EXPECT_EQ(all.results[1][e].test_predictions, heard.results[0][e].test_predictions);
      }
    }
    // Stopped after two epochs and gone on.
    Trial broken_off[] = {trial_of(job, 4, 2, 3)};
    broken_off[0].train.resize(5);
    job.epochs = 2;
    path_of(precision)->train(job, broken_off, heard);
    job.epochs = 4;
    path_of(precision)->train(job, broken_off, heard);
    EXPECT_TRUE(same_bits(broken_off[0].state, alone[0].state));
  }
}

TEST_F(Layerwise, AnObserverStopsATrial) {
  const nn::ModelConfig model = small_gcn(1);
  Stream stream(derive_key(13, Purpose::test));
  const Toy toy = random_toy(model, 5, 6, stream);
  Job job = toy.job(model);
  job.epochs = 6;
  Trial trials[] = {trial_of(job, 1, 0, 1), trial_of(job, 2, 0, 1)};
  Recorder recorder(2);
  recorder.stop_after = 2;
  gpu::make_layerwise_path(chunks_of(Precision::fp32, 1, 2))->train(job, trials, recorder);
  EXPECT_EQ(recorder.results[0].size(), 2u);
  EXPECT_EQ(recorder.results[1].size(), 2u);
  EXPECT_EQ(trials[1].state.epoch, 2u);
}

TEST_F(Layerwise, NumbersThatHalfPrecisionCannotHoldAreReported) {
  const nn::ModelConfig model = small_gcn(0);
  Stream stream(derive_key(14, Purpose::test));
  Toy toy = random_toy(model, 6, 6, stream);
  for (float& value : toy.features[2]) value *= 1e6f;
  Job job = toy.job(model);
  job.epochs = 2;
  Trial trials[] = {trial_of(job, 1, 0, 2), trial_of(job, 1, 0, 2)};
  trials[0].train = {0, 1, 3};
  const State before = trials[1].state;
  Recorder recorder(2);
  const auto broken = path_of(Precision::mixed)->train(job, trials, recorder);
  EXPECT_EQ(broken, (std::vector<std::size_t>{1}));
  EXPECT_TRUE(same_bits(trials[1].state, before));
  EXPECT_EQ(recorder.results[0].size(), 2u);
  EXPECT_TRUE(recorder.results[1].empty());
  EXPECT_TRUE(path_of(Precision::fp32)->train(job, trials, recorder).empty());
  EXPECT_EQ(trials[1].state.epoch, 2u);
}

}  // namespace
}  // namespace tyche::engine
