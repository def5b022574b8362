#pragma once
/// Products of n × n matrices, one per channel and graph, with channels innermost in memory. The matrices are there as
/// classes of entries: factors are gathered entry by entry, and of the product the first entry of every class is
/// computed. All first entries are in the first `diagonal` rows: a class's first pair begins with the first node of
/// that node's class, and nodes that are first stand first (see PpgnGraphs).
#include "engine/cuda/ppgn/tile.cuh"

namespace tyche::engine::TYCHE_CUDA_NS {

/// A block makes 32 × 32 entries of one graph.
struct PpgnChannelTile {
  static constexpr int kRows = 32, kColumns = 32, kThreads = 256;
  static constexpr int kStage = (kRows + kColumns) * 512;  ///< 16 steps of depth × 16 channels of a row: 512 bytes
  static constexpr int kStages = 3;                        ///< a graph of up to 48 nodes is loaded at once
  static constexpr int kSpan = 16 * kStages;  ///< steps of depth of which it is known at a time where entries are
  static constexpr int kTable = (kRows + kColumns) * kSpan, kEntries = kRows * kColumns;
  static constexpr int kBytes = kStages * kStage + (kTable + kEntries) * 4;  ///< two blocks per multiprocessor
  [[nodiscard]] static constexpr unsigned tiles(unsigned diagonal, unsigned nodes) {
    return (diagonal + kRows - 1) / kRows * ((nodes + kColumns - 1) / kColumns);
  }
};

/// What a block of a channel product is about.
struct PpgnChannelPlace {
  PpgnGraph graph;
  unsigned row0, column0;

