#pragma once
/// The products of product.cuh in fp32, on the ordinary arithmetic units: tiles of 128 × 64, a thread 8 ×
/// 4 of it, depth in stages of 16 that are loaded while the one before is worked through.
#include "engine/cuda/ppgn/places.cuh"

namespace tyche::engine::TYCHE_CUDA_NS {

struct PpgnTile32 {
  static constexpr int kRows = 128, kColumns = 64, kDepth = 16, kThreads = 256, kBlocksPerProcessor = 1;
  static constexpr int kLeftPitch = kRows + 4, kRightPitch = kColumns + 4;  ///< floats between steps of depth
  static constexpr int kBytes = kDepth * (kLeftPitch + kRightPitch) * 4;
};

/// A stage of one operand on its way: in registers, then in shared memory with the outer dimension contiguous.
template <int Extent, int Pitch, bool ByDepth>
struct PpgnStage32 {
  static constexpr int kEach = Extent * PpgnTile32::kDepth / PpgnTile32::kThreads;
  float value[kEach];

  static __device__ __forceinline__ int outer_of(int i) {
    const int at = static_cast<int>(threadIdx.x) + i * PpgnTile32::kThreads;
    return ByDepth ? at % Extent : at / PpgnTile32::kDepth;
  }
  static __device__ __forceinline__ int depth_of(int i) {
    const int at = static_cast<int>(threadIdx.x) + i * PpgnTile32::kThreads;
    return ByDepth ? at / Extent : at % PpgnTile32::kDepth;
  }
  __device__ __forceinline__ void load(const float* from, unsigned stride, unsigned outer, unsigned outer_end,
                                       unsigned k, unsigned depth) {
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const unsigned x = outer + outer_of(i), z = k + depth_of(i);
      value[i] = 0;
      if (x < outer_end && z < depth) {
        value[i] = from[ByDepth ? static_cast<std::size_t>(z) * stride + x : static_cast<std::size_t>(x) * stride + z];
      }
    }
  }
  __device__ __forceinline__ void store(float* shared) const {
#pragma unroll
    for (int i = 0; i < kEach; ++i) shared[depth_of(i) * Pitch + outer_of(i)] = value[i];
  }
};

/// sums += left · right over a stage.
__device__ __forceinline__ void ppgn_multiply32(float (&sums)[8][4], const float* left, const float* right) {
  const int row = static_cast<int>(threadIdx.x) / 16 * 8, column = static_cast<int>(threadIdx.x) % 16 * 4;
#pragma unroll
  for (int k = 0; k < PpgnTile32::kDepth; ++k) {
    const float4 a0 = *reinterpret_cast<const float4*>(left + k * PpgnTile32::kLeftPitch + row);
    const float4 a1 = *reinterpret_cast<const float4*>(left + k * PpgnTile32::kLeftPitch + row + 4);
    const float4 b = *reinterpret_cast<const float4*>(right + k * PpgnTile32::kRightPitch + column);
    const float a[8] = {a0.x, a0.y, a0.z, a0.w, a1.x, a1.y, a1.z, a1.w};
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      sums[i][0] += a[i] * b.x;
      sums[i][1] += a[i] * b.y;
      sums[i][2] += a[i] * b.z;
      sums[i][3] += a[i] * b.w;
    }
  }
}

