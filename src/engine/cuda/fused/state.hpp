#pragma once
/// What lies on the device for the fused path: the graphs of a job, and the parameters and moments of a group of
/// trials.
#include <span>
#include <vector>

#include "engine/cuda/fused/shape.hpp"
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

}  // namespace tyche::engine::TYCHE_CUDA_NS::fused
