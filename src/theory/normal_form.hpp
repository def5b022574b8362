#pragma once
/// C² formulas the way a network can compute them.
///
/// Seen from a node x, a formula of C² is a Boolean combination of facts about x alone (colours, and counts "at least k
/// nodes y such that …"). Under a quantifier it also speaks of y, of E(x,y) and of x = y; but of the last two only
/// three things can be true: y is x, y is a neighbour of x, or neither. Replacing E and = by their values in each case
/// leaves three Boolean combinations of facts about x and facts about y; that is all a count needs to keep.
///
/// Expressions and facts are hash-consed and simplified as they are made (constants, doubles, complements, order of
/// operands, x-only conjuncts drawn out of quantifiers), so equal subformulas become one. All internal to compile.cpp.
#include <array>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "support/intern.hpp"
#include "theory/formula.hpp"

namespace tyche::theory {

/// A Boolean expression over facts about x and y, E(x,y) and x = y.
using ExprId = std::uint32_t;
/// A fact about one node.
using FactId = std::uint32_t;

struct Fact {
  std::uint32_t colour = 0;  ///< R<colour>; 0: a count
  std::uint32_t count = 0;   ///< at least so many y with …
  ExprId self = 0;           ///< … this, where y is x (an expression over facts about x)
  ExprId edge = 0;           ///< … this, where y is a neighbour of x
  ExprId other = 0;          ///< … this, where y is neither
  /// The first formula that became this fact, for people.
  FormulaId source = 0;
};

class NormalForm {
 public:
  enum class Op : std::uint8_t { no, yes, fact_x, fact_y, edge, equal, negation, all, any };
  /// What an expression speaks of. A sentence, the same at every node, speaks of neither x nor y.
  static constexpr std::uint8_t kX = 1, kY = 2, kEdge = 4, kEqual = 8;

  NormalForm(const FormulaPool& pool, Variable x, Variable y);

  /// A formula in x and y, as seen with x in the first place. Requires no other variables.
  ExprId convert(FormulaId f);

  [[nodiscard]] Op op(ExprId e) const { return records_[e].op; }
  [[nodiscard]] std::uint8_t speaks_of(ExprId e) const { return records_[e].flags; }
  [[nodiscard]] FactId fact_of(ExprId e) const { return records_[e].fact; }
  [[nodiscard]] const Fact& fact(FactId f) const { return facts_[f]; }
  [[nodiscard]] std::span<const ExprId> operands(ExprId e) const {
    return std::span(operands_).subspan(records_[e].first, records_[e].size);
  }
  [[nodiscard]] static ExprId constant(bool value) { return value ? 1 : 0; }

  ExprId negation(ExprId e);
  ExprId all_of(std::vector<ExprId> operands) { return combine(Op::all, std::move(operands)); }
  ExprId any_of(std::vector<ExprId> operands) { return combine(Op::any, std::move(operands)); }
  /// e with facts about y turned into the same facts about x (what e says where y is x), or the reverse.
  ExprId y_to_x(ExprId e) { return rewrite(e, Rewrite{.y_to_x = true}); }
  ExprId x_to_y(ExprId e) { return rewrite(e, Rewrite{.x_to_y = true}); }
  /// e where the truth of `about_x`, an expression about x alone, is known.
  ExprId given(ExprId e, ExprId about_x, bool value) { return rewrite(e, Rewrite{.known = about_x, .value = value}); }
  /// The first fact about x in e; or, with `whole`, the first largest subexpression about x alone (without a negation
  /// before it). Requires speaks_of(e) & kX.
  [[nodiscard]] ExprId first_about_x(ExprId e, bool whole) const;

 private:
  struct Record {
    std::uint64_t first;
    std::uint32_t size;
    std::uint32_t fact;
    Op op;
    std::uint8_t flags;
  };
  struct Rewrite {
    bool y_to_x = false, x_to_y = false;
    ExprId known = 0;  ///< 0: nothing is
    bool value = false;
    bool binary = false;  ///< E and = have the values below
    bool edge = false, equal = false;
  };

  ExprId add(Op op, FactId fact, std::span<const ExprId> operands);
  ExprId combine(Op op, std::vector<ExprId> operands);
  ExprId rewrite(ExprId e, const Rewrite& rule);
  ExprId rewrite(ExprId e, const Rewrite& rule, std::unordered_map<ExprId, ExprId>& done);
  /// exists>=count y. body, for a body seen with x in the first place; the result speaks of x alone.
  ExprId quantify(std::uint32_t count, ExprId body, FormulaId source);
  FactId intern(const Fact& fact);
  ExprId fact_expr(FactId fact, bool about_x);

  const FormulaPool& pool_;
  Variable x_, y_;
  std::vector<Record> records_;
  std::vector<ExprId> operands_;
  InternTable table_;
  std::vector<Fact> facts_;
  std::vector<bool> sentence_;  ///< a fact: the same at every node
  InternTable fact_table_;
  /// Formulas converted before (kKeep: not yet), by number, seen from x and from y.
  std::array<std::vector<ExprId>, 2> converted_;
};

}  // namespace tyche::theory
