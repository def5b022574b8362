// Real targets on the device: every path gives the reference's losses and gradients.
#include "engine/real_targets_cases.hpp"
#include "engine_cuda/layerwise_cases.hpp"

namespace tyche::engine {
namespace {

class RealTargetsGpu : public DeviceTest {};

nn::ModelConfig model_of(const std::string& kind) {
  nn::ModelConfig model;
  model.kind = kind;
  model.width = 32;
  model.layers = 2;
  if (kind == "gcn") model.pre_hidden = 16;
  if (kind != "ppgn") model.head_hidden = 16;
  model.readout = nn::Readout::mean;  // no ties between rows
  return model;
}

TEST_F(RealTargetsGpu, EveryPathGivesTheReferencesLossAndGradient) {
  Stream stream(derive_key(94, Purpose::test));
  for (const auto precision : {gpu::Precision::fp32, gpu::Precision::mixed}) {
    for (const char* kind : {"gcn", "ppgn"}) {
      const nn::ModelConfig model = model_of(kind);
      const RealToy real = real_toy(model, 5, 9, stream);
      const auto path =
          kind == std::string("gcn") ? gpu::make_layerwise_path({precision, 1}) : gpu::make_ppgn_path({precision, 1});
      expect_agreement(real.job(model), *path, tolerance(precision),
                       std::string(kind).append(" ").append(precision_name(precision)));
    }
  }
  const nn::ModelConfig model = model_of("gcn");
  const RealToy real = real_toy(model, 5, 9, stream);
  EXPECT_EQ(gpu::fused_refuses(real.job(model)), "");
  expect_agreement(real.job(model), *gpu::make_fused_path({Precision::mixed, 1}), tolerance(gpu::Precision::mixed),
                   "fused");
}

TEST_F(RealTargetsGpu, EveryPathKnowsEveryLossMissingTargetsAndWeights) {
  Stream stream(derive_key(191, Purpose::test));
  const auto precision = gpu::Precision::mixed;
  const std::vector<float> of_graphs = {2, 0, 1, 0.5f, 3};
  for (const char* kind : {"gcn", "ppgn"}) {
    const nn::ModelConfig model = model_of(kind);
    const bool gcn = kind == std::string("gcn");
    for (const bool fused : {false, true}) {
      if (fused && !gcn) continue;
      const auto agrees = [&](const Job& job, const std::string& text) {  // a path is for one job
        const auto path = fused ? gpu::make_fused_path({Precision::mixed, 1})
                          : gcn ? gpu::make_layerwise_path({precision, 1})
                                : gpu::make_ppgn_path({precision, 1});
        expect_agreement(job, *path, tolerance(precision), text);
      };
      const std::string what = std::string(kind).append(fused ? " fused" : "");
      for (const Loss loss : {Loss::squared, Loss::absolute, Loss::huber}) {
        RealToy real = real_toy(model, 5, 9, stream);
        real.lose_some();
        agrees(real.job(model, loss), what);
        Job weighted = real.job(model, loss);
        weighted.data.targets = weighted.data.targets.weighted_by_graph(of_graphs);
        agrees(weighted, what + " with weights of graphs");
      }
      const Toy toy = random_toy(model, 5, 9, stream);
      const std::vector<float> weights = {0.25f, 3};
      Job job = toy.job(model);
      job.data.targets = Targets(toy.labels).weighted(weights);
      agrees(job, what + " with class weights");
      job.data.targets = job.data.targets.weighted_by_graph(of_graphs);
      agrees(job, what + " with weights of classes and graphs");
    }
  }
}

// Three trials side by side, each with a mean and deviation, or class weights, of its own.
TEST_F(RealTargetsGpu, TrialsOfOneJobHaveTheirOwnStandardsAndWeights) {
  Stream stream(derive_key(192, Purpose::test));
  const std::vector<float> of_graphs = {1, 2, 0.5f, 1, 3, 1, 0, 1, 2};
  for (const char* kind : {"gcn", "ppgn"}) {
    const nn::ModelConfig model = model_of(kind);
    RealToy real = real_toy(model, 9, 9, stream);
    real.lose_some();
    for (const bool numbers : {true, false}) {
      Job job = numbers ? real.job(model, Loss::squared) : real.toy.job(model);
      job.data.targets = job.data.targets.weighted_by_graph(of_graphs);
      job.epochs = 3;
      job.batch = 4;
      for (const bool fused : {false, true}) {
        if (fused && model.kind == "ppgn") continue;
        const auto path = fused                 ? gpu::make_fused_path({Precision::mixed, 1})
                          : model.kind == "gcn" ? gpu::make_layerwise_path({gpu::Precision::mixed, 1})
                                                : gpu::make_ppgn_path({gpu::Precision::mixed, 1});
        std::vector<Trial> trials, again;
        for (std::uint32_t t = 0; t < 3; ++t) {
          Trial trial = trial_of(job, 7, t, 2);
          const double by = 1.0 + t;
          if (numbers) trial.standard = {{by, -by}, {0.5 * by, 2 * by}};
          if (!numbers && t > 0) trial.class_weights = {1, static_cast<float>(2 * t)};
          if (!numbers && t == 0) trial.class_weights = {1, 1};
          trials.push_back(trial);
        }
        again = trials;
        Recorder seen(3), expected(3);
        EXPECT_TRUE(path->train(job, trials, seen).empty());
        make_engine("reference", 1)->train(job, again, expected);
        for (std::size_t t = 0; t < 3; ++t) {
          ASSERT_EQ(seen.results[t].size(), 3u);
          for (std::size_t e = 0; e < 3; ++e) {
            const EpochResult &own = seen.results[t][e], &other = expected.results[t][e];
            EXPECT_NEAR(own.train_loss, other.train_loss, 1e-2 * (1 + other.train_loss)) << kind << fused << t;
            if (!numbers) continue;
            for (const char* metric : {"test_mae", "test_rmse"}) {
              const double error = other.metrics.find(metric).value();
              EXPECT_NEAR(own.metrics.find(metric).value(), error, 1e-2 * (1 + error)) << kind << fused << t;
            }
          }
        }
      }
    }
  }
}

TEST_F(RealTargetsGpu, TrainingReportsErrorsOfTheTestGraphs) {
  Stream stream(derive_key(95, Purpose::test));
  const nn::ModelConfig model = model_of("gcn");
  const RealToy real = real_toy(model, 8, 9, stream);
  Job job = real.job(model);
  job.epochs = 4;
  job.batch = 4;
  for (const bool fused : {false, true}) {
    const auto path =
        fused ? gpu::make_fused_path({Precision::mixed, 1}) : gpu::make_layerwise_path({gpu::Precision::mixed, 1});
    Trial trial = trial_of(job, 7, 0, 2), again = trial;
    Recorder seen(1), expected(1);
    EXPECT_TRUE(path->train(job, std::span(&trial, 1), seen).empty());
    make_engine("reference", 1)->train(job, std::span(&again, 1), expected);
    ASSERT_EQ(seen.results[0].size(), 4u);
    for (std::size_t e = 0; e < 4; ++e) {
      const EpochResult &own = seen.results[0][e], &other = expected.results[0][e];
      EXPECT_NEAR(own.train_loss, other.train_loss, 5e-3);
      EXPECT_EQ(own.test_outputs.size(), 4u);
      EXPECT_NEAR(own.metrics.find("test_mae").value(), other.metrics.find("test_mae").value(), 5e-3);
      EXPECT_NEAR(own.metrics.find("test_rmse").value(), other.metrics.find("test_rmse").value(), 5e-3);
    }
  }
}

}  // namespace
}  // namespace tyche::engine
