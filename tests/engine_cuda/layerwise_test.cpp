// The layer-wise path on nodes, against PyTorch's answers and the CPU engines.
#include "engine/cuda/layerwise.hpp"

#include <tuple>

#include "engine_cuda/layerwise_cases.hpp"

namespace tyche::engine {
namespace {

using gpu::Precision;

std::unique_ptr<gpu::Path> path_of(Precision precision) { return gpu::make_layerwise_path(precision, 1); }

class LayerwiseGolden : public testing::TestWithParam<std::tuple<std::string, Precision>> {};

TEST_P(LayerwiseGolden, LogitsLossAndGradientsArePyTorchs) {
  if (!gpu::device_state().usable) GTEST_SKIP() << "needs a GPU: " << gpu::device_state().text;
  const auto& [name, precision] = GetParam();
  const GoldenCase golden(name);
  const Job job = golden.job();
  const auto path = path_of(precision);
  std::vector<float> gradient;
  Logits logits;
  const double loss = path->gradient(job, golden.flat("init"), golden.which, golden.draw(), gradient, logits);
  const Tolerances t = tolerances(precision);
  expect_near(logits.values, golden.values("out.logits"), t.logits, "logits");
  EXPECT_NEAR(loss, golden.values("out.loss")[0], t.logits);
  expect_tensors_near(job.model, gradient, golden.flat("grad"), t.gradient, "gradient");
}

INSTANTIATE_TEST_SUITE_P(EveryCase, LayerwiseGolden,
                         testing::Combine(testing::Values("gcn_rni100_elu", "gcn_rni50_elu", "gcn_deterministic_elu",
                                                          "gcn_rni100_tanh", "gcn_rni12_paper_size", "gcn3", "gcn123"),
                                          testing::Values(Precision::fp32, Precision::mixed)),
                         [](const auto& the) {
                           return std::get<0>(the.param) + "_" + precision_name(std::get<1>(the.param));
                         });

}  // namespace
}  // namespace tyche::engine
