// PPGN on the device against PyTorch's golden case and the CPU engine: logits, losses, gradients, training.
#include <algorithm>
#include <cmath>

#include "engine/cases.hpp"
#include "engine/core/adam.hpp"
#include "engine/cpu/kernels.hpp"
#include "engine/golden.hpp"
#include "engine/sets/set_data.hpp"
#include "engine_cuda/device_fixture.hpp"
#include "graph/graph_samples.hpp"

namespace tyche::engine {
namespace {

using gpu::Precision;

class Ppgn : public DeviceTest, public testing::WithParamInterface<Precision> {
 protected:
  [[nodiscard]] static bool mixed() { return GetParam() == Precision::mixed; }
  [[nodiscard]] static double tolerance() { return mixed() ? 5e-3 : 1e-4; }
};

double distance(std::span<const float> actual, std::span<const float> expected) {
  EXPECT_EQ(actual.size(), expected.size());
  double largest = 1e-20, worst = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (!std::isfinite(actual[i])) return INFINITY;
    largest = std::max(largest, std::fabs(double{expected[i]}));
    worst = std::max(worst, std::fabs(double{actual[i]} - expected[i]));
  }
  return worst / largest;
}

void expect_tensors_close(const nn::ModelConfig& model, std::span<const float> actual, std::span<const float> expected,
                          double tolerance, const std::string& what) {
  ASSERT_EQ(actual.size(), expected.size()) << what;
  for (const nn::Tensor& tensor : nn::layout(model).tensors) {
    EXPECT_LE(distance(actual.subspan(tensor.offset, tensor.size), expected.subspan(tensor.offset, tensor.size)),
              tolerance)
        << what << "." << tensor.name;
  }
}

nn::ModelConfig small_ppgn(std::uint32_t width, std::uint32_t blocks, std::uint32_t depth) {
  nn::ModelConfig config;
  config.kind = "ppgn";
  config.width = width;
  config.layers = blocks;
  config.mlp_depth = depth;
  return config;
}

TEST_P(Ppgn, LogitsLossAndGradientsArePyTorchs) {
  for (const char* name : {"ppgn", "ppgn_mean", "ppgn_sum", "ppgn_rni50"}) {
    const GoldenCase golden(name);
    const Job job = golden.job();
    const auto path = gpu::make_ppgn_path({GetParam(), 1});
    std::vector<float> gradient;
    Logits logits;
    const double loss = path->gradient(job, golden.flat("init"), golden.which, golden.draw(), gradient, logits);
    EXPECT_LE(distance(logits.values, golden.values("out.logits")), tolerance()) << name;
    EXPECT_NEAR(loss, golden.values("out.loss")[0], tolerance() * loss) << name;
    expect_tensors_close(job.model, gradient, golden.flat("grad"), tolerance(), std::string(name) + " grad");
    EXPECT_EQ(path->predict(job, golden.flat("init"), golden.which, golden.draw()).values, logits.values) << name;
  }
}

TEST_P(Ppgn, AdamStepsArePyTorchs) {
  const GoldenCase golden("ppgn");
  Job job = golden.job();
  job.batch = static_cast<std::uint32_t>(golden.which.size());
  Trial trial;
  trial.learning_rate = golden.learning_rate;
  trial.train = golden.which;
  trial.state = fresh_state(job.model, 1, 0);
  trial.state.parameters = golden.flat("init");
  Recorder recorder(1);
  const auto path = gpu::make_ppgn_path({GetParam(), 1});
  for (const std::uint32_t steps : {1u, 5u}) {
    job.epochs = steps;
    EXPECT_TRUE(path->train(job, {&trial, 1}, recorder).empty());
    const std::string name = "adam" + std::to_string(steps);
    expect_tensors_close(job.model, trial.state.parameters, golden.flat(name.c_str()), tolerance(), name);
  }
  EXPECT_EQ(recorder.results[0].size(), 5u);
  EXPECT_EQ(trial.state.step, 5u);
}

// Widths that are and are not whole groups of channels, blocks and depths of all kinds, graphs of one node and of none.
TEST_P(Ppgn, GradientsAreTheCpuEngines) {
  const std::uint32_t widths[] = {5, 16, 33}, blocks[] = {1, 3, 2}, depths[] = {3, 1, 2};
  // Seeds without near ties: where rounding moves a maximum to another row, gradients differ by more than rounding.
  const std::uint64_t seeds[] = {0, 4, 1};
  for (unsigned i = 0; i < 3; ++i) {
    tyche::Stream stream(derive_key(seeds[i], Purpose::test, 5 + i));
    nn::ModelConfig config = small_ppgn(widths[i], blocks[i], depths[i]);
    config.classes = 2 + i;
    config.input_features = 1 + 9 * i;
    config.readout = std::vector{nn::Readout::max, nn::Readout::max, nn::Readout::mean}[i];
    Toy toy = random_toy(config, 3, 7, stream);
    toy.add(random_graph(1, 0, stream), config, stream);
    toy.add(random_graph(0, 0, stream), config, stream);
    toy.add(random_graph(9, 0.4, stream), config, stream);
    Job job = toy.job(config);
    job.batch = i == 1 ? 4 : 6;  // a gradient of several batches is their sum
    const auto parameters = nn::initial_parameters(config, seeds[i], 0);
    std::vector<float> expected, gradient;
    Logits expected_logits, logits;
    const double expected_loss =
        make_engine("cpu", 1)->gradient(job, parameters, toy.all(), {}, expected, expected_logits);
    const double loss =
        gpu::make_ppgn_path({GetParam(), 1})->gradient(job, parameters, toy.all(), {}, gradient, logits);
    EXPECT_LE(distance(logits.values, expected_logits.values), tolerance()) << i;
    EXPECT_NEAR(loss, expected_loss, tolerance() * expected_loss);
    expect_tensors_close(config, gradient, expected, tolerance(), "case " + std::to_string(i));
  }
}

// Graphs with many pairs that look alike (a cycle of 36 pairs has four classes), beside one without: one row per class
// gives what a row per pair gives, and what the CPU engine gives.
class PpgnReadout : public Ppgn {
 protected:
  static void compare(nn::Readout readout);
};
TEST_P(PpgnReadout, MaximaOnClassesOfPairsAreThoseOnAllPairs) { compare(nn::Readout::max); }
TEST_P(PpgnReadout, MeansOnClassesOfPairsAreThoseOnAllPairs) { compare(nn::Readout::mean); }
TEST_P(PpgnReadout, SumsOnClassesOfPairsAreThoseOnAllPairs) { compare(nn::Readout::sum); }

void PpgnReadout::compare(nn::Readout readout) {
  nn::ModelConfig config = small_ppgn(20, 2, 2);
  config.readout = readout;
  config.input_features = 2;
  tyche::Stream stream(derive_key(3, Purpose::test));
  Toy toy;
  const auto add = [&](const Graph& graph, std::uint32_t label, std::vector<Node> marked) {
    std::vector<float> features;
    for (Node v = 0; v < graph.num_nodes(); ++v) {
      const bool mark = std::find(marked.begin(), marked.end(), v) != marked.end();
      features.insert(features.end(), {mark ? 0.0f : 1.0f, mark ? 1.0f : 0.0f});
    }
    toy.graphs.push_back(graph);
    toy.labels.push_back(label);
    toy.features.push_back(features);
  };
  add(cycle(6), 0, {});
  add(cycle(6), 0, {5, 3, 1});
  add(cycle(11), 0, {10});
  add(random_graph(9, 0.4, stream), 0, {2, 3});
  Job job = toy.job(config);
  job.batch = 4;
  const auto parameters = nn::initial_parameters(config, 4, 0);  // no near ties
  std::vector<float> expected, on_pairs, on_classes;
  Logits expected_logits, logits;
  const auto path = gpu::make_ppgn_path({GetParam(), 1});
  const double expected_loss =
      make_engine("cpu", 1)->gradient(job, parameters, toy.all(), {}, expected, expected_logits);
  EXPECT_NEAR(path->gradient(job, parameters, toy.all(), {}, on_classes, logits), expected_loss,
              tolerance() * expected_loss);
  EXPECT_LE(distance(logits.values, expected_logits.values), tolerance());
  expect_tensors_close(config, on_classes, expected, tolerance(), "classes");
  job.compress = false;
  (void)path->gradient(job, parameters, toy.all(), {}, on_pairs, logits);
  EXPECT_LE(distance(logits.values, expected_logits.values), tolerance());
  expect_tensors_close(config, on_pairs, expected, tolerance(), "pairs");
}

// Random features are the CPU's, whether drawn or pinned; every pair then has a row of its own.
TEST_P(Ppgn, RandomFeaturesAreTheCpuEngines) {
  const nn::Distribution distributions[] = {nn::Distribution::normal, nn::Distribution::xavier_uniform};
  for (unsigned i = 0; i < 2; ++i) {
    nn::ModelConfig config = small_ppgn(12, 2, 2);
    config.rni = 0.5;
    config.distribution = distributions[i];
    config.xavier_fan = 10;
    config.readout = i == 0 ? nn::Readout::sum : nn::Readout::mean;
    tyche::Stream stream(derive_key(i, Purpose::test, 9));
    Toy toy = random_toy(config, 3, 7, stream);
    toy.add(cycle(6), config, stream);
    toy.add(random_graph(0, 0, stream), config, stream);
    Job job = toy.job(config);
    job.batch = 2;
    const auto parameters = nn::initial_parameters(config, 4, 0);
    Draw draw;
    draw.seed = 3;
    draw.index = i;
    std::vector<float> expected, gradient;
    Logits expected_logits, logits;
    const auto path = gpu::make_ppgn_path({GetParam(), 1});
    (void)make_engine("cpu", 1)->gradient(job, parameters, toy.all(), draw, expected, expected_logits);
    (void)path->gradient(job, parameters, toy.all(), draw, gradient, logits);
    EXPECT_LE(distance(logits.values, expected_logits.values), tolerance());
    expect_tensors_close(config, gradient, expected, tolerance(), "drawn");

    std::vector<float> pinned;
    for (const Graph& graph : toy.graphs) {
      for (std::size_t k = 0; k < std::size_t{graph.num_nodes()} * config.random_dims(); ++k) {
        pinned.push_back(static_cast<float>(stream.uniform()));
      }
    }
    draw.pinned = pinned;
    (void)make_engine("cpu", 1)->gradient(job, parameters, toy.all(), draw, expected, expected_logits);
    EXPECT_LE(distance(path->predict(job, parameters, toy.all(), draw).values, expected_logits.values), tolerance());

    const auto rows = pair_rows(job, 1);
    for (std::size_t g = 0; g < toy.graphs.size(); ++g) {
      EXPECT_EQ(rows[g].classes.size(), toy.graphs[g].num_nodes() * toy.graphs[g].num_nodes());
    }
  }
}

struct Training {
  Toy toy;
  Job job;

