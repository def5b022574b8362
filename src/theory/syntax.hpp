#pragma once
/// The text of formulas.
///
///   const FormulaId f = parse_formula(pool, "!exists>=3 y. (E(x,y) & exists>=5 x. E(y,x))");
///   print_formula(pool, f)                       // the same text
///
/// From loose to tight: `<->` and `->` (both group to the right), `|`, `&`, then `!` and quantifiers. A quantifier
/// reaches as far to the right as it can: `exists y. E(x,y) & R1(y)` is `exists y. (E(x,y) & R1(y))`.
/// Atoms: `true`, `false`, `E(x,y)`, `x = y`, `x != y`, `R1(x)`, `R2(x)`, …. Quantifiers: `exists y.`, `forall y.`,
/// `exists>=3 y.`, and for short `exists=3 y.` (at least 3 and not at least 4) and `exists<=3 y.` (not at least 4).
/// Variables: a small letter, then small letters, digits or `_`.
#include <cstddef>
#include <string>
#include <string_view>

#include "theory/formula.hpp"

namespace tyche::theory {

/// Throws InputError that names the column (from 1), what was expected and what came, with the text and a caret under
/// it. Nesting deeper than 500 is refused, in the text or in what print_formula would write.
[[nodiscard]] FormulaId parse_formula(FormulaPool& pool, std::string_view text);

/// Text that parses back to the same formula. Where it would be longer than `limit` characters it is cut there and
/// ends in " …".
[[nodiscard]] std::string print_formula(const FormulaPool& pool, FormulaId f, std::size_t limit = std::string::npos);

}  // namespace tyche::theory
