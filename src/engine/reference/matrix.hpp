#pragma once
/// Matrices in plain loops, and messages passed on them.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/core/message_graph.hpp"

namespace tyche::engine::reference {

/// Row-major.
template <class Real>
struct Matrix {
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::vector<Real> values;

  Matrix() = default;
  Matrix(std::size_t r, std::size_t c) : rows(r), columns(c), values(r * c, Real(0)) {}
  Real& operator()(std::size_t r, std::size_t c) { return values[r * columns + c]; }
  const Real& operator()(std::size_t r, std::size_t c) const { return values[r * columns + c]; }
};

/// Σ_e value_e · h_{column_e} for every row.
template <class Real>
Matrix<Real> multiply(const SparseRows& sparse, const Matrix<Real>& h) {
  Matrix<Real> out(sparse.rows(), h.columns);
  for (std::size_t v = 0; v < sparse.rows(); ++v) {
    for (std::uint64_t e = sparse.offsets[v]; e < sparse.offsets[v + 1]; ++e) {
      const Real weight = sparse.weights.empty() ? Real(1) : Real(sparse.weights[e]);
      for (std::size_t c = 0; c < h.columns; ++c) out(v, c) += weight * h(sparse.columns[e], c);
    }
    if (!sparse.scales.empty()) {
      for (std::size_t c = 0; c < h.columns; ++c) out(v, c) *= Real(sparse.scales[v]);
    }
  }
  return out;
}

}  // namespace tyche::engine::reference
