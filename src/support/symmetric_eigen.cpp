#include "support/symmetric_eigen.hpp"

#include <cmath>

namespace tyche {

namespace {

/// Rotates columns and rows p and q of `m` so that m[p, q] becomes 0, and rows p and q of `v` alike.
void rotate(std::vector<double>& m, std::vector<double>& v, std::size_t n, std::size_t p, std::size_t q) {
  const double theta = (m[q * n + q] - m[p * n + p]) / (2 * m[p * n + q]);
  const double t = (theta < 0 ? -1 : 1) / (std::abs(theta) + std::hypot(theta, 1));
  const double c = 1 / std::hypot(t, 1), s = t * c;
  const auto turn = [c, s](double& x, double& y) {
    const double old = x;
    x = c * old - s * y;
    y = s * old + c * y;
  };
  for (std::size_t k = 0; k < n; ++k) turn(m[k * n + p], m[k * n + q]);
  for (std::size_t k = 0; k < n; ++k) turn(m[p * n + k], m[q * n + k]);
  for (std::size_t k = 0; k < n; ++k) turn(v[p * n + k], v[q * n + k]);
}

}  // namespace

SymmetricEigen symmetric_eigen(std::vector<double> matrix, std::size_t size) {
  const std::size_t n = size;
  SymmetricEigen out{std::vector<double>(n), std::vector<double>(n * n, 0.0)};
  for (std::size_t i = 0; i < n; ++i) out.vectors[i * n + i] = 1;
  constexpr unsigned kSweeps = 50;  // it converges quadratically: ten are plenty
  for (unsigned sweep = 0; sweep < kSweeps; ++sweep) {
    bool done = true;
    for (std::size_t p = 0; p < n; ++p) {
      for (std::size_t q = p + 1; q < n; ++q) {
        const double scale = std::sqrt(std::abs(matrix[p * n + p] * matrix[q * n + q]));
        if (matrix[p * n + q] == 0 || std::abs(matrix[p * n + q]) < 1e-16 * scale) continue;
        rotate(matrix, out.vectors, n, p, q);
        done = false;
      }
    }
    if (done) break;
  }
  for (std::size_t i = 0; i < n; ++i) out.values[i] = matrix[i * n + i];
  return out;
}

}  // namespace tyche
