#pragma once
/// Numbers of two engines side by side, relative to the largest of a tensor.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>

#include "nn/model.hpp"

namespace tyche::engine {

/// Relative to the largest of `expected`, or to `least` where that is more: sums that cancel are not to be had better.
inline void expect_near(std::span<const float> actual, std::span<const float> expected, double relative,
                        const std::string& what, double least = 0) {
  ASSERT_EQ(actual.size(), expected.size()) << what;
  double largest = least, worst = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_TRUE(std::isfinite(actual[i])) << what << " " << i;
    largest = std::max(largest, std::fabs(double{expected[i]}));
    worst = std::max(worst, std::fabs(double{actual[i]} - expected[i]));
  }
  EXPECT_LE(worst, relative * largest) << what << ", largest " << largest;
}

/// Tensors that are small beside the others are measured against a tenth of the largest entry of all.
inline void expect_tensors_near(const nn::ModelConfig& model, std::span<const float> actual,
                                std::span<const float> expected, double relative, const std::string& what) {
  double largest = 0;
  for (const float value : expected) largest = std::max(largest, std::fabs(double{value}));
  for (const nn::Tensor& tensor : nn::layout(model).tensors) {
    expect_near(actual.subspan(tensor.offset, tensor.size), expected.subspan(tensor.offset, tensor.size), relative,
                what + " " + tensor.name, 0.1 * largest);
  }
}

}  // namespace tyche::engine
