#pragma once
/// Eigenvalues and eigenvectors of a small symmetric matrix, by Jacobi's rotations.
///
///   const SymmetricEigen eigen = symmetric_eigen(std::vector<double>{2, 1, 1, 2}, 2);
///   eigen.values                                     // 1 and 3, in no particular order
#include <cstddef>
#include <vector>

namespace tyche {

struct SymmetricEigen {
  std::vector<double> values;
  std::vector<double> vectors;  ///< row k is the unit vector of values[k]
};

/// Eigenvalues and vectors of a row-major matrix of `size` rows. Requires it symmetric and finite.
[[nodiscard]] SymmetricEigen symmetric_eigen(std::vector<double> matrix, std::size_t size);

}  // namespace tyche