  /// Block number `tile` of a batch: of the last graph that begins at or before it (graphs without tiles are passed). A
  /// warp asks 32 graphs at a time. All lanes must take part.
  __device__ __forceinline__ PpgnChannelPlace(const PpgnGraph* graphs, unsigned count, unsigned tile) {
    unsigned before = 0;
    for (unsigned first = 0; first < count; first += 32) {
      const unsigned own = first + threadIdx.x % 32;
      const unsigned more = popcount(ballot(own < count && graphs[own].first_tile <= tile));
      before += more;
      if (more < 32) break;
    }
    graph = graphs[before - 1];
    const unsigned across = (graph.nodes + PpgnChannelTile::kColumns - 1) / PpgnChannelTile::kColumns;
    row0 = (tile - graph.first_tile) / across * PpgnChannelTile::kRows;
    column0 = (tile - graph.first_tile) % across * PpgnChannelTile::kColumns;
  }
};

/// Where the entries of factors are, for kSpan steps of depth from z0 on: stages × lines × 16 steps into `table`.
__device__ __forceinline__ void ppgn_find_factors(const PpgnChannelPlace& place, const std::uint32_t* pairs,
                                                  bool left_transposed, bool right_transposed, unsigned z0,
                                                  std::uint32_t* table) {
  using Tile = PpgnChannelTile;
  const unsigned n = place.graph.nodes, diagonal = place.graph.diagonal;
  constexpr int kLinesAtOnce = Tile::kThreads / 16, kTimes = Tile::kRows / kLinesAtOnce;
  static_assert(Tile::kRows == Tile::kColumns && kTimes * kLinesAtOnce == Tile::kRows, "");
  const unsigned line = threadIdx.x / 16, z = z0 + threadIdx.x % 16;
  const unsigned left_outer = left_transposed ? 1 : n, left_z = left_transposed ? n : 1;
  const unsigned right_outer = right_transposed ? n : 1, right_z = right_transposed ? 1 : n;
  const std::uint32_t* const left = pairs + (place.row0 + line) * left_outer + z * left_z;
  const std::uint32_t* const right = pairs + (place.column0 + line) * right_outer + z * right_z;
  std::uint32_t found[Tile::kStages][2][kTimes];
#pragma unroll
  for (int s = 0; s < Tile::kStages; ++s) {
#pragma unroll
    for (int i = 0; i < kTimes; ++i) {
      const unsigned more = static_cast<unsigned>(i) * kLinesAtOnce;
      const bool inside = z + 16u * s < n;
      found[s][0][i] = inside && place.row0 + line + more < diagonal ? left[more * left_outer + 16 * s * left_z] : 0;
      found[s][1][i] = inside && place.column0 + line + more < n ? right[more * right_outer + 16 * s * right_z] : 0;
    }
  }
  std::uint32_t* const to = table + threadIdx.x;
#pragma unroll
  for (int s = 0; s < Tile::kStages; ++s) {
#pragma unroll
    for (int side = 0; side < 2; ++side) {
#pragma unroll
      for (int i = 0; i < kTimes; ++i) {
        to[((s * 2 + side) * kTimes + i) * Tile::kThreads] = found[s][side][i] & ~kPpgnFirst;
      }
    }
  }
}

/// A lane's pairs of four channels at two neighbouring steps of depth.
__device__ __forceinline__ void ppgn_four(unsigned (&out)[4], const char* at) {
  const uint2 even = *reinterpret_cast<const uint2*>(at), odd = *reinterpret_cast<const uint2*>(at + 256);
  out[0] = (even.x & 0xffffu) | odd.x << 16;
  out[1] = even.x >> 16 | (odd.x & 0xffff0000u);
  out[2] = (even.y & 0xffffu) | odd.y << 16;
  out[3] = even.y >> 16 | (odd.y & 0xffff0000u);
}

/// 16 steps of depth more of a warp's sums: 16 × 16 entries of 8 channels. `left` and `right` are the lane's entry row
/// and column of the stage; steps 8 · half + 2 (lane % 4) and the next lie at place_of[half].
__device__ __forceinline__ void ppgn_multiply(const char* left, const char* right, const int (&place_of)[2],
                                              float (&sums)[2][8][4]) {
#pragma unroll
  for (int quad = 0; quad < 2; ++quad) {
    __syncwarp();  // keeps the compiler from loading more at once than there are registers for
    unsigned a[4][4];
#pragma unroll
    for (int q = 0; q < 4; ++q) ppgn_four(a[q], left + place_of[q / 2] + q % 2 * 8 * 512 + quad * 8);
#pragma unroll
    for (int j = 0; j < 2; ++j) {
      unsigned b[2][4];
#pragma unroll
      for (int half = 0; half < 2; ++half) ppgn_four(b[half], right + place_of[half] + j * 8 * 512 + quad * 8);
#pragma unroll
      for (int c = 0; c < 4; ++c) {
        const unsigned own[4] = {a[0][c], a[1][c], a[2][c], a[3][c]};
        mma_16816(sums[j][quad * 4 + c], own, b[0][c], b[1][c]);
      }
    }
  }
}

/// Eight channels of a warp's entries to memory: which entries (0: not computed), their classes' scales, and their
/// masks, four at a time. `entries`: the lane's first of 8 rows; rows of `out` and `mask` are `stride` apart. Returns
/// whether one is not finite.
__device__ __forceinline__ bool ppgn_store(const std::uint32_t* entries, const float* scales, const Half* mask_from,
                                           Half* out, unsigned stride, const float (&sums)[2][8][4]) {
  unsigned bad = 0;
#pragma unroll
  for (int j = 0; j < 2; ++j) {
    std::uint32_t entry[4];
    float scale[4];
    uint4 mask[4];
#pragma unroll
    for (int q = 0; q < 4; ++q) entry[q] = entries[q / 2 * 8 * PpgnChannelTile::kColumns + j * 8 + q % 2];
#pragma unroll
    for (int q = 0; q < 4; ++q) {
      const unsigned row = entry[q] & ~kPpgnFirst;
      const bool first = (entry[q] & kPpgnFirst) != 0;
      scale[q] = first && scales != nullptr ? scales[row] : 1;
      if (first && mask_from != nullptr) {
        mask[q] = *reinterpret_cast<const uint4*>(mask_from + static_cast<std::size_t>(row) * stride);
      }
    }
#pragma unroll
    for (int q = 0; q < 4; ++q) {
      if ((entry[q] & kPpgnFirst) == 0) continue;
      uint4 value = {pack2(sums[j][0][q] * scale[q], sums[j][1][q] * scale[q]),
                     pack2(sums[j][2][q] * scale[q], sums[j][3][q] * scale[q]),
                     pack2(sums[j][4][q] * scale[q], sums[j][5][q] * scale[q]),
                     pack2(sums[j][6][q] * scale[q], sums[j][7][q] * scale[q])};
      bad |= ppgn_bad_halves(value);
      if (mask_from != nullptr) value = ppgn_masked(value, mask[q]);
      *reinterpret_cast<uint4*>(out + (entry[q] & ~kPpgnFirst) * static_cast<std::size_t>(stride)) = value;
    }
  }
  return bad != 0;
}

/// Half precision on tensor cores: one block 16 channels, one warp 16 × 16 entries of 8 of them. Eight neighbouring
/// channels are one chunk of 16 bytes; a lane reads halves of two chunks, of neighbouring steps of depth, and has a
/// pair of four channels' fragments. Chunks of an entry row lie by parity of the step, then channels, then half the
/// step, turned by the row's parity, so that no more than two lanes meet in a bank.
///
/// A block is short, and what it does is mostly waiting for memory: so it asks for many things at once, and knows where
/// entries are before it loads them.
static __global__ void __launch_bounds__(PpgnChannelTile::kThreads, 2)
    ppgn_channel_kernel(const PpgnChannelTasks<Half> all) {
  ppgn_begin();
  using Tile = PpgnChannelTile;
  constexpr int kWarps = Tile::kThreads / 32;
  const bool second = blockIdx.x % all.count == 1;
  const unsigned groups = all.channels / kPpgnGroup;
  const unsigned channel0 = blockIdx.x / all.count % groups * kPpgnGroup;
  const PpgnChannelPlace place(all.graphs, all.graph_count, blockIdx.x / all.count / groups);
  const unsigned n = place.graph.nodes, diagonal = place.graph.diagonal;
  const std::size_t base = static_cast<std::size_t>(place.graph.first_row) * all.channels + channel0;
  const std::uint32_t* const pairs = all.pairs + place.graph.first_pair;
  char* const shared = dynamic_shared();
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int warp = shfl(static_cast<int>(threadIdx.x) / 32, 0);

  std::uint32_t* const table = reinterpret_cast<std::uint32_t*>(shared + Tile::kStages * Tile::kStage);
  std::uint32_t* const entries = table + Tile::kTable;
  const auto find = [&](unsigned z0) {
    ppgn_find_factors(place, pairs, second ? all.task[1].left_transposed : all.task[0].left_transposed,
                      second ? all.task[1].right_transposed : all.task[0].right_transposed, z0, table);
  };
  // The entries of the product; 0: not computed.
  {
    constexpr int kEach = Tile::kEntries / Tile::kThreads;
    std::uint32_t found[kEach];
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const unsigned at = static_cast<unsigned>(i) * Tile::kThreads + threadIdx.x;
      const unsigned x = place.row0 + at / Tile::kColumns, y = place.column0 + at % Tile::kColumns;
      found[i] = x < diagonal && y < n ? pairs[x * n + y] : 0;
    }
    find(0);
#pragma unroll
    for (int i = 0; i < kEach; ++i) entries[i * Tile::kThreads + static_cast<int>(threadIdx.x)] = found[i];
  }
  __syncthreads();

