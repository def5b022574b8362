#pragma once
/// The core pair: two formulas over 2n variables, one unsatisfiable and one satisfiable, whose graphs 1-WL cannot tell
/// apart.
///
/// Variables x_0 … x_{2n-1} of the text are 1 … 2n here. Both cores hold Bridge(2n), which forces x_i ≠ x_{2n-1-i}; the
/// unsatisfiable one closes all variables into one cyclic chain of implications (all equal), the satisfiable one into
/// two, the second reversed.
#include <cstdint>

#include "logic/cnf.hpp"

namespace tyche::datasets {

/// Requires n >= 2 (with n = 1 a chain would repeat a literal); throws InputError otherwise. 4n disjunctions each.
[[nodiscard]] Formula unsat_core(std::uint32_t n);
[[nodiscard]] Formula sat_core(std::uint32_t n);

}  // namespace tyche::datasets
