#pragma once
/// Satisfiability, by CaDiCaL.
#include <optional>
#include <vector>

#include "logic/cnf.hpp"

namespace tyche {

/// A satisfying assignment (one value per variable), re-checked by evaluate(); nothing where the formula has none.
[[nodiscard]] std::optional<std::vector<bool>> solve(const Formula& formula);
[[nodiscard]] inline bool satisfiable(const Formula& formula) { return solve(formula).has_value(); }

/// Satisfiability by trying all assignments: an oracle that shares no code with the solver. Requires at most 30
/// variables.
[[nodiscard]] bool satisfiable_exhaustively(const Formula& formula);

}  // namespace tyche
