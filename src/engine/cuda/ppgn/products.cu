#include <algorithm>

#include "engine/cuda/ppgn/channel.cuh"
#include "engine/cuda/ppgn/products.hpp"
#include "engine/cuda/ppgn/tile.cuh"

namespace tyche::engine::TYCHE_CUDA_NS {

namespace {

// ---- Products of all rows of a batch with weight matrices, in half precision on tensor cores: what PPGN's time goes
// into. Results do not depend on the tile: every sum runs over depth in steps of 16 in one order.

/// Shared memory of ppgn_rows_kernel: the stages, or the results on their way out.
template <class Tile, bool RightByDepth>
struct PpgnRowsShared : PpgnStages<PpgnOperand, Tile, false, RightByDepth> {
  using Stages = PpgnStages<PpgnOperand, Tile, false, RightByDepth>;
  using Out = PpgnEpilogue<Tile::kRows, Tile::kColumns, Tile::kThreads>;
  static constexpr int kBytes = Stages::kBytes > Out::kBytes ? Stages::kBytes : Out::kBytes;
};

/// One block per tile of one product. RightByDepth: a term's right is depth × columns (else columns × depth).
template <class Tile, bool RightByDepth>
__global__ void __launch_bounds__(Tile::kThreads, Tile::kBlocksPerProcessor)
    ppgn_rows_kernel(const PpgnProducts<Half> all) {
  ppgn_begin();
  using Shared = PpgnRowsShared<Tile, RightByDepth>;
  using Left = typename Shared::Left;
  using Right = typename Shared::Right;
  const PpgnRowsPlace<Tile, Half> place{all};
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

/// Gradients of weights.
template <class Tile>
__global__ void __launch_bounds__(Tile::kThreads, Tile::kBlocksPerProcessor)
    ppgn_weight_kernel(const PpgnWeightTasks<Half> all) {
  ppgn_begin();
  using Shared = PpgnStages<PpgnOperand, Tile, true, true>;
  using Left = typename Shared::Left;
  using Right = typename Shared::Right;
  const PpgnWeightPlace<Tile, Half> place{all};
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

// ---- The same in fp32, on the ordinary arithmetic units: tiles of 128 × 64, a thread 8 × 4 of it, depth in stages of
// 16 that are loaded while the one before is worked through.

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
  const PpgnRowsPlace<Tile, float> place{all};
  const unsigned columns = all.product[0].columns, row0 = place.row0, column0 = place.column0;
  const PpgnProduct<float>& product = all.product[place.product];
  float* const left = reinterpret_cast<float*>(dynamic_shared());
  float* const right = left + Tile::kDepth * Tile::kLeftPitch;
  float sums[8][4] = {};
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
__global__ void __launch_bounds__(PpgnTile32::kThreads) ppgn_weight32_kernel(const PpgnWeightTasks<float> all) {
  ppgn_begin();
  using Tile = PpgnTile32;
  const PpgnWeightPlace<Tile, float> place{all};
  const PpgnWeightTask<float> task = place.task;
  const unsigned row0 = place.row0, column0 = place.column0, begin = place.begin, end = place.end;
  const bool ones = task.bias >= 0 && column0 == 0 && threadIdx.x % 16 == 0;
  float* const left = reinterpret_cast<float*>(dynamic_shared());
  float* const right = left + Tile::kDepth * Tile::kLeftPitch;
  float sums[8][4] = {}, row_sums[8] = {};
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

// ---- Which tile a product takes.

// The paper's width of 400 is 25 times 16 and not a multiple of much: two tiles of 208 columns waste 4 %.
using Tall = PpgnTile<3, 13, 4, 2, 64, 3, 1>;    // 192 × 208
using Wide = PpgnTile<3, 13, 2, 2, 32, 4, 2>;    // 96 × 208
using Square = PpgnTile<4, 8, 2, 2, 32, 4, 2>;   // 128 × 128
using Small = PpgnTile<1, 4, 4, 1, 32, 3, 4>;    // 64 × 32
using Weights = PpgnTile<5, 7, 1, 4, 32, 4, 2>;  // 80 × 224: 400 is 5 times 80

template <class Tile>
constexpr PpgnRowsTile<Half> rows_tile(double cost) {
  return {ppgn_tiled<Tile>(ppgn_rows_kernel<Tile, false>, PpgnRowsShared<Tile, false>::kBytes, cost),
          ppgn_tiled<Tile>(ppgn_rows_kernel<Tile, true>, PpgnRowsShared<Tile, true>::kBytes, cost)};
}
template <class Tile>
constexpr PpgnTiled<PpgnWeightTasks<Half>> weight_tile(double cost) {
  return ppgn_tiled<Tile>(ppgn_weight_kernel<Tile>, PpgnStages<PpgnOperand, Tile, true, true>::kBytes, cost);
}
constexpr PpgnRowsTile<Half> kRows[kPpgnRowsTiles] = {rows_tile<Tall>(1), rows_tile<Wide>(1.08),
                                                      rows_tile<Square>(1.05), rows_tile<Small>(2)};
constexpr PpgnRowsTile<float> kRows32 = {ppgn_tiled<PpgnTile32>(ppgn_rows32_kernel<false>, PpgnTile32::kBytes),
                                         ppgn_tiled<PpgnTile32>(ppgn_rows32_kernel<true>, PpgnTile32::kBytes)};
constexpr PpgnTiled<PpgnWeightTasks<Half>> kWeights[kPpgnWeightTiles] = {weight_tile<Weights>(1),
                                                                         weight_tile<Square>(1), weight_tile<Small>(2)};
constexpr PpgnTiled<PpgnWeightTasks<float>> kWeights32 =
    ppgn_tiled<PpgnTile32>(ppgn_weight32_kernel, PpgnTile32::kBytes);

// The first of the tiles that cost least.
template <class Cost>
int best_of(int tiles, const Cost& cost) {
  int best = 0;
  for (int t = 1; t < tiles; ++t) best = cost(t) < cost(best) ? t : best;
  return best;
}

template <class Arguments>
std::size_t tiles_of(const PpgnTiled<Arguments>& tile, std::size_t rows, std::size_t columns) {
  return up(rows, tile.rows) * up(columns, tile.columns);
}

// The tile of wgmma's that pads `columns` least.
int best_wgmma_tile(unsigned columns) {
  return best_of(kPpgnWgmmaTiles, [&](int t) {
    const std::size_t wide = kPpgnWgmmaWeights[t].columns;
    return up(columns, wide) * wide;
  });
}

// By the time that a product's tiles take, in entries per multiprocessor.
int best_rows_tile(const PpgnProducts<Half>& products) {
  const std::size_t processors = static_cast<std::size_t>(multiprocessors());
  return best_of(kPpgnRowsTiles, [&](int t) {
    const auto& tile = kRows[t][0];
    const std::size_t tiles = tiles_of(tile, products.rows, products.product[0].columns) * products.count;
    const std::size_t rounds = up(tiles, processors * tile.blocks_per_processor);
    return static_cast<double>(rounds * tile.blocks_per_processor) * tile.rows * tile.columns * tile.cost;
  });
}

const PpgnTiled<PpgnWeightTasks<Half>>& tile_for(const std::vector<PpgnWeightTask<Half>>& tasks, int tile) {
  if (tile >= kPpgnWeightTiles) return kPpgnWgmmaWeights[tile - kPpgnWeightTiles];
  if (tile >= 0) return kWeights[tile];
  if (has_wgmma()) {  // the tile that suits the widest gradient: the others are few
    unsigned columns = 16;
    for (const auto& task : tasks) columns = std::max(columns, task.columns);
    return kPpgnWgmmaWeights[best_wgmma_tile(columns)];
  }
  return kWeights[best_of(kPpgnWeightTiles, [&](int t) {
    const auto& own = kWeights[t];
    double time = 0;
    for (const auto& task : tasks) {
      time += static_cast<double>(tiles_of(own, task.rows, task.columns)) * own.rows * own.columns * own.cost;
    }
    return time;
  })];
}
const PpgnTiled<PpgnWeightTasks<float>>& tile_for(const std::vector<PpgnWeightTask<float>>&, int) { return kWeights32; }

template <class T>
void queue_tiles(const PpgnRowsTile<T>& tile, const PpgnProducts<T>& products, RightOperand right,
                 const PpgnQueue& queue) {
  const auto& own = tile[static_cast<std::size_t>(right)];
  const std::size_t tiles = tiles_of(own, products.rows, products.product[0].columns);
  queue.run(own.kernel, tiles * products.count, own.threads, own.shared, products);
}

}  // namespace

void queue_rows(const PpgnProducts<Half>& products, RightOperand right, const PpgnQueue& queue, int tile) {
  if (tile < 0) {
    tile = has_wgmma() ? kPpgnRowsTiles + best_wgmma_tile(products.product[0].columns) : best_rows_tile(products);
  }
  queue_tiles(tile < kPpgnRowsTiles ? kRows[tile] : kPpgnWgmmaRows[tile - kPpgnRowsTiles], products, right, queue);
}
void queue_rows(const PpgnProducts<float>& products, RightOperand right, const PpgnQueue& queue, int) {
  queue_tiles(kRows32, products, right, queue);
}

unsigned channel_tiles(const PpgnGraph& graph) { return PpgnChannelTile::tiles(graph.diagonal, graph.nodes); }

void queue_channels(const PpgnChannelTasks<Half>& tasks, unsigned tiles, const PpgnQueue& queue) {
  queue.run(ppgn_channel_kernel, std::size_t{tiles} * (tasks.channels / kPpgnGroup) * tasks.count,
            PpgnChannelTile::kThreads, PpgnChannelTile::kBytes, tasks);
}

void queue_channels(const PpgnChannelTasks<float>& tasks, unsigned tiles, const PpgnQueue& queue) {
  queue.run(ppgn_channel32_kernel, std::size_t{tiles} * up(tasks.channels, 32) * tasks.count, PpgnChannelTile::kThreads,
            0, tasks);
}

template <class T>
PpgnWeightPlan<T>::PpgnWeightPlan(std::vector<PpgnWeightTask<T>> tasks, Stream& stream, int tile)
    : tiled_(&tile_for(tasks, tile)) {
  unsigned count = 0;
  for (auto& task : tasks) {
    first_tiles_.push_back(count);
    task.first_tile = count;
    task.tiles_in_columns = static_cast<unsigned>(up(task.columns, tiled_->columns));
    count += static_cast<unsigned>(tiles_of(*tiled_, task.rows, task.columns));
  }
  first_tiles_.push_back(count);
  tasks_ = DeviceArray<PpgnWeightTask<T>>::from(tasks, "list of PPGN's weights", stream);
  stream.sync();
}

template <class T>
unsigned PpgnWeightPlan<T>::rows_per_slot(unsigned rows) const {
  constexpr unsigned kWantedTiles = 264, kLeastRows = 64;
  const std::size_t wanted = std::min(up(kWantedTiles, std::max(first_tiles_.back(), 1u)), up(rows, kLeastRows));
  return static_cast<unsigned>(up(up(rows, std::max<std::size_t>(wanted, 1)), 32) * 32);
}

template <class T>
unsigned PpgnWeightPlan<T>::slots(unsigned rows) const {
  return rows == 0 ? 1 : static_cast<unsigned>(up(rows, rows_per_slot(rows)));
}

template <class T>
void PpgnWeightPlan<T>::queue(std::size_t first, std::size_t last, unsigned rows, float* out, std::size_t slot_size,
                              const PpgnQueue& on) {
  const unsigned from = first_tiles_[first], tiles = first_tiles_[last] - from;
  const PpgnWeightTasks<T> all{tasks_.data(), static_cast<unsigned>(tasks_.size()), from, tiles,    slots(rows),
                               rows,          std::max(rows_per_slot(rows), 32u),   out,  slot_size};
  on.run(tiled_->kernel, std::size_t{all.tiles} * all.slots, tiled_->threads, tiled_->shared, all);
}

template class PpgnWeightPlan<Half>;
template class PpgnWeightPlan<float>;

}  // namespace tyche::engine::TYCHE_CUDA_NS
