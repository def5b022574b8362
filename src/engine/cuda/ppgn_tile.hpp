#pragma once
/// A tile of a matrix product on tensor cores: half-precision operands staged in shared memory by cp.async, fp32 sums
/// in registers. An operand lies in memory with the inner dimension contiguous (by_depth = false: rows of the output
/// times depth) or with the outer one contiguous (by_depth = true: a row a step of depth); ldmatrix transposes the
/// latter. Rows in shared memory are padded to an odd number of 16-byte chunks, so that the eight rows of an 8 × 8
/// matrix lie in different banks and every address is a constant offset from the lane's own.
#include "engine/cuda/intrinsics.hpp"

namespace tyche::engine::TYCHE_CUDA_NS {

inline constexpr int kPpgnDepth = 32;  ///< depth of a stage

/// RowTiles × 16 rows and ColumnTiles × 8 columns a warp, WarpRows × WarpColumns warps a block, Stages of loads.
template <int RowTiles, int ColumnTiles, int WarpRows, int WarpColumns, int Stages, int BlocksPerProcessor>
struct PpgnTile {
  static constexpr int kRowTiles = RowTiles, kColumnTiles = ColumnTiles;
  static constexpr int kWarpRows = WarpRows, kWarpColumns = WarpColumns, kStages = Stages;
  static constexpr int kRows = 16 * RowTiles * WarpRows, kColumns = 8 * ColumnTiles * WarpColumns;
  static constexpr int kThreads = 32 * WarpRows * WarpColumns;
  static constexpr int kBlocksPerProcessor = BlocksPerProcessor;
};

constexpr int ppgn_power_of_two(int least) {
  int value = 1;
  while (value < least) value *= 2;
  return value;
}

/// One operand's part of a stage: `Extent` rows or columns of the output by kPpgnDepth.
template <int Extent, bool ByDepth, int Threads>
struct PpgnOperand {
  static constexpr int kChunks = ByDepth ? Extent / 8 : kPpgnDepth / 8;  ///< of 16 bytes, a row in memory
  static constexpr int kLines = ByDepth ? kPpgnDepth : Extent;
  static constexpr int kPitch = (kChunks | 1) * 16;  ///< bytes
  static constexpr int kBytes = kLines * kPitch;

  /// Queues the loads of rows `outer` … (those below outer_end) and depth k … (below depth). Where `Fill`, lines of
  /// depth past the end are zeros up to the next multiple of 16; else depth must be such a multiple.
  template <bool Fill>
  static __device__ __forceinline__ void load(char* shared, const Half* from, unsigned stride, unsigned outer,
                                              unsigned outer_end, unsigned k, unsigned depth) {
    constexpr int kSlots = ppgn_power_of_two(kChunks);
    constexpr int kLinesAtOnce = Threads / kSlots;
    static_assert(Threads % kSlots == 0, "");
    const int chunk = static_cast<int>(threadIdx.x) % kSlots;
    const int first = static_cast<int>(threadIdx.x) / kSlots;
    char* to = shared + first * kPitch + chunk * 16;
    if (ByDepth) {
      const bool wanted = chunk < kChunks && outer + static_cast<unsigned>(chunk) * 8 < outer_end;
      const Half* source = from + static_cast<std::size_t>(k + static_cast<unsigned>(first)) * stride + outer +
                           static_cast<unsigned>(chunk) * 8;
#pragma unroll
      for (int i = 0; i < (kLines + kLinesAtOnce - 1) / kLinesAtOnce; ++i) {
        const int line = first + i * kLinesAtOnce;
        if (wanted && (kLines % kLinesAtOnce == 0 || line < kLines)) {
          if (k + static_cast<unsigned>(line) < depth) {
            cp_async16(to + i * kLinesAtOnce * kPitch,
                       source + static_cast<std::size_t>(i) * static_cast<std::size_t>(kLinesAtOnce) * stride);
          } else if (Fill) {
            *reinterpret_cast<uint4*>(to + i * kLinesAtOnce * kPitch) = uint4{0, 0, 0, 0};
          }
        }
      }
    } else {
      const bool wanted = k + static_cast<unsigned>(chunk) * 8 < depth;
      const Half* source = from + static_cast<std::size_t>(outer + static_cast<unsigned>(first)) * stride + k +
                           static_cast<unsigned>(chunk) * 8;
#pragma unroll
      for (int i = 0; i < (kLines + kLinesAtOnce - 1) / kLinesAtOnce; ++i) {
        const int line = first + i * kLinesAtOnce;
        if (wanted && (kLines % kLinesAtOnce == 0 || line < kLines) &&
            outer + static_cast<unsigned>(line) < outer_end) {
          cp_async16(to + i * kLinesAtOnce * kPitch,
                     source + static_cast<std::size_t>(i) * static_cast<std::size_t>(kLinesAtOnce) * stride);
        }
      }
    }
  }

