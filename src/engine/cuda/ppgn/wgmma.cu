/// The products of products.cu by Hopper's wgmma: tiles 64, 128 or 200 columns wide (the paper's width of
/// 400 is twice 200), a warpgroup for each 64 rows, both operands in shared memory, swizzled as runtime/wgmma.cuh says.
/// Those of 128 rows are small enough for two blocks per multiprocessor: while one waits for its first stage or hands
/// out its results, the other multiplies. What a tile's sums are depends on the width alone (it chooses the tile),
/// never on the number of rows.
#include "engine/cuda/ppgn/products.hpp"
#include "engine/cuda/ppgn/tile.cuh"
#include "engine/cuda/runtime/wgmma.cuh"

// The instructions exist in code made for sm_90a alone; other code never runs these kernels (has_wgmma()).
#if defined(TYCHE_CUDA_EMULATED) || defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define TYCHE_WGMMA 1
#endif

namespace tyche::engine::TYCHE_CUDA_NS {

/// Products of one stage are still running when the next one's are issued, so that a buffer is free only two stages
/// later.
template <int Rows, int Columns, int Stages>
struct PpgnWgmmaTile {
  static constexpr int kRows = Rows, kColumns = Columns, kDepth = 32, kStages = Stages, kThreads = Rows * 2;
  static constexpr int kBlocksPerProcessor = Rows > 128 ? 1 : 2;
  static constexpr int kFlying = 1;                    ///< stages whose products may be unfinished
  static constexpr int kAhead = Stages - 1 - kFlying;  ///< stages that are being loaded
};

/// One operand's part of a stage: `Extent` rows or columns of the output by `Depth`; ByDepth as in PpgnOperand (in
/// wgmma's words: MN-major).
template <int Extent, int Depth, bool ByDepth, int Threads>
struct PpgnWgmmaOperand {
  static_assert(Depth == 32, "a row of 64 bytes is the swizzle's");
  static constexpr int kAtom = 1024;                 ///< by depth: 64 of the extent × 8 of depth
  static constexpr int kColumn = Depth / 8 * kAtom;  ///< by depth: 64 of the extent × the whole stage
  static constexpr int kPitch = Depth * 2;           ///< else: bytes of a row
  static constexpr int kBytes = ByDepth ? (Extent + 63) / 64 * kColumn : (Extent * kPitch + 1023) / 1024 * 1024;
  static constexpr std::uint64_t kStrides = ByDepth ? wgmma_strides(kColumn, kAtom, WgmmaSwizzle::bytes128)
                                                    : wgmma_strides(16, 8 * kPitch, WgmmaSwizzle::bytes64);

  static __device__ __forceinline__ std::uint64_t descriptor(const char* shared) {
    return wgmma_start(shared) | kStrides;
  }
  /// What a descriptor grows by from one 16 of depth to the next.
  static constexpr std::uint64_t kStep = (ByDepth ? 2 * kAtom : 32) >> 4;
  /// Where row or column `outer`, a multiple of 64, begins.
  static __device__ constexpr int outer_offset(int outer) { return ByDepth ? outer / 64 * kColumn : outer * kPitch; }

