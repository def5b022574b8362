#pragma once
/// Products of all rows of a batch with weight matrices, in half precision on tensor cores: what PPGN's time goes into.
/// Results do not depend on the tile: every sum runs over depth in steps of 16 in one order.
#include "engine/cuda/ppgn/epilogue.cuh"
#include "engine/cuda/ppgn/places.cuh"
#include "engine/cuda/ppgn/tile.cuh"

namespace tyche::engine::TYCHE_CUDA_NS {

/// Shared memory of ppgn_rows_kernel: the stages, or the results on their way out.
template <class Tile, bool RightByDepth>
struct PpgnRowsShared {
  using Left = PpgnOperand<Tile::kRows, Tile::kDepth, false, Tile::kThreads>;
  using Right = PpgnOperand<Tile::kColumns, Tile::kDepth, RightByDepth, Tile::kThreads>;
  static constexpr int kStage = Left::kBytes + Right::kBytes;
  using Out = PpgnEpilogue<Tile::kRows, Tile::kColumns, Tile::kThreads>;
  static constexpr int kBytes = Tile::kStages * kStage > Out::kBytes ? Tile::kStages* kStage : Out::kBytes;
};

/// One block per tile of one product. RightByDepth: a term's right is depth × columns (else columns × depth).
template <class Tile, bool RightByDepth>
__global__ void __launch_bounds__(Tile::kThreads, Tile::kBlocksPerProcessor)
    ppgn_rows_kernel(const PpgnProducts<Half> all) {
  ppgn_begin();
  using Shared = PpgnRowsShared<Tile, RightByDepth>;
  using Left = typename Shared::Left;
  using Right = typename Shared::Right;
  const PpgnRowsPlace<Tile> place(all);
  const unsigned columns = all.product[0].columns, row0 = place.row0, column0 = place.column0;
  const PpgnProduct<Half>& product = all.product[place.product];
  char* const shared = dynamic_shared();
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = shfl(static_cast<int>(threadIdx.x) / 32, 0);
  const int warp_row = warp / Tile::kWarpColumns * 16 * Tile::kRowTiles;
  const int warp_column = warp % Tile::kWarpColumns * 8 * Tile::kColumnTiles;
  const char* const left = Left::left_lane(shared, warp_row, lane);
  const char* const right = Right::right_lane(shared + Left::kBytes, warp_column, lane);

  PpgnSums<Tile, false> sums;
  unsigned load_term = 0, load_k = 0;
  const auto load = [&](int stage) {
    if (load_term < product.count) {
      const PpgnTerm<Half>& term = product.terms[load_term];
      char* to = shared + stage * Shared::kStage;
      Left::template load<false>(to, term.left, term.left_stride, row0, all.rows, load_k, term.depth);
      Right::template load<false>(to + Left::kBytes, term.right, term.right_stride, column0, columns, load_k,
                                  term.depth);
      load_k += Tile::kDepth;
      if (load_k >= term.depth) {
        load_k = 0;
        ++load_term;
      }
    }
    cp_async_commit();
  };
#pragma unroll
  for (int s = 0; s + 1 < Tile::kStages; ++s) load(s);
  int stage = 0, free_stage = Tile::kStages - 1;
  for (unsigned t = 0; t < product.count; ++t) {
    const unsigned depth = product.terms[t].depth;
    for (unsigned k = 0; k < depth; k += Tile::kDepth) {
      cp_async_wait<Tile::kStages - 2>();
      __syncthreads();
      sums.template add_stage<Left, Right>(left + stage * Shared::kStage, right + stage * Shared::kStage, depth - k,
                                           false, [&] { load(free_stage); });
      free_stage = free_stage + 1 == Tile::kStages ? 0 : free_stage + 1;
      stage = stage + 1 == Tile::kStages ? 0 : stage + 1;
    }
  }
  cp_async_wait<0>();
  __syncthreads();

  using Out = typename Shared::Out;
  float scale[Tile::kRowTiles][2];
#pragma unroll
  for (int m = 0; m < Tile::kRowTiles; ++m) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      scale[m][h] =
          ppgn_row_scale(product, row0 + static_cast<unsigned>(warp_row + m * 16 + h * 8 + lane / 4), all.rows);
    }
  }
