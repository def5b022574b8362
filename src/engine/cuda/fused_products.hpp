#pragma once
/// The dense products of a layer on tensor cores, from and to shared memory. Sixteen warps share the rows' tiles of 16
/// and the columns' groups of 16; every warp keeps the weights of its columns in registers.
#include "engine/cuda/fused_gather.hpp"

namespace tyche::engine::TYCHE_CUDA_NS::fused {

__device__ __forceinline__ float elu(float z) { return z > 0.0f ? z : fast_exp(z) - 1.0f; }
/// From the value, not its argument.
__device__ __forceinline__ float elu_slope(float h) { return fminf(h, 0.0f) + 1.0f; }

/// kElu: the activation is known to be ELU when the kernel is compiled.
template <bool kElu>
__device__ __forceinline__ void activate(Act act, float (&z)[4]) {
  if (kElu || act == Act::elu) {
#pragma unroll
    for (int i = 0; i < 4; ++i) z[i] = elu(z[i]);
  } else if (act == Act::tanh) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float e = fast_exp(-2.0f * fabsf(z[i]));
      z[i] = copysignf(fast_div(1.0f - e, 1.0f + e), z[i]);
    }
  } else {
#pragma unroll
    for (int i = 0; i < 4; ++i) z[i] = z[i] < 0.0f ? 0.0f : z[i];
  }
}
template <bool kElu>
__device__ __forceinline__ float slope(Act act, float h) {
  return kElu || act == Act::elu ? elu_slope(h) : act == Act::tanh ? 1.0f - h * h : h > 0.0f ? 1.0f : 0.0f;
}

/// Who does what, for a padded width.
template <int W>
struct Team {
  static constexpr int kColumnGroups = W / 16;
  static constexpr int kRowGroups = kWarps / kColumnGroups;
  static constexpr int kTileBytes = 16 * 2 * W;
  /// Both matrices of a layer fit a warp's registers up to width 64; beyond, one after the other.
  static constexpr int kMatrices = W > 64 ? 1 : 2;
  static constexpr int kWords = kMatrices * W / 32;
};

/// A warp's columns of one (or both) matrices of a layer: b[tile of 8 columns][32 of the contraction].
template <int W>
struct Weights {
  uint4 b[2][Team<W>::kWords];
};
template <int W>
__device__ __forceinline__ void load_weights(Weights<W>& to, const Half* weights, int layer, int first_matrix,
                                             int group, int lane) {
  const uint4* from = reinterpret_cast<const uint4*>(weights) + (layer * 2 + first_matrix) * (W * W / 8);
#pragma unroll
  for (int n = 0; n < 2; ++n) {
#pragma unroll
    for (int k = 0; k < Team<W>::kWords; ++k) {
      to.b[n][k] = from[(k / (W / 32)) * (W * W / 8) + ((group * 2 + n) * (W / 32) + k % (W / 32)) * 32 + lane];
    }
  }
}

/// sums += rows of the operands (one or two buffers) times a warp's weights, for kTiles row tiles. at: the lane's
/// ldmatrix place in the first tile of each operand.
template <int W, int kTiles>
__device__ __forceinline__ void multiply(float (&sums)[2][2][4], const char* sm, unsigned at0, unsigned at1,
                                         const Weights<W>& weights) {
  constexpr int kPer = W / 16, kSteps = Team<W>::kMatrices * kPer;
  constexpr int kStride = Team<W>::kRowGroups * Team<W>::kTileBytes;
  unsigned rows[2][kTiles][4];
#pragma unroll
  for (int m = 0; m < kTiles; ++m) ldmatrix_x4(rows[0][m], sm + (at0 + m * kStride));
#pragma unroll
  for (int k = 0; k < kSteps; ++k) {
    if (k + 1 < kSteps) {
      const unsigned at = (k + 1 < kPer ? at0 : at1) ^ (static_cast<unsigned>((k + 1) % kPer) << 5);
#pragma unroll
      for (int m = 0; m < kTiles; ++m) ldmatrix_x4(rows[(k + 1) & 1][m], sm + (at + m * kStride));
    }
#pragma unroll
    for (int m = 0; m < kTiles; ++m) {
#pragma unroll
      for (int n = 0; n < 2; ++n) {
        const uint4 b = weights.b[n][k / 2];
        mma_16816(sums[m][n], rows[k & 1][m], k % 2 == 0 ? b.x : b.z, k % 2 == 0 ? b.y : b.w);
      }
    }
  }
}

