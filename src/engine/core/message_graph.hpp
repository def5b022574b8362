#pragma once
/// What a GraphConv passes messages on: weighted sparse rows from the rows of the layer before to the rows of the next.
/// On nodes both sides are the nodes of a graph; on k-sets they are sets; on quotients they are the colour classes of
/// one round and of the round before, whose numbers differ. One layer kernel serves them all:
///
///   z_v = W_root · h_{root(v)} + W_nbr · Σ_e weight_e · h_{column_e} + b
///
///   const MessageGraph messages = node_messages(graph, nn::Aggregation::mean);
#include <cstdint>
#include <vector>

#include "graph/graph.hpp"
#include "nn/model.hpp"

namespace tyche::engine {

/// A sparse matrix by rows. Value of entry e of row v: weights[e] (1 where `weights` is empty) times scales[v] (1 where
/// `scales` is empty); a mean over neighbours is all ones with scales 1/degree.
struct SparseRows {
  std::vector<std::uint64_t> offsets{0};  ///< rows + 1
  std::vector<std::uint32_t> columns;     ///< one an entry
  std::vector<float> weights;             ///< one an entry, or none
  std::vector<float> scales;              ///< one a row, or none

  [[nodiscard]] std::size_t rows() const { return offsets.size() - 1; }
  [[nodiscard]] float value(std::size_t row, std::uint64_t entry) const {
    return (weights.empty() ? 1.0f : weights[entry]) * (scales.empty() ? 1.0f : scales[row]);
  }
};

struct MessageGraph {
  std::size_t rows_in = 0;   ///< rows of the layer before
  std::size_t rows_out = 0;  ///< rows this layer makes
  SparseRows gather;         ///< rows_out × rows_in
  SparseRows scatter;        ///< its transpose, for the backward pass; values are in `weights`
  /// root(v) for each output row; empty: row v itself (then rows_in == rows_out).
  std::vector<std::uint32_t> roots;
  SparseRows root_scatter;  ///< the transpose of `roots`; no rows where that is empty
  /// How many original rows an output row stands for, for mean and sum readout; empty: one each.
  std::vector<float> multiplicity;
};

/// The transpose of a matrix of `columns` columns, entries of a row ascending.
[[nodiscard]] SparseRows transpose(const SparseRows& rows, std::size_t columns);

/// Completes a message graph from its forward half. Throws InputError where a column or root is out of range or a
/// vector has the wrong length.
[[nodiscard]] MessageGraph make_messages(std::size_t rows_in, SparseRows gather, std::vector<std::uint32_t> roots = {},
                                         std::vector<float> multiplicity = {});

/// Messages between neighbours. The mean over no neighbours is 0.
[[nodiscard]] MessageGraph node_messages(const Graph& graph, nn::Aggregation aggregation);

}  // namespace tyche::engine
