#pragma once
/// What all models of this engine use: slices of a batch, gradients of weights, random features, and readouts: what
/// rows give to the one row that reads them all, a sum, a mean or the largest of each column, forward and backward.
///
///   const Read nodes{.count = 7};                                    // one behind the other; or listed, with weights
///   read_out(kernels, nn::Readout::max, nodes, h, columns, pooled, winners);
///   spread_out(nn::Readout::max, nodes, d_pooled, winners, columns, d_h, /*add=*/true);
#include <cstdint>
#include <span>
#include <vector>

#include "engine/core/inputs.hpp"
#include "engine/cpu/packed_model.hpp"

namespace tyche::engine::cpu {

/// Denormal numbers are flushed to zero on this thread for as long as this lives; every thread of the engine does it,
/// so that results do not depend on who computes them.
class FlushDenormals {
 public:
  FlushDenormals();
  ~FlushDenormals();
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;

 private:
  unsigned saved_ = 0;
};

/// Packed parameters and their derived copies.
struct Parameters {
  const float* packed = nullptr;
  const float* derived = nullptr;
};

/// Flat parameters packed for passes that change nothing.
class PackedParameters {
 public:
  explicit PackedParameters(const PackedLayers& layers)
      : layers_(layers), packed_(layers.packed_size()), derived_(layers.derived_size()) {}
  Parameters set(std::span<const float> flat) {
    layers_.pack(flat, packed_.data());
    for (const PackedLayer& layer : layers_.layers()) layers_.make_copies(layer, packed_.data(), derived_.data());
    return view();
  }
  [[nodiscard]] Parameters view() const { return {packed_.data(), derived_.data()}; }

 private:
  const PackedLayers& layers_;
  AlignedFloats packed_, derived_;
};

/// The gradient of a layer's weights over some rows, packed as these are: inᵀ · right[t] for each of its terms and,
/// where edges have features, edgesᵀ · right[0]. `start`, `plus` and `out` (GradientProduct) begin where the weights
/// do.
void weight_gradient(const Kernels& kernels, const PackedLayer& layer, std::size_t rows, View in, const View* right,
                     View edges, const float* start, const float* plus, float* out, bool ahead = false);

/// A batch cut into slices: the graphs one thread works through together, and the unit in which gradients are summed.
/// Which graphs, of so many rows each, stand in which slice: nearly equal slices (largest graph first to the lightest
/// slice) of about 256 rows: activations of 8 layers of width 64 then fill half a megabyte, and a batch of 20 EXP
/// graphs makes four slices. The cut depends on the batch alone, never on the number of threads, so that results do not
/// either.
[[nodiscard]] std::vector<std::vector<std::size_t>> cut(std::span<const std::size_t> rows);

/// random_columns() of engine/core/inputs.hpp, drawn by vectors: the same numbers to rounding.
void random_rows(const Kernels& kernels, const nn::ModelConfig& config, const Inputs& inputs, std::uint32_t graph,
                 std::size_t nodes, std::size_t before, float* out, std::size_t stride);

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
