#pragma once
/// The search behind separate(): a C² sentence about graphs with marked nodes that more choices of marked nodes make
/// true in one graph than in the other.
#include <cstdint>
#include <optional>
#include <string>

#include "graph/graph.hpp"
#include "theory/formula.hpp"

namespace tyche::theory {

struct Pattern {
  FormulaId formula = 0;  ///< a sentence over R1 … R<types> (node types) and R<types + i> (marked node i alone)
  std::string family;     ///< what it says, in words
  std::uint64_t choices = 1;
  std::uint64_t true_on_a = 0, true_on_b = 0;  ///< of the choices; not equal
};

/// Looks among closed walks and balls around one marked node, then among the colours of colour refinement with
/// `leaders` distinct marked nodes (separate.hpp says more). Nothing where no sentence of C² with so many marked nodes
/// does it. Throws InputError where there are too many choices to go through.
[[nodiscard]] std::optional<Pattern> find_pattern(FormulaPool& pool, const Graph& a, const Graph& b,
                                                  std::uint32_t types, std::uint32_t leaders);

}  // namespace tyche::theory
