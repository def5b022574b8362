#include "distinguish/hotelling.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace tyche::distinguish {

namespace {
// Outputs are floats: what is below this share of a column's variance is their rounding.
constexpr double kRegular = 1e-10;
}  // namespace

std::optional<double> hotelling(std::span<const double> differences, std::size_t columns) {
  const std::size_t d = columns, q = d == 0 ? 0 : differences.size() / d;
  if (q <= d) return std::nullopt;
  std::vector<double> mean(d, 0.0), s(d * d, 0.0);
  for (std::size_t i = 0; i < q; ++i) {
    for (std::size_t a = 0; a < d; ++a) mean[a] += differences[i * d + a] / static_cast<double>(q);
  }
  for (std::size_t i = 0; i < q; ++i) {
    for (std::size_t a = 0; a < d; ++a) {
      for (std::size_t b = 0; b <= a; ++b) {
        s[a * d + b] +=
            (differences[i * d + a] - mean[a]) * (differences[i * d + b] - mean[b]) / static_cast<double>(q - 1);
      }
    }
  }
  // Cholesky, S = L Lᵀ: T² is q |L⁻¹ D̄|². A pivot is what is left of a column's variance when the columns before it are
  // known.
  double sum = 0;
  std::vector<double> y(d, 0.0);
  for (std::size_t a = 0; a < d; ++a) {
    const double variance = s[a * d + a];
    for (std::size_t b = 0; b <= a; ++b) {
      double left = s[a * d + b];
      for (std::size_t c = 0; c < b; ++c) left -= s[a * d + c] * s[b * d + c];
      if (b < a) {
        s[a * d + b] = left / s[b * d + b];
      } else {
        if (!(left > kRegular * std::max(variance, mean[a] * mean[a]))) return std::nullopt;
        s[a * d + a] = std::sqrt(left);
      }
    }
    y[a] = mean[a];
    for (std::size_t b = 0; b < a; ++b) y[a] -= s[a * d + b] * y[b];
    y[a] /= s[a * d + a];
    sum += y[a] * y[a];
  }
  return static_cast<double>(q) * sum;
}

}  // namespace tyche::distinguish
