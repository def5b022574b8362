#pragma once
/// What rows give to the one row that reads them all: a sum, a mean or the largest of each column, forward and
/// backward. The readout of every network of this engine, and maxima over neighbours.
///
///   const Read nodes{.count = 7};                                    // one behind the other; or listed, with weights
///   read_out(kernels, nn::Readout::max, nodes, h, columns, pooled, winners);
///   spread_out(nn::Readout::max, nodes, d_pooled, winners, columns, d_h, /*add=*/true);
#include <cstdint>

#include "engine/cpu/kernels.hpp"

namespace tyche::engine::cpu {

struct Read {
  std::size_t count = 0;
  const std::uint32_t* rows = nullptr;  ///< null: 0 … count - 1
  const float* weights = nullptr;       ///< null: ones

  [[nodiscard]] std::size_t row(std::size_t i) const { return rows == nullptr ? i : rows[i]; }
  [[nodiscard]] float weight(std::size_t i) const { return weights == nullptr ? 1.0f : weights[i]; }
};

/// The entries of a row, without its scale.
[[nodiscard]] inline Read read_of(const SparseRows& sparse, std::size_t row) {
  const std::uint64_t first = sparse.offsets[row];
  return {sparse.offsets[row + 1] - first, sparse.columns.data() + first,
          sparse.weights.empty() ? nullptr : sparse.weights.data() + first};
}

/// Of nothing it is 0. A maximum is the first row's that has it, which goes to `winner`; a mean is the sum over that of
/// the weights. Listed rows are summed in double: a graph may have a million sets.
void read_out(const Kernels& kernels, nn::Readout readout, const Read& read, View in, std::size_t columns, float* out,
              std::uint32_t* winner);
/// Passes the gradient `d` of that on to the rows read: stores it, or adds it; of maxima it is always added.
void spread_out(nn::Readout readout, const Read& read, const float* d, const std::uint32_t* winner, std::size_t columns,
                View d_in, bool add);

}  // namespace tyche::engine::cpu
