#include "support/statistics.hpp"

#include <algorithm>
#include <boost/math/special_functions/beta.hpp>
#include <cmath>

namespace tyche {

Interval clopper_pearson(std::uint64_t successes, std::uint64_t trials, double confidence) {
  if (trials == 0) return {};
  const double tail = (1 - confidence) / 2;
  const auto s = static_cast<double>(successes), n = static_cast<double>(trials);
  Interval out;
  if (successes > 0) out.low = boost::math::ibeta_inv(s, n - s + 1, tail);
  if (successes < trials) out.high = boost::math::ibeta_inv(s + 1, n - s, 1 - tail);
  return out;
}

double fisher_exact(std::uint64_t successes_a, std::uint64_t trials_a, std::uint64_t successes_b,
                    std::uint64_t trials_b) {
  const std::uint64_t successes = successes_a + successes_b, trials = trials_a + trials_b;
  const auto log_choose = [](std::uint64_t n, std::uint64_t k) {
    const auto x = static_cast<double>(n), y = static_cast<double>(k);
    return std::lgamma(x + 1) - std::lgamma(y + 1) - std::lgamma(x - y + 1);
  };
  const auto log_chance = [&](std::uint64_t in_a) {
    return log_choose(trials_a, in_a) + log_choose(trials_b, successes - in_a) - log_choose(trials, successes);
  };
  const std::uint64_t least = successes > trials_b ? successes - trials_b : 0;
  const std::uint64_t most = std::min(successes, trials_a);
  // Splits as likely as the observed one count, up to the rounding of lgamma.
  const double observed = log_chance(successes_a) + 1e-7;
  double p = 0;
  for (std::uint64_t in_a = least; in_a <= most; ++in_a) {
    const double chance = log_chance(in_a);
    if (chance <= observed) p += std::exp(chance);
  }
  return std::min(p, 1.0);
}

}  // namespace tyche
