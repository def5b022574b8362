#pragma once
/// What a layer does in shared memory: the aggregation over neighbours, then the dense products on tensor cores. Rows
/// have 2·W bytes, in 16-byte chunks whose places are permuted by row, so that neither ldmatrix nor a column of chunks
/// meets the same bank twice. Sixteen warps share the rows' tiles of 16 and the columns' groups of 16; every warp keeps
/// the weights of its columns in registers.
#include "engine/cuda/fused/args.cuh"

namespace tyche::engine::TYCHE_CUDA_NS::fused {

/// The same number, of which the compiler knows nothing: what is computed from it stays where it is written, and does
/// not take registers across a whole loop.
template <class T>
__device__ __forceinline__ T computed_here(T value) {
#ifndef TYCHE_CUDA_EMULATED
  asm volatile("" : "+r"(value));
#endif
  return value;
}

template <int W>
__device__ __forceinline__ unsigned swizzle(unsigned row) {
  return W >= 64 ? row & 7 : (row >> 1) & 3;
}
template <int W>
__device__ __forceinline__ unsigned chunk_place(unsigned row, unsigned chunk) {
  return row * (2 * W) + ((chunk ^ swizzle<W>(row)) << 4);
}

/// The first six neighbours of a row, for one chunk of columns: places in a buffer and half-precision 1/degree, two a
/// word. A weight of zero: no such neighbour. And the row's own 1/degree: rounded, and what rounding left.
struct Neighbours {
  unsigned place[3];
  unsigned weight[3];
  unsigned own;
};

template <int W>
__device__ __forceinline__ Neighbours find_neighbours(const Args& a, const char* sm, int q, int rows) {
  const auto* inverse = reinterpret_cast<const float*>(sm + a.shared.inverse);
  const auto* offsets = reinterpret_cast<const unsigned short*>(sm + a.shared.offsets);
  const auto* neighbours = reinterpret_cast<const unsigned short*>(sm + a.shared.neighbours);
  const int row = q / (W / 8), chunk = q % (W / 8);
  int first = 0, degree = 0;
  float scale = 0;
  if (row < rows) {
    first = offsets[row];
    degree = offsets[row + 1] - first;
    scale = inverse[row];
  }
  unsigned place[kNear];
  float weight[kNear];
#pragma unroll
  for (int k = 0; k < kNear; ++k) {
    place[k] = 0;
    weight[k] = 0;
    if (k < degree) {
      const unsigned u = neighbours[first + k];
      place[k] = chunk_place<W>(u, static_cast<unsigned>(chunk));
      weight[k] = inverse[u];
    }
  }
  Neighbours out;
#pragma unroll
  for (int k = 0; k < 3; ++k) {
    out.place[k] = place[2 * k] | place[2 * k + 1] << 16;
    out.weight[k] = pack2(weight[2 * k], weight[2 * k + 1]);
  }
  out.own = pack2(scale, scale - unpack2(pack2(scale, 0)).x);
  return out;
}

/// One chunk of one row with at most kNear neighbours, in half precision: forward the mean (or sum) of the neighbours'
/// rows; backward its transpose, every neighbour with its own 1/degree. `deep`: there may be more than three.
template <bool kForward>
__device__ __forceinline__ void gather_chunk(const char* from, char* to, const Neighbours& near, bool deep) {
  unsigned sum[4] = {0, 0, 0, 0};
  const auto add_two = [&](int k, bool low, bool high) {
    const unsigned weights = kForward ? hpositive2(near.weight[k]) : near.weight[k];
    const auto add = [&](unsigned at, unsigned weight) {
      const uint4 x = *reinterpret_cast<const uint4*>(from + at);
      sum[0] = hfma2(weight, x.x, sum[0]);
      sum[1] = hfma2(weight, x.y, sum[1]);
      sum[2] = hfma2(weight, x.z, sum[2]);
      sum[3] = hfma2(weight, x.w, sum[3]);
    };
    if (low) add(near.place[k] & 0xffffu, both_low(weights));
    if (high) add(near.place[k] >> 16, both_high(weights));
  };
  add_two(0, true, true);
  add_two(1, true, false);
  if (deep) {
    add_two(1, false, true);
    add_two(2, true, true);
  }
  if (kForward) {
    const unsigned scale = both_low(near.own), rest = both_high(near.own);
#pragma unroll
    for (int i = 0; i < 4; ++i) sum[i] = hfma2(sum[i], scale, hmul2(sum[i], rest));
  }
  *reinterpret_cast<uint4*>(to) = make_uint4(sum[0], sum[1], sum[2], sum[3]);
}

/// The rows of more neighbours than that, once more and in fp32. A thread overwrites what it wrote itself.
template <int W, bool kForward>
__device__ __forceinline__ void gather_wide(const Args& a, char* sm, unsigned from, unsigned to, int rows) {
  const auto* inverse = reinterpret_cast<const float*>(sm + a.shared.inverse);
  const auto* offsets = reinterpret_cast<const unsigned short*>(sm + a.shared.offsets);
  const auto* neighbours = reinterpret_cast<const unsigned short*>(sm + a.shared.neighbours);
#pragma unroll 1
  for (int q = static_cast<int>(threadIdx.x); q < rows * (W / 8); q += kThreads) {
    const auto row = static_cast<unsigned>(q) / (W / 8), chunk = static_cast<unsigned>(q) % (W / 8);
    const int first = offsets[row], last = offsets[row + 1];
    if (last - first <= kNear) continue;
    float sum[8] = {0, 0, 0, 0, 0, 0, 0, 0};
#pragma unroll 1
    for (int e = first; e < last; ++e) {
      const unsigned u = neighbours[e];
      const uint4 x = *reinterpret_cast<const uint4*>(sm + from + chunk_place<W>(u, chunk));
      const float weight = kForward ? 1.0f : inverse[u];
      const float2 p = unpack2(x.x), r = unpack2(x.y), s = unpack2(x.z), t = unpack2(x.w);
      sum[0] += weight * p.x, sum[1] += weight * p.y, sum[2] += weight * r.x, sum[3] += weight * r.y;
      sum[4] += weight * s.x, sum[5] += weight * s.y, sum[6] += weight * t.x, sum[7] += weight * t.y;
    }
    const float scale = kForward ? inverse[row] : 1.0f;
    *reinterpret_cast<uint4*>(sm + to + chunk_place<W>(row, chunk)) =
        make_uint4(pack2(sum[0] * scale, sum[1] * scale), pack2(sum[2] * scale, sum[3] * scale),
                   pack2(sum[4] * scale, sum[5] * scale), pack2(sum[6] * scale, sum[7] * scale));
  }
}

/// A thread's share of every aggregation of a pass. Its first two chunks have their neighbours in registers; what holds
/// for the whole warp is known before, so that no branch of an aggregation splits a warp.
struct Share {
  Neighbours near[2];
  unsigned to;         ///< where the first chunk's sum goes; the second's, kThreads chunks further
  bool first, second;  ///< whether there are these chunks
  bool deep[2];        ///< whether a row of theirs has more than three neighbours
  bool rest;           ///< whether there are chunks beyond these, or wide rows
};
template <int W>
__device__ __forceinline__ Share share_of(const Args& a, const char* sm, int rows, int padded, bool wide) {
  const int chunks = padded * (W / 8), tid = static_cast<int>(threadIdx.x);
  const int warp = shfl(tid >> 5, 0);
  Share share;
  share.first = warp * 32 < chunks;
  share.second = warp * 32 + kThreads < chunks;
  share.rest = wide || chunks > 2 * kThreads;
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    share.near[i] = Neighbours{};
    if (i == 0 ? share.first : share.second) share.near[i] = find_neighbours<W>(a, sm, tid + i * kThreads, rows);
    share.deep[i] = ballot(share.near[i].weight[1] >> 16 != 0) != 0;
  }
  share.to = computed_here(static_cast<unsigned>(a.shared.scratch) +
                           chunk_place<W>(static_cast<unsigned>(tid) / (W / 8), static_cast<unsigned>(tid) % (W / 8)));
  return share;
}

