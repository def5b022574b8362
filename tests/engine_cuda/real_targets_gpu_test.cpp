// Real targets on the device: every path gives the reference's losses and gradients.
#include "engine/real_targets_cases.hpp"
#include "engine_cuda/layerwise_cases.hpp"

namespace tyche::engine {
namespace {

class RealTargetsGpu : public DeviceTest {};

nn::ModelConfig small_model(const std::string& kind) {
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
      const nn::ModelConfig model = small_model(kind);
      const RealToy real = real_toy(model, 5, 9, stream);
      const auto path =
          kind == std::string("gcn") ? gpu::make_layerwise_path(precision, 1) : gpu::make_ppgn_path(precision, 1);
      expect_agreement(real.job(model), *path, tolerance(precision),
                       std::string(kind).append(" ").append(precision_name(precision)));
    }
  }
  const nn::ModelConfig model = small_model("gcn");
  const RealToy real = real_toy(model, 5, 9, stream);
  EXPECT_EQ(gpu::fused_refuses(real.job(model)), "");
  expect_agreement(real.job(model), *gpu::make_fused_path(1), tolerance(gpu::Precision::mixed), "fused");
}

TEST_F(RealTargetsGpu, TrainingReportsErrorsOfTheTestGraphs) {
  Stream stream(derive_key(95, Purpose::test));
  const nn::ModelConfig model = small_model("gcn");
  const RealToy real = real_toy(model, 8, 9, stream);
  Job job = real.job(model);
  job.epochs = 4;
  job.batch = 4;
  for (const bool fused : {false, true}) {
    const auto path = fused ? gpu::make_fused_path(1) : gpu::make_layerwise_path(gpu::Precision::mixed, 1);
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
