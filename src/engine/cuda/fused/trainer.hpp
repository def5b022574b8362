#pragma once
/// What lies on the device for the fused path (the graphs of a job, parameters and moments of a group of trials, what a
/// step needs), and the trainer of one group of trials in lockstep.
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "engine/core/loop.hpp"
#include "engine/cuda/fused/shape.hpp"
#include "engine/cuda/path.hpp"
#include "engine/cuda/runtime/drawn.hpp"
#include "engine/cuda/runtime/targets.hpp"

namespace tyche::engine::TYCHE_CUDA_NS::fused {

/// The graphs of a job; constant.
class Tables {
 public:
  Tables(const Job& job, const Shape& shape, Stream& stream);
  void place(Args& args) const;

 private:
  DeviceArray<GraphEntry> graphs_;
  DeviceTargets targets_;
  Loss loss_;
  DeviceArray<unsigned short> offsets_, neighbours_;
  DeviceArray<Half> features_;
  DeviceArray<unsigned> pairs_;
};

struct Flat;  // what the kernels between the two orders take

/// Parameters and moments of some trials, in fragment order with their half copies. Layout order goes in and out, bit
/// for bit.
class States {
 public:
  States(const Shape& shape, std::size_t trials, Stream& stream);

  /// Parameters, first and second moments of every trial, one after the other, from pinned() to the device; what is
  /// padding becomes zero. Then the fragments.
  void load(Stream& stream);
  /// The other way round, to `to` (as long as pinned()).
  void save(std::span<float> to, Stream& stream);
  [[nodiscard]] std::span<float> pinned() { return staging_.span(); }
  /// Parameters of trial t (kind 0), first moments (1) or second (2) within such a block.
  [[nodiscard]] std::span<float> part(std::span<float> block, std::size_t t, std::size_t kind) const {
    return block.subspan((t * 3 + kind) * count_, count_);
  }
  [[nodiscard]] std::size_t floats() const { return trials_ * 3 * count_; }
  void place(Args& args);

 private:
  [[nodiscard]] Flat flat();

  std::size_t trials_, count_;
  Model model_;
  DeviceArray<unsigned> places_, copies_;
  DeviceArray<float> w_, m_, v_, flat_;
  DeviceArray<Half> forward_, backward_;
  PinnedArray<float> staging_;
};

/// What the update of a batch needs between the two kernels of a step.
class Workspace {
 public:
  /// Room for batches of up to `units` units and `graphs` graphs; grows, never shrinks. Nothing may be running.
  void reserve(const Shape& shape, std::size_t trials, std::size_t units, std::size_t graphs, Stream& stream);
  void place(Args& args);

 private:
  DeviceArray<Half> slots_;
  DeviceArray<float> bias_slots_, scales_, factors_;
};

/// The parts of the arguments that follow from shape, batch and group. units_most and pointers are not set.
[[nodiscard]] Args args_of(const Shape& shape, std::size_t trials, std::size_t batch);
/// Blocks and shared memory of the update kernel.
[[nodiscard]] std::size_t update_blocks(const Args& args);
[[nodiscard]] std::size_t update_shared(const Args& args);

/// Trials that train in lockstep.
[[nodiscard]] std::unique_ptr<Lane> make_group_lane(const Job& job, const Shape& shape, const Tables& tables,
                                                    const DeviceDraws& draws, std::span<Trial> trials,
                                                    const PathOptions& options, Stream& stream);

/// Device memory a trial takes, roughly.
[[nodiscard]] std::size_t bytes_per_trial(const Job& job, const Shape& shape);

}  // namespace tyche::engine::TYCHE_CUDA_NS::fused
