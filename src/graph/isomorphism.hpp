#pragma once
/// Isomorphism of graphs with node types and edge labels (bliss).
#include <optional>
#include <vector>

#include "graph/graph.hpp"

namespace tyche {

/// The canonical representative of the graph's isomorphism class: isomorphic graphs (types and edge labels
/// respected) have equal ones.
[[nodiscard]] Graph canonical_form(const Graph& graph);

/// An isomorphism that keeps types and edge labels (node v of a goes to result[v] of b), checked edge by edge; nothing
/// where there is none.
[[nodiscard]] std::optional<std::vector<Node>> isomorphism(const Graph& a, const Graph& b);

/// The orbits of the automorphism group (which keeps types and edge labels), one number per node: the first place of
/// the orbit's nodes in the canonical form. So nodes of isomorphic graphs have equal numbers exactly where an
/// isomorphism takes one to the other.
[[nodiscard]] std::vector<Node> canonical_orbits(const Graph& graph);

}  // namespace tyche