/// What a thread's share does not hold.
template <int W, bool kForward>
__device__ __forceinline__ void gather_rest(const Args& a, char* sm, unsigned from, int rows, int padded, bool wide) {
  const auto to = static_cast<unsigned>(a.shared.scratch);
#pragma unroll 1
  for (int q = static_cast<int>(threadIdx.x) + 2 * kThreads; q < padded * (W / 8); q += kThreads) {
    const Neighbours near = find_neighbours<W>(a, sm, q, rows);
    const unsigned at = chunk_place<W>(static_cast<unsigned>(q) / (W / 8), static_cast<unsigned>(q) % (W / 8));
    gather_chunk<kForward>(sm + from, sm + to + at, near, true);
  }
  if (wide) gather_wide<W, kForward>(a, sm, from, to, rows);
}

/// All rows of the buffer at `from`, into the scratch buffer.
template <int W, bool kForward>
__device__ __forceinline__ void gather(const Args& a, char* sm, unsigned from, int rows, int padded, bool wide,
                                       const Share& share) {
  // Else words and masks would be taken apart before the loop over layers, and more registers held.
  Neighbours here[2];
#pragma unroll
  for (int i = 0; i < 2; ++i) {
#pragma unroll
    for (int k = 0; k < 3; ++k) {
      here[i].place[k] = computed_here(share.near[i].place[k]);
      here[i].weight[k] = computed_here(share.near[i].weight[k]);
    }
    here[i].own = computed_here(share.near[i].own);
  }
  char* to = sm + share.to;
  if (share.first) gather_chunk<kForward>(sm + from, to, here[0], share.deep[0]);
  if (share.second) gather_chunk<kForward>(sm + from, to + kThreads * 16, here[1], share.deep[1]);
  if (share.rest) gather_rest<W, kForward>(a, sm, from, rows, padded, wide);
}

