#include "theory/formula.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <unordered_map>

#include "support/error.hpp"

namespace tyche::theory {

Variable FormulaPool::variable(std::string_view name) {
  const auto found = std::find(names_.begin(), names_.end(), name);
  if (found != names_.end()) return static_cast<Variable>(found - names_.begin());
  if (names_.size() == kMaxVariables) {
    throw InputError(fmt::format("variable '{}' is one too many: formulas may use {} variables", name, kMaxVariables));
  }
  names_.emplace_back(name);
  return static_cast<Variable>(names_.size() - 1);
}

std::string FormulaPool::names(std::uint32_t mask) const {
  std::string out;
  for (; mask != 0; mask &= mask - 1)
    out += (out.empty() ? "" : ", ") + name(static_cast<Variable>(std::countr_zero(mask)));
  return out;
}

FormulaId FormulaPool::colour(std::uint32_t index, Variable v) {
  if (index == 0 || index > kMaxColour) {
    throw InputError(fmt::format("colours are R1 to R{}, not R{}", kMaxColour, index));
  }
  return add(Kind::colour, v, 0, index, {});
}

FormulaId FormulaPool::joined(Kind connective, std::span<const FormulaId> operands) {
  if (operands.empty()) return truth(connective == Kind::conjunction);
  return operands.size() == 1 ? operands[0] : add(connective, 0, 0, 0, operands);
}

FormulaId FormulaPool::at_least(std::uint32_t count, Variable v, FormulaId body) {
  if (count == 0 || count > kMaxCount) {
    throw InputError(fmt::format("a quantifier counts from 1 to {}, not {}{}", kMaxCount, count,
                                 count == 0 ? ": 'at least 0' is always true" : ""));
  }
  return add(Kind::at_least, v, 0, count, {&body, 1});
}

FormulaId FormulaPool::exactly(std::uint32_t count, Variable v, FormulaId body) {
  const FormulaId enough = at_least(count, v, body);
  return conjunction({enough, negation(at_least(count + 1, v, body))});
}

FormulaId FormulaPool::add(Kind kind, Variable a, Variable b, std::uint32_t number,
                           std::span<const FormulaId> operands) {
  std::uint32_t free = 0;
  for (const FormulaId f : operands) free |= free_variables(f);
  if (kind == Kind::colour) free = 1u << a;
  if (kind == Kind::edge || kind == Kind::equal) free = 1u << a | 1u << b;
  if (binds(kind)) free &= ~(1u << a);
  const FormulaId made = records_.intern({kind, a, b, number, free}, operands);
  if (records_.size() > kKeep) throw InputError("too many formulas for one pool (four thousand million)");
  return made;
}

std::vector<FormulaId> subformulas(const FormulaPool& pool, FormulaId f) {
  // Operands have smaller numbers, so one walk down over a table of marks finds them all, without recursion.
  std::vector<bool> wanted(static_cast<std::size_t>(f) + 1, false);
  wanted[f] = true;
  std::vector<FormulaId> out;
  for (FormulaId g = f + 1; g-- > 0;) {
    if (!wanted[g]) continue;
    out.push_back(g);
    for (const FormulaId operand : pool.view(g).operands) wanted[operand] = true;
  }
  std::reverse(out.begin(), out.end());
  return out;
}

std::uint32_t variables_of(const FormulaPool& pool, FormulaId f) {
  std::uint32_t used = 0;
  for (const FormulaId g : subformulas(pool, f)) {
    const auto v = pool.view(g);
    used |= pool.free_variables(g);
    if (binds(v.kind)) used |= 1u << v.a;
  }
  return used;
}

std::uint32_t max_colour(const FormulaPool& pool, FormulaId f) {
  std::uint32_t largest = 0;
  for (const FormulaId g : subformulas(pool, f)) {
    const auto v = pool.view(g);
    if (v.kind == Kind::colour) largest = std::max(largest, v.number);
  }
  return largest;
}

namespace {

/// Rebuilds f bottom-up; `atom` says what becomes of colours, edges and equations, `bound` of quantified variables.
FormulaId rebuild(FormulaPool& pool, FormulaId f, const std::function<FormulaId(FormulaId)>& atom,
                  const std::function<Variable(Variable)>& bound) {
  std::unordered_map<FormulaId, FormulaId> image;
  std::vector<FormulaId> operands;
  for (const FormulaId g : subformulas(pool, f)) {
    operands.clear();
    for (const FormulaId operand : pool.view(g).operands) operands.push_back(image.at(operand));
    const auto v = pool.view(g);
    const bool is_atom = v.kind == Kind::colour || v.kind == Kind::edge || v.kind == Kind::equal;
    const FormulaId made = is_atom              ? atom(g)
                           : v.operands.empty() ? g  // true, false
                                                : pool.like(g, binds(v.kind) ? bound(v.a) : v.a, operands);
    image.emplace(g, made);
  }
  return image.at(f);
}

}  // namespace

FormulaId swap_variables(FormulaPool& pool, FormulaId f, Variable x, Variable y) {
  const auto other = [x, y](Variable v) { return v == x ? y : v == y ? x : v; };
  const auto atom = [&](FormulaId g) {
    const auto v = pool.view(g);
    if (v.kind == Kind::colour) return pool.colour(v.number, other(v.a));
    return v.kind == Kind::edge ? pool.edge(other(v.a), other(v.b)) : pool.equal(other(v.a), other(v.b));
  };
  return rebuild(pool, f, atom, other);
}

FormulaId substitute_colours(FormulaPool& pool, FormulaId f, std::span<const FormulaId> meanings, Variable x,
                             Variable y) {
  const auto atom = [&](FormulaId g) {
    const auto v = pool.view(g);
    if (v.kind != Kind::colour || v.number > meanings.size() || meanings[v.number - 1] == kKeep) return g;
    const FormulaId meaning = meanings[v.number - 1];
    return v.a == x ? meaning : swap_variables(pool, meaning, x, y);
  };
  return rebuild(pool, f, atom, [](Variable v) { return v; });
}

}  // namespace tyche::theory
