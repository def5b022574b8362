#pragma once
/// The theorem for weighted graphs: a network for a continuous function of graphs of at most n nodes whose edges have
/// weights in [0, 1] (0: no edge), which is within `slope / grid` of it with probability at least 1 - δ.
///
///   const Universal u = build_universal(named_function("triangle-weight"), 3, 0.1, Construction::order, 4e9, 8);
///
/// Colours, ranks and "there are exactly s nodes" are those of universal.hpp. Sums over neighbours are multiplied by
/// weights, so that the weight between ranks i and j is a unit, not a sentence:
///     a_j(x) = σ(Σ_{u ∈ N(x)} w(x,u) [u has rank j]),  b_ij(x) = σ(a_j(x) + [x has rank i] - 1),  W_ij = σ(Σ_x
///     b_ij(x))
/// What is left is a continuous function of the numbers W_ij, which the hat functions of Kuhn's triangulation of a grid
/// interpolate. That of the grid point g is
///     φ_g(W) = σ(1 - max_ij σ(grid W_ij - g_ij) - max_ij σ(g_ij - grid W_ij)),  max(a, b) = σ(a + σ(b - a));
/// they add up to 1, and only points less than one step away count, so Σ f(g / grid) φ_g is within one step of f.
#include "theory/acr.hpp"
#include "theory/formula.hpp"
#include "theory/graph_functions.hpp"

namespace tyche::theory {

/// Steps that a weight is told by where nobody says it.
inline constexpr std::uint32_t kWeightGrid = 4;

/// Grid points over all sizes: what the network's memory grows with.
[[nodiscard]] double grid_points(Node n, std::uint32_t grid);

/// `ranks` has outputs rank_1(x) … rank_n(x), then "exactly s nodes" for s = 1 … n, all 0 or 1, and no sums over
/// neighbours. The result has one output, the same at every node.
[[nodiscard]] AcrNetwork interpolating(AcrNetwork ranks, const GraphFunction& function, Node n, std::uint32_t grid);

}  // namespace tyche::theory
