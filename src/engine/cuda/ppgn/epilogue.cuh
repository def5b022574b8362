#pragma once
/// From sums of a tile in registers to rows in memory: bias, ReLU, factor of the row, rounding, mask; through shared
/// memory, so that memory sees whole chunks of 16 bytes.
#include "engine/cuda/ppgn/tile.cuh"

namespace tyche::engine::TYCHE_CUDA_NS {

/// Asks for the line of 128 bytes that holds *from to come to the second-level cache.
__device__ __forceinline__ void prefetch_far([[maybe_unused]] const void* from) {
#ifndef TYCHE_CUDA_EMULATED
  asm volatile("prefetch.global.L2 [%0];" ::"l"(from));
#endif
}

/// The bias of columns `column` and column + 1.
__device__ __forceinline__ float2 ppgn_bias(const PpgnProduct<Half>& product, unsigned column) {
  if (product.bias == nullptr || column >= product.columns) return float2{0, 0};
  return float2{product.bias[column], product.bias[column + 1]};
}
__device__ __forceinline__ float ppgn_row_scale(const PpgnProduct<Half>& product, unsigned row, unsigned rows) {
  return product.row_scale == nullptr || row >= rows ? 1.0f : product.row_scale[row];
}

template <int Rows, int Columns, int Threads>
struct PpgnEpilogue {
  static constexpr int kPitch = (Columns / 8 | 1) * 16;
  static constexpr int kOut = Rows * kPitch;
  static constexpr int kBytes = 2 * kOut;  ///< once for the results, once for what rounding took

  /// Two neighbouring sums of the tile's row `row` to shared memory.
  static __device__ __forceinline__ void stage(char* shared, const PpgnProduct<Half>& product, int row, int column,
                                               float x, float y, float2 bias, float scale) {
    x += bias.x;
    y += bias.y;
    if (product.relu) {
      x = x > 0 ? x : (x == x ? 0.0f : x);  // a NaN stays one, to be seen below
      y = y > 0 ? y : (y == y ? 0.0f : y);
    }
    x *= scale;
    y *= scale;
    char* const to = shared + row * kPitch + column * 2;
    const unsigned rounded = pack2(x, y);
    *reinterpret_cast<unsigned*>(to) = rounded;
    if (product.residual != nullptr) {
      const float2 kept = unpack2(rounded);
      *reinterpret_cast<unsigned*>(to + kOut) =
          pack2((x - kept.x) * kPpgnResidualScale, (y - kept.y) * kPpgnResidualScale);
    }
  }

  /// The block's tile, once all is staged, to memory; sets the flag where a half is not finite. The mask was written
  /// long ago and comes from far away: a thread asks for several chunks of it at once.
  static __device__ __forceinline__ void store(const char* shared, const PpgnProduct<Half>& product, unsigned row0,
                                               unsigned rows, unsigned column0, unsigned* flag) {
    constexpr int kSlots = ppgn_power_of_two(Columns / 8), kLinesAtOnce = Threads / kSlots;
    constexpr int kTimes = Rows / kLinesAtOnce, kBatch = kTimes % 8 == 0 ? 8 : kTimes;
    static_assert(Rows % kLinesAtOnce == 0 && kBatch <= 8, "");
    const int chunk = static_cast<int>(threadIdx.x) % kSlots;
    const unsigned column = column0 + static_cast<unsigned>(chunk) * 8;
    if (chunk >= Columns / 8 || column >= product.columns) return;
    unsigned bad = 0;
#pragma unroll 1
    for (int first = static_cast<int>(threadIdx.x) / kSlots; first < Rows; first += kBatch * kLinesAtOnce) {
      const std::size_t at = static_cast<std::size_t>(row0 + static_cast<unsigned>(first)) * product.columns + column;
      const std::size_t stride = static_cast<std::size_t>(kLinesAtOnce) * product.columns;
      const int left = static_cast<int>(rows - row0) - first;  // lines from here on
      uint4 mask[kBatch];
#pragma unroll
      for (int i = 0; i < kBatch; ++i) {
        mask[i] = uint4{0, 0, 0, 0};
        if (product.mask != nullptr && i * kLinesAtOnce < left) {
          mask[i] = *reinterpret_cast<const uint4*>(product.mask + at + static_cast<std::size_t>(i) * stride);
        }
      }
#pragma unroll
      for (int i = 0; i < kBatch; ++i) {
        if (i * kLinesAtOnce >= left) break;
        const char* const from = shared + (first + i * kLinesAtOnce) * kPitch + chunk * 16;
        uint4 value = *reinterpret_cast<const uint4*>(from);
        bad |= ppgn_bad_halves(value);
        if (product.mask != nullptr) value = ppgn_masked(value, mask[i]);
        *reinterpret_cast<uint4*>(product.out + at + static_cast<std::size_t>(i) * stride) = value;
        if (product.residual != nullptr) {
          *reinterpret_cast<uint4*>(product.residual + at + static_cast<std::size_t>(i) * stride) =
              *reinterpret_cast<const uint4*>(from + kOut);
        }
      }
    }
    if (bad != 0) *flag = 1;
  }

  /// Has the tile's part of the mask brought to the second-level cache.
  static __device__ __forceinline__ void fetch_mask(const PpgnProduct<Half>& product, unsigned row0, unsigned rows,
                                                    unsigned column0) {
    if (product.mask == nullptr) return;
    constexpr int kSlots = ppgn_power_of_two((Columns + 63) / 64);  // lines of 128 bytes
    const unsigned column = column0 + threadIdx.x % kSlots * 64;
    if (column >= product.columns || threadIdx.x % kSlots * 64 >= Columns) return;
#pragma unroll
    for (int line = 0; line < Rows; line += Threads / kSlots) {
      const unsigned row = row0 + static_cast<unsigned>(line) + threadIdx.x / kSlots;
      if (row < rows) prefetch_far(product.mask + static_cast<std::size_t>(row) * product.columns + column);
    }
  }
};

}  // namespace tyche::engine::TYCHE_CUDA_NS
