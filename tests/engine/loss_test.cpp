#include "engine/core/loss.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "support/random.hpp"

namespace tyche::engine {
namespace {

LossValue<double> loss_at(const std::vector<double>& z, std::uint32_t label, double scale, std::vector<double>& d) {
  d.assign(z.size(), 0.0);
  return loss_of(Loss::cross_entropy, SerialOutputs<double>(z.data(), z.size(), d.data()), Target{.label = label},
                 scale);
}

TEST(Loss, OfTwoEqualOutputsIsLogTwoAndPullsBothTheSameWay) {
  std::vector<double> d;
  const LossValue<double> seen = loss_at({5, 5}, 1, 3, d);
  EXPECT_DOUBLE_EQ(seen.value, std::log(2.0));
  EXPECT_FALSE(seen.right) << "of equal ones the first is the answer";
  EXPECT_DOUBLE_EQ(d[0], 1.5);
  EXPECT_DOUBLE_EQ(d[1], -1.5);
  EXPECT_TRUE(loss_at({5, 5}, 0, 1, d).right);
}

TEST(Loss, GradientIsThatOfFiniteDifferences) {
  Stream stream(derive_key(81, Purpose::test));
  for (const std::size_t outputs : {2u, 3u, 7u}) {
    for (int i = 0; i < 20; ++i) {
      std::vector<double> z(outputs), d, ignored;
      for (double& value : z) value = 8 * stream.uniform() - 4;
      const auto label = static_cast<std::uint32_t>(stream.below(outputs));
      const double scale = 0.25;
      (void)loss_at(z, label, scale, d);
      for (std::size_t c = 0; c < outputs; ++c) {
        constexpr double kStep = 1e-6;
        std::vector<double> up = z, down = z;
        up[c] += kStep;
        down[c] -= kStep;
        const double slope =
            (loss_at(up, label, 1, ignored).value - loss_at(down, label, 1, ignored).value) / (2 * kStep);
        EXPECT_NEAR(d[c], scale * slope, 1e-8);
      }
    }
  }
}

TEST(Loss, StaysFiniteWhereExponentialsWouldNot) {
  std::vector<double> d;
  EXPECT_DOUBLE_EQ(loss_at({1000, -1000}, 1, 1, d).value, 2000);
  EXPECT_DOUBLE_EQ(d[0], 1);
  EXPECT_DOUBLE_EQ(d[1], -1);
}

LossValue<double> huber_at(const std::vector<double>& z, const std::vector<float>& wanted, double scale,
                           std::vector<double>& d) {
  d.assign(z.size(), 0.0);
  return loss_of(Loss::huber, SerialOutputs<double>(z.data(), z.size(), d.data()), Target{.values = wanted.data()},
                 scale);
}

TEST(Huber, IsHalfTheSquareOfASmallErrorAndAStraightLineBeyond) {
  std::vector<double> d;
  EXPECT_DOUBLE_EQ(huber_at({0.5}, {1}, 1, d).value, 0.125);
  EXPECT_DOUBLE_EQ(d[0], -0.5);
  EXPECT_DOUBLE_EQ(huber_at({5}, {1}, 2, d).value, 3.5);
  EXPECT_DOUBLE_EQ(d[0], 2) << "times the scale";
  EXPECT_DOUBLE_EQ(huber_at({0.5, 5}, {1, 1}, 1, d).value, (0.125 + 3.5) / 2) << "the mean over the outputs";
  EXPECT_DOUBLE_EQ(d[0], -0.25);
  EXPECT_DOUBLE_EQ(d[1], 0.5);
}

TEST(Huber, GradientIsThatOfFiniteDifferences) {
  Stream stream(derive_key(82, Purpose::test));
  for (const std::size_t outputs : {1u, 3u, 7u}) {
    for (int i = 0; i < 20; ++i) {
      std::vector<double> z(outputs), d, ignored;
      std::vector<float> wanted(outputs);
      for (double& value : z) value = 4 * stream.uniform() - 2;
      for (float& value : wanted) value = static_cast<float>(4 * stream.uniform() - 2);
      const double scale = 0.25;
      (void)huber_at(z, wanted, scale, d);
      for (std::size_t c = 0; c < outputs; ++c) {
        constexpr double kStep = 1e-6;
        std::vector<double> up = z, down = z;
        up[c] += kStep;
        down[c] -= kStep;
        const double slope =
            (huber_at(up, wanted, 1, ignored).value - huber_at(down, wanted, 1, ignored).value) / (2 * kStep);
        EXPECT_NEAR(d[c], scale * slope, 1e-6);
      }
    }
  }
}

LossValue<double> binary_at(const std::vector<double>& z, const std::vector<float>& wanted, double scale,
                            std::vector<double>& d) {
  d.assign(z.size(), 0.0);
  return loss_of(Loss::binary, SerialOutputs<double>(z.data(), z.size(), d.data()), Target{.values = wanted.data()},
                 scale);
}

TEST(Binary, IsMinusTheLogarithmOfTheChanceGivenToTheTarget) {
  std::vector<double> d;
  EXPECT_DOUBLE_EQ(binary_at({0}, {1}, 1, d).value, std::log(2.0));
  EXPECT_DOUBLE_EQ(d[0], -0.5);
  EXPECT_NEAR(binary_at({2, 2}, {1, 0}, 4, d).value, (std::log(1 + std::exp(-2.0)) + std::log(1 + std::exp(2.0))) / 2,
              1e-15);
  EXPECT_NEAR(d[1], 4 / (1 + std::exp(-2.0)) / 2, 1e-15) << "the mean over the outputs, times the scale";
  const float missing = std::numeric_limits<float>::quiet_NaN();
  EXPECT_DOUBLE_EQ(binary_at({0, 3}, {1, missing}, 1, d).value, std::log(2.0) / 2);
  EXPECT_EQ(d[1], 0);
  EXPECT_DOUBLE_EQ(binary_at({1000}, {0}, 1, d).value, 1000) << "no exponential runs over";
  EXPECT_DOUBLE_EQ(d[0], 1);
  EXPECT_DOUBLE_EQ(binary_at({-1000}, {0}, 1, d).value, 0);
}

TEST(Binary, GradientIsThatOfFiniteDifferences) {
  constexpr double kStep = 1e-6;
  std::vector<double> d, ignored;
  for (double z = -4; z <= 4; z += 0.37) {
    for (const float wanted : {0.0f, 1.0f}) {
      (void)binary_at({z, 1}, {wanted, 1}, 0.25, d);
      const double slope = (binary_at({z + kStep, 1}, {wanted, 1}, 1, ignored).value -
                            binary_at({z - kStep, 1}, {wanted, 1}, 1, ignored).value) /
                           (2 * kStep);
      EXPECT_NEAR(d[0], 0.25 * slope, 1e-8);
    }
  }
}

}  // namespace
}  // namespace tyche::engine
