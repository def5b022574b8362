#pragma once
/// One model at work on the device: its parameters, the matrices of a batch, and the kernels of a pass queued in order.
/// Nothing here waits for the device.
///
///   const auto runner = make_runner(Precision::mixed, job, graphs, network, capacity, stream, true);
///   runner->load(state.parameters, state.adam_m, state.adam_v);
///   const Batch batch{words, plan};
///   runner->forward(batch, pass);       // logits
///   runner->backward(batch);            // gradients of the same pass, into slots
///   runner->update(batch, AdamStep(step, rate), 1);
#include <memory>
#include <span>
#include <vector>

#include "engine/core/adam.hpp"
#include "engine/cuda/layerwise/device_graphs.hpp"
#include "engine/cuda/layerwise/network.hpp"
#include "support/random.hpp"

namespace tyche::engine::TYCHE_CUDA_NS {

/// A batch: where its numbers are on the device.
struct Batch {
  const uint32_t* words;
  const Plan& plan;

  [[nodiscard]] const uint32_t* ids() const { return words + plan.at; }
  [[nodiscard]] const uint32_t* base(std::size_t space) const { return words + plan.base(space); }
  [[nodiscard]] const uint32_t* part_base(std::size_t space) const { return words + plan.part_base(space); }
  [[nodiscard]] BatchRows rows(std::size_t space) const { return {ids(), base(space), plan.graphs, plan.rows[space]}; }
};

class Runner {
 public:
  virtual ~Runner() = default;

  /// Moments are of those that are updated; empty: there are none.
  virtual void load(std::span<const float> parameters, std::span<const float> m, std::span<const float> v) = 0;
  /// `bad`: values that were not finite since the last time; read all of it with the stream synchronised.
  virtual void save(std::span<float> parameters, std::span<float> m, std::span<float> v, int& bad) = 0;

  /// Writes how many slices each gradient is summed in, for which a plan leaves room in `words`.
  virtual void complete(const Plan& plan, std::vector<uint32_t>& words) const = 0;

  virtual void forward(const Batch& batch, const PassInputs& inputs) = 0;
  /// Of the last pass forward.
  virtual void backward(const Batch& batch) = 0;
  /// Of a step of several batches (Job::accumulate): every batch's gradient is added up before the update, in order.
  /// `own`: where ranks share the batches, which of this rank's it is; all ranks have the same update.
  virtual void add(const Batch& batch, std::size_t which, std::size_t own) = 0;
  virtual void update(const Batch& batch, const AdamStep& step, std::size_t batches) = 0;
  virtual void gradient(const Batch& batch, float* out) = 0;

  /// The rows that were the maxima in the last training pass: graphs × pooled columns.
  [[nodiscard]] virtual const DeviceArray<uint32_t>& winners() const = 0;
};

/// All arguments must outlive it. `trains`: there will be updates; ranks that share the job make theirs together.
/// Throws IoError where device memory does not suffice.
[[nodiscard]] std::unique_ptr<Runner> make_runner(Precision precision, const Job& job, const DeviceGraphs& graphs,
                                                  const Network& network, const Capacity& capacity, Stream& stream,
                                                  bool trains);
/// Bytes a Runner will ask for.
[[nodiscard]] std::size_t runner_bytes(Precision precision, const Network& network, const Capacity& capacity);

}  // namespace tyche::engine::TYCHE_CUDA_NS
