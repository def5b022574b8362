#pragma once
/// Aggregation over neighbours in shared memory, and how rows lie there: 2·W bytes per row, in 16-byte chunks whose
/// places are permuted by row, so that neither ldmatrix nor a column of chunks meets the same bank twice.
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

}  // namespace tyche::engine::TYCHE_CUDA_NS::fused
