#include "theory/model_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <unordered_map>

#include "support/error.hpp"

namespace tyche::theory {

namespace {

constexpr std::size_t kMaxTable = std::size_t{1} << 28;

std::vector<Variable> list_of(std::uint32_t mask) {
  std::vector<Variable> out;
  for (; mask != 0; mask &= mask - 1) out.push_back(static_cast<Variable>(std::countr_zero(mask)));
  return out;
}

/// The table of a formula whose operands have theirs.
Relation table_of(const FormulaPool& pool, FormulaId f, const ColouredGraph& graph,
                  const std::unordered_map<FormulaId, Relation>& tables) {
  const std::size_t n = graph.num_nodes();
  Relation out{list_of(pool.free_variables(f)), {}};
  std::size_t size = 1;
  for (std::size_t i = 0; i < out.free.size(); ++i) {
    if (size > kMaxTable / n) {
      throw InputError(fmt::format(
          "a subformula has {} free variables: on {} nodes its table would pass {} entries; a smaller graph would do",
          out.free.size(), n, kMaxTable));
    }
    size *= n;
  }
  out.table.resize(size);

  const auto v = pool.view(f);
  std::vector<const Relation*> operands;
  for (const FormulaId g : v.operands) operands.push_back(&tables.at(g));
  std::array<Node, kMaxVariables> value{};  // of each variable
  const auto operand_true = [&](const Relation* operand) {
    std::size_t index = 0;
    for (std::size_t j = operand->free.size(); j-- > 0;) index = index * n + value[operand->free[j]];
    return operand->table[index] != 0;
  };
  const auto truth = [&] {
    switch (v.kind) {
      case Kind::truth:
        return true;
      case Kind::falsity:
        return false;
      case Kind::colour:
        return graph.has(value[v.a], v.number);
      case Kind::edge:
        return graph.graph().has_edge(value[v.a], value[v.b]);
      case Kind::equal:
        return value[v.a] == value[v.b];
      case Kind::negation:
        return !operand_true(operands[0]);
      case Kind::conjunction:
        return std::ranges::all_of(operands, operand_true);
      case Kind::disjunction:
        return std::ranges::any_of(operands, operand_true);
      case Kind::implication:
        return !operand_true(operands[0]) || operand_true(operands[1]);
      case Kind::equivalence:
        return operand_true(operands[0]) == operand_true(operands[1]);
      case Kind::at_least:
      case Kind::for_all: {
        const Node outside = value[v.a];
        std::size_t count = 0;
        for (value[v.a] = 0; value[v.a] < n; ++value[v.a]) count += operand_true(operands[0]) ? 1 : 0;
        value[v.a] = outside;
        return v.kind == Kind::for_all ? count == n : count >= v.number;
      }
    }
    return false;
  };
  for (std::uint8_t& entry : out.table) {
    entry = truth() ? 1 : 0;
    for (const Variable free : out.free) {  // the next assignment
      if (++value[free] < n) break;
      value[free] = 0;
    }
  }
  return out;
}

void refuse_free(const FormulaPool& pool, FormulaId f, int allowed) {
  const std::uint32_t free = pool.free_variables(f);
  if (std::popcount(free) <= allowed) return;
  const bool one = std::popcount(free) == 1;
  throw InputError(fmt::format("{} {} free: bind {} with exists or forall ({} allowed here)", pool.names(free),
                               one ? "is" : "are", one ? "it" : "them",
                               allowed == 0 ? "no free variable is" : "one free variable is"));
}

}  // namespace

Relation model_check(const FormulaPool& pool, FormulaId f, const ColouredGraph& graph) {
  if (graph.num_nodes() == 0) throw InputError("formulas are about graphs with at least one node; this graph has none");
  const std::uint32_t colour = max_colour(pool, f), colours = graph.num_colours();
  if (colour > colours) {
    throw InputError(fmt::format("the formula speaks of R{}, but this graph's colours are {}", colour,
                                 colours == 0   ? std::string("none")
                                 : colours == 1 ? std::string("R1 alone")
                                                : fmt::format("R1 to R{}", colours)));
  }
  std::unordered_map<FormulaId, Relation> tables;
  for (const FormulaId g : subformulas(pool, f)) tables.emplace(g, table_of(pool, g, graph, tables));
  return std::move(tables.at(f));
}

bool holds(const FormulaPool& pool, FormulaId sentence, const ColouredGraph& graph) {
  refuse_free(pool, sentence, 0);
  return model_check(pool, sentence, graph).table[0] != 0;
}

std::vector<std::uint8_t> satisfying_nodes(const FormulaPool& pool, FormulaId f, const ColouredGraph& graph) {
  refuse_free(pool, f, 1);
  Relation r = model_check(pool, f, graph);
  if (r.free.empty()) return std::vector<std::uint8_t>(graph.num_nodes(), r.table[0]);
  return std::move(r.table);
}

}  // namespace tyche::theory
