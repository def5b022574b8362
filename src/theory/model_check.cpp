#include "theory/model_check.hpp"

#include <fmt/format.h>

#include <algorithm>
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
  /// What one operand adds to its index when a variable of `free` goes up by one.
  struct Operand {
    const std::uint8_t* table;
    std::vector<std::size_t> strides;
  };
  Operand operand(FormulaId g, const std::vector<Variable>& free) const {
    const Relation& r = tables_.at(g);
    Operand out{r.table.data(), std::vector<std::size_t>(free.size(), 0)};
    std::size_t stride = 1;
    for (const Variable v : r.free) {
      const auto at = std::find(free.begin(), free.end(), v);
      if (at != free.end()) out.strides[static_cast<std::size_t>(at - free.begin())] = stride;
      stride *= n_;
    }
    return out;
  }

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
    std::vector<Operand> operands;
    for (const FormulaId g : v.operands) operands.push_back(operand(g, out.free));
    std::size_t bound_stride = 0;
    if (v.kind == Kind::at_least || v.kind == Kind::for_all) {
      const std::vector<Variable> bound = {v.a};
      bound_stride = operand(v.operands[0], bound).strides[0];
    }
    const auto place = [&](Variable variable) {
      return static_cast<std::size_t>(std::find(out.free.begin(), out.free.end(), variable) - out.free.begin());
    };
    const std::size_t place_a =
        v.kind == Kind::colour || v.kind == Kind::edge || v.kind == Kind::equal ? place(v.a) : 0;
    const std::size_t place_b = v.kind == Kind::edge || v.kind == Kind::equal ? place(v.b) : 0;

    std::vector<Node> value(out.free.size(), 0);
    std::vector<std::size_t> index(operands.size(), 0);
    for (std::size_t entry = 0; entry < size; ++entry) {
      const auto operand_true = [&](std::size_t i) { return operands[i].table[index[i]] != 0; };
      bool truth = false;
      switch (v.kind) {
        case Kind::truth:
          truth = true;
          break;
        case Kind::falsity:
          break;
        case Kind::colour:
          truth = graph_.has(value[place_a], v.number);
          break;
        case Kind::edge:
          truth = graph_.graph().has_edge(value[place_a], value[place_b]);
          break;
        case Kind::equal:
          truth = value[place_a] == value[place_b];
          break;
        case Kind::negation:
          truth = !operand_true(0);
          break;
        case Kind::conjunction:
          truth = true;
          for (std::size_t i = 0; truth && i < operands.size(); ++i) truth = operand_true(i);
          break;
        case Kind::disjunction:
          for (std::size_t i = 0; !truth && i < operands.size(); ++i) truth = operand_true(i);
          break;
        case Kind::implication:
          truth = !operand_true(0) || operand_true(1);
          break;
        case Kind::equivalence:
          truth = operand_true(0) == operand_true(1);
          break;
        case Kind::at_least:
        case Kind::for_all: {
          std::size_t count = 0;
          for (std::size_t b = 0; b < n_; ++b) count += operands[0].table[index[0] + b * bound_stride];
          truth = v.kind == Kind::for_all ? count == n_ : count >= v.number;
          break;
        }
      }
      out.table[entry] = truth ? 1 : 0;
      for (std::size_t j = 0; j < value.size(); ++j) {  // the next assignment
        if (++value[j] < n_) {
          for (std::size_t i = 0; i < operands.size(); ++i) index[i] += operands[i].strides[j];
          break;
        }
        value[j] = 0;
        for (std::size_t i = 0; i < operands.size(); ++i) index[i] -= operands[i].strides[j] * (n_ - 1);
      }
    }
    return out;
  }

  const FormulaPool& pool_;
  const ColouredGraph& graph_;
  std::size_t n_;
  std::unordered_map<FormulaId, Relation> tables_;
};

void refuse_free(const FormulaPool& pool, const std::vector<Variable>& free, std::size_t allowed) {
  if (free.size() <= allowed) return;
  std::string names;
  for (const Variable v : free) names += (names.empty() ? "" : ", ") + pool.name(v);
  throw InputError(fmt::format("{} free: bind {} with exists or forall ({} allowed here)",
                               names + (free.size() == 1 ? " is" : " are"), free.size() == 1 ? "it" : "them",
                               allowed == 0 ? "no free variable is" : "one free variable is"));
}

}  // namespace

Relation model_check(const FormulaPool& pool, FormulaId f, const ColouredGraph& graph) {
  return Checker(pool, graph).table_of(f);
}

bool holds(const FormulaPool& pool, FormulaId sentence, const ColouredGraph& graph) {
  refuse_free(pool, list_of(pool.free_variables(sentence)), 0);
  return model_check(pool, sentence, graph).table[0] != 0;
}

std::vector<std::uint8_t> satisfying_nodes(const FormulaPool& pool, FormulaId f, const ColouredGraph& graph) {
  refuse_free(pool, list_of(pool.free_variables(f)), 1);
  Relation r = model_check(pool, f, graph);
  if (r.free.empty()) return std::vector<std::uint8_t>(graph.num_nodes(), r.table[0]);
  return std::move(r.table);
}

}  // namespace tyche::theory
