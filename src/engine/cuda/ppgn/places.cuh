#pragma once
/// Where a block of PPGN's kernels begins and works; the same for every family of them.
#include "engine/cuda/ppgn/tasks.hpp"
#include "engine/cuda/runtime/half.cuh"
#include "engine/cuda/runtime/intrinsics.cuh"

namespace tyche::engine::TYCHE_CUDA_NS {

/// What every kernel of PPGN begins with: waits for what was queued before, then lets what comes next be placed, as
/// PpgnQueue wants it.
__device__ __forceinline__ void ppgn_begin() {
  pdl_wait();
  pdl_trigger();
}

/// Which tile of which product a block makes. Tiles of the same rows are neighbours in time: they share their left
/// operand in the second-level cache.
template <class Tile>
struct PpgnRowsPlace {
  unsigned product, row0, column0;

  template <class T>
  __device__ __forceinline__ explicit PpgnRowsPlace(const PpgnProducts<T>& all) {
    const unsigned across = (all.product[0].columns + Tile::kColumns - 1) / Tile::kColumns;
    const unsigned down = (all.rows + Tile::kRows - 1) / Tile::kRows;
    product = blockIdx.x / across / down;
    row0 = blockIdx.x / across % down * Tile::kRows;
    column0 = blockIdx.x % across * Tile::kColumns;
  }
};

/// The last task that begins at or before the tile.
template <class T>
__device__ __forceinline__ const PpgnWeightTask<T>& ppgn_task_of(const PpgnWeightTask<T>* tasks, unsigned count,
                                                                 unsigned tile) {
  unsigned low = 0, high = count;
  while (high - low > 1) {
    const unsigned middle = (low + high) / 2;
    (tasks[middle].first_tile <= tile ? low : high) = middle;
  }
  return tasks[low];
}

/// Which tile of which task a block makes, and over which rows.
template <class Tile, class T>
struct PpgnWeightPlace {
  unsigned slot, begin, end;  ///< the range of rows
  const PpgnWeightTask<T>& task;
  float* out;
  unsigned row0, column0;

  __device__ __forceinline__ explicit PpgnWeightPlace(const PpgnWeightTasks<T>& all)
      : slot(blockIdx.x / all.tiles),
        begin(slot * all.rows_per_slot),
        end(begin + all.rows_per_slot < all.rows ? begin + all.rows_per_slot : all.rows),
        task(ppgn_task_of(all.tasks, all.count, all.first_tile + blockIdx.x % all.tiles)),
        out(all.out + slot * all.slot_size) {
    const unsigned place = all.first_tile + blockIdx.x % all.tiles - task.first_tile;
    row0 = place / task.tiles_in_columns * Tile::kRows;
    column0 = place % task.tiles_in_columns * Tile::kColumns;
  }
};

}  // namespace tyche::engine::TYCHE_CUDA_NS
