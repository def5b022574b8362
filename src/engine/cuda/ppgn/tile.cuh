#pragma once
/// Where a block of PPGN's kernels begins and works, and a tile of a matrix product on tensor cores: half-precision
/// operands staged in shared memory by cp.async, fp32 sums in registers. An operand lies in memory with the inner
/// dimension contiguous (by_depth = false: rows of the output times depth) or with the outer one contiguous (by_depth =
/// true: a row per step of depth); ldmatrix transposes the latter. Rows in shared memory are padded to an odd number of
/// 16-byte chunks, so that the eight rows of an 8 × 8 matrix lie in different banks and every address is a constant
/// offset from the lane's own.
#include "engine/cuda/ppgn/products.hpp"
#include "engine/cuda/runtime/mma.cuh"

namespace tyche::engine::TYCHE_CUDA_NS {

/// What every kernel of PPGN begins with: waits for what was queued before, then lets what comes next be placed, as
/// PpgnQueue wants it.
__device__ __forceinline__ void ppgn_begin() {
  pdl_wait();
  pdl_trigger();
}

/// Which tile of which product a block makes. Tiles of the same rows are neighbours in time: they share their left
/// operand in the second-level cache.
template <class Tile, class T>
struct PpgnRowsPlace {
  const PpgnProducts<T>& all;
  unsigned across = (all.product[0].columns + Tile::kColumns - 1) / Tile::kColumns;
  unsigned down = (all.rows + Tile::kRows - 1) / Tile::kRows;
  unsigned product = blockIdx.x / across / down;
  unsigned row0 = blockIdx.x / across % down * Tile::kRows, column0 = blockIdx.x % across * Tile::kColumns;
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
  const PpgnWeightTasks<T>& all;
  unsigned slot = blockIdx.x / all.tiles, begin = slot * all.rows_per_slot;  ///< the range of rows
  unsigned end = begin + all.rows_per_slot < all.rows ? begin + all.rows_per_slot : all.rows;
  const PpgnWeightTask<T>& task = ppgn_task_of(all.tasks, all.count, all.first_tile + blockIdx.x % all.tiles);
  float* out = all.out + slot * all.slot_size;
  unsigned place = all.first_tile + blockIdx.x % all.tiles - task.first_tile;
  unsigned row0 = place / task.tiles_in_columns * Tile::kRows;
  unsigned column0 = place % task.tiles_in_columns * Tile::kColumns;
};

/// RowTiles × 16 rows and ColumnTiles × 8 columns per warp, WarpRows × WarpColumns warps per block, Stages of loads,
/// each of Depth (32 or 64).
template <int RowTiles, int ColumnTiles, int WarpRows, int WarpColumns, int Depth, int Stages, int BlocksPerProcessor>
struct PpgnTile {
  static constexpr int kRowTiles = RowTiles, kColumnTiles = ColumnTiles;
  static constexpr int kWarpRows = WarpRows, kWarpColumns = WarpColumns, kDepth = Depth, kStages = Stages;
  static constexpr int kRows = 16 * RowTiles * WarpRows, kColumns = 8 * ColumnTiles * WarpColumns;
  static constexpr int kThreads = 32 * WarpRows * WarpColumns;
  static constexpr int kBlocksPerProcessor = BlocksPerProcessor;
};

constexpr int ppgn_power_of_two(int least) {
  int value = 1;
  while (value < least) value *= 2;
  return value;
}

/// One operand's part of a stage as it lies in memory, for every family of kernels: `Extent` rows or columns of the
/// output by `Depth`, as lines of chunks of 16 bytes.
template <int Extent, int Depth, bool ByDepth, int Threads>
struct PpgnLines {
  // NOLINTBEGIN(bugprone-branch-clone): the two differ but for square tiles.
  static constexpr int kChunks = ByDepth ? Extent / 8 : Depth / 8;
  static constexpr int kLines = ByDepth ? Depth : Extent;
  // NOLINTEND(bugprone-branch-clone)
  static constexpr int kSlots = ppgn_power_of_two(kChunks), kLinesAtOnce = Threads / kSlots;
  static_assert(Threads % kSlots == 0, "");

