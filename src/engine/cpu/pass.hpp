#pragma once
/// A forward and backward pass through a few graphs at a time, in memory of its own: what one thread does with one
/// slice of a batch while it sits in the thread's cache.
///
///   Pass pass(model);
///   pass.forward(slice, parameters);
///   pass.losses(job, job.data.targets, 1.0f / batch, tally);   // keeps the logits' gradients
///   pass.backward(parameters, {gradient, /*add=*/false});
#include <cstdint>
#include <span>
#include <vector>

#include "engine/core/draw_tables.hpp"
#include "engine/core/outcome.hpp"
#include "engine/cpu/layer.hpp"

namespace tyche::engine::cpu {

/// One graph of a slice.
struct Member {
  std::uint32_t graph = 0;  ///< its index in the data, which keys its random numbers
  std::size_t nodes = 0;
  const MessageGraph* messages = nullptr;
  const float* edges = nullptr;  ///< nodes × edge_features: edge_sums(), where edges have features
  std::size_t before = 0;        ///< nodes of the graphs before it among those asked for: where its pinned ones are
  std::size_t position = 0;      ///< of its answer among those asked for
};

/// Graphs that are worked through together; their gradients are summed in this order.
struct Slice {
  std::span<const Member> members;
  Inputs inputs;
};

class Pass {
 public:
  /// All must outlive it.
  Pass(const Job& job, const PackedModel& model, const DrawTables& drawn);

  /// The logits of the slice's members, which must outlive losses() and backward().
  void forward(const Slice& slice, const Parameters& parameters);
  [[nodiscard]] std::span<const float> logits(std::size_t member) const {
    return {logits_.row(member), model_.config().classes};
  }
  /// Adds every member's loss and hit to `tally`, and keeps the logits' gradients times `scale`.
  void losses(const Job& job, const Targets& targets, float scale, Tally& tally);
  /// The gradient of the slice, packed.
  void backward(const Parameters& parameters, GradientSink sink);

 private:
  void reserve(std::size_t rows, std::size_t graphs);
  void fill_features(const Slice& slice);
  void fill_edges();
  void fill_inputs(const Slice& slice, const Parameters& parameters);
  void readout();
  void spread_readout(View d_out);
  void head_forward(const Slice& slice, const Parameters& parameters);
  void head_backward(const Parameters& parameters, GradientSink sink);

  const Job& job_;
  const PackedModel& model_;
  const Kernels& kernels_;
  const DrawTables& drawn_;
  LayerRunner layers_;
  std::span<const Member> members_;
  std::vector<Piece> pieces_;

  // One row per node.
  std::size_t row_capacity_ = 0;
  AlignedFloats row_memory_;
  View features_;            ///< input of pre.0
  View edges_;               ///< sums of edge features, beside the input of every convolution
  View pre_hidden_;          ///< output of pre.0
  std::vector<View> convs_;  ///< input of the first convolution, then the output of each
  View d_a_, d_b_;           ///< gradients, in turns

  // One row per graph.
  std::size_t graph_capacity_ = 0;
  AlignedFloats graph_memory_;
  View pooled_, hidden1_, dropped_, hidden2_, logits_, dropout_;
  View d_pooled_, d_hidden1_, d_hidden2_, d_logits_;
  AlignedBuffer<std::uint32_t> winners_;  ///< row of each column's maximum; the stride is pooled_'s
};

}  // namespace tyche::engine::cpu
