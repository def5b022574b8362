#pragma once
/// How a job lies on the device (padded width, shared memory, the order of parameters), what lies there (the graphs of
/// a job, parameters and moments of a group of trials, what a step needs), and the trainer of one group in lockstep.
///
///   if (const std::string why = refusal(job); why.empty()) { const Shape shape = shape_of(job); ... }
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/core/job.hpp"
#include "engine/core/loop.hpp"
#include "engine/cuda/fused/args.cuh"
#include "engine/cuda/path.hpp"
#include "engine/cuda/runtime/drawn.cuh"
#include "engine/cuda/runtime/targets.hpp"

namespace tyche::engine::TYCHE_CUDA_NS::fused {

struct Shape {
  int width = 0;  ///< padded: 32, 64 or 128
  Model model{};
  Shared shared{};
  int rows_most = 0;     ///< rows a unit may have, a multiple of 16
  int edges_most = 0;    ///< directed edges a unit may have
  bool any_two = false;  ///< whether any two graphs of the job can be one unit
  const Kernels* kernels = nullptr;
  /// For every parameter in layout order: its place among a trial's parameters, and that of its copy for forward
  /// products (kNone for small parameters).
  std::vector<unsigned> places;
  std::vector<unsigned> copies;
  std::vector<unsigned> factor_pairs;  ///< see Args

  /// Of every graph of the job, for batches are cut into units in every epoch.
  std::vector<unsigned> nodes, edges;

  /// Whether these two can.
  [[nodiscard]] bool together(std::uint32_t one, std::uint32_t two) const {
    return nodes[one] + nodes[two] <= static_cast<unsigned>(rows_most) &&
           2 * (edges[one] + edges[two]) <= static_cast<unsigned>(edges_most);
  }
};

/// Why the job cannot run fused; empty: it can. Requires a valid job.
[[nodiscard]] std::string refusal(const Job& job);

/// Throws InputError with the refusal where there is one.
[[nodiscard]] Shape shape_of(const Job& job);

/// The batch as units: large graphs with small ones, the units with the most tiles first. A unit's places are adjacent.
[[nodiscard]] std::vector<Unit> batch_units(const Shape& shape, std::span<const std::uint32_t> graphs);
/// The same for graphs to test: places are the positions in `graphs`.
[[nodiscard]] std::vector<Unit> test_units(const Shape& shape, std::span<const std::uint32_t> graphs);

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
  DeviceArray<float> features_;
  DeviceArray<unsigned> pairs_;
};

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
  template <class Kernel>
  void copy(Kernel kernel, Stream& stream);

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
  /// Room for batches of args.batch graphs in up to args.units_most units; grows, never shrinks. Nothing may be
  /// running.
  void reserve(const Shape& shape, Args& args, Stream& stream);

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