/// Like ppgn_rows_kernel.
template <bool RightByDepth>
__global__ void __launch_bounds__(PpgnTile32::kThreads) ppgn_rows32_kernel(const PpgnProducts<float> all) {
  ppgn_begin();
  using Tile = PpgnTile32;
  const PpgnRowsPlace<Tile> place(all);
  const unsigned columns = all.product[0].columns, row0 = place.row0, column0 = place.column0;
  const PpgnProduct<float>& product = all.product[place.product];
  float* const left = reinterpret_cast<float*>(dynamic_shared());
  float* const right = left + Tile::kDepth * Tile::kLeftPitch;
  float sums[8][4];
#pragma unroll
  for (int i = 0; i < 8; ++i) {
#pragma unroll
    for (int j = 0; j < 4; ++j) sums[i][j] = 0;
  }
  PpgnStage32<Tile::kRows, Tile::kLeftPitch, false> a;
  PpgnStage32<Tile::kColumns, Tile::kRightPitch, RightByDepth> b;
  unsigned term = 0, k = 0;
  const auto load = [&] {
    const PpgnTerm<float>& from = product.terms[term];
    a.load(from.left, from.left_stride, row0, all.rows, k, from.depth);
    b.load(from.right, from.right_stride, column0, columns, k, from.depth);
    k += Tile::kDepth;
    if (k >= from.depth) {
      k = 0;
      ++term;
    }
  };
  load();
  for (bool last = false; !last;) {
    a.store(left);
    b.store(right);
    __syncthreads();
    last = term == product.count;
    if (!last) load();
    ppgn_multiply32(sums, left, right);
    __syncthreads();
  }

  bool bad = false;
  const unsigned column = column0 + threadIdx.x % 16 * 4;
  if (column < columns) {
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const unsigned row = row0 + threadIdx.x / 16 * 8 + i;
      if (row >= all.rows) break;
      const std::size_t at = static_cast<std::size_t>(row) * columns + column;
      const float scale = product.row_scale == nullptr ? 1.0f : product.row_scale[row];
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        float x = sums[i][j];
        if (product.bias != nullptr) x += product.bias[column + j];
        bad = bad || !finite(x);
        if (product.relu && x < 0) x = 0;
        x *= scale;
        bad = bad || !finite(x);
        if (product.mask != nullptr && !(product.mask[at + j] > 0)) x = 0;
        product.out[at + j] = x;
      }
    }
  }
  if (bad) *all.flag = 1;
}

/// Like ppgn_weight_kernel.
static __global__ void __launch_bounds__(PpgnTile32::kThreads) ppgn_weight32_kernel(const PpgnWeightTasks<float> all) {
  ppgn_begin();
  using Tile = PpgnTile32;
  const PpgnWeightPlace<Tile, float> place(all);
  const PpgnWeightTask<float> task = place.task;
  const unsigned row0 = place.row0, column0 = place.column0, begin = place.begin, end = place.end;
  const bool ones = task.bias >= 0 && column0 == 0 && threadIdx.x % 16 == 0;
  float* const left = reinterpret_cast<float*>(dynamic_shared());
  float* const right = left + Tile::kDepth * Tile::kLeftPitch;
  float sums[8][4], row_sums[8];
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    row_sums[i] = 0;
#pragma unroll
    for (int j = 0; j < 4; ++j) sums[i][j] = 0;
  }
  PpgnStage32<Tile::kRows, Tile::kLeftPitch, true> a;
  PpgnStage32<Tile::kColumns, Tile::kRightPitch, true> b;
  if (begin < end) {
    a.load(task.left, task.left_stride, row0, task.rows, begin, end);
    b.load(task.right, task.right_stride, column0, task.columns, begin, end);
  }
  for (unsigned k = begin; k < end; k += Tile::kDepth) {
    a.store(left);
    b.store(right);
    __syncthreads();
    if (k + Tile::kDepth < end) {
      a.load(task.left, task.left_stride, row0, task.rows, k + Tile::kDepth, end);
      b.load(task.right, task.right_stride, column0, task.columns, k + Tile::kDepth, end);
    }
    ppgn_multiply32(sums, left, right);
    if (ones) {
#pragma unroll
      for (int i = 0; i < 8; ++i) {
#pragma unroll
        for (int z = 0; z < Tile::kDepth; ++z) row_sums[i] += left[z * Tile::kLeftPitch + threadIdx.x / 16 * 8 + i];
      }
    }
    __syncthreads();
  }
  float* const out = place.out;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const unsigned row = row0 + threadIdx.x / 16 * 8 + i;
    if (row >= task.rows) break;
    const unsigned column = column0 + threadIdx.x % 16 * 4;
    if (column < task.columns) {
      *reinterpret_cast<float4*>(out + task.weight + static_cast<std::size_t>(row) * task.stride + column) =
          float4{sums[i][0], sums[i][1], sums[i][2], sums[i][3]};
    }
    if (ones) out[task.bias + row] = row_sums[i];
  }
}

}  // namespace tyche::engine::TYCHE_CUDA_NS
