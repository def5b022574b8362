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

class Checker {
 public:
  Checker(const FormulaPool& pool, const ColouredGraph& graph) : pool_(pool), graph_(graph), n_(graph.num_nodes()) {}

  Relation table_of(FormulaId f) {
    if (n_ == 0) throw InputError("formulas are about graphs with at least one node; this graph has none");
    const std::vector<FormulaId> all = subformulas(pool_, f);
    for (const FormulaId g : all) {
      const auto v = pool_.view(g);
      if (v.kind == Kind::colour && v.number > graph_.num_colours()) {
        throw InputError(fmt::format("the formula speaks of R{}, but this graph's colours are {}", v.number,
                                     graph_.num_colours() == 0   ? std::string("none")
                                     : graph_.num_colours() == 1 ? std::string("R1 alone")
                                                                 : fmt::format("R1 to R{}", graph_.num_colours())));
      }
    }
    for (const FormulaId g : all) tables_.emplace(g, evaluate(g));
    return std::move(tables_.at(f));
  }

 private:
  Relation evaluate(FormulaId f) const {
    Relation out{list_of(pool_.free_variables(f)), {}};
    std::size_t size = 1;
    for (std::size_t i = 0; i < out.free.size(); ++i) {
      if (size > kMaxTable / n_) {
        throw InputError(fmt::format(
            "a subformula has {} free variables: on {} nodes its table would pass {} entries; a smaller graph would do",
            out.free.size(), n_, kMaxTable));
      }
      size *= n_;
    }
    out.table.resize(size);

    const auto v = pool_.view(f);
    std::vector<const Relation*> operands;
    for (const FormulaId g : v.operands) operands.push_back(&tables_.at(g));
    std::array<Node, kMaxVariables> value{};  // of each variable
    const auto operand_true = [&](const Relation* operand) {
      std::size_t index = 0;
      for (std::size_t j = operand->free.size(); j-- > 0;) index = index * n_ + value[operand->free[j]];
      return operand->table[index] != 0;
    };
    const auto truth = [&] {
      switch (v.kind) {
        case Kind::truth:
          return true;
        case Kind::falsity:
          return false;
        case Kind::colour:
          return graph_.has(value[v.a], v.number);
        case Kind::edge:
          return graph_.graph().has_edge(value[v.a], value[v.b]);
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
          for (value[v.a] = 0; value[v.a] < n_; ++value[v.a]) count += operand_true(operands[0]) ? 1 : 0;
          value[v.a] = outside;
          return v.kind == Kind::for_all ? count == n_ : count >= v.number;
        }
      }
      return false;
    };
    for (std::uint8_t& entry : out.table) {
      entry = truth() ? 1 : 0;
      for (const Variable free : out.free) {  // the next assignment
        if (++value[free] < n_) break;
        value[free] = 0;
      }
    }
    return out;
  }

  const FormulaPool& pool_;
  const ColouredGraph& graph_;
  std::size_t n_;
  std::unordered_map<FormulaId, Relation> tables_;
};

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
  return Checker(pool, graph).table_of(f);
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