  // Loads: a warp takes the 16 steps × 16 channels of one row (or column) of entries.
  const unsigned load_z = (lane & 7) * 2 + (lane >> 4), load_group = lane >> 3 & 1;
  const Half* const left_from = (second ? all.task[1].left : all.task[0].left) + base + load_group * 8;
  const Half* const right_from = (second ? all.task[1].right : all.task[0].right) + base + load_group * 8;
  // A row's chunk has two places, by its parity; a warp uses one of them, since it takes every eighth row.
  char* const load_to =
      shared + warp * 512 + (lane >> 4) * 256 + load_group * 128 + ((lane & 7) ^ ((warp & 1) << 2)) * 16;
  const auto load = [&](int stage, unsigned z0) {
    if (z0 < n) {
      const bool inside = z0 + load_z < n;
      const auto take = [&](char* chunk, const Half* from, const std::uint32_t* rows, unsigned first, unsigned end) {
#pragma unroll
        for (int i = 0; i < Tile::kRows / kWarps; ++i) {
          if (first + static_cast<unsigned>(i * kWarps) < end) {
            if (inside) {
              cp_async16(chunk + i * kWarps * 512,
                         from + static_cast<std::size_t>(rows[i * kWarps * 16]) * all.channels);
            } else {
              *reinterpret_cast<uint4*>(chunk + i * kWarps * 512) = uint4{0, 0, 0, 0};
            }
          }
        }
      };
      const std::uint32_t* const rows =
          table + z0 / 16 % Tile::kStages * (Tile::kTable / Tile::kStages) + warp * 16 + load_z;
      char* const to = load_to + stage * Tile::kStage;
      take(to, left_from, rows, place.row0 + warp, diagonal);
      take(to + Tile::kRows * 512, right_from, rows + Tile::kRows * 16, place.column0 + warp, n);
    }
    cp_async_commit();
  };

  const int warp_row = warp / 4 * 16, warp_column = warp / 2 % 2 * 16, warp_group = warp % 2;
  const bool busy = place.row0 + warp_row < diagonal && place.column0 + warp_column < n;
  float sums[2][8][4] = {};
  const int row_parity = lane >> 2 & 1;
  const char* const own_left = shared + (warp_row + lane / 4) * 512 + warp_group * 128;
  const char* const own_right = shared + (Tile::kRows + warp_column + lane / 4) * 512 + warp_group * 128;
  const int place_of[2] = {(lane % 4 ^ row_parity << 2) * 16, ((lane % 4 + 4) ^ row_parity << 2) * 16};

