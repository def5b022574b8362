#pragma once
/// Formulas of counting logic over coloured graphs: E(x,y), x = y, colours R1(x), R2(x), …, connectives, and
/// quantifiers "at least k". With at most k variables this is the paper's C^k.
///
///   FormulaPool pool;
///   const Variable x = pool.variable("x"), y = pool.variable("y");
///   const FormulaId lonely = pool.negation(pool.exists(y, pool.edge(x, y)));       // "x has no neighbour"
///
/// Formulas live in a pool and are named by numbers; equal formulas have equal numbers, operands have smaller numbers
/// than what they are part of. Nothing is simplified here: a formula is what was written.
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support/intern.hpp"

namespace tyche::theory {

using FormulaId = std::uint32_t;
/// A variable, numbered by first appearance in its pool.
using Variable = std::uint8_t;

enum class Kind : std::uint16_t {
  truth,        ///< true
  falsity,      ///< false
  colour,       ///< R<number>(a)
  edge,         ///< E(a,b)
  equal,        ///< a = b
  negation,     ///< one operand
  conjunction,  ///< two or more operands, likewise disjunction
  disjunction,
  implication,  ///< two operands, likewise equivalence
  equivalence,
  at_least,  ///< exists>=<number> a. operand
  for_all,   ///< forall a. operand
};

[[nodiscard]] constexpr bool binds(Kind kind) { return kind == Kind::at_least || kind == Kind::for_all; }

/// Counts of quantifiers go from 1 to this: a larger one would outgrow every graph this room can check.
inline constexpr std::uint32_t kMaxCount = 100'000;
inline constexpr std::uint32_t kMaxColour = 1'000'000;
inline constexpr std::size_t kMaxVariables = 32;

class FormulaPool {
 public:
  /// One formula, seen from outside. `operands` is valid until the pool grows.
  struct View {
    Kind kind;
    Variable a, b;
    std::uint32_t number;
    std::span<const FormulaId> operands;
  };

  /// The variable of this name. Throws InputError past kMaxVariables names.
  Variable variable(std::string_view name);
  [[nodiscard]] const std::string& name(Variable v) const { return names_[v]; }
  /// "x, y": of the variables whose bits are set.
  [[nodiscard]] std::string names(std::uint32_t mask) const;

  FormulaId truth(bool value) { return add(value ? Kind::truth : Kind::falsity, 0, 0, 0, {}); }
  /// Throws InputError unless 1 <= index <= kMaxColour.
  FormulaId colour(std::uint32_t index, Variable v);
  FormulaId edge(Variable a, Variable b) { return add(Kind::edge, a, b, 0, {}); }
  FormulaId equal(Variable a, Variable b) { return add(Kind::equal, a, b, 0, {}); }
  FormulaId negation(FormulaId f) { return add(Kind::negation, 0, 0, 0, {&f, 1}); }
  /// No operand: true (false for a disjunction); one: itself. Not to be given the operands of a View of this pool: it
  /// moves them.
  FormulaId joined(Kind connective, std::span<const FormulaId> operands);
  FormulaId conjunction(std::span<const FormulaId> operands) { return joined(Kind::conjunction, operands); }
  FormulaId disjunction(std::span<const FormulaId> operands) { return joined(Kind::disjunction, operands); }
  FormulaId conjunction(std::initializer_list<FormulaId> fs) { return conjunction(std::span(fs.begin(), fs.size())); }
  FormulaId disjunction(std::initializer_list<FormulaId> fs) { return disjunction(std::span(fs.begin(), fs.size())); }
  FormulaId implication(FormulaId f, FormulaId g) { return add(Kind::implication, 0, 0, 0, std::array{f, g}); }
  FormulaId equivalence(FormulaId f, FormulaId g) { return add(Kind::equivalence, 0, 0, 0, std::array{f, g}); }
  /// Throws InputError unless 1 <= count <= kMaxCount.
  FormulaId at_least(std::uint32_t count, Variable v, FormulaId body);
  FormulaId exists(Variable v, FormulaId body) { return at_least(1, v, body); }
  FormulaId for_all(Variable v, FormulaId body) { return add(Kind::for_all, v, 0, 0, {&body, 1}); }
  /// At least `count` and not at least count + 1.
  FormulaId exactly(std::uint32_t count, Variable v, FormulaId body);
  /// A connective or quantifier f with these operands, as many as it has, and this bound variable.
  FormulaId like(FormulaId f, Variable bound, std::span<const FormulaId> operands) {
    return add(records_.head(f).kind, bound, 0, records_.head(f).number, operands);
  }

  [[nodiscard]] View view(FormulaId f) const {
    const Head& head = records_.head(f);
    return {head.kind, head.a, head.b, head.number, records_.list(f)};
  }
  /// Bit v is set where variable v occurs free.
  [[nodiscard]] std::uint32_t free_variables(FormulaId f) const { return records_.head(f).free; }
  [[nodiscard]] std::size_t size() const { return records_.size(); }

 private:
  struct Head {
    Kind kind;
    Variable a, b;
    std::uint32_t number;
    std::uint32_t free;
    friend bool operator==(const Head&, const Head&) = default;
  };
  FormulaId add(Kind kind, Variable a, Variable b, std::uint32_t number, std::span<const FormulaId> operands);

  std::vector<std::string> names_;
  InternedLists<Head, FormulaId> records_;
};

/// The subformulas of `f`, each once, operands before what they are part of; f is the last.
[[nodiscard]] std::vector<FormulaId> subformulas(const FormulaPool& pool, FormulaId f);

/// Bit v is set where variable v occurs, free or bound.
[[nodiscard]] std::uint32_t variables_of(const FormulaPool& pool, FormulaId f);

/// The largest i with R<i> in the formula; 0 where it speaks of no colour.
[[nodiscard]] std::uint32_t max_colour(const FormulaPool& pool, FormulaId f);

/// f with every R<index>(v) for which `meanings` has an entry (index - 1; kKeep: none) replaced by that formula, whose
/// one free variable must be `x`. Variables are those of the two-variable fragment: where v is not x, x and y change
/// places in what is put in. Requires f and the meanings to use no variables but x and y.
inline constexpr FormulaId kKeep = 0xffffffffu;
[[nodiscard]] FormulaId substitute_colours(FormulaPool& pool, FormulaId f, std::span<const FormulaId> meanings,
                                           Variable x, Variable y);

/// f with x and y in each other's places, bound ones too.
[[nodiscard]] FormulaId swap_variables(FormulaPool& pool, FormulaId f, Variable x, Variable y);

}  // namespace tyche::theory