#pragma unroll
  for (int n = 0; n < Tile::kColumnTiles; ++n) {
    const int column = warp_column + n * 8 + lane % 4 * 2;
    const float2 bias = ppgn_bias(product, column0 + static_cast<unsigned>(column));
#pragma unroll
    for (int m = 0; m < Tile::kRowTiles; ++m) {
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        Out::stage(shared, product, warp_row + m * 16 + h * 8 + lane / 4, column, sums.product[m][n][2 * h],
                   sums.product[m][n][2 * h + 1], bias, scale[m][h]);
      }
    }
  }
  __syncthreads();
  Out::store(shared, product, row0, all.rows, column0, all.flag);
}

template <class Tile>
struct PpgnWeightShared {
  using Left = PpgnOperand<Tile::kRows, Tile::kDepth, true, Tile::kThreads>;
  using Right = PpgnOperand<Tile::kColumns, Tile::kDepth, true, Tile::kThreads>;
  static constexpr int kStage = Left::kBytes + Right::kBytes;
  static constexpr int kBytes = Tile::kStages * kStage;
};

/// Gradients of weights.
template <class Tile>
__global__ void __launch_bounds__(Tile::kThreads, Tile::kBlocksPerProcessor)
    ppgn_weight_kernel(const PpgnWeightTasks<Half> all) {
  ppgn_begin();
  using Shared = PpgnWeightShared<Tile>;
  using Left = typename Shared::Left;
  using Right = typename Shared::Right;
  const PpgnWeightPlace<Tile, Half> place(all);
  const PpgnWeightTask<Half> task = place.task;
  const unsigned row0 = place.row0, column0 = place.column0, begin = place.begin, end = place.end;

  char* const shared = dynamic_shared();
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = shfl(static_cast<int>(threadIdx.x) / 32, 0);
  const int warp_row = warp / Tile::kWarpColumns * 16 * Tile::kRowTiles;
  const int warp_column = warp % Tile::kWarpColumns * 8 * Tile::kColumnTiles;
  const char* const left = Left::left_lane(shared, warp_row, lane);
  const char* const right = Right::right_lane(shared + Left::kBytes, warp_column, lane);
  const bool ones = task.bias >= 0 && column0 == 0 && warp_column == 0;

  PpgnSums<Tile, true> sums;
  unsigned load_k = begin;
  const auto load = [&](int stage) {
    if (load_k < end) {
      char* to = shared + stage * Shared::kStage;
      Left::template load<true>(to, task.left, task.left_stride, row0, task.rows, load_k, end);
      Right::template load<true>(to + Left::kBytes, task.right, task.right_stride, column0, task.columns, load_k, end);
      load_k += Tile::kDepth;
    }
    cp_async_commit();
  };
#pragma unroll
  for (int s = 0; s + 1 < Tile::kStages; ++s) load(s);
  int stage = 0, free_stage = Tile::kStages - 1;
  for (unsigned k = begin; k < end; k += Tile::kDepth) {
    cp_async_wait<Tile::kStages - 2>();
    __syncthreads();
    sums.template add_stage<Left, Right>(left + stage * Shared::kStage, right + stage * Shared::kStage, end - k, ones,
                                         [&] { load(free_stage); });
    free_stage = free_stage + 1 == Tile::kStages ? 0 : free_stage + 1;
    stage = stage + 1 == Tile::kStages ? 0 : stage + 1;
  }
  cp_async_wait<0>();

  float* const out = place.out;
#pragma unroll
  for (int m = 0; m < Tile::kRowTiles; ++m) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const unsigned row = row0 + static_cast<unsigned>(warp_row + m * 16 + h * 8 + lane / 4);
      if (row >= task.rows) continue;
      float* const line = out + task.weight + static_cast<std::size_t>(row) * task.stride;
#pragma unroll
      for (int n = 0; n < Tile::kColumnTiles; ++n) {
        const unsigned column = column0 + static_cast<unsigned>(warp_column + n * 8 + lane % 4 * 2);
        if (column < task.columns) {
          *reinterpret_cast<float2*>(line + column) = float2{sums.product[m][n][2 * h], sums.product[m][n][2 * h + 1]};
        }
      }
      if (ones && lane % 4 == 0) out[task.bias + row] = sums.rows[m][2 * h];
    }
  }
}

}  // namespace tyche::engine::TYCHE_CUDA_NS
