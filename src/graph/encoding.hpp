#pragma once
/// Enc: formulas as graphs (the paper's encoding). Two literal nodes per variable, joined by an edge; a node per
/// disjunction, joined to the literals it contains.

#include "graph/graph.hpp"
#include "logic/cnf.hpp"

namespace tyche {

inline constexpr NodeType kDisjunctionType = 0;
inline constexpr NodeType kLiteralType = 1;

/// Nodes 2(v-1) and 2(v-1)+1 are the literals v and -v; disjunction d is node 2 * variables + d. Throws InputError on a
/// disjunction that repeats a literal (the graph is simple). Two equal disjunctions are fine: they are two nodes.
[[nodiscard]] Graph encode(const Formula& formula);

/// The formula a graph encodes, whatever the order of its nodes: variables are numbered by their smaller literal node,
/// which counts as the positive one; disjunctions in node order. Throws InputError that says which node breaks which
/// rule where the graph is not the encoding of a formula (types other than 0 and 1, a literal without exactly one
/// literal neighbour, two adjacent disjunctions).
[[nodiscard]] Formula decode(const Graph& graph);

}  // namespace tyche
