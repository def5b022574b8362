// The tests themselves, on outputs made by hand.
#include "distinguish/judge.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "distinguish/samples.hpp"
#include "support/symmetric_eigen.hpp"

namespace tyche::distinguish {
namespace {

/// Two outputs per draw: the first graph is called the first in `a` of `draws`, the second in `b`.
std::vector<float> calls(unsigned a, unsigned b, unsigned draws) {
  std::vector<float> out;
  for (const unsigned firsts : {a, b}) {
    for (unsigned i = 0; i < draws; ++i) {
      out.push_back(i < firsts ? 1.0f : -1.0f);
      out.push_back(0);
    }
  }
  return out;
}

TEST(Judge, CountsCallsAndTestsOneSideOnly) {
  const Verdict yes = judge_random(calls(4, 0, 4), 2, 0.02);
  EXPECT_EQ(yes.first_a, 4u);
  EXPECT_EQ(yes.first_b, 0u);
  EXPECT_NEAR(yes.p, 1.0 / 70, 1e-12);
  EXPECT_TRUE(yes.told_apart);
  EXPECT_FALSE(judge_random(calls(4, 0, 4), 2, 0.01).told_apart);
  EXPECT_EQ(judge_random(calls(0, 4, 4), 2, 0.02).p, 1);  // a network that is wrong every time has learned nothing
}

TEST(Judge, LogitsThatDifferByRoundingAreNotTheFirst) {
  std::vector<float> outputs(2 * 2 * 8, 3.0f);
  for (std::size_t i = 0; i < 16; i += 2) outputs[i] += 1e-5f;  // the first graph's, every time
  EXPECT_EQ(judge_random(outputs, 2, 0.01).first_a, 0u);
  for (std::size_t i = 0; i < 16; i += 2) outputs[i] += 1e-2f;
  EXPECT_TRUE(judge_random(outputs, 2, 0.01).told_apart);
}

TEST(Judge, FixedOutputsMustDifferByMoreThanTheirCopiesDo) {
  std::vector<float> outputs(2 * 2 * 4, 1.0f);
  EXPECT_FALSE(judge_fixed(outputs, 2).told_apart);
  for (std::size_t i = 8; i < 16; i += 2) outputs[i] = 1.01f;
  EXPECT_TRUE(judge_fixed(outputs, 2).told_apart);
  outputs[0] = 0.995f;  // a spread of 0.005 among copies: a gap of 0.01 says nothing
  EXPECT_FALSE(judge_fixed(outputs, 2).told_apart);
  EXPECT_EQ(judge_fixed(outputs, 2).p, 1);
}

TEST(Judge, RenumberedGraphsTakeTheirFeaturesAlong) {
  const std::vector<Edge> edges = {{0, 1}, {1, 2}};
  const FeaturedGraph path{Graph::from_edges(3, edges, {5, 6, 7}), {50, 51, 60, 61, 70, 71}};
  Stream stream(derive_key(1, Purpose::test));
  bool moved = false;
  for (int i = 0; i < 10; ++i) {
    const FeaturedGraph copy = renumbered(path, stream);
    for (Node v = 0; v < 3; ++v) {
      EXPECT_EQ(copy.features[2 * v], 10 * static_cast<float>(copy.graph.type(v)));
      EXPECT_EQ(copy.features[2 * v + 1], 10 * static_cast<float>(copy.graph.type(v)) + 1);
      EXPECT_EQ(copy.graph.degree(v), copy.graph.type(v) == 6 ? 2u : 1u);
    }
    moved = moved || copy.graph.type(0) != 5;
  }
  EXPECT_TRUE(moved);
}

TEST(Hotelling, IsTheSquaredTStatisticInOneDimension) {
  const std::vector<double> d = {1, 2, 3};
  EXPECT_NEAR(hotelling(d, 1).value(), 3 * 4 / 1.0, 1e-12);
  EXPECT_FALSE(hotelling(std::vector<double>{2, 2, 2}, 1).has_value());
  EXPECT_FALSE(hotelling(std::vector<double>{1}, 1).has_value());
}

TEST(Hotelling, DoesNotChangeUnderLinearMaps) {
  const std::vector<double> d = {1, 0, 0, 2, 3, 1, 2, 2, -1, 1};
  std::vector<double> mapped;
  for (std::size_t i = 0; i < d.size(); i += 2) {
    mapped.push_back(3 * d[i] + d[i + 1]);
    mapped.push_back(-d[i] + 2 * d[i + 1]);
  }
  EXPECT_NEAR(hotelling(d, 2).value(), hotelling(mapped, 2).value(), 1e-9);
  // A regular S has its inverse for pseudo-inverse; the released statistic lacks the factor q = 5.
  EXPECT_NEAR(5 * released_statistic(d, 2), hotelling(d, 2).value(), 1e-9);
}

TEST(SymmetricEigen, TakesAMatrixApart) {
  const std::vector<double> m = {4, 1, 0.5, 1, 3, -1, 0.5, -1, 2};
  const SymmetricEigen eigen = symmetric_eigen(m, 3);
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      double sum = 0;
      for (std::size_t k = 0; k < 3; ++k) {
        sum += eigen.values[k] * eigen.vectors[k * 3 + i] * eigen.vectors[k * 3 + j];
      }
      EXPECT_NEAR(sum, m[i * 3 + j], 1e-12);
    }
  }
}

