#pragma once
/// Isomorphism of graphs with node types (bliss).
#include <optional>
#include <vector>

#include "graph/graph.hpp"

namespace tyche {

/// The canonical representative of the graph's isomorphism class: isomorphic graphs (types respected) have equal ones.
[[nodiscard]] Graph canonical_form(const Graph& graph);

/// A type-preserving isomorphism (node v of a goes to result[v] of b), checked edge by edge; nothing where there is
/// none.
[[nodiscard]] std::optional<std::vector<Node>> isomorphism(const Graph& a, const Graph& b);

}  // namespace tyche