  load(0, 0);
  load(1, 16);
  int stage = 0, free_stage = Tile::kStages - 1;
  for (unsigned k = 0; k < n; k += 16) {
    cp_async_wait<Tile::kStages - 2>();
    __syncthreads();
    const unsigned ahead = k + 16 * (Tile::kStages - 1);
    if (ahead % Tile::kSpan == 0 && ahead < n) {
      find(ahead);
      __syncthreads();
    }
    load(free_stage, ahead);
    free_stage = free_stage + 1 == Tile::kStages ? 0 : free_stage + 1;
    if (busy) ppgn_multiply(own_left + stage * Tile::kStage, own_right + stage * Tile::kStage, place_of, sums);
    stage = stage + 1 == Tile::kStages ? 0 : stage + 1;
  }

  if (!busy) return;
  const float* const scales = second ? all.task[1].row_scale : all.task[0].row_scale;
  const Half* const mask = second ? all.task[1].mask : all.task[0].mask;
  const std::size_t out0 = base + static_cast<unsigned>(warp_group) * 8;
  const bool bad =
      ppgn_store(entries + (warp_row + lane / 4) * Tile::kColumns + warp_column + lane % 4 * 2,
                 scales == nullptr ? nullptr : scales + place.graph.first_row, mask == nullptr ? nullptr : mask + out0,
                 (second ? all.task[1].out : all.task[0].out) + out0, all.channels, sums);
  if (bad) *all.flag = 1;
}

/// fp32: a lane per channel, a warp 8 × 4 entries at a time.
static __global__ void __launch_bounds__(PpgnChannelTile::kThreads)
    ppgn_channel32_kernel(const PpgnChannelTasks<float> all) {
  ppgn_begin();
  using Tile = PpgnChannelTile;
  const PpgnChannelTask<float> task = blockIdx.x % all.count == 1 ? all.task[1] : all.task[0];
  const unsigned groups = (all.channels + 31) / 32;
  const unsigned channel = blockIdx.x / all.count % groups * 32 + threadIdx.x % 32;
  const PpgnChannelPlace place(all.graphs, all.graph_count, blockIdx.x / all.count / groups);
  if (channel >= all.channels) return;
  const unsigned n = place.graph.nodes;
  const std::size_t base = static_cast<std::size_t>(place.graph.first_row) * all.channels + channel;
  const std::uint32_t* const pairs = all.pairs + place.graph.first_pair;
  const unsigned left_x = task.left_transposed ? 1 : n, left_z = task.left_transposed ? n : 1;
  const unsigned right_y = task.right_transposed ? n : 1, right_z = task.right_transposed ? 1 : n;
  const auto at = [&](std::uint32_t pair) {
    return base + static_cast<std::size_t>(pair & ~kPpgnFirst) * all.channels;
  };
  bool bad = false;
  constexpr int kDown = Tile::kRows / 8, kAcross = Tile::kColumns / 4;
  for (int part = static_cast<int>(threadIdx.x) / 32; part < kDown * kAcross; part += Tile::kThreads / 32) {
    const unsigned x0 = place.row0 + part / kAcross * 8, y0 = place.column0 + part % kAcross * 4;
    if (x0 >= place.graph.diagonal || y0 >= n) continue;
    // Past the last row or column the last one is read again, and dropped.
    const std::uint32_t *x_at[8], *y_at[4];
#pragma unroll
    for (int i = 0; i < 8; ++i) x_at[i] = pairs + (x0 + i < n ? x0 + i : n - 1) * left_x;
#pragma unroll
    for (int j = 0; j < 4; ++j) y_at[j] = pairs + (y0 + j < n ? y0 + j : n - 1) * right_y;
    float sums[8][4] = {};
    for (unsigned z = 0; z < n; ++z) {
      float b[4];
#pragma unroll
      for (int j = 0; j < 4; ++j) b[j] = task.right[at(y_at[j][z * right_z])];
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        const float a = task.left[at(x_at[i][z * left_z])];
#pragma unroll
        for (int j = 0; j < 4; ++j) sums[i][j] += a * b[j];
      }
    }
#pragma unroll
    for (int i = 0; i < 8; ++i) {
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const std::uint32_t entry = x0 + i < n && y0 + j < n ? pairs[(x0 + i) * n + y0 + j] : 0;
        if ((entry & kPpgnFirst) != 0) {
          float value = sums[i][j];
          if (task.row_scale != nullptr) value *= task.row_scale[place.graph.first_row + (entry & ~kPpgnFirst)];
          bad = bad || !finite(value);
          if (task.mask != nullptr && !(task.mask[at(entry)] > 0)) value = 0;
          task.out[at(entry)] = value;
        }
      }
    }
  }
  if (bad) *all.flag = 1;
}

}  // namespace tyche::engine::TYCHE_CUDA_NS
