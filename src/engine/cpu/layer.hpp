#pragma once
/// Forward and backward of one layer over the nodes of a slice of graphs, a chunk of rows at a time: gathered messages
/// live only as long as their chunk, so memory beyond the activations does not grow with the graphs.
///
/// The backward pass of a GraphConv z = h W_0 + (A h) W_1 + b needs no stored messages: with S = Aᵀ dz it is
/// dW_0 = hᵀ dz, dW_1 = hᵀ S and dh = dz W_0ᵀ + S W_1ᵀ. Where edges have features, their sums of every row of the slice
/// (core/edge_features.hpp) are one more operand, handed over as `edges`; elsewhere that is an empty View.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/core/message_graph.hpp"
#include "engine/cpu/shared.hpp"

namespace tyche::engine::cpu {

/// One graph in a slice: messages between its nodes (node_messages), whose rows begin at `first` of every layer.
struct Piece {
  const MessageGraph* messages = nullptr;
  std::size_t first = 0;
  [[nodiscard]] std::size_t nodes() const { return messages->rows_in; }
};

/// Rows of a layer in all.
[[nodiscard]] inline std::size_t rows_of(std::span<const Piece> pieces) {
  return pieces.empty() ? 0 : pieces.back().first + pieces.back().nodes();
}

/// Where a gradient goes: stored, or added to what is there. Either way the slice's own sum is complete before it is
/// added, so that adding slice after slice and summing stored slices up later give the same bits.
struct GradientSink {
  float* packed = nullptr;
  bool add = false;
};

/// The gradient of a max readout: for column c of graph g, `gradient` (before the activation) arrives at row `row` of
/// the graph's outputs.
struct Winners {
  const std::uint32_t* row = nullptr;  ///< graphs × stride, counted within the graph
  const float* gradient = nullptr;     ///< graphs × stride
  std::size_t stride = 0;
};

class LayerRunner {
 public:
  explicit LayerRunner(const PackedModel& model);

  /// out = activation(layer(in)) on all output rows of the pieces.
  void conv_forward(const PackedLayer& layer, const Parameters& parameters, std::span<const Piece> pieces, View in,
                    View out, View edges = {});
  /// From d_out, the gradient of the layer's output before its activation. d_in, unused where the layer needs no input
  /// gradient, becomes that of the input before the activation which made it.
  void conv_backward(const PackedLayer& layer, const Parameters& parameters, std::span<const Piece> pieces, View in,
                     View d_out, View d_in, GradientSink sink, View edges = {});
  /// The same under max readout, where all but one entry per graph and column of d_out are zero. Requires
  /// layer.by_rows.
  void conv_backward_sparse(const PackedLayer& layer, const Parameters& parameters, std::span<const Piece> pieces,
                            View in, const Winners& winners, View d_in, GradientSink sink, View edges = {});

  void linear_forward(const PackedLayer& layer, const Parameters& parameters, std::size_t rows, View in, View out,
                      Finish finish);
  /// d_in = finish(d_out · Wᵀ); Finish::derive multiplies with the ELU's derivative at `activated`.
  void linear_backward(const PackedLayer& layer, const Parameters& parameters, std::size_t rows, View in, View d_out,
                       View d_in, Finish finish, View activated, GradientSink sink);

 private:
  /// Rows [first, last) of the block-diagonal matrix of all pieces times `from`, into `to` from its row 0.
  void gather(std::span<const Piece> pieces, SparseRows MessageGraph::*which, View from, std::size_t columns,
              std::size_t first, std::size_t last, View to) const;

  const PackedModel& model_;
  const Kernels& kernels_;
  AlignedFloats chunk_memory_;
  AlignedFloats partial_;  ///< a layer's gradient while its chunks are summed
  View gathered_;          ///< a chunk of rows
  // The sparse backward pass; kept from call to call to spare allocations.
  void find_winners(const PackedLayer& layer, std::span<const Piece> pieces, const Winners& winners);
  void sparse_weight_gradient(const PackedLayer& layer, std::span<const Piece> pieces, View in, View messages,
                              const Winners& winners, GradientSink sink, View edges);
  void sparse_input_gradient(const PackedLayer& layer, const Parameters& parameters, std::span<const Piece> pieces,
                             View in, const Winners& winners, View d_in);
  void sort_columns(const PackedLayer& layer, std::size_t g);
  AlignedFloats winner_memory_;          ///< messages of the winners of all graphs, one after another
  std::vector<std::int32_t> slots_;      ///< row within a graph -> its place among the winners, or -1
  std::vector<std::uint32_t> distinct_;  ///< the rows that won something, graph after graph
  std::vector<std::size_t> begin_;       ///< where each graph's begin
  std::vector<std::uint32_t> places_;    ///< graphs × columns: the winner's place in distinct_
  std::vector<std::uint32_t> columns_, column_begin_, next_;
  std::vector<const float*> rows_;
  std::vector<float> weights_;
};

}  // namespace tyche::engine::cpu