  /// The lane's address for fragments of the left operand (16 × 16, four matrices) from row `row` of the tile.
  static __device__ __forceinline__ const char* left_lane(const char* shared, int row, int lane) {
    if (ByDepth) {
      return shared + ((lane & 7) + ((lane >> 4) << 3)) * kPitch + (row / 8 + ((lane >> 3) & 1)) * 16;
    }
    return shared + (row + (lane & 15)) * kPitch + (lane >> 4) * 16;
  }
  /// The same for the right operand: two neighbouring 8 × 16 tiles from column `column`.
  static __device__ __forceinline__ const char* right_lane(const char* shared, int column, int lane) {
    if (ByDepth) return shared + (lane & 15) * kPitch + (column / 8 + (lane >> 4)) * 16;
    return shared + (column + (lane & 7) + ((lane >> 4) << 3)) * kPitch + ((lane >> 3) & 1) * 16;
  }
  /// How far the fragments of `tiles` × 8 rows or columns, and of 16 · step of depth, are away.
  static constexpr int outer_offset(int tiles) { return ByDepth ? tiles * 16 : tiles * 8 * kPitch; }
  static constexpr int depth_offset(int step) { return ByDepth ? step * 16 * kPitch : step * 32; }
};

/// sums += left · right over `steps` (1 or 2) times 16 of a stage; left and right are the lane's addresses. With
/// `ones`, row_sums += left · 1 too.
template <class Tile, class Left, class Right, bool LeftByDepth, bool RightByDepth, bool RowSums>
__device__ __forceinline__ void ppgn_multiply(float (&sums)[Tile::kRowTiles][Tile::kColumnTiles][4],
                                              float (&row_sums)[RowSums ? Tile::kRowTiles : 1][4], bool ones,
                                              const char* left, const char* right, int steps) {
#pragma unroll
  for (int step = 0; step < kPpgnDepth / 16; ++step) {
    if (step < steps) {
      unsigned a[Tile::kRowTiles][4];
#pragma unroll
      for (int m = 0; m < Tile::kRowTiles; ++m) {
        const char* at = left + Left::depth_offset(step) + Left::outer_offset(2 * m);
        if (LeftByDepth) {
          ldmatrix_x4_trans(a[m], at);
        } else {
          ldmatrix_x4(a[m], at);
        }
      }
      if (RowSums && ones) {
        constexpr unsigned kOnes = 0x3c003c00u;
#pragma unroll
        for (int m = 0; m < Tile::kRowTiles; ++m) mma_16816(row_sums[RowSums ? m : 0], a[m], kOnes, kOnes);
      }
#pragma unroll
      for (int n = 0; n + 1 < Tile::kColumnTiles; n += 2) {
        unsigned b[4];
        const char* at = right + Right::depth_offset(step) + Right::outer_offset(n);
        if (RightByDepth) {
          ldmatrix_x4_trans(b, at);
        } else {
          ldmatrix_x4(b, at);
        }
#pragma unroll
        for (int m = 0; m < Tile::kRowTiles; ++m) {
          mma_16816(sums[m][n], a[m], b[0], b[1]);
          mma_16816(sums[m][n + 1], a[m], b[2], b[3]);
        }
      }
      if (Tile::kColumnTiles % 2 != 0) {
        constexpr int n = Tile::kColumnTiles - 1;
        unsigned b[2];
        const char* at = right + Right::depth_offset(step) + Right::outer_offset(n);
        if (RightByDepth) {
          ldmatrix_x2_trans(b, at);
        } else {
          ldmatrix_x2(b, at);
        }
#pragma unroll
        for (int m = 0; m < Tile::kRowTiles; ++m) mma_16816(sums[m][n], a[m], b[0], b[1]);
      }
    }
  }
}

/// Bits 15 and 31 are set where a half of the pair is infinite or NaN.
__device__ __forceinline__ unsigned ppgn_bad_halves(unsigned pair) {
  return ((pair & 0x7fff7fffu) + 0x04000400u) & 0x80008000u;
}
/// The pair with zeros where the mask's halves, which are not negative, are zero.
__device__ __forceinline__ unsigned ppgn_masked(unsigned pair, unsigned mask) {
  return pair & (((((mask & 0x7fff7fffu) + 0x7fff7fffu) >> 15) & 0x00010001u) * 0xffffu);
}

}  // namespace tyche::engine::TYCHE_CUDA_NS
