#pragma once
/// From formulas of C² to networks with the same truth value on every coloured graph (the lemma of Barceló et al. the
/// paper builds on, for all of C², not only guarded quantifiers).
///
///   const Compiled net = compile(pool, parse_formula(pool, "exists x. !exists y. (E(x,y) | x = y & R1(x))"));
///   evaluate(net, graph)         // one number per node: 0.0 or 1.0, exactly
///
/// How: one unit per distinct subformula, 0 or 1 at every node. Connectives are σ of sums: and: σ(Σ - m + 1), or: σ(Σ),
/// not: 1 - u, which costs nothing. A quantifier exists>=k y. ψ(x,y) is split by what is between x and y (y is x; an
/// edge; neither), which makes ψ a Boolean combination of facts about x and facts about y in each case; then by the
/// values of the facts about x that occur, as a decision diagram, so that only cases that can happen and differ are
/// kept; in each case a count remains, [self] + Σ_{u∈N(x)} β_E(u) + Σ_{u∈V} β_N(u) - Σ_{u∈N(x)} β_N(u) - β_N(x), which
/// is compared with k by σ(count - k + 1). Cases exclude each other, so their sum is the truth value.
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "theory/acr.hpp"
#include "theory/coloured_graph.hpp"
#include "theory/formula.hpp"

namespace tyche::theory {

struct Compiled {
  /// Inputs: the colours, R1 first, as 0 and 1. Outputs: one per formula; the truth value at each node, which for a
  /// sentence is the same at every node.
  AcrNetwork network;
  /// What each unit says, layer by layer (layer 0: the inputs); empty unless asked for.
  std::vector<std::vector<std::string>> labels;
};

struct CompileOptions {
  /// The network's inputs are R1 … R<colours>; 0: as many as the formulas speak of.
  std::uint32_t colours = 0;
  bool labels = false;
  /// The most units (and cases of one quantifier) before compile gives up.
  std::uint64_t max_units = 50'000'000;
};

/// Throws InputError where a formula is outside C² (naming the third variable), has two free variables, speaks of more
/// colours than `options.colours`, or needs too many units.
[[nodiscard]] Compiled compile(const FormulaPool& pool, std::span<const FormulaId> formulas,
                               const CompileOptions& options = {});
[[nodiscard]] Compiled compile(const FormulaPool& pool, FormulaId formula, const CompileOptions& options = {});

/// The truth values the network's first output gives at each node. Throws InputError where the graph lacks colours the
/// network reads, or has no node.
[[nodiscard]] std::vector<double> evaluate(const Compiled& compiled, const ColouredGraph& graph);

/// The rows a network reads from a coloured graph: nodes × `colours` numbers 0 and 1.
[[nodiscard]] std::vector<double> colour_input(const ColouredGraph& graph, std::uint32_t colours);

}  // namespace tyche::theory
