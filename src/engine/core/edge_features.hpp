#pragma once
/// Edge features as engines want them. A GraphConv with edge features is
///
///   z_v = W_root h_v + agg_u (W_nbr h_u + W_edge e_uv) + b = W_root h_v + W_nbr agg_u h_u + W_edge agg_u e_uv + b,
///
/// and agg_u e_uv does not change while a model trains: one row per node, made once, is all that a fast engine needs.
/// gin, whose messages are not linear, looks at every edge (EdgeRows); the reference engine at every arc.
///
///   const std::vector<float> sums = edge_sums(job, graph);      // nodes × model.edge_features
#include <cstdint>
#include <vector>

#include "engine/core/job.hpp"

namespace tyche::engine {

/// agg_u e_uv of every node of a graph, the model's mean or sum; zeros for a node without edges.
[[nodiscard]] std::vector<float> edge_sums(const Job& job, std::uint32_t graph);

/// One row per arc, in the order of Graph::adjacency().
[[nodiscard]] std::vector<float> arc_features(const Job& job, std::uint32_t graph);

/// The different rows of edge features that a graph has, each once: bonds are of few kinds, so that a map of them is
/// computed for few rows.
struct EdgeRows {
  std::vector<float> rows;            ///< × model.edge_features, in the order of the edges that show them first
  std::vector<std::uint32_t> row_of;  ///< one per arc
  [[nodiscard]] std::size_t count(std::size_t columns) const { return columns == 0 ? 0 : rows.size() / columns; }
};
[[nodiscard]] EdgeRows edge_rows(const Job& job, std::uint32_t graph);

}  // namespace tyche::engine
