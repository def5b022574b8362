#pragma once
/// What the trials of a group do in the next few epochs, for the device: batches as units, keys of the random numbers,
/// Adam's constants. Made by the host while the device works on the chunk before.
#include <cstdint>
#include <span>
#include <vector>

#include "engine/core/draw_tables.hpp"
#include "engine/core/loop.hpp"
#include "engine/cuda/fused/shape.hpp"

namespace tyche::engine::TYCHE_CUDA_NS::fused {

/// The sizes all plans of a group share.
struct PlanSizes {
  std::size_t trials = 0;
  std::size_t steps = 0;         ///< of an epoch, in the trial with the most
  std::size_t units_stride = 0;  ///< units a batch can come to
  std::size_t draws = 0;
  std::size_t epochs_most = 0;  ///< of a chunk
  std::size_t batch = 0;        ///< graphs of the largest batch
  std::size_t tests = 0;        ///< of the trial with the most
  std::size_t more = 0;         ///< numbers an epoch of a trial can draw for graphs without a table
  bool drawn = false;           ///< whether there are drawn columns
};

struct Plan {
  Plan() = default;
  explicit Plan(const PlanSizes& sizes);

  std::size_t epochs = 0;              ///< of the chunk
  std::size_t units_most = 1;          ///< of any batch
  std::vector<std::size_t> epochs_of;  ///< per trial: how many of the chunk's it takes
  PinnedArray<StepEntry> steps;        ///< layouts as in Args
  PinnedArray<Unit> units;
  PinnedArray<EpochKeys> keys;
  PinnedArray<int> test_due;
  PinnedArray<uint2> test_keys;
  PinnedArray<unsigned> places, test_places;
  PinnedArray<unsigned> more;  ///< [epoch][trial][number]

  /// Makes a trial rest.
  void drop(std::size_t trial, const PlanSizes& sizes);
};

/// Plans chunk after chunk of a group of trials; their states say where to begin.
class Planner {
 public:
  Planner(const Job& job, const Shape& shape, const DrawTables& drawn, std::span<Trial> trials, unsigned threads);

  /// Sizes but for epochs_most.
  [[nodiscard]] const PlanSizes& sizes() const { return sizes_; }
  /// The epochs every trial takes next.
  void next(Plan& plan, std::span<const Epochs> epochs);

 private:
  void plan_epoch(Plan& plan, std::size_t e, std::size_t t, std::uint32_t epoch);
  void draw_epoch(Plan& plan, std::size_t e, std::size_t t, std::uint32_t epoch);

  const Job& job_;
  const Shape& shape_;
  const DrawTables& drawn_;
  std::span<Trial> trials_;
  unsigned threads_;
  PlanSizes sizes_;
  std::vector<std::uint64_t> step_;  ///< per trial: Adam steps planned
};

}  // namespace tyche::engine::TYCHE_CUDA_NS::fused
