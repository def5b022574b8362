#pragma once
/// Hotelling's T² of paired differences, which BREC's own test is made of (without its factor q).
#include <cstddef>
#include <optional>
#include <span>

namespace tyche::distinguish {

/// q · D̄ᵀ S⁻¹ D̄ of q differences of `columns` numbers each, row-major; S is their sample covariance (q - 1). Nothing
/// where S is not regular to the precision of floats, as when a graph has one leaf: then T² says nothing.
///
///   const std::vector<double> d = {1, 2, 3};
///   hotelling(d, 1)                                   // q mean² / variance: 12
[[nodiscard]] std::optional<double> hotelling(std::span<const double> differences, std::size_t columns);

}  // namespace tyche::distinguish
