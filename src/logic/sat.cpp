#include "logic/sat.hpp"

#include <cadical.hpp>

#include "support/error.hpp"

namespace tyche {

std::optional<std::vector<bool>> solve(const Formula& formula) {
  CaDiCaL::Solver solver;
  solver.set("quiet", 1);
  for (const Disjunction& disjunction : formula.disjunctions) {
    for (const Literal literal : disjunction) solver.add(literal);
    solver.add(0);
  }
  const int verdict = solver.solve();
  if (verdict == 20) return std::nullopt;
  if (verdict != 10) throw Error("the SAT solver gave no verdict (status {})", verdict);
  std::vector<bool> assignment(formula.variables, false);
  const auto known = static_cast<std::uint32_t>(solver.vars());  // variables in no disjunction stay false
  for (std::uint32_t v = 0; v < formula.variables && v < known; ++v)
    assignment[v] = solver.val(static_cast<int>(v + 1)) > 0;
  if (!evaluate(formula, assignment)) throw Error("the SAT solver's assignment does not satisfy the formula");
  return assignment;
}

bool satisfiable_exhaustively(const Formula& formula) {
  if (formula.variables > 30) {
    throw InputError("an exhaustive check of {} variables is too much: at most 30", formula.variables);
  }
  // A disjunction fails exactly where every positive variable is 0 and every negative one is 1.
  struct Masks {
    std::uint32_t positive = 0;
    std::uint32_t negative = 0;
  };
  std::vector<Masks> masks;
  for (const Disjunction& disjunction : formula.disjunctions) {
    Masks m;
    for (const Literal literal : disjunction) {
      if (literal > 0) {
        m.positive |= 1u << (literal - 1);
      } else {
        m.negative |= 1u << (-literal - 1);
      }
    }
    masks.push_back(m);
  }
  for (std::uint32_t assignment = 0; assignment < (1u << formula.variables); ++assignment) {
    bool holds = true;
    for (const Masks& m : masks) holds = holds && ((assignment & m.positive) | (~assignment & m.negative)) != 0;
    if (holds) return true;
  }
  return false;
}

}  // namespace tyche