  /// Queues the loads of rows `outer` … (those below outer_end) and depth k … (below depth). Where `Fill`, lines of
  /// depth past the end are zeros up to the next multiple of 16; else depth must be such a multiple. place(line, chunk)
  /// is where a thread's first chunk goes; its next ones are `Pitch` bytes further on per line.
  template <bool Fill, int Pitch, class Place>
  static __device__ __forceinline__ void load(const Half* from, unsigned stride, unsigned outer, unsigned outer_end,
                                              unsigned k, unsigned depth, const Place& place) {
    const int chunk = static_cast<int>(threadIdx.x) % kSlots, first = static_cast<int>(threadIdx.x) / kSlots;
    const unsigned inside = static_cast<unsigned>(chunk) * 8, line0 = ByDepth ? k : outer,
                   end = ByDepth ? depth : outer_end;
    const bool wanted = ByDepth ? chunk < kChunks && outer + inside < outer_end : k + inside < depth;
    char* const to = place(first, chunk);
    const Half* const source =
        from + static_cast<std::size_t>(line0 + static_cast<unsigned>(first)) * stride + (ByDepth ? outer : k) + inside;
#pragma unroll
    for (int i = 0; i < (kLines + kLinesAtOnce - 1) / kLinesAtOnce; ++i) {
      const int line = first + i * kLinesAtOnce;
      if (wanted && (kLines % kLinesAtOnce == 0 || line < kLines)) {
        if (line0 + static_cast<unsigned>(line) < end) {
          cp_async16(to + i * kLinesAtOnce * Pitch,
                     source + static_cast<std::size_t>(i) * static_cast<std::size_t>(kLinesAtOnce) * stride);
        } else if (ByDepth && Fill) {
          *reinterpret_cast<uint4*>(to + i * kLinesAtOnce * Pitch) = uint4{0, 0, 0, 0};
        }
      }
    }
  }
};

/// Such a part in shared memory, line after line.
template <int Extent, int Depth, bool ByDepth, int Threads>
struct PpgnOperand {
  using Lines = PpgnLines<Extent, Depth, ByDepth, Threads>;
  static constexpr int kPitch = (Lines::kChunks | 1) * 16;  ///< bytes
  static constexpr int kBytes = Lines::kLines * kPitch;

  template <bool Fill>
  static __device__ __forceinline__ void load(char* shared, const Half* from, unsigned stride, unsigned outer,
                                              unsigned outer_end, unsigned k, unsigned depth) {
    Lines::template load<Fill, kPitch>(from, stride, outer, outer_end, k, depth,
                                       [&](int line, int chunk) { return shared + line * kPitch + chunk * 16; });
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
  static __device__ __forceinline__ void fragments(unsigned (&out)[4], const char* lane) {
    return ByDepth ? ldmatrix_x4_trans(out, lane) : ldmatrix_x4(out, lane);
  }
  static __device__ __forceinline__ void fragments(unsigned (&out)[2], const char* lane) {
    return ByDepth ? ldmatrix_x2_trans(out, lane) : ldmatrix_x2(out, lane);
  }
  /// How far the fragments of `tiles` × 8 rows or columns, and of 16 · step of depth, are away.
  static __device__ constexpr int outer_offset(int tiles) { return ByDepth ? tiles * 16 : tiles * 8 * kPitch; }
  static __device__ constexpr int depth_offset(int step) { return ByDepth ? step * 16 * kPitch : step * 32; }
};

/// The stages of both operands in shared memory.
template <template <int, int, bool, int> class Operand, class Tile, bool LeftByDepth, bool RightByDepth>
struct PpgnStages {
  using Left = Operand<Tile::kRows, Tile::kDepth, LeftByDepth, Tile::kThreads>;
  using Right = Operand<Tile::kColumns, Tile::kDepth, RightByDepth, Tile::kThreads>;
  static constexpr int kStage = Left::kBytes + Right::kBytes, kBytes = Tile::kStages * kStage;
};

/// The sums of a warp's part of a tile; with RowSums also those of left · 1.
template <class Tile, bool RowSums>
struct PpgnSums {
  float product[Tile::kRowTiles][Tile::kColumnTiles][4];
  float rows[RowSums ? Tile::kRowTiles : 1][4];