  explicit Training(std::uint32_t epochs, double rni = 0) {
    nn::ModelConfig config = small_ppgn(12, 2, 2);
    config.rni = rni;
    tyche::Stream stream(derive_key(7, Purpose::test, 5));
    toy = random_toy(config, 7, 6, stream);
    job = toy.job(config);
    job.batch = 2;
    job.epochs = epochs;
    job.eval_every = 2;
  }
  [[nodiscard]] Trial trial(std::uint64_t seed) const { return trial_of(job, seed, 0, 2); }
};

// Twenty steps and more: five training graphs in batches of two are three steps per epoch.
void expect_training_like_the_cpu(const Training& training, Precision precision, double tolerance) {
  Trial expected = training.trial(1), trial = training.trial(1);
  Recorder expected_results(1), results(1);
  make_engine("cpu", 1)->train(training.job, {&expected, 1}, expected_results);
  EXPECT_TRUE(gpu::make_ppgn_path({precision, 1})->train(training.job, {&trial, 1}, results).empty());
  EXPECT_EQ(trial.state.step, 21u);
  EXPECT_EQ(trial.state.step, expected.state.step);
  EXPECT_EQ(trial.state.epoch, expected.state.epoch);
  expect_tensors_close(training.job.model, trial.state.parameters, expected.state.parameters, tolerance, "parameters");
  ASSERT_EQ(results.results[0].size(), 7u);
  for (std::size_t e = 0; e < 7; ++e) {
    const EpochResult &mine = results.results[0][e], &theirs = expected_results.results[0][e];
    EXPECT_NEAR(mine.train_loss, theirs.train_loss, tolerance);
    EXPECT_EQ(mine.epoch, theirs.epoch);
    EXPECT_EQ(mine.evaluated, theirs.evaluated);
    EXPECT_EQ(mine.test_predictions, theirs.test_predictions);
    EXPECT_EQ(train_accuracy(mine), train_accuracy(theirs));
  }
}

TEST_P(Ppgn, TrainsLikeTheCpuEngine) { expect_training_like_the_cpu(Training(7), GetParam(), tolerance()); }

// Draws of features are keyed by epoch and pass, and a test prediction is the mean of several. Where the CPU engine has
// no instruction set but Highway's emulated one (clang with sanitizers), whose products and sums round twice, Adam's
// first steps carry that further: 4.4 tolerances were seen.
TEST_P(Ppgn, TrainsLikeTheCpuEngineWithRandomFeatures) {
  Training training(7, 0.5);
  training.job.eval_draws = 3;
  const auto kernels = cpu::kernel_names();
  const double tolerances = std::find(kernels.begin(), kernels.end(), "emu128") != kernels.end() ? 6 : 4;
  expect_training_like_the_cpu(training, GetParam(), tolerances * tolerance());
}

void expect_same(const State& a, const State& b) {
  EXPECT_EQ(a.parameters, b.parameters);
  EXPECT_EQ(a.adam_m, b.adam_m);
  EXPECT_EQ(a.adam_v, b.adam_v);
  EXPECT_EQ(a.step, b.step);
  EXPECT_EQ(a.epoch, b.epoch);
}

TEST_P(Ppgn, GivesTheSameBitsBesideOthersAndWhenResumed) {
  const Training training(3);
  const auto path = gpu::make_ppgn_path({GetParam(), 1});
  Trial alone = training.trial(2);
  Recorder recorder(2);
  (void)path->train(training.job, {&alone, 1}, recorder);

  std::vector<Trial> trials = {training.trial(1), training.trial(2)};
  trials[0].learning_rate = 0.01;
  (void)path->train(training.job, trials, recorder);
  expect_same(trials[1].state, alone.state);
  EXPECT_NE(trials[0].state.parameters, alone.state.parameters);

  Trial resumed = training.trial(2);
  recorder.stop_after = 1;
  (void)path->train(training.job, {&resumed, 1}, recorder);
  EXPECT_LT(resumed.state.epoch, 3u);  // it may take an epoch more until the host has a state
  recorder.stop_after = 0;
  (void)path->train(training.job, {&resumed, 1}, recorder);
  expect_same(resumed.state, alone.state);
}

// Where memory is short, weights' gradients are computed block by block: the same bits.
TEST_P(Ppgn, GivesTheSameBitsInLittleMemory) {
  const Training training(1);
  const auto parameters = nn::initial_parameters(training.job.model, 1, 0);
  const auto gradient_in = [&](std::size_t memory) {
    std::vector<float> gradient;
    Logits logits;
    const auto path = gpu::make_ppgn_path({.precision = GetParam(), .threads = 1, .memory = memory});
    (void)path->gradient(training.job, parameters, training.toy.all(), {}, gradient, logits);
    return gradient;
  };
  EXPECT_EQ(gradient_in(std::size_t{1} << 40), gradient_in(0));
}

TEST_P(Ppgn, ATrialThatLeavesTheNumbersStaysAtItsLastGoodState) {
  const Training training(1);
  std::vector<Trial> trials = {training.trial(1), training.trial(2)};
  // Two blocks square what enters them twice over: past 65,504, or past 3e38.
  for (float& p : trials[0].state.parameters) p = std::fabs(p) * (mixed() ? 50.0f : 1e8f);
  const State before = trials[0].state;
  Recorder recorder(2);
  const auto broken = gpu::make_ppgn_path({GetParam(), 1})->train(training.job, trials, recorder);
  EXPECT_EQ(broken, std::vector<std::size_t>{0});
  expect_same(trials[0].state, before);
  EXPECT_TRUE(recorder.results[0].empty());
  EXPECT_EQ(recorder.results[1].size(), 1u);
  EXPECT_EQ(trials[1].state.epoch, 1u);
}

// A loss scale that is too large for an epoch gives way to a smaller one.
TEST_F(DeviceTest, PpgnFindsALossScaleThatFits) {
  Training training(1);
  Trial trial = training.trial(1), expected = trial;
  const nn::Layout layout = nn::layout(training.job.model);
  for (unsigned b = 0; b < 2; ++b) {
    const nn::Tensor& vote = layout.at("vote." + std::to_string(b) + ".weight");
    for (std::size_t i = 0; i < vote.size; ++i) trial.state.parameters[vote.offset + i] *= 400;
  }
  expected.state = trial.state;
  Recorder recorder(1);
  EXPECT_TRUE(gpu::make_ppgn_path({Precision::mixed, 1})->train(training.job, {&trial, 1}, recorder).empty());
  make_engine("cpu", 1)->train(training.job, {&expected, 1}, recorder);
  expect_tensors_close(training.job.model, trial.state.parameters, expected.state.parameters, 2e-2, "parameters");
}

TEST_F(DeviceTest, PpgnPredictsInFp32WhatDoesNotFitHalfPrecision) {
  const Training training(1);
  auto parameters = nn::initial_parameters(training.job.model, 1, 0);
  for (float& p : parameters) p = std::fabs(p) * 50;
  const Logits expected = make_engine("cpu", 1)->predict(training.job, parameters, training.toy.all(), {});
  const Logits logits =
      gpu::make_ppgn_path({Precision::mixed, 1})->predict(training.job, parameters, training.toy.all(), {});
  EXPECT_LE(distance(logits.values, expected.values), 1e-4);
}

std::string precision_title(const testing::TestParamInfo<Precision>& given) {
  return given.param == Precision::mixed ? "Mixed" : "Fp32";
}
INSTANTIATE_TEST_SUITE_P(BothPrecisions, Ppgn, testing::Values(Precision::mixed, Precision::fp32), precision_title);
INSTANTIATE_TEST_SUITE_P(BothPrecisions, PpgnReadout, testing::Values(Precision::mixed, Precision::fp32),
                         precision_title);

}  // namespace
}  // namespace tyche::engine
