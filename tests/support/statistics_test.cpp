#include "support/statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace tyche {
namespace {

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

}  // namespace
}  // namespace tyche