/// sums = start + [first | second] · weights of a layer for all row tiles of this warp; finish(sums, tile) takes each.
/// The weights are in `weights` already where both matrices fit there.
template <int W, class Finish>
__device__ __forceinline__ void layer_product(const char* sm, unsigned first, unsigned second, int tiles,
                                              const float2 (&start)[2], Weights<W>& weights, const Half* all_weights,
                                              int layer, int warp, int lane, Finish finish) {
  using T = Team<W>;
  const int group = warp % T::kColumnGroups;
  const unsigned own = static_cast<unsigned>(lane & 15) * (2 * W) +
                       ((static_cast<unsigned>(lane >> 4) ^ swizzle<W>(static_cast<unsigned>(lane & 15))) << 4);
#pragma unroll 1
  for (int tile = warp / T::kColumnGroups; tile < tiles; tile += 2 * T::kRowGroups) {
    float sums[2][2][4];
#pragma unroll
    for (int m = 0; m < 2; ++m) {
#pragma unroll
      for (int n = 0; n < 2; ++n) {
        sums[m][n][0] = sums[m][n][2] = start[n].x;
        sums[m][n][1] = sums[m][n][3] = start[n].y;
      }
    }
    const unsigned at = static_cast<unsigned>(tile * T::kTileBytes) + own;
    const bool both = tile + T::kRowGroups < tiles;
    if constexpr (T::kMatrices == 2) {
      if (both) {
        multiply<W, 2>(sums, sm, first + at, second + at, weights);
      } else {
        multiply<W, 1>(sums, sm, first + at, second + at, weights);
      }
    } else {
#pragma unroll 1
      for (int matrix = 0; matrix < 2; ++matrix) {
        load_weights<W>(weights, all_weights, layer, matrix, group, lane);
        const unsigned from = (matrix == 0 ? first : second) + at;
        if (both) {
          multiply<W, 2>(sums, sm, from, from, weights);
        } else {
          multiply<W, 1>(sums, sm, from, from, weights);
        }
      }
    }
    finish(sums[0], tile);
    if (both) finish(sums[1], tile + T::kRowGroups);
  }
}

