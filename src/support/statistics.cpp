#include "support/statistics.hpp"

#include <algorithm>
#include <boost/math/special_functions/beta.hpp>
#include <cmath>

namespace tyche {

Spread spread_of(std::span<const double> values) {
  if (values.empty()) return {};
  const auto count = static_cast<double>(values.size());
  double sum = 0, squares = 0;
  for (const double value : values) sum += value;
  const double mean = sum / count;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return {mean, std::sqrt(squares / count), values.size()};
}

Interval clopper_pearson(std::uint64_t successes, std::uint64_t trials, double confidence) {
  if (trials == 0) return {};
  const double tail = (1 - confidence) / 2;
  const auto s = static_cast<double>(successes), n = static_cast<double>(trials);
  Interval out;
  if (successes > 0) out.low = boost::math::ibeta_inv(s, n - s + 1, tail);
  if (successes < trials) out.high = boost::math::ibeta_inv(s + 1, n - s, 1 - tail);
  return out;
}

namespace {

/// std::lgamma writes the sign to a global that all threads share.
double log_factorial(double n) {
  int sign = 0;
  return ::lgamma_r(n + 1, &sign);
}

double log_choose(std::uint64_t n, std::uint64_t k) {
  const auto x = static_cast<double>(n), y = static_cast<double>(k);
  return log_factorial(x) - log_factorial(y) - log_factorial(x - y);
}

/// How all successes may fall into two samples, if both had the same chance of success: hypergeometric.
struct Splits {
  std::uint64_t trials_a, trials_b, successes;
  std::uint64_t least = successes > trials_b ? successes - trials_b : 0;  ///< that must be in a
  std::uint64_t most = std::min(successes, trials_a);

  [[nodiscard]] double log_chance(std::uint64_t in_a) const {
    return log_choose(trials_a, in_a) + log_choose(trials_b, successes - in_a) -
           log_choose(trials_a + trials_b, successes);
  }
};

}  // namespace

double fisher_exact(std::uint64_t successes_a, std::uint64_t trials_a, std::uint64_t successes_b,
                    std::uint64_t trials_b) {
  const Splits splits{trials_a, trials_b, successes_a + successes_b};
  // Splits as likely as the observed one count, up to the rounding of log_factorial.
  const double observed = splits.log_chance(successes_a) + 1e-7;
  double p = 0;
  for (std::uint64_t in_a = splits.least; in_a <= splits.most; ++in_a) {
    const double chance = splits.log_chance(in_a);
    if (chance <= observed) p += std::exp(chance);
  }
  return std::min(p, 1.0);
}

double fisher_greater(std::uint64_t successes_a, std::uint64_t trials_a, std::uint64_t successes_b,
                      std::uint64_t trials_b) {
  const Splits splits{trials_a, trials_b, successes_a + successes_b};
  if (successes_a == splits.least) return 1;
  double p = 0;
  for (std::uint64_t in_a = splits.most; in_a >= successes_a; --in_a) p += std::exp(splits.log_chance(in_a));
  return std::min(p, 1.0);
}

}  // namespace tyche