  __device__ __forceinline__ PpgnSums() {
#pragma unroll
    for (int m = 0; m < Tile::kRowTiles; ++m) {
#pragma unroll
      for (int q = 0; q < 4; ++q) rows[RowSums ? m : 0][q] = 0;
#pragma unroll
      for (int n = 0; n < Tile::kColumnTiles; ++n) {
#pragma unroll
        for (int q = 0; q < 4; ++q) product[m][n][q] = 0;
      }
    }
  }

  /// Adds step `step` (16 of depth) of a stage; left and right are the lane's addresses. `meanwhile` is called when the
  /// first fragments are on their way: loads of later stages are to be queued there.
  template <class Left, class Right, class Meanwhile>
  __device__ __forceinline__ void add_step(const char* left, const char* right, int step, bool ones,
                                           const Meanwhile& meanwhile) {
    unsigned a[Tile::kRowTiles][4];
#pragma unroll
    for (int m = 0; m < Tile::kRowTiles; ++m) {
      Left::fragments(a[m], left + Left::depth_offset(step) + Left::outer_offset(2 * m));
    }
    meanwhile();
    if (RowSums && ones) {
      constexpr unsigned kOnes = 0x3c003c00u;
#pragma unroll
      for (int m = 0; m < Tile::kRowTiles; ++m) mma_16816(rows[RowSums ? m : 0], a[m], kOnes, kOnes);
    }
#pragma unroll
    for (int n = 0; n + 1 < Tile::kColumnTiles; n += 2) {
      unsigned b[4];
      Right::fragments(b, right + Right::depth_offset(step) + Right::outer_offset(n));
#pragma unroll
      for (int m = 0; m < Tile::kRowTiles; ++m) {
        mma_16816(product[m][n], a[m], b[0], b[1]);
        mma_16816(product[m][n + 1], a[m], b[2], b[3]);
      }
    }
    if (Tile::kColumnTiles % 2 != 0) {
      constexpr int n = Tile::kColumnTiles - 1;
      unsigned b[2];
      Right::fragments(b, right + Right::depth_offset(step) + Right::outer_offset(n));
#pragma unroll
      for (int m = 0; m < Tile::kRowTiles; ++m) mma_16816(product[m][n], a[m], b[0], b[1]);
    }
  }

  /// Adds a stage, of which `depth` is left. Whole stages have code of their own, without a branch between the steps.
  template <class Left, class Right, class Meanwhile>
  __device__ __forceinline__ void add_stage(const char* left, const char* right, unsigned depth, bool ones,
                                            const Meanwhile& meanwhile) {
    const auto nothing = [] {};
    add_step<Left, Right>(left, right, 0, ones, meanwhile);
    if (depth >= Tile::kDepth) {
#pragma unroll
      for (int step = 1; step < Tile::kDepth / 16; ++step) add_step<Left, Right>(left, right, step, ones, nothing);
    } else {
#pragma unroll 1
      for (int step = 1; step * 16 < static_cast<int>(depth); ++step) {
        add_step<Left, Right>(left, right, step, ones, nothing);
      }
    }
  }
};

/// Bits 15 and 31 are set where a half of the pair is infinite or NaN.
__device__ __forceinline__ unsigned ppgn_bad_halves(unsigned pair) {
  return ((pair & 0x7fff7fffu) + 0x04000400u) & 0x80008000u;
}
/// The pair with zeros where the mask's halves, which are not negative, are zero.
__device__ __forceinline__ unsigned ppgn_masked(unsigned pair, unsigned mask) {
  return pair & (((((mask & 0x7fff7fffu) + 0x7fff7fffu) >> 15) & 0x00010001u) * 0xffffu);
}
/// The same for eight halves.
__device__ __forceinline__ unsigned ppgn_bad_halves(uint4 x) {
  return ppgn_bad_halves(x.x) | ppgn_bad_halves(x.y) | ppgn_bad_halves(x.z) | ppgn_bad_halves(x.w);
}
__device__ __forceinline__ uint4 ppgn_masked(uint4 x, uint4 mask) {
  return uint4{ppgn_masked(x.x, mask.x), ppgn_masked(x.y, mask.y), ppgn_masked(x.z, mask.z), ppgn_masked(x.w, mask.w)};
}

// ---- From sums of a tile in registers to rows in memory: bias, ReLU, factor of the row, rounding, mask; through
// shared memory, so that memory sees whole chunks of 16 bytes.

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