  /// Queues loads; arguments as PpgnOperand::load's.
  template <bool Fill>
  static __device__ __forceinline__ void load(char* shared, const Half* from, unsigned stride, unsigned outer,
                                              unsigned outer_end, unsigned k, unsigned depth) {
    using Lines = PpgnLines<Extent, Depth, ByDepth, Threads>;
    static_assert(Lines::kLinesAtOnce % 8 == 0, "the swizzle is the same for all of a thread's lines");
    Lines::template load<Fill, ByDepth ? 128 : kPitch>(
        from, stride, outer, outer_end, k, depth, [&](int line, int chunk) {
          if (ByDepth) return shared + chunk / 8 * kColumn + line * 128 + ((chunk ^ line) % 8) * 16;
          return shared + line * kPitch + (chunk ^ line / 2 % 4) * 16;
        });
  }
};

/// Adds a stage of which `depth` is left (none, for a warpgroup that has no rows), as one group of products or, at the
/// end, several: to wait for all groups but one is to wait for all stages before at least.
template <class Tile, class Left, class Right, bool LeftByDepth, bool RightByDepth>
__device__ __forceinline__ void ppgn_wgmma_stage(Wgmma<Tile::kColumns>& sums, const char* left, const char* right,
                                                 unsigned depth) {
  const std::uint64_t a = Left::descriptor(left), b = Right::descriptor(right);
  // Each way is complete, fence to commit: where a branch comes between, ptxas puts in more fences.
  if (depth >= static_cast<unsigned>(Tile::kDepth)) {
    sums.fence();
#pragma unroll
    for (unsigned step = 0; step < Tile::kDepth / 16; ++step) {
      sums.template issue<LeftByDepth, RightByDepth>(a + step * Left::kStep, b + step * Right::kStep);
    }
    sums.commit();
  } else {
#pragma unroll 1
    for (unsigned step = 0; step * 16 < depth; ++step) {
      sums.fence();
      sums.template issue<LeftByDepth, RightByDepth>(a + step * Left::kStep, b + step * Right::kStep);
      sums.commit();
    }
  }
}

/// Shared memory of ppgn_wgmma_rows_kernel: the stages, or the results on their way out.
template <class Tile, bool RightByDepth>
struct PpgnWgmmaRowsShared : PpgnStages<PpgnWgmmaOperand, Tile, false, RightByDepth> {
  using Stages = PpgnStages<PpgnWgmmaOperand, Tile, false, RightByDepth>;
  using Out = PpgnEpilogue<Tile::kRows, Tile::kColumns, Tile::kThreads>;
  static constexpr int kBias = Stages::kBytes > Out::kBytes ? Stages::kBytes : Out::kBytes;
  static constexpr int kBytes = kBias + Tile::kColumns * 4;
};

/// Like ppgn_rows_kernel.
template <class Tile, bool RightByDepth>
__global__ void __launch_bounds__(Tile::kThreads, Tile::kBlocksPerProcessor)
    ppgn_wgmma_rows_kernel(const PpgnProducts<Half> all) {
#ifdef TYCHE_WGMMA
  ppgn_begin();
  using Shared = PpgnWgmmaRowsShared<Tile, RightByDepth>;
  using Left = typename Shared::Left;
  using Right = typename Shared::Right;
  const PpgnRowsPlace<Tile, Half> place{all};
  const unsigned columns = all.product[0].columns, row0 = place.row0, column0 = place.column0;
  const PpgnProduct<Half>& product = all.product[place.product];
  char* const shared = dynamic_shared();
  const int group = shfl(static_cast<int>(threadIdx.x) / 128, 0);
  const bool idle = row0 + static_cast<unsigned>(group) * 64 >= all.rows;

  Wgmma<Tile::kColumns> sums;
  unsigned load_term = 0, load_k = 0;
  int load_stage = 0;
  const auto load = [&] {
    if (load_term < product.count) {
      const PpgnTerm<Half>& term = product.terms[load_term];
      char* const to = shared + load_stage * Shared::kStage;
      Left::template load<false>(to, term.left, term.left_stride, row0, all.rows, load_k, term.depth);
      Right::template load<false>(to + Left::kBytes, term.right, term.right_stride, column0, columns, load_k,
                                  term.depth);
      load_stage = load_stage + 1 == Tile::kStages ? 0 : load_stage + 1;
      load_k += Tile::kDepth;
      if (load_k >= term.depth) {
        load_k = 0;
        ++load_term;
      }
    }
    cp_async_commit();
  };
#pragma unroll
  for (int s = 0; s < Tile::kAhead; ++s) load();
  // What the results need is asked for while the first stages are on their way.
  using Out = typename Shared::Out;
  Out::fetch_mask(product, row0, all.rows, column0);
  float* const bias = reinterpret_cast<float*>(shared + Shared::kBias);
  if (threadIdx.x < Tile::kColumns / 2) {
    *reinterpret_cast<float2*>(bias + threadIdx.x * 2) = ppgn_bias(product, column0 + threadIdx.x * 2);
  }
  int stage = 0;
  for (unsigned t = 0; t < product.count; ++t) {
    const unsigned depth = product.terms[t].depth;
    for (unsigned k = 0; k < depth; k += Tile::kDepth) {
      cp_async_wait<Tile::kAhead - 1>();
      fence_async_proxy();
      // All have also finished the stage whose buffer is loaded next.
      __syncthreads();
      const char* const at = shared + stage * Shared::kStage;
      ppgn_wgmma_stage<Tile, Left, Right, false, RightByDepth>(sums, at + Left::outer_offset(64) * group,
                                                               at + Left::kBytes, idle ? 0 : depth - k);
      load();
      sums.template wait<Tile::kFlying>();
      stage = stage + 1 == Tile::kStages ? 0 : stage + 1;
    }
  }
  sums.template wait<0>();
  __syncthreads();

  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int row = static_cast<int>(threadIdx.x) / 32 * 16 + lane / 4;
  const float2 scale = float2{ppgn_row_scale(product, row0 + static_cast<unsigned>(row), all.rows),
                              ppgn_row_scale(product, row0 + static_cast<unsigned>(row) + 8, all.rows)};
#pragma unroll
  for (int n = 0; n < Tile::kColumns / 8; ++n) {
    const int column = n * 8 + lane % 4 * 2;
    const float2 both = *reinterpret_cast<const float2*>(bias + column);
    Out::stage(shared, product, row, column, sums.value[4 * n], sums.value[4 * n + 1], both, scale.x);
    Out::stage(shared, product, row + 8, column, sums.value[4 * n + 2], sums.value[4 * n + 3], both, scale.y);
  }
  __syncthreads();
  Out::store(shared, product, row0, all.rows, column0, all.flag);
#endif
}

/// Like ppgn_weight_kernel. The gradient of the bias is summed by the threads beside the products: a thread two
/// columns of the left operand and a quarter of each stage's rows.
template <class Tile>
__global__ void __launch_bounds__(Tile::kThreads, Tile::kBlocksPerProcessor)
    ppgn_wgmma_weight_kernel(const PpgnWeightTasks<Half> all) {
#ifdef TYCHE_WGMMA
  ppgn_begin();
  using Shared = PpgnStages<PpgnWgmmaOperand, Tile, true, true>;
  using Left = typename Shared::Left;
  using Right = typename Shared::Right;
  const PpgnWeightPlace<Tile, Half> place{all};
  const PpgnWeightTask<Half>& task = place.task;
  const unsigned row0 = place.row0, column0 = place.column0, begin = place.begin, end = place.end;
  char* const shared = dynamic_shared();
  const int thread = static_cast<int>(threadIdx.x);
  const int group = shfl(thread / 128, 0);
  const bool idle = row0 + static_cast<unsigned>(group) * 64 >= task.rows;

  const bool ones = task.bias >= 0 && column0 == 0;
  constexpr int kQuarter = Tile::kDepth / 4, kPairs = Tile::kRows / 2;
  const int quarter = thread / kPairs * kQuarter, pair = thread % kPairs;
  const char* const ones_at = shared + pair / 32 * Left::kColumn + quarter * 128 + pair % 4 * 4;
  float2 row_sums = float2{0, 0};

  Wgmma<Tile::kColumns> sums;
  const Half *left = task.left, *right = task.right;
  const unsigned left_stride = task.left_stride, right_stride = task.right_stride;
  const unsigned task_rows = task.rows, task_columns = task.columns;
  unsigned load_k = begin;
  int load_stage = 0;
  const auto load = [&] {
    if (load_k < end) {
      char* const to = shared + load_stage * Shared::kStage;
      Left::template load<true>(to, left, left_stride, row0, task_rows, load_k, end);
      Right::template load<true>(to + Left::kBytes, right, right_stride, column0, task_columns, load_k, end);
      load_stage = load_stage + 1 == Tile::kStages ? 0 : load_stage + 1;
      load_k += Tile::kDepth;
    }
    cp_async_commit();
  };
#pragma unroll
  for (int s = 0; s < Tile::kAhead; ++s) load();
  int stage = 0;
  for (unsigned k = begin; k < end; k += Tile::kDepth) {
    cp_async_wait<Tile::kAhead - 1>();
    fence_async_proxy();
    __syncthreads();
    const char* const at = shared + stage * Shared::kStage;
    ppgn_wgmma_stage<Tile, Left, Right, true, true>(sums, at + Left::outer_offset(64) * group, at + Left::kBytes,
                                                    idle ? 0 : end - k);
    load();
    if (ones) {  // rows past the end are zeros
#pragma unroll
      for (int z = 0; z < kQuarter; ++z) {
        const unsigned both = *reinterpret_cast<const unsigned*>(ones_at + stage * Shared::kStage + z * 128 +
                                                                 ((pair % 32 / 4) ^ (z % 8)) * 16);
        const float2 value = unpack2(both);
        row_sums.x += value.x;
        row_sums.y += value.y;
      }
    }
    sums.template wait<Tile::kFlying>();
    stage = stage + 1 == Tile::kStages ? 0 : stage + 1;
  }
  sums.template wait<0>();

  float* const out = place.out;
  const int lane = thread % 32;
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    const unsigned row = row0 + static_cast<unsigned>(thread / 32 * 16 + h * 8 + lane / 4);
    if (row >= task_rows) continue;
    float* const line = out + task.weight + static_cast<std::size_t>(row) * task.stride;
#pragma unroll
    for (int n = 0; n < Tile::kColumns / 8; ++n) {
      const unsigned column = column0 + static_cast<unsigned>(n * 8 + lane % 4 * 2);
      if (column < task_columns) {
        *reinterpret_cast<float2*>(line + column) = float2{sums.value[4 * n + 2 * h], sums.value[4 * n + 2 * h + 1]};
      }
    }
  }
  if (!ones) return;
  __syncthreads();
  float* const parts = reinterpret_cast<float*>(shared);
  *reinterpret_cast<float2*>(parts + thread / kPairs * Tile::kRows + pair * 2) = row_sums;
  __syncthreads();
  if (thread < Tile::kRows && row0 + static_cast<unsigned>(thread) < task_rows) {
    float sum = 0;
#pragma unroll
    for (int q = 0; q < 4; ++q) sum += parts[q * Tile::kRows + thread];
    out[task.bias + row0 + static_cast<unsigned>(thread)] = sum;
  }
#endif
}

