// The choice of a path, and what happens to trials that half precision cannot hold.
#include "engine/cuda/cuda_engine.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "engine_cuda/layerwise_cases.hpp"
#include "support/error.hpp"

namespace tyche::engine {
namespace {

using testing::HasSubstr;
using CudaEngine = DeviceTest;

nn::ModelConfig tiny_model(const std::string& kind = "gcn") {
  nn::ModelConfig model;
  model.kind = kind;
  model.width = 32;
  model.layers = 4;
  model.rni = kind == "gcn" ? 1 : 0;
  return model;
}

Toy tiny_toy(const nn::ModelConfig& model) {
  Stream stream(derive_key(31, Purpose::test));
  return random_toy(model, 6, 6, stream);
}

/// Hears notes beside epochs.
class NoteListener : public Listener {
 public:
  using Listener::Listener;
  void on_note(std::size_t trial, const std::string& text) override { notes.emplace_back(trial, text); }
  std::vector<std::pair<std::size_t, std::string>> notes;
};

TEST_F(CudaEngine, ChoosesByTheJob) {
  const nn::ModelConfig model = tiny_model();
  Toy toy = tiny_toy(model);
  EXPECT_THAT(gpu::make_cuda_engine({})->description(toy.job(model)), HasSubstr("fused, mixed precision"));
  gpu::Options options;
  options.precision = gpu::Precision::fp32;
  EXPECT_THAT(gpu::make_cuda_engine(options)->description(toy.job(model)), HasSubstr("layer by layer, fp32"));
  const nn::ModelConfig ppgn = tiny_model("ppgn");
  EXPECT_THAT(gpu::make_cuda_engine({})->description(toy.job(ppgn)), HasSubstr("ppgn"));
  // A graph that no multiprocessor holds.
  Stream stream(derive_key(32, Purpose::test));
  toy.add(Graph::from_edges(5000, std::vector<Edge>{{0, 1}}), model, stream);
  EXPECT_THAT(gpu::make_cuda_engine({})->description(toy.job(model)), HasSubstr("layer by layer, mixed precision"));
}

TEST_F(CudaEngine, PpgnHasAPathOfItsOwn) {
  const nn::ModelConfig gcn = tiny_model(), ppgn = tiny_model("ppgn");
  const Toy toy = tiny_toy(gcn);
  EXPECT_EQ(gpu::layerwise_refuses(toy.job(gcn)), "");
  EXPECT_EQ(gpu::ppgn_refuses(toy.job(ppgn)), "");
  EXPECT_THAT(gpu::ppgn_refuses(toy.job(gcn)), HasSubstr("it runs ppgn alone, not gcn"));
  gpu::Options options;
  options.choice = GpuPath::layerwise;
  EXPECT_THAT(gpu::make_cuda_engine(options)->description(toy.job(ppgn)), HasSubstr("layer by layer"));
}

TEST_F(CudaEngine, SaysWhyAForcedPathCannotRunAJob) {
  const nn::ModelConfig model = tiny_model();
  Toy toy = tiny_toy(model);
  gpu::Options options;
  options.choice = GpuPath::fused;
  Stream stream(derive_key(32, Purpose::test));
  toy.add(Graph::from_edges(5000, std::vector<Edge>{{0, 1}}), model, stream);
  try {
    (void)gpu::make_cuda_engine(options)->description(toy.job(model));
    FAIL() << "expected an error";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("graph 6"));
  }
  options.precision = gpu::Precision::fp32;
  EXPECT_THROW((void)gpu::make_cuda_engine(options)->description(toy.job(model)), InputError);
}

TEST_F(CudaEngine, RunsGinAndEdgeFeaturesLayerByLayer) {
  nn::ModelConfig gin, edges = tiny_model();
  gin.kind = "gin";
  edges.edge_features = 2;
  Stream stream(derive_key(104, Purpose::test));
  const Toy toy = random_toy(edges, 2, 4, stream);
  EXPECT_EQ(gpu::fused_refuses(toy.job(gin)), "it runs gcn alone, not gin");
  EXPECT_EQ(gpu::ppgn_refuses(toy.job(gin)), "it runs ppgn alone, not gin");
  EXPECT_EQ(gpu::fused_refuses(toy.job(edges)), "it has no memory for the features of edges");
  for (const nn::ModelConfig& model : {gin, edges}) {
    EXPECT_THAT(gpu::make_cuda_engine({})->description(toy.job(model)), HasSubstr("layer by layer, mixed precision"));
  }
}

TEST_F(CudaEngine, TrainsOnTheCpuWhatNoPathRunsWhereNobodyAskedForAGpu) {
  const nn::ModelConfig model = tiny_model();
  const Toy toy = tiny_toy(model);
  Job job = toy.job(model);
  job.epochs = 2;
  job.loss = Loss::given;
  const std::vector<float> given(job.data.graphs.size() * model.classes, 0.5f);
  job.given = given;
  std::vector<Trial> ours = {trial_of(job, 1, 0, 1)}, theirs = ours;
  NoteListener heard(1);
  EXPECT_THROW(gpu::make_cuda_engine({})->train(job, ours, heard), InputError);
  gpu::Options options;
  options.cpu_otherwise = true;
  options.threads = 1;
  const auto engine = gpu::make_cuda_engine(options);
  EXPECT_THAT(engine->description(job), HasSubstr("not on the GPU: losses that are given"));
  engine->train(job, ours, heard);
  ASSERT_EQ(heard.notes.size(), 1u);
  EXPECT_THAT(heard.notes[0].second, HasSubstr("trained on the CPU: losses that are given"));
  make_engine("cpu", 1)->train(job, theirs, heard);
  EXPECT_TRUE(same_bits(ours[0].state, theirs[0].state));
}

TEST_F(CudaEngine, ATrialThatHalfPrecisionCannotHoldGoesOnInFp32) {
  const nn::ModelConfig model = tiny_model();
  const Toy toy = tiny_toy(model);
  Job job = toy.job(model);
  job.epochs = 2;
  std::vector<Trial> trials = {trial_of(job, 1, 0, 1), trial_of(job, 2, 0, 1)};
  // Beyond half precision's 65,504 after three layers, far inside fp32's range.
  for (float& weight : trials[1].state.parameters) weight *= 300.0f;
  NoteListener heard(2);
  gpu::make_cuda_engine({})->train(job, trials, heard);
  EXPECT_EQ(heard.results[0].size(), 2u);
  ASSERT_EQ(heard.results[1].size(), 2u);
  EXPECT_EQ(trials[1].state.epoch, 2u);
  ASSERT_EQ(heard.notes.size(), 1u);
  EXPECT_EQ(heard.notes[0].first, 1u);
  EXPECT_THAT(heard.notes[0].second, HasSubstr("going on in fp32"));
  // As if it had been trained in fp32 from the start.
  std::vector<Trial> wide = {trial_of(job, 2, 0, 1)};
  for (float& weight : wide[0].state.parameters) weight *= 300.0f;
  Listener alone(1);
  gpu::Options options;
  options.precision = gpu::Precision::fp32;
  gpu::make_cuda_engine(options)->train(job, wide, alone);
  EXPECT_TRUE(same_bits(wide[0].state, trials[1].state));
}

TEST_F(CudaEngine, PredictsInFp32WhatHalfPrecisionCannotHold) {
  const nn::ModelConfig model = tiny_model();
  const Toy toy = tiny_toy(model);
  const Job job = toy.job(model);
  std::vector<float> parameters = fresh_state(model, 1, 0).parameters;
  for (float& weight : parameters) weight *= 300.0f;
  const auto logits = gpu::make_cuda_engine({})->predict(job, parameters, toy.all(), {}).values;
  const auto expected = make_engine("reference", 1)->predict(job, parameters, toy.all(), {}).values;
  expect_near(logits, expected, 1e-4, "logits");
}

}  // namespace
}  // namespace tyche::engine
