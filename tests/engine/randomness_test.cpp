#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "engine/core/inputs.hpp"
#include "engine/cpu/kernels.hpp"

namespace tyche::engine {
namespace {

nn::ModelConfig all_random(std::uint32_t width, nn::Distribution distribution) {
  nn::ModelConfig config;
  config.width = width;
  config.rni = 1;
  config.distribution = distribution;
  config.xavier_fan = 500;
  return config;
}

std::vector<float> plain(const nn::ModelConfig& config, Key key, std::uint32_t graph, std::size_t nodes) {
  std::vector<float> out(nodes * config.random_dims());
  random_features(config, key, graph, nodes, out.data(), config.random_dims());
  return out;
}

std::vector<float> by_kernel(const cpu::Kernels& kernels, const nn::ModelConfig& config, Key key, std::uint32_t graph,
                             std::size_t nodes) {
  std::vector<float> out(nodes * config.random_dims(), -99.0f);
  kernels.features(config, key, graph, nodes, out.data(), config.random_dims());
  return out;
}

// Moments, tails and the Kolmogorov-Smirnov distance of a sample against a distribution function.
struct Statistics {
  double mean = 0, variance = 0, skewness = 0, kurtosis = 0, ks = 0;
};
template <class Cdf>
Statistics statistics(std::vector<float> sample, const Cdf& cdf) {
  Statistics s;
  const auto n = static_cast<double>(sample.size());
  for (const float x : sample) s.mean += x / n;
  for (const float x : sample) {
    const double d = x - s.mean;
    s.variance += d * d / n;
    s.skewness += d * d * d / n;
    s.kurtosis += d * d * d * d / n;
  }
  s.skewness /= std::pow(s.variance, 1.5);
  s.kurtosis /= s.variance * s.variance;
  std::sort(sample.begin(), sample.end());
  for (std::size_t i = 0; i < sample.size(); ++i) {
    const double f = cdf(sample[i]), x = static_cast<double>(i);
    s.ks = std::max({s.ks, f - x / n, (x + 1) / n - f});
  }
  return s;
}
double normal_cdf(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }

TEST(RandomFeatures, NormalOnesAreNormalToTheTails) {
  const nn::ModelConfig config = all_random(64, nn::Distribution::normal);
  const auto defined = plain(config, feature_key(5, 0, 1, 0), 0, 16000);
  for (const std::string& name : cpu::kernel_names()) {
    const auto sample = by_kernel(cpu::kernels_for(name), config, feature_key(5, 0, 1, 0), 0, 16000);
    for (std::size_t i = 0; i < sample.size(); ++i) {
      ASSERT_NEAR(sample[i], defined[i], 4e-7 * std::fabs(defined[i]) + 1e-12) << name << " entry " << i;
    }
    const auto n = static_cast<double>(sample.size());  // 1.02 million
    const Statistics s = statistics(sample, normal_cdf);
    EXPECT_NEAR(s.mean, 0, 5 / std::sqrt(n)) << name;
    EXPECT_NEAR(s.variance, 1, 5 * std::sqrt(2 / n)) << name;
    EXPECT_NEAR(s.skewness, 0, 5 * std::sqrt(6 / n)) << name;
    EXPECT_NEAR(s.kurtosis, 3, 5 * std::sqrt(24 / n)) << name;
    EXPECT_LT(s.ks, 1.95 / std::sqrt(n)) << name;  // one in a thousand
    for (const double t : {2.0, 3.0, 4.0}) {
      const auto beyond =
          static_cast<double>(std::count_if(sample.begin(), sample.end(), [&](float x) { return x > t; }));
      const double expected = n * normal_cdf(-t);
      EXPECT_NEAR(beyond, expected, 5 * std::sqrt(expected)) << name << " beyond " << t;
    }
  }
}

TEST(RandomFeatures, UniformOnesAreUniform) {
  const auto sample = plain(all_random(64, nn::Distribution::uniform), feature_key(6, 0, 1, 0), 0, 4000);
  const auto n = static_cast<double>(sample.size());
  const Statistics s = statistics(sample, [](double x) { return std::clamp((x + 1) / 2, 0.0, 1.0); });
  EXPECT_NEAR(s.mean, 0, 5 / std::sqrt(3 * n));
  EXPECT_NEAR(s.variance, 1.0 / 3, 0.005);
  EXPECT_LT(s.ks, 1.95 / std::sqrt(n));
  EXPECT_LE(*std::max_element(sample.begin(), sample.end()), 1);
  EXPECT_GE(*std::min_element(sample.begin(), sample.end()), -1);
}

TEST(BoxMuller, ReachesFarBeyondFiveAndAHalf) {
  EXPECT_NEAR(box_muller(0, 0).cosine, 6.7637, 1e-4);  // the smallest radius word: u = 2^-33
  EXPECT_NEAR(box_muller(0xffffffffu, 0).cosine, 1.5259e-5, 1e-9);
  EXPECT_NEAR(box_muller(1u << 30, 1u << 30).sine, std::sqrt(2 * std::log(4.0)), 1e-9);
}

TEST(RandomFeatures, EveryKernelAgreesWithThePlainDefinition) {
  for (const std::string& name : cpu::kernel_names()) {
    for (const nn::Distribution distribution : {nn::Distribution::normal, nn::Distribution::uniform,
                                                nn::Distribution::xavier_normal, nn::Distribution::xavier_uniform}) {
      for (const std::uint32_t width : {1u, 3u, 7u, 64u, 200u}) {
        const nn::ModelConfig config = all_random(width, distribution);
        const Key key = feature_key(9, 1, 2, 3);
        const auto expected = plain(config, key, 41, 301);
        const auto actual = by_kernel(cpu::kernels_for(name), config, key, 41, 301);
        const bool exact =
            distribution == nn::Distribution::uniform || distribution == nn::Distribution::xavier_uniform;
        for (std::size_t i = 0; i < expected.size(); ++i) {
          if (exact) {
            ASSERT_EQ(actual[i], expected[i]) << name << " width " << width << " entry " << i;
          } else {
            ASSERT_NEAR(actual[i], expected[i], 4e-7 * std::fabs(expected[i]) + 1e-12)
                << name << " width " << width << " entry " << i;
          }
        }
      }
    }
  }
}

TEST(RandomFeatures, KnownValuesStayAsTheyAre) {
  const auto values = plain(all_random(4, nn::Distribution::normal), feature_key(1, 0, 1, kTrainingPass), 0, 2);
  const std::vector<float> expected = {1.33189797f,   0.120776735f,  0.920007885f, 0.959185243f,
                                       -0.123701222f, -0.578312159f, -1.30682468f, -1.34033442f};
  ASSERT_EQ(values.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_FLOAT_EQ(values[i], expected[i]) << i;
}

TEST(RandomFeatures, DependOnEverythingThatKeysThemAndOnNothingElse) {
  const nn::ModelConfig config = all_random(6, nn::Distribution::normal);
  const auto base = plain(config, feature_key(1, 2, 3, 4), 5, 3);
  EXPECT_NE(plain(config, feature_key(9, 2, 3, 4), 5, 3), base);
  EXPECT_NE(plain(config, feature_key(1, 9, 3, 4), 5, 3), base);
  EXPECT_NE(plain(config, feature_key(1, 2, 9, 4), 5, 3), base);
  EXPECT_NE(plain(config, feature_key(1, 2, 3, 9), 5, 3), base);
  EXPECT_NE(plain(config, feature_key(1, 2, 3, 4), 9, 3), base);
  EXPECT_NE(test_pass(0), kTrainingPass);
  // A node's features do not depend on how many nodes are asked for, nor a column on how many columns.
  const auto more = plain(config, feature_key(1, 2, 3, 4), 5, 8);
  EXPECT_TRUE(std::equal(base.begin(), base.end(), more.begin()));
  const auto wider = plain(all_random(9, nn::Distribution::normal), feature_key(1, 2, 3, 4), 5, 3);
  for (std::size_t v = 0; v < 3; ++v) {
    EXPECT_TRUE(std::equal(base.begin() + static_cast<std::ptrdiff_t>(6 * v),
                           base.begin() + static_cast<std::ptrdiff_t>(6 * v + 6),
                           wider.begin() + static_cast<std::ptrdiff_t>(9 * v)));
  }
  EXPECT_EQ(std::set<float>(more.begin(), more.end()).size(), more.size());
}

TEST(FeatureScale, IsXaviers) {
  EXPECT_FLOAT_EQ(feature_scale(all_random(4, nn::Distribution::normal)), 1);
  EXPECT_FLOAT_EQ(feature_scale(all_random(4, nn::Distribution::uniform)), 1);
  EXPECT_FLOAT_EQ(feature_scale(all_random(4, nn::Distribution::xavier_normal)), std::sqrt(2.0f / 500));
  EXPECT_FLOAT_EQ(feature_scale(all_random(4, nn::Distribution::xavier_uniform)), std::sqrt(6.0f / 500));
}

TEST(Dropout, DropsTheShareItIsAskedToAndKeepsTheMean) {
  std::vector<float> factors(64);
  double dropped = 0;
  for (std::uint32_t graph = 0; graph < 500; ++graph) {
    dropout_factors(0.3, 1, 0, 7, graph, factors);
    for (const float f : factors) {
      ASSERT_TRUE(f == 0 || f == static_cast<float>(1 / 0.7));
      dropped += f == 0;
    }
  }
  EXPECT_NEAR(dropped / 32000, 0.3, 0.02);
  std::vector<float> other(64);
  dropout_factors(0.3, 1, 0, 8, 499, other);
  EXPECT_NE(other, factors);
  dropout_factors(0, 1, 0, 8, 499, other);
  EXPECT_EQ(other, std::vector<float>(64, 1.0f));
}

TEST(EpochOrder, IsAPermutationThatSeedFoldAndEpochDecide) {
  std::vector<std::uint32_t> train(50);
  std::iota(train.begin(), train.end(), 100);
  const auto order = epoch_order(train, 1, 2, 3);
  EXPECT_EQ(order, epoch_order(train, 1, 2, 3));
  EXPECT_NE(order, epoch_order(train, 2, 2, 3));
  EXPECT_NE(order, epoch_order(train, 1, 3, 3));
  EXPECT_NE(order, epoch_order(train, 1, 2, 4));
  auto sorted = order;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(sorted, train);
}

}  // namespace
}  // namespace tyche::engine