namespace {

template <class Tile>
constexpr PpgnRowsTile<Half> rows_tile() {
  return {ppgn_tiled<Tile>(ppgn_wgmma_rows_kernel<Tile, false>, PpgnWgmmaRowsShared<Tile, false>::kBytes),
          ppgn_tiled<Tile>(ppgn_wgmma_rows_kernel<Tile, true>, PpgnWgmmaRowsShared<Tile, true>::kBytes)};
}
template <class Tile>
constexpr PpgnTiled<PpgnWeightTasks<Half>> weight_tile() {
  return ppgn_tiled<Tile>(ppgn_wgmma_weight_kernel<Tile>, PpgnStages<PpgnWgmmaOperand, Tile, true, true>::kBytes);
}

using Square = PpgnWgmmaTile<128, 128, 4>;
using Narrow = PpgnWgmmaTile<128, 64, 4>;

}  // namespace

bool has_wgmma() {
  static const bool answer = compute_capability() == 90;
  return answer;
}

// Of gradients of weights a launch has hundreds that each take long: there, tiles of twice the rows were faster, alone
// on a multiprocessor; of products of rows, two small ones side by side.
const PpgnRowsTile<Half> kPpgnWgmmaRows[] = {rows_tile<PpgnWgmmaTile<128, 200, 4>>(), rows_tile<Square>(),
                                             rows_tile<Narrow>()};
const PpgnTiled<PpgnWeightTasks<Half>> kPpgnWgmmaWeights[] = {weight_tile<PpgnWgmmaTile<256, 200, 6>>(),
                                                              weight_tile<Square>(), weight_tile<Narrow>()};

}  // namespace tyche::engine::TYCHE_CUDA_NS
