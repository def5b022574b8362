#pragma once
/// The planar part of an instance: a satisfiable formula made from a bipartite plane graph, the same in both graphs of
/// a pair.
#include <optional>

#include "graph/graph.hpp"
#include "graph/planarity.hpp"
#include "logic/cnf.hpp"
#include "support/random.hpp"

namespace tyche::datasets {

/// A graph with an embedding of it.
struct PlaneGraph {
  Graph graph;
  Rotation rotation;
};

inline constexpr std::size_t kMaxWidth = 5;  ///< literals in a disjunction

/// The larger side becomes the variables (ties: a coin), every node of the other side one disjunction, or, if it has
/// more than kMaxWidth neighbours, several: its rotation is cut, from a random place on, into the fewest runs of nearly
/// equal length (2 to 5). Every edge takes a sign with a fair coin; of disjunctions with equal literal sets the first
/// stays. Nothing where the result is not what a part must be: satisfiable, its encoding planar, and its variables and
/// disjunctions still one piece without bridges (cutting and merging can break that). Requires a connected bipartite
/// graph and an embedding of it.
[[nodiscard]] std::optional<Formula> planar_part(const PlaneGraph& plane, Stream& stream);

/// The bipartite graph of a formula: node v for variable v + 1, node variables + d for disjunction d.
[[nodiscard]] Graph incidence_graph(const Formula& formula);

}  // namespace tyche::datasets