TEST(Released, CosineLossAndItsGradient) {
  std::vector<float> z = {1, 0, 1, 1, 0, 2, 0.5f, -1};  // cosines 1/sqrt 2 and below 0
  std::vector<float> gradient(z.size());
  EXPECT_NEAR(cosine_loss(z, 2, gradient), std::sqrt(0.5) / 2, 1e-6);
  std::vector<float> ignored(z.size());
  for (std::size_t i = 0; i < z.size(); ++i) {
    const float h = 1e-2f, old = z[i];
    z[i] = old + h;
    const double up = cosine_loss(z, 2, ignored);
    z[i] = old - h;
    const double down = cosine_loss(z, 2, ignored);
    z[i] = old;
    EXPECT_NEAR(gradient[i], (up - down) / (2 * h), 1e-3) << i;
  }
}

TEST(Released, EqualCopiesAreJudgedByTheirMeansAndMarked) {
  std::vector<float> same(2 * 4 * 32, 0.5f);
  EXPECT_TRUE(judge_outputs(same, 4).singular);
  EXPECT_FALSE(judge_outputs(same, 4).told_apart);
  for (std::size_t i = 4; i < same.size(); i += 8) same[i] = 0.6f;  // every second graph's first output
  EXPECT_TRUE(judge_outputs(same, 4).singular);
  EXPECT_TRUE(judge_outputs(same, 4).told_apart);
}

TEST(Released, TheThresholdIsTheNominalFivePercentOfQTimesIt) {
  // 72.34 is the 95 % point of q T²; so at T² = 72.34 / 32 the nominal p is 0.05, though T² is far below 72.34.
  Stream stream(derive_key(1, Purpose::test, 7));
  std::vector<float> outputs(2 * 16 * 32);
  for (float& z : outputs) z = static_cast<float>(stream.uniform());
  const auto with_shift = [&](double shift) {
    std::vector<float> moved = outputs;
    for (std::size_t i = 0; i < moved.size(); i += 32) moved[i] += static_cast<float>(shift);
    return judge_outputs(moved, 16);
  };
  double low = 0, high = 10;
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (with_shift(middle).p > 0.05 ? low : high) = middle;
  }
  EXPECT_NEAR(with_shift(low).hotelling.value() * 32, 72.34, 0.05);
  EXPECT_FALSE(with_shift(low).told_apart);
}

}  // namespace
}  // namespace tyche::distinguish
