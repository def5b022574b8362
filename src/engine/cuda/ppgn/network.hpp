#pragma once
/// PPGN on the device: parameters with Adam's moments, and the forward and backward pass of a batch. Everything is
/// queued on one stream; nothing waits. T is Half (mixed precision: operands and stored tensors in half precision,
/// sums, master weights and moments in fp32) or float.
///
///   PpgnNetwork<Half> network(job, data, rows, batch, graphs, free_memory(), {stream});
///   network.upload(state);
///   network.forward(batch, {key}, scale);  network.backward(batch);  network.adam(AdamStep(step, rate), batch.rows);
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/core/adam.hpp"
#include "engine/core/job.hpp"
#include "engine/cuda/ppgn/layout.hpp"
#include "engine/cuda/ppgn/tasks.hpp"
#include "engine/cuda/runtime/device.hpp"
#include "engine/cuda/runtime/targets.hpp"
#include "support/random.hpp"

namespace tyche::engine::TYCHE_CUDA_NS {

/// The graphs, features and targets of a job on the device.
///
/// Classes of pairs are numbered as in wl::PairClasses. The n × n table of a graph's pairs has its nodes in another
/// order: those that are the first of their class before the others. So the first pairs of all classes (marked by
/// kPpgnFirst) are in the table's first `diagonal` rows.
class PpgnGraphs {
 public:
  /// `threads` look for classes; 0: all cores.
  PpgnGraphs(const Job& job, unsigned threads, Stream& stream);
  [[nodiscard]] PpgnData view() const;
  /// As part of a batch that has nothing yet.
  [[nodiscard]] const PpgnGraph& graph(std::size_t g) const { return graphs_[g]; }

 private:
  std::vector<PpgnGraph> graphs_;
  DeviceArray<PpgnClass> classes_;
  DeviceArray<std::uint64_t> nodes_;
  DeviceArray<std::uint32_t> pairs_;
  DeviceArray<float> features_;
  DeviceTargets targets_;
  Loss loss_;
  unsigned feature_count_;
};

/// The random features of a pass over some graphs: drawn under a key, or pinned (on the device; as many rows as the
/// graphs of the pass have nodes).
struct PpgnDraw {
  Key key;
  const float* pinned = nullptr;
};

/// Graphs that go through together; results of the i-th graph go to place `first` + i of the pass's lists.
struct PpgnBatch {
  const PpgnGraph* graphs = nullptr;  ///< on the device
  std::size_t first = 0;
  unsigned count = 0, rows = 0, tiles = 0;
};

template <class T>
class PpgnNetwork {
 public:
  /// For batches of at most `most_rows` rows and `most_graphs` graphs, `most_results` results a pass. Keeps gradients
  /// of all blocks until the weights' are computed at once where `memory` bytes allow it, else block by block: the same
  /// bits, slower. Throws InputError that names batch and width where the device has not enough memory.
  PpgnNetwork(const Job& job, const PpgnGraphs& data, unsigned most_rows, unsigned most_graphs,
              std::size_t most_results, std::size_t memory, const PpgnQueue& queue);
  ~PpgnNetwork();

  /// Bytes of tensors for a number of rows, with gradients kept.
  [[nodiscard]] static std::size_t bytes(const nn::ModelConfig& config, unsigned rows);

  void set_parameters(std::span<const float> flat);
  void upload(const State& state);
  void download(State& state);  ///< waits
  void keep_state();            ///< remembers parameters and moments on the device
  void restore_state();         ///< back to what was remembered

  /// In place of the job's; on the device.
  void set_targets(const Targets& targets);
  /// Forward, losses, and the gradient of the logits times `scale`.
  void forward(const PpgnBatch& batch, const PpgnDraw& draw, float scale);
  /// Gradients of the batch's weights, times forward's scale.
  void backward(const PpgnBatch& batch);
  void adam(const AdamStep& step, unsigned rows, float scale);
  /// Adds the gradient to gradient_sum().
  void add_gradient(unsigned rows, float scale);
  void clear_gradient();
  void gradient(std::vector<float>& flat);  ///< waits

  /// Begins a list of results: nothing has been seen that is not finite.
  void begin();
  /// Waits. Whether all was finite since begin(); fills what is asked for, as long as the span is.
  [[nodiscard]] bool finish(std::span<float> logits, std::span<float> losses, std::span<unsigned> right);

 private:
  struct Memory;
  std::unique_ptr<Memory> m_;
};

/// Batches of `size` in the order given; `first` counts through. `list` is to be uploaded; graphs point into `device`.
[[nodiscard]] std::vector<PpgnBatch> ppgn_batches(const PpgnGraphs& data, std::span<const std::uint32_t> graphs,
                                                  std::size_t size, const PpgnGraph* device,
                                                  std::vector<PpgnGraph>& list);
/// The rows of the largest batch of `size` of these graphs.
[[nodiscard]] unsigned ppgn_most_rows(const PpgnGraphs& data, std::span<const std::uint32_t> graphs, std::size_t size);

}  // namespace tyche::engine::TYCHE_CUDA_NS
