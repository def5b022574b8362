#pragma once
/// The meaning of formulas, computed from its definition: the oracle that networks are compared with.
///
///   holds(pool, parse_formula(pool, "exists x. exists>=2 y. E(x,y)"), graph)
///
/// Any number of variables. Every subformula becomes a table over the values of its free variables, n^f entries for f
/// of them, so a formula of C^k costs n^k times its size, however deep it nests. Graphs have at least one node, as
/// structures of logic do.
#include <cstdint>
#include <vector>

#include "theory/coloured_graph.hpp"
#include "theory/formula.hpp"

namespace tyche::theory {

/// The assignments that satisfy a formula: entry i_0 + n i_1 + n^2 i_2 + … says whether node i_j for free[j] does.
struct Relation {
  std::vector<Variable> free;
  std::vector<std::uint8_t> table;
};

/// Throws InputError where the formula names a colour the graph lacks (and says which it has), where the graph has no
/// node, and where a table would pass 2^28 entries.
[[nodiscard]] Relation model_check(const FormulaPool& pool, FormulaId f, const ColouredGraph& graph);

/// The truth of a sentence. Throws InputError (as model_check) and on free variables, which it names.
[[nodiscard]] bool holds(const FormulaPool& pool, FormulaId sentence, const ColouredGraph& graph);

/// One entry per node: whether the node satisfies a formula with at most one free variable (a sentence: the same entry
/// everywhere). Throws InputError (as model_check) and on two or more free variables, which it names.
[[nodiscard]] std::vector<std::uint8_t> satisfying_nodes(const FormulaPool& pool, FormulaId f,
                                                         const ColouredGraph& graph);

}  // namespace tyche::theory
