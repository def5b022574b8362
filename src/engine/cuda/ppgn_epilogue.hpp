#pragma once
/// From sums of a tile in registers to rows in memory: bias, ReLU, factor of the row, rounding, mask; through shared
/// memory, so that memory sees whole chunks of 16 bytes.
#include "engine/cuda/ppgn_tasks.hpp"
#include "engine/cuda/ppgn_tile.hpp"

namespace tyche::engine::TYCHE_CUDA_NS {

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

  /// The block's tile, once all is staged, to memory; sets the flag where a half is not finite.
  static __device__ __forceinline__ void store(const char* shared, const PpgnProduct<Half>& product, unsigned row0,
                                               unsigned rows, unsigned column0, unsigned* flag) {
    constexpr int kSlots = ppgn_power_of_two(Columns / 8);
    const int chunk = static_cast<int>(threadIdx.x) % kSlots;
    const unsigned column = column0 + static_cast<unsigned>(chunk) * 8;
    unsigned bad = 0;
    if (chunk < Columns / 8 && column < product.columns) {
      for (int line = static_cast<int>(threadIdx.x) / kSlots; line < Rows; line += Threads / kSlots) {
        const unsigned row = row0 + static_cast<unsigned>(line);
        if (row >= rows) break;
        uint4 value = *reinterpret_cast<const uint4*>(shared + line * kPitch + chunk * 16);
        bad |=
            ppgn_bad_halves(value.x) | ppgn_bad_halves(value.y) | ppgn_bad_halves(value.z) | ppgn_bad_halves(value.w);
        const std::size_t at = static_cast<std::size_t>(row) * product.columns + column;
        if (product.mask != nullptr) {
          const uint4 mask = *reinterpret_cast<const uint4*>(product.mask + at);
          value = uint4{ppgn_masked(value.x, mask.x), ppgn_masked(value.y, mask.y), ppgn_masked(value.z, mask.z),
                        ppgn_masked(value.w, mask.w)};
        }
        *reinterpret_cast<uint4*>(product.out + at) = value;
        if (product.residual != nullptr) {
          *reinterpret_cast<uint4*>(product.residual + at) =
              *reinterpret_cast<const uint4*>(shared + kOut + line * kPitch + chunk * 16);
        }
      }
    }
    if (bad != 0) *flag = 1;
  }
};

}  // namespace tyche::engine::TYCHE_CUDA_NS