// ---- products

__device__ __forceinline__ float elu(float z) { return z > 0.0f ? z : fast_exp(z) - 1.0f; }
/// From the value, not its argument.
__device__ __forceinline__ float elu_slope(float h) { return fminf(h, 0.0f) + 1.0f; }

/// kElu: the activation is known to be ELU when the kernel is compiled.
template <bool kElu>
__device__ __forceinline__ void activate(nn::Activation act, float (&z)[4]) {
  if (kElu || act == nn::Activation::elu) {
#pragma unroll
    for (int i = 0; i < 4; ++i) z[i] = elu(z[i]);
  } else if (act == nn::Activation::tanh) {
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
__device__ __forceinline__ float slope(nn::Activation act, float h) {
  return kElu || act == nn::Activation::elu ? elu_slope(h)
         : act == nn::Activation::tanh      ? 1.0f - h * h
         : h > 0.0f                         ? 1.0f
                                            : 0.0f;
}

/// Two gradients times the activation's slope at a pair of half-precision values.
template <bool kElu>
__device__ __forceinline__ unsigned times_slope(nn::Activation act, float x, float y, unsigned values) {
  if (kElu || act == nn::Activation::elu) {
    const float2 low = unpack2(hmin2(values, 0u));
    return pack2(x * low.x + x, y * low.y + y);
  }
  const float2 h = unpack2(values);
  return pack2(x * slope<kElu>(act, h.x), y * slope<kElu>(act, h.y));
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
inline constexpr int kMatrixWords = W* W / 8;  ///< 16-byte words of a matrix
/// A lane's first word of them, in the matrix that begins at `matrix`.
template <int W>
__device__ __forceinline__ const uint4* lane_weights(const Half* matrix, int group, int lane) {
  return reinterpret_cast<const uint4*>(matrix) + group * (2 * W) + lane;
}
template <int W>
__device__ __forceinline__ void load_weights(Weights<W>& to, const uint4* from) {
#pragma unroll
  for (int n = 0; n < 2; ++n) {
#pragma unroll
    for (int k = 0; k < Team<W>::kWords; ++k) {
      to.b[n][k] = from[(k / (W / 32)) * kMatrixWords<W> + (n * (W / 32) + k % (W / 32)) * 32];
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

/// The lane's place for ldmatrix in the warp's first row tile.
template <int W>
__device__ __forceinline__ unsigned lane_rows(int warp, int lane) {
  return static_cast<unsigned>(warp / Team<W>::kColumnGroups * Team<W>::kTileBytes) +
         static_cast<unsigned>(lane & 15) * (2 * W) +
         ((static_cast<unsigned>(lane >> 4) ^ swizzle<W>(static_cast<unsigned>(lane & 15))) << 4);
}

/// sums = start + [first | second] · weights of a layer for all row tiles of this warp; finish(sums, offset) takes
/// each, with its bytes' distance from the warp's first tile. The weights are in `weights` already where both matrices
/// fit there, else those of the layer are `from`.
template <int W, class Finish>
__device__ __forceinline__ void layer_product(const char* sm, unsigned first, unsigned second, int tiles, unsigned own,
                                              const float2 (&start)[2], Weights<W>& weights, const uint4* from,
                                              int warp, Finish finish) {
  using T = Team<W>;
#pragma unroll 1
  for (int tile = warp / T::kColumnGroups; tile < tiles; tile += 2 * T::kRowGroups) {
    const auto offset = static_cast<unsigned>(tile - warp / T::kColumnGroups) * T::kTileBytes;
    float sums[2][2][4];
    const auto begin = [&](float(&z)[2][4]) {
#pragma unroll
      for (int n = 0; n < 2; ++n) {
        z[n][0] = z[n][2] = start[n].x;
        z[n][1] = z[n][3] = start[n].y;
      }
    };
    begin(sums[0]);
    const unsigned at0 = first + own + offset, at1 = second + own + offset;
    const bool both = tile + T::kRowGroups < tiles;
    if (both) begin(sums[1]);
    if constexpr (T::kMatrices == 2) {
      if (both) {
        multiply<W, 2>(sums, sm, at0, at1, weights);
      } else {
        multiply<W, 1>(sums, sm, at0, at1, weights);
      }
    } else {
#pragma unroll 1
      for (int matrix = 0; matrix < 2; ++matrix) {
        load_weights<W>(weights, from + matrix * kMatrixWords<W>);
        const unsigned at = matrix == 0 ? at0 : at1;
        if (both) {
          multiply<W, 2>(sums, sm, at, at, weights);
        } else {
          multiply<W, 1>(sums, sm, at, at, weights);
        }
      }
    }
    finish(sums[0], offset);
    if (both) finish(sums[1], offset + T::kRowGroups * T::kTileBytes);
  }
}

/// The gradient of a layer's weights, h^T [dz | s], in pieces of 16 (32) rows by 32 columns; pieces of dz also sum the
/// columns of some tiles of 8, the bias' gradient, by a product with ones.
template <int W>
struct Pieces {
  static constexpr int kTall = W > 64 ? 2 : 1;  ///< 16-row tiles of a piece
  static constexpr int kDown = W / 16 / kTall, kAcross = 2 * W / 32, kAll = kDown * kAcross;
  static constexpr int kRounds = (kAll + kWarps - 1) / kWarps, kStep = kWarps / kAcross;  ///< next: kStep further down
  static constexpr int kBias = 4 / kDown;  ///< tiles of 8 columns whose bias a piece sums
};

/// A warp's pieces, and where its lanes find and leave things.
template <int W>
struct Piece {
  int down, matrix;
  unsigned right;     ///< lane's ldmatrix place in a tile of dz or s
  uint4* slot;        ///< of the layer
  float2* bias_slot;  ///< of the layer
  /// The tiles of 8 columns are taken in another order, so that those whose bias is summed come first.
  [[nodiscard]] __device__ __forceinline__ int flip() const { return matrix == 0 ? down * Pieces<W>::kBias : 0; }
};
template <int W>
__device__ __forceinline__ unsigned right_place(int group, int flip, int lane) {
  const unsigned part = static_cast<unsigned>(lane) >> 3, row8 = static_cast<unsigned>(lane) & 7;
  const unsigned chunk = static_cast<unsigned>(group) * 4 + ((part >> 1) ^ static_cast<unsigned>(flip));
  return ((part & 1) * 8 + row8) * (2 * W) + ((chunk ^ swizzle<W>(row8)) << 4);
}
template <int W>
__device__ __forceinline__ unsigned left_place(int down, int lane) {
  const unsigned part = static_cast<unsigned>(lane) >> 3, row8 = static_cast<unsigned>(lane) & 7;
  const unsigned chunk = static_cast<unsigned>(down * Pieces<W>::kTall * 2) + (part & 1);
  return ((part >> 1) * 8 + row8) * (2 * W) + ((chunk ^ swizzle<W>(row8)) << 4);
}
template <int W>
__device__ __forceinline__ Piece<W> piece_of(int warp, int lane, Half* slot, float* bias_slot) {
  using P = Pieces<W>;
  const int across = warp % P::kAcross, group = across % (W / 32);
  Piece<W> piece;
  piece.down = warp / P::kAcross;
  piece.matrix = across / (W / 32);
  piece.right = right_place<W>(group, piece.flip(), lane);
  piece.slot = reinterpret_cast<uint4*>(slot + piece.matrix * (W * W)) +
               (piece.down * (2 * P::kTall) * (W / 32) + group) * 32 + lane;
  piece.bias_slot = reinterpret_cast<float2*>(bias_slot + group * 32 + piece.down * P::kBias * 8) + lane;
  return piece;
}

/// sums += a piece's product over all row tiles (there is one at least); bias += column sums.
template <int W, bool kBiasToo>
__device__ __forceinline__ void sum_piece(float (&sums)[Pieces<W>::kTall][4][4], float (&bias)[Pieces<W>::kBias][4],
                                          const char* sm, unsigned left, unsigned right, int tiles) {
  using P = Pieces<W>;
  constexpr int kTile = Team<W>::kTileBytes;
  const unsigned ones[4] = {0x3C003C00u, 0x3C003C00u, 0x3C003C00u, 0x3C003C00u};
  unsigned l[2][P::kTall][4], r[2][2][4];
  const auto fetch = [&](int z, int ahead) {
#pragma unroll
    for (int m = 0; m < P::kTall; ++m) {
      ldmatrix_x4_trans(l[z][m], sm + ((left ^ (static_cast<unsigned>(m) << 5)) + ahead * kTile));
    }
#pragma unroll
    for (int n = 0; n < 2; ++n) {
      ldmatrix_x4_trans(r[z][n], sm + ((right ^ (static_cast<unsigned>(n) << 5)) + ahead * kTile));
    }
  };
  const auto add = [&](int z) {
#pragma unroll
    for (int m = 0; m < P::kTall; ++m) {
#pragma unroll
      for (int n = 0; n < 4; ++n) mma_16816(sums[m][n], l[z][m], r[z][n / 2][n % 2 * 2], r[z][n / 2][n % 2 * 2 + 1]);
    }
    if constexpr (kBiasToo) {
#pragma unroll
      for (int n = 0; n < P::kBias; ++n) mma_16816(bias[n], ones, r[z][0][n * 2], r[z][0][n * 2 + 1]);
    }
  };
  fetch(0, 0);
#pragma unroll 1
  for (; tiles > 2; tiles -= 2) {
    fetch(1, 1);
    add(0);
    fetch(0, 2);
    add(1);
    left += 2 * kTile;
    right += 2 * kTile;
  }
  const bool two = tiles == 2;
  if (two) fetch(1, 1);
  add(0);
  if (two) add(1);
}

/// All pieces of a layer into the unit's slots.
template <int W>
__device__ __forceinline__ void weight_gradient(const char* sm, unsigned h, unsigned dz, unsigned s, int tiles,
                                                const Piece<W>& first, int warp, int lane) {
  using P = Pieces<W>;
  Piece<W> piece = first;
#pragma unroll 1
  for (int round = 0; round < P::kRounds; ++round) {
    if (P::kAll < kWarps && warp >= P::kAll) break;
    if (round > 0) {
      piece.down += P::kStep;
      piece.right = right_place<W>(warp % P::kAcross % (W / 32), piece.flip(), lane);
      piece.slot += P::kStep * (2 * P::kTall) * W;
      piece.bias_slot += P::kStep * P::kBias * 4;
    }
    const unsigned left = h + left_place<W>(piece.down, lane);
    float sums[P::kTall][4][4] = {}, bias[P::kBias][4] = {};
    if (piece.matrix == 0) {
      sum_piece<W, true>(sums, bias, sm, left, dz + piece.right, tiles);
      if (lane < 4) {
#pragma unroll
        for (int n = 0; n < P::kBias; ++n) store_cg(piece.bias_slot + n * 4, make_float2(bias[n][0], bias[n][1]));
      }
    } else {
      sum_piece<W, false>(sums, bias, sm, left, s + piece.right, tiles);
    }
    unsigned words[2 * P::kTall][4];
#pragma unroll
    for (int b = 0; b < 2 * P::kTall; ++b) {
#pragma unroll
      for (int n = 0; n < 4; ++n) words[b][n] = pack2(sums[b / 2][n][b % 2 * 2], sums[b / 2][n][b % 2 * 2 + 1]);
    }
    if (const int flip = piece.flip(); flip != 0) {
#pragma unroll
      for (int b = 0; b < 2 * P::kTall; ++b) {
        const unsigned(&w)[4] = words[b];
        const bool one = (flip & 1) != 0, two = (flip & 2) != 0;
        const unsigned even[4] = {one ? w[1] : w[0], one ? w[0] : w[1], one ? w[3] : w[2], one ? w[2] : w[3]};
#pragma unroll
        for (int n = 0; n < 4; ++n) words[b][n] = two ? even[n ^ 2] : even[n];
      }
    }
#pragma unroll
    for (int b = 0; b < 2 * P::kTall; ++b) {
      store_cg(piece.slot + b * W, make_uint4(words[b][0], words[b][1], words[b][2], words[b][3]));
    }
  }
}

}  // namespace tyche::engine::TYCHE_CUDA_NS::fused
