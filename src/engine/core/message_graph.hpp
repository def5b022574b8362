#pragma once
/// What a GraphConv on a CPU passes messages on: weighted sparse rows from the rows of the layer before to the rows of
/// the next.
///
///   z_v = W_root · h_{root(v)} + W_nbr · Σ_e weight_e · h_{column_e} + b
///
/// On nodes both sides are the nodes of a graph, each its own root (node_messages; cpu/layer.hpp). On k-sets they are
/// sets, and on quotients the colour classes of one round and of the round before, whose numbers differ (sets/plan.hpp;
/// cpu/set_model.cpp). The reference engine has one linear step for all three (reference/interpreter.hpp); the GPU has
/// lists of its own (sets/graph_blocks.hpp, cuda/fused/).
///
///   const MessageGraph messages = node_messages(graph, nn::Aggregation::mean);
#include <cstdint>
#include <span>
#include <vector>

#include "graph/graph.hpp"
#include "nn/model.hpp"

namespace tyche::engine {

/// A sparse matrix by rows. Value of entry e of row v: weights[e] (1 where `weights` is empty) times scales[v] (1 where
/// `scales` is empty); a mean over neighbours is all ones with scales 1/degree.
struct SparseRows {
  std::vector<std::uint64_t> offsets{0};  ///< rows + 1
  std::vector<std::uint32_t> columns;     ///< one per entry
  std::vector<float> weights;             ///< one per entry, or none
  std::vector<float> scales;              ///< one per row, or none

  [[nodiscard]] std::size_t rows() const { return offsets.size() - 1; }
  [[nodiscard]] float value(std::size_t row, std::uint64_t entry) const {
    return (weights.empty() ? 1.0f : weights[entry]) * (scales.empty() ? 1.0f : scales[row]);
  }
};

struct MessageGraph {
  std::size_t rows_in = 0;   ///< rows of the layer before
  std::size_t rows_out = 0;  ///< rows this layer makes
  SparseRows gather;         ///< rows_out × rows_in
  SparseRows scatter;        ///< on nodes its transpose, for the backward pass, values in `weights`; else nothing
  /// root(v) for each output row; empty: row v itself (then rows_in == rows_out).
  std::vector<std::uint32_t> roots;
};

/// The transpose of a matrix of `columns` columns, entries of a row ascending.
[[nodiscard]] SparseRows transpose(const SparseRows& rows, std::size_t columns);

/// Row v reads row columns[v] alone.
[[nodiscard]] SparseRows picks(std::span<const std::uint32_t> columns);

/// Messages between neighbours, times the edges' weights where there are such (engine::Data). The mean divides by the
/// number of neighbours; over none it is 0.
[[nodiscard]] MessageGraph node_messages(const Graph& graph, nn::Aggregation aggregation, bool weighted = false);

}  // namespace tyche::engine
