#pragma once
/// What a number of successes says about a probability; what numbers are on average, and how far apart.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

namespace tyche {

struct Spread {
  double mean = 0;
  double deviation = 0;   ///< population standard deviation, as NumPy's std
  std::size_t count = 0;  ///< of the values
};
/// In two passes: the mean square less the squared mean loses all digits where numbers lie close together. No values:
/// all 0.
[[nodiscard]] Spread spread_of(std::span<const double> values);

/// The same value by value, where they are not kept (Welford): values far from zero keep their spread, and equal ones
/// have exactly none. A weight counts as so many values.
struct RunningSpread {
  double mean = 0, squares = 0, count = 0;  ///< squares: of the distances from the mean

  void add(double value, double weight = 1) {
    const double step = value - mean;
    count += weight;
    mean += weight * step / count;
    squares += weight * step * (value - mean);
  }
  [[nodiscard]] double deviation() const { return count > 0 ? std::sqrt(squares / count) : 0; }
};

struct Interval {
  double low = 0;
  double high = 1;
};

/// Clopper and Pearson's interval: holds the probability with at least this confidence, whatever it is. No trials: all
/// of [0, 1]. Requires successes <= trials, 0 < confidence < 1.
[[nodiscard]] Interval clopper_pearson(std::uint64_t successes, std::uint64_t trials, double confidence = 0.95);

/// Fisher's exact test, two-sided: the probability, if both samples had the same chance of success, of a split of all
/// successes at most as likely as this one.
[[nodiscard]] double fisher_exact(std::uint64_t successes_a, std::uint64_t trials_a, std::uint64_t successes_b,
                                  std::uint64_t trials_b);

/// The same, one-sided: the probability, if both samples had the same chance of success, that so many or more of all
/// successes fall into a. Requires successes_a <= trials_a and successes_b <= trials_b.
[[nodiscard]] double fisher_greater(std::uint64_t successes_a, std::uint64_t trials_a, std::uint64_t successes_b,
                                    std::uint64_t trials_b);

}  // namespace tyche
