#include "support/statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace tyche {
namespace {

TEST(Statistics, DeviationsOfNumbersThatLieCloseTogetherKeepTheirDigits) {
  const std::vector<double> values = {1e9 + 1, 1e9 + 3, 1e9 + 5, 1e9 + 7};
  EXPECT_EQ(spread_of(values).mean, 1e9 + 4);
  EXPECT_EQ(spread_of(values).deviation, std::sqrt(5.0));
  EXPECT_EQ(spread_of(std::vector<double>{0.9}).deviation, 0);
  EXPECT_EQ(spread_of({}).mean, 0);
}

double binomial_tail(unsigned from, unsigned n, double p) {  // P(X >= from)
  double sum = 0;
  for (unsigned k = from; k <= n; ++k) {
    sum += std::exp(std::lgamma(n + 1.0) - std::lgamma(k + 1.0) - std::lgamma(n - k + 1.0) + k * std::log(p) +
                    (n - k) * std::log1p(-p));
  }
  return sum;
}

TEST(Statistics, ClopperPearsonEndsWhereTheTailsAreTwoAndAHalfPercent) {
  for (const unsigned n : {1u, 10u, 57u}) {
    for (unsigned s = 0; s <= n; ++s) {
      const Interval i = clopper_pearson(s, n);
      if (s > 0) {
        EXPECT_NEAR(binomial_tail(s, n, i.low), 0.025, 1e-9);
      }
      if (s < n) {
        EXPECT_NEAR(1 - binomial_tail(s + 1, n, i.high), 0.025, 1e-9);
      }
      EXPECT_LE(i.low, static_cast<double>(s) / n);
      EXPECT_GE(i.high, static_cast<double>(s) / n);
    }
  }
  EXPECT_EQ(clopper_pearson(0, 10).low, 0);
  EXPECT_EQ(clopper_pearson(10, 10).high, 1);
  EXPECT_EQ(clopper_pearson(0, 0).high, 1);
}

TEST(Statistics, FishersTeaTastingLady) {
  EXPECT_NEAR(fisher_exact(3, 4, 1, 4), 34.0 / 70, 1e-9);  // two-sided
  EXPECT_NEAR(fisher_exact(4, 4, 0, 4), 2.0 / 70, 1e-9);
  EXPECT_NEAR(fisher_exact(5, 10, 5, 10), 1, 1e-9);
  EXPECT_NEAR(fisher_exact(0, 10, 0, 10), 1, 1e-9);
  EXPECT_LT(fisher_exact(9000, 10000, 0, 10000), 1e-100);
}

TEST(Statistics, FishersTestOnOneSideCountsTheSplitsAtLeastAsExtreme) {
  EXPECT_NEAR(fisher_greater(3, 4, 1, 4), 17.0 / 70, 1e-12);  // the tea tasting lady
  EXPECT_NEAR(fisher_greater(4, 4, 0, 4), 1.0 / 70, 1e-12);
  EXPECT_NEAR(fisher_greater(1, 4, 3, 4), 69.0 / 70, 1e-12);
  EXPECT_EQ(fisher_greater(0, 4, 4, 4), 1);
  EXPECT_EQ(fisher_greater(0, 10, 0, 10), 1);
  EXPECT_EQ(fisher_greater(10, 10, 10, 10), 1);
  // Summed in whole numbers.
  EXPECT_NEAR(fisher_greater(74, 100, 40, 100) / 9.65536763089442e-07, 1, 1e-9);
  EXPECT_NEAR(std::log10(fisher_greater(512, 512, 0, 512)), -306.6, 0.1);  // 1 / C(1024, 512)
}

TEST(Statistics, FishersTestOnOneSideIsTheSumOverAllOrdersOfTheSample) {
  // Every way to choose which 5 of 9 things are successes, as equally likely; the first 4 are sample a.
  for (unsigned observed = 1; observed <= 4; ++observed) {
    unsigned all = 0, extreme = 0;
    for (unsigned set = 0; set < 512; ++set) {
      if (__builtin_popcount(set) != 5) continue;
      ++all;
      extreme += static_cast<unsigned>(__builtin_popcount(set & 15u)) >= observed ? 1u : 0u;
    }
    EXPECT_NEAR(fisher_greater(observed, 4, 5 - observed, 5), static_cast<double>(extreme) / all, 1e-12);
  }
}

}  // namespace
}  // namespace tyche
