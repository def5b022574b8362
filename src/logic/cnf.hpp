#pragma once
/// Propositional formulas in conjunctive normal form.
///
///   Formula f{2, {{1, -2}, {-1, 2}}};       // (x1 or not x2) and (not x1 or x2)
///   parse_dimacs(to_dimacs(f), "memory") == f
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tyche {

/// As in DIMACS: +v for variable v, -v for its negation, variables numbered from 1.
using Literal = std::int32_t;
using Disjunction = std::vector<Literal>;

struct Formula {
  std::uint32_t variables = 0;
  std::vector<Disjunction> disjunctions;

  friend bool operator==(const Formula&, const Formula&) = default;
};

/// Both formulas with b's variables renamed to follow a's.
[[nodiscard]] Formula conjunction_of_disjoint(const Formula& a, const Formula& b);

/// The value of a formula under an assignment: assignment[v - 1] is the value of variable v. Requires one value a
/// variable.
[[nodiscard]] bool evaluate(const Formula& formula, const std::vector<bool>& assignment);

/// DIMACS CNF. `name` stands for the file in errors. Comments, blank lines, CRLF and disjunctions over several lines
/// are fine; a missing header, a literal out of range, a wrong number of disjunctions, a missing closing 0 or trailing
/// text are InputErrors. Never allocates more than a small multiple of the text's size.
[[nodiscard]] Formula parse_dimacs(std::string_view text, std::string_view name);
[[nodiscard]] std::string to_dimacs(const Formula& formula);

}  // namespace tyche
