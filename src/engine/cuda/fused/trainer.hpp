#pragma once
/// Trains one group of trials in lockstep.
#include <cstddef>
#include <memory>
#include <span>

#include "engine/core/loop.hpp"
#include "engine/cuda/fused/state.hpp"
#include "engine/cuda/path.hpp"
#include "engine/cuda/runtime/drawn.hpp"

namespace tyche::engine::TYCHE_CUDA_NS::fused {

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
