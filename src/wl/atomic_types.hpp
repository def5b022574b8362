#pragma once
/// Round 0 of k-WL: the atomic type of a tuple, which is the types of its nodes and, for every two positions, whether
/// their nodes are equal, adjacent (and by an edge of which label) or apart.
#include <span>
#include <vector>

#include "graph/graph.hpp"
#include "wl/refining.hpp"
#include "wl/tuple_space.hpp"

namespace tyche::wl {

/// A key for every item of the graphs' tuples: equal keys for equal atomic types, exactly. Their order follows the
/// order of the types of nodes. Throws InputError on more than 800,000 different node types for k = 3 (2^31 for k = 2),
/// and on fewer where there are many labels of edges too: all combinations must have numbers below 2^64.
template <unsigned K>
[[nodiscard]] std::vector<Keyed> atomic_types(std::span<const Graph* const> graphs, const TupleSpace<K>& space);

extern template std::vector<Keyed> atomic_types<2>(std::span<const Graph* const>, const TupleSpace<2>&);
extern template std::vector<Keyed> atomic_types<3>(std::span<const Graph* const>, const TupleSpace<3>&);

}  // namespace tyche::wl
