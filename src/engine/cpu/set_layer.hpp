#pragma once
/// Forward and backward of one GraphConv whose input and output rows differ, as on quotients of set graphs; many rows,
/// spread over threads in tasks of fixed size, so that results do not depend on their number.
///
/// Forward, rows are multiplied before messages are passed where that is less work: z = P_root[root] + A P_nbr with
/// P = h [W_root | W_nbr] has a product per row in, z = h[root] W_root + (A h) W_nbr one per row out, and early rounds
/// have few classes.
///
/// Backward, everything happens on input rows: with T = Rᵀ dz (R picks the roots) and S = Aᵀ dz it is dW_root = hᵀ T,
/// dW_nbr = hᵀ S, db = Σ T and dh = T W_rootᵀ + S W_nbrᵀ. Max readout leaves few rows of the last layers with a
/// gradient: only rows that have one are worked on, and their number grows layer by layer until most have.
#include <cstdint>
#include <vector>

#include "engine/core/batch_model.hpp"
#include "engine/core/message_graph.hpp"
#include "engine/cpu/layer.hpp"
#include "engine/cpu/packed_model.hpp"

namespace tyche::engine::cpu {

/// Memory for a matrix that keeps what it once was given.
class Rows {
 public:
  /// At least rows × columns (padded by the model); what was there is lost.
  View reserve(std::size_t rows, std::size_t stride) {
    if (rows * stride > memory_.size()) {
      memory_ = AlignedFloats();
      memory_ = AlignedFloats(rows * stride + rows * stride / 8, false);
    }
    return {memory_.data(), stride};
  }

 private:
  AlignedFloats memory_;
};

/// The rows of a matrix that are there: all, or a list, one behind the other.
struct Active {
  bool all = true;
  std::size_t count = 0;            ///< rows that are there
  std::vector<std::uint32_t> rows;  ///< ascending; not used where all
};

/// A message graph's transpose, restricted to the output rows that have a gradient: rows are active input rows, columns
/// active output rows.
struct Backwards {
  SparseRows scatter;
  SparseRows root_scatter;  ///< no rows where every row is its own root
};

/// Everything of a full transpose.
[[nodiscard]] Backwards transposed(const MessageGraph& messages);

class SetLayer {
 public:
  SetLayer(const PackedModel& model, const PackedLayer& layer) : model_(model), layer_(layer) {}

  void forward(const Parameters& parameters, const MessageGraph& messages, View in, View out, const Crew& crew);

  /// From the gradient `d_out` of the active outputs before their activation. `full` must be transposed(messages) where
  /// `active` is all. Adds the layer's gradient to `gradient` (packed); where the layer wants input gradients, sets
  /// d_in, for input rows that become `active_in`: multiplied with the activation's derivative at the input, or, where
  /// `raw`, not.
  void backward(const Parameters& parameters, const MessageGraph& messages, const Backwards* full, View in,
                const Active& active, View d_out, Active& active_in, View d_in, bool raw, const Crew& crew,
                float* gradient);

 private:
  void multiply_first(const Parameters& parameters, const MessageGraph& messages, View in, View out, const Crew& crew);
  void gather_first(const Parameters& parameters, const MessageGraph& messages, View in, View out, const Crew& crew);
  const Backwards& restrict_to(const MessageGraph& messages, const Active& active, Active& active_in);

  const PackedModel& model_;
  const PackedLayer& layer_;
  Rows projected_[2];
  Backwards restricted_;
  std::vector<std::uint32_t> place_;  ///< input row -> its place among the active ones
  Rows partial_;
};

}  // namespace tyche::engine::cpu
