#pragma once
/// Tseitin formulas: one variable per edge of a cubic base graph, and at each base node the four disjunctions that say
/// "the parity of my three edges is my charge".
///
///   const Formula f = tseitin_formula(k4, {false, false, false, true});    // unsatisfiable: one odd charge
///   read_tseitin(f)->odd()                                                 // true
///
/// Every edge counts at both its ends, so the charges of a satisfiable formula add up to an even number; and where they
/// do, a spanning tree carries an assignment (the base graph is connected). The graphs of an even and an odd formula
/// over the same base graph are a Cai-Fürer-Immerman pair: k-WL cannot tell them apart where the treewidth of the base
/// graph exceeds k.
#include <cstdint>
#include <optional>
#include <vector>

#include "graph/graph.hpp"
#include "logic/cnf.hpp"

namespace tyche::datasets {

/// Variable e + 1 is base.edges()[e]; the disjunctions of base node v are 4v … 4v + 3. Requires a cubic graph and one
/// charge per node.
[[nodiscard]] Formula tseitin_formula(const Graph& base, const std::vector<bool>& charges);

/// A Tseitin formula, read back.
struct TseitinReading {
  Graph base;                           ///< nodes in the order of their first disjunctions
  std::vector<bool> charges;            ///< one per base node
  std::vector<std::uint32_t> variable;  ///< of base.edges()[e], numbered from 1

  /// Whether the charges add up to an odd number: then, and only then, no assignment satisfies the formula.
  [[nodiscard]] bool odd() const;
  /// Where they do not: an assignment found along a spanning tree of the base graph.
  [[nodiscard]] std::vector<bool> assignment() const;
};

/// Whatever the names and order of variables and disjunctions, and whichever literal of a variable is called positive
/// (turning one over flips the charges of both its ends). Nothing where the formula is not a Tseitin formula over a
/// connected simple cubic graph.
[[nodiscard]] std::optional<TseitinReading> read_tseitin(const Formula& formula);

}  // namespace tyche::datasets
