// Any network on the layer-wise path: sage, and random ones, against the reference engine and plain loops in double.
#include <cmath>

#include "engine/random_program.hpp"
#include "engine_cuda/layerwise_cases.hpp"
#include "nn/program_builder.hpp"
#include "support/error.hpp"

namespace tyche::engine {
namespace {

using gpu::Precision;

class ProgramsOnTheGpu : public DeviceTest {};

TEST_F(ProgramsOnTheGpu, SageAgreesWithTheReference) {
  std::uint32_t i = 0;
  for (const std::uint32_t width : {16u, 7u, 80u}) {
    for (const auto readout : {nn::Readout::max, nn::Readout::mean}) {
      nn::ModelConfig model;
      model.kind = "sage";
      model.width = width;
      model.layers = 2;
      model.head_hidden = 8;
      model.rni = std::vector{0.0, 0.5, 1.0}[i % 3];
      model.readout = readout;
      model.aggregation = i % 2 == 0 ? nn::Aggregation::mean : nn::Aggregation::sum;
      const Toy toy = odd_graphs(model, 30);
      const std::string what = "case " + std::to_string(i++);
      expect_agreement(toy.job(model), *path_of(Precision::fp32), tolerance(Precision::fp32), what);
      if (readout == nn::Readout::max) continue;  // near ties are not for half precision
      expect_agreement(toy.job(model), *path_of(Precision::mixed), 2 * tolerance(Precision::mixed), what + " mixed");
    }
  }
}

TEST_F(ProgramsOnTheGpu, SageTrainsLikeTheReference) {
  nn::ModelConfig model;
  model.kind = "sage";
  model.width = 16;
  model.layers = 2;
  model.rni = 0.5;
  model.readout = nn::Readout::mean;
  Stream stream(derive_key(11, Purpose::test));
  const Toy toy = random_toy(model, 12, 12, stream);
  Job job = toy.job(model);
  job.epochs = 4;
  job.batch = 2;
  Trial ours[] = {trial_of(job, 4, 2, 2)}, theirs[] = {trial_of(job, 4, 2, 2)};
  Listener heard(1), expected(1);
  EXPECT_TRUE(path_of(Precision::fp32)->train(job, ours, heard).empty());
  make_engine("reference", 1)->train(job, theirs, expected);
  expect_tensors_near(model, ours[0].state.parameters, theirs[0].state.parameters, 1e-3, "sage");
}

void expect_program(const nn::Program& program, const Toy& toy, Precision precision, std::uint64_t seed,
                    Stream& stream) {
  SCOPED_TRACE(text_of(program));
  const Job job = toy.job(RandomProgramData::model());
  std::vector<float> parameters;
  for (std::size_t i = 0; i < program.parameters.size; ++i) {
    parameters.push_back(static_cast<float>(0.8 * stream.uniform() - 0.4));
  }
  Draw draw;
  draw.seed = seed;
  const Plain<double> exact(job, program, parameters, draw);
  const double most = largest(exact.gradient);
  // Sums of sums of sums are not for half precision.
  if (!std::isfinite(exact.loss) || most > (precision == Precision::fp32 ? 1e6 : 20)) return;
  gpu::PathOptions options;
  options.precision = precision;
  options.threads = 1;
  options.program = &program;
  const auto path = gpu::make_layerwise_path(options);
  const Answer actual = answer_of(*path, job, parameters, draw);
  const double relative = precision == Precision::fp32 ? 1e-3 : 3e-2;  // products of products lose some
  EXPECT_NEAR(actual.loss, exact.loss, relative * std::max(1.0, exact.loss));
  const std::vector<float> logits(exact.logits.begin(), exact.logits.end());
  const std::vector<float> gradient(exact.gradient.begin(), exact.gradient.end());
  expect_near(actual.logits.values, logits, relative, "logits", 0.1);
  for (const nn::Tensor& tensor : program.parameters.tensors) {
    expect_near(std::span(actual.gradient).subspan(tensor.offset, tensor.size),
                std::span(gradient).subspan(tensor.offset, tensor.size), relative, tensor.name, 0.1 * most);
  }
}

TEST_F(ProgramsOnTheGpu, OfAnyStepsAgreeWithPlainLoops) {
  for (const Precision precision : {Precision::fp32, Precision::mixed}) {
    Stream stream(derive_key(402, Purpose::test));
    for (std::uint64_t round = 0; round < 32 && !HasFailure(); ++round) {
      const nn::Program program = RandomProgram(stream, round % 8 == 1, precision == Precision::fp32).make();
      Toy toy = random_toy(RandomProgramData::model(), 5, 9, stream);
      if (round % 3 == 0) toy.add(Graph(), RandomProgramData::model(), stream);
      if (round % 5 == 0) toy.add(random_graph(40, 0.1, stream), RandomProgramData::model(), stream);
      expect_program(program, toy, precision, round, stream);
    }
  }
}

TEST_F(ProgramsOnTheGpu, ParametersThatStepsShareHaveTheSumOfTheirGradients) {
  nn::ProgramBuilder build;
  const std::size_t x = build.input(nn::Source::features, nn::Space::node, RandomProgramData::kFeatures);
  std::size_t h = build.activate("h", build.linear("pre", x, 20), nn::Activation::elu);
  for (int layer = 0; layer < 2; ++layer) {  // the same weights twice
    nn::Step conv{"conv" + std::to_string(layer), nn::Operation::linear, nn::Space::node, 20};
    conv.terms = {{h, nn::Link::neighbours, nn::Reduce::mean, build.tensor("rel", {20, 20}, 20)},
                  {h, nn::Link::own, nn::Reduce::sum, build.tensor("root", {20, 20}, 20)}};
    conv.bias = build.tensor("bias", {20}, 20);
    h = build.activate("h" + std::to_string(layer), build.step(std::move(conv)), nn::Activation::tanh);
  }
  const std::size_t pooled = build.aggregate("pooled", nn::Space::graph, h, nn::Link::whole, nn::Reduce::mean);
  nn::Step fc{"fc", nn::Operation::linear, nn::Space::graph, 20};  // and once more over graphs
  fc.terms = {{pooled, nn::Link::own, nn::Reduce::sum, build.tensor("root", {20, 20}, 20)}};
  fc.bias = build.tensor("bias", {20}, 20);
  build.linear("logits", build.step(std::move(fc)), 3);
  const nn::Program program = build.take();
  Stream stream(derive_key(403, Purpose::test));
  const Toy toy = random_toy(RandomProgramData::model(), 5, 9, stream);
  expect_program(program, toy, Precision::fp32, 1, stream);
  expect_program(program, toy, Precision::mixed, 1, stream);
}

TEST_F(ProgramsOnTheGpu, EveryPathNamesWhatItRuns) {
  nn::ModelConfig model;
  model.kind = "ppgn";
  Stream stream(derive_key(404, Purpose::test));
  const Toy toy = random_toy(model, 2, 5, stream);
  EXPECT_EQ(gpu::layerwise_refuses(toy.job(model)), "");
  EXPECT_EQ(gpu::ppgn_refuses(toy.job(model)), "");
  for (const char* kind : {"gcn", "gin", "sage"}) {
    model = {};
    model.kind = kind;
    EXPECT_EQ(gpu::layerwise_refuses(toy.job(model)), "") << kind;
    EXPECT_EQ(gpu::fused_refuses(toy.job(model)).find("it runs gcn alone"),
              model.kind == "gcn" ? std::string::npos : 0u);
    EXPECT_EQ(gpu::ppgn_refuses(toy.job(model)), "it runs ppgn alone, not " + model.kind);
  }
}

TEST_F(ProgramsOnTheGpu, WhatDoesNotRunIsNamed) {
  nn::ModelConfig model;
  model.kind = "subgraph";
  model.distance_cut = 300;
  Stream stream(derive_key(405, Purpose::test));
  const Toy toy = random_toy(model, 2, 5, stream);
  EXPECT_EQ(gpu::layerwise_refuses(toy.job(model)),
            "the step distance (input: distance) has distances of more than 255 steps, which the GPU engine does not "
            "keep");
}

}  // namespace
}  // namespace tyche::engine
