#pragma once
/// What the tests of the layer-wise path share: comparison with another engine, tensor by tensor.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

#include "engine/cases.hpp"
#include "engine/golden.hpp"
#include "engine_cuda/device_fixture.hpp"

namespace tyche::engine {

struct Tolerances {
  double logits, gradient;  ///< relative to the largest entry of a tensor
};
inline Tolerances tolerances(gpu::Precision precision) {
  return precision == gpu::Precision::fp32 ? Tolerances{1e-4, 1e-4} : Tolerances{5e-3, 5e-3};
}
inline std::string precision_name(gpu::Precision precision) {
  return precision == gpu::Precision::fp32 ? "fp32" : "mixed";
}

inline void expect_near(std::span<const float> actual, std::span<const float> expected, double tolerance,
                        const std::string& what, double least = 0) {
  ASSERT_EQ(actual.size(), expected.size()) << what;
  double largest = least, worst = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_TRUE(std::isfinite(actual[i])) << what << " " << i;
    largest = std::max(largest, std::fabs(double{expected[i]}));
    worst = std::max(worst, std::fabs(double{actual[i]} - expected[i]));
  }
  EXPECT_LE(worst, tolerance * largest) << what << ", largest " << largest;
}

/// Tensors that are small beside the others are measured against a hundredth of the largest entry of all.
inline void expect_tensors_near(const nn::ModelConfig& model, std::span<const float> actual,
                                std::span<const float> expected, double tolerance, const std::string& what) {
  double largest = 0;
  for (const float value : expected) largest = std::max(largest, std::fabs(double{value}));
  for (const nn::Tensor& tensor : nn::layout(model).tensors) {
    expect_near(actual.subspan(tensor.offset, tensor.size), expected.subspan(tensor.offset, tensor.size), tolerance,
                what + " " + tensor.name, 0.01 * largest);
  }
}

/// Logits, loss and gradient of all graphs against the reference engine.
inline void expect_agreement(const Job& job, gpu::Path& path, gpu::Precision precision, const std::string& what) {
  std::vector<std::uint32_t> which;
  for (std::uint32_t g = 0; g < job.data.graphs.size(); ++g) which.push_back(g);
  const auto parameters = fresh_state(job.model, 3, 1).parameters;
  Draw draw;
  draw.seed = 5;
  draw.epoch = 2;
  const auto oracle = make_engine("reference", 1);
  std::vector<float> gradient, expected;
  Logits logits, expected_logits;
  const double loss = path.gradient(job, parameters, which, draw, gradient, logits);
  const double expected_loss = oracle->gradient(job, parameters, which, draw, expected, expected_logits);
  const Tolerances t = tolerances(precision);
  expect_near(logits.values, expected_logits.values, t.logits, what + " logits");
  EXPECT_NEAR(loss, expected_loss, t.logits) << what;
  expect_tensors_near(job.model, gradient, expected, t.gradient, what + " gradient");
  EXPECT_EQ(path.predict(job, parameters, which, draw).values, logits.values) << what;
}

}  // namespace tyche::engine