/// The gradient of a layer's weights, h^T [dz | s], and of its bias, into the unit's slots. A warp's piece is 16 (32)
/// rows by 32 columns; pieces of dz also sum its columns, by a product with ones.
template <int W>
__device__ __forceinline__ void weight_gradient(const char* sm, unsigned h, unsigned dz, unsigned s, int tiles,
                                                Half* slot, float* bias_slot, int warp, int lane) {
  constexpr int kTall = W > 64 ? 2 : 1;  // 16-row tiles of a piece
  constexpr int kDown = W / 16 / kTall;  // pieces
  constexpr int kAcross = 2 * W / 32;
  constexpr int kBias = 4 / kDown;  // tiles of 8 columns whose bias a piece sums
  const unsigned ones[4] = {0x3C003C00u, 0x3C003C00u, 0x3C003C00u, 0x3C003C00u};
  const int part = lane >> 3;
  const unsigned row8 = static_cast<unsigned>(lane & 7);
#pragma unroll 1
  for (int piece = warp; piece < kDown * kAcross; piece += kWarps) {
    const int across = piece % kAcross, down = piece / kAcross;
    const int matrix = across / (W / 32), group = across % (W / 32);
    float sums[kTall][4][4], bias[kBias][4];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
#pragma unroll
      for (int m = 0; m < kTall; ++m) {
#pragma unroll
        for (int n = 0; n < 4; ++n) sums[m][n][i] = 0;
      }
#pragma unroll
      for (int n = 0; n < kBias; ++n) bias[n][i] = 0;
    }
    unsigned left_at[kTall], right_at[2];
#pragma unroll
    for (int m = 0; m < kTall; ++m) {
      left_at[m] = h + (static_cast<unsigned>(part >> 1) * 8 + row8) * (2 * W) +
                   ((static_cast<unsigned>((down * kTall + m) * 2 + (part & 1)) ^ swizzle<W>(row8)) << 4);
    }
#pragma unroll
    for (int n = 0; n < 2; ++n) {
      right_at[n] = (matrix == 0 ? dz : s) + (static_cast<unsigned>(part & 1) * 8 + row8) * (2 * W) +
                    ((static_cast<unsigned>(group * 4 + n * 2 + (part >> 1)) ^ swizzle<W>(row8)) << 4);
    }
    unsigned left[2][kTall][4], right[2][2][4];
    const auto fetch = [&](int z, int tile) {
      const unsigned at = static_cast<unsigned>(tile * Team<W>::kTileBytes);
#pragma unroll
      for (int m = 0; m < kTall; ++m) ldmatrix_x4_trans(left[z][m], sm + (left_at[m] + at));
#pragma unroll
      for (int n = 0; n < 2; ++n) ldmatrix_x4_trans(right[z][n], sm + (right_at[n] + at));
    };
    const auto add = [&](int z) {
#pragma unroll
      for (int m = 0; m < kTall; ++m) {
#pragma unroll
        for (int n = 0; n < 4; ++n) {
          mma_16816(sums[m][n], left[z][m], right[z][n / 2][n % 2 * 2], right[z][n / 2][n % 2 * 2 + 1]);
        }
      }
      if (matrix == 0) {
        if constexpr (kBias == 1) {
          const unsigned low = (down & 2) != 0 ? ((down & 1) != 0 ? right[z][1][2] : right[z][1][0])
                                               : ((down & 1) != 0 ? right[z][0][2] : right[z][0][0]);
          const unsigned high = (down & 2) != 0 ? ((down & 1) != 0 ? right[z][1][3] : right[z][1][1])
                                                : ((down & 1) != 0 ? right[z][0][3] : right[z][0][1]);
          mma_16816(bias[0], ones, low, high);
        } else {
#pragma unroll
          for (int n = 0; n < kBias; ++n) {
            mma_16816(bias[n], ones, down != 0 ? right[z][1][2 * n] : right[z][0][2 * n],
                      down != 0 ? right[z][1][2 * n + 1] : right[z][0][2 * n + 1]);
          }
        }
      }
    };
    if (tiles > 0) fetch(0, 0);
#pragma unroll 1
    for (int k = 0; k < tiles; k += 2) {
      if (k + 1 < tiles) fetch(1, k + 1);
      add(0);
      if (k + 1 < tiles) {
        if (k + 2 < tiles) fetch(0, k + 2);
        add(1);
      }
    }
    if (matrix == 0 && lane < 4) {
#pragma unroll
      for (int n = 0; n < kBias; ++n) {
        store_cg(reinterpret_cast<float2*>(bias_slot + group * 32 + (down * kBias + n) * 8 + 2 * lane),
                 make_float2(bias[n][0], bias[n][1]));
      }
    }
    uint4* to = reinterpret_cast<uint4*>(slot + matrix * (W * W));
#pragma unroll
    for (int m = 0; m < kTall; ++m) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int block = (down * kTall + m) * 2 + half;
        const float(&c)[4][4] = sums[m];
        store_cg(to + (block * (W / 32) + group) * 32 + lane,
                 make_uint4(pack2(c[0][2 * half], c[0][2 * half + 1]), pack2(c[1][2 * half], c[1][2 * half + 1]),
                            pack2(c[2][2 * half], c[2][2 * half + 1]), pack2(c[3][2 * half], c[3][2 * half + 1])));
      }
    }
  }
}

}  // namespace tyche::engine::TYCHE_CUDA_NS::fused
