#pragma once
/// Aggregation over neighbours in shared memory, and how rows lie there: 2·W bytes a row, in 16-byte chunks whose
/// places are permuted by row, so that neither ldmatrix nor a column of chunks meets the same bank twice.
#include "engine/cuda/fused_args.hpp"

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
/// word. A weight of zero: no such neighbour.
struct Neighbours {
  unsigned place[3];
  unsigned weight[3];
};

template <int W>
__device__ __forceinline__ Neighbours find_neighbours(const Args& a, const char* sm, int q, int rows) {
  const auto* inverse = reinterpret_cast<const float*>(sm + a.shared.inverse);
  const auto* offsets = reinterpret_cast<const unsigned short*>(sm + a.shared.offsets);
  const auto* neighbours = reinterpret_cast<const unsigned short*>(sm + a.shared.neighbours);
  const int row = q / (W / 8), chunk = q % (W / 8);
  int first = 0, degree = 0;
  if (row < rows) {
    first = offsets[row];
    degree = offsets[row + 1] - first;
  }
  unsigned place[kNear], weight[kNear];
#pragma unroll
  for (int k = 0; k < kNear; ++k) {
    place[k] = weight[k] = 0;
    if (k < degree) {
      const unsigned u = neighbours[first + k];
      place[k] = chunk_place<W>(u, static_cast<unsigned>(chunk));
      weight[k] = to_half(inverse[u]);
    }
  }
  Neighbours out;
#pragma unroll
  for (int k = 0; k < 3; ++k) {
    out.place[k] = place[2 * k] | place[2 * k + 1] << 16;
    out.weight[k] = weight[2 * k] | weight[2 * k + 1] << 16;
  }
  return out;
}

/// One chunk of one row with at most kNear neighbours, in half precision: forward the mean (or sum) of the neighbours'
/// rows; backward its transpose, every neighbour with its own 1/degree.
template <int W, bool kForward>
__device__ __forceinline__ void gather_chunk(const Args& a, char* sm, unsigned from, unsigned to, int q,
                                             const Neighbours& near) {
  const auto row = static_cast<unsigned>(q) / (W / 8), chunk = static_cast<unsigned>(q) % (W / 8);
  unsigned sum[4] = {0, 0, 0, 0};
  const auto add = [&](int k) {
    const unsigned at = k % 2 == 0 ? near.place[k / 2] & 0xffffu : near.place[k / 2] >> 16;
    const unsigned bits = k % 2 == 0 ? near.weight[k / 2] & 0xffffu : near.weight[k / 2] >> 16;
    const unsigned weight = kForward ? (bits != 0 ? 0x3C003C00u : 0u) : bits | bits << 16;
    const uint4 x = *reinterpret_cast<const uint4*>(sm + from + at);
    sum[0] = hfma2(weight, x.x, sum[0]);
    sum[1] = hfma2(weight, x.y, sum[1]);
    sum[2] = hfma2(weight, x.z, sum[2]);
    sum[3] = hfma2(weight, x.w, sum[3]);
  };
  add(0);
  add(1);
  add(2);
  if (near.weight[1] >> 16 != 0) {
    add(3);
    add(4);
    add(5);
  }
  if (kForward) {
    const float scale = reinterpret_cast<const float*>(sm + a.shared.inverse)[row];
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float2 pair = unpack2(sum[i]);
      sum[i] = pack2(pair.x * scale, pair.y * scale);
    }
  }
  *reinterpret_cast<uint4*>(sm + to + chunk_place<W>(row, chunk)) = make_uint4(sum[0], sum[1], sum[2], sum[3]);
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

/// All rows. A thread's first two chunks have their neighbours in registers for the whole pass.
template <int W, bool kForward>
__device__ __forceinline__ void gather(const Args& a, char* sm, unsigned from, unsigned to, int rows, int padded,
                                       bool wide, const Neighbours (&near)[2]) {
  const int chunks = padded * (W / 8);
  Neighbours here[2];
#pragma unroll
  for (int i = 0; i < 2; ++i) {
#pragma unroll
    for (int k = 0; k < 3; ++k) {
      here[i].place[k] = computed_here(near[i].place[k]);
      here[i].weight[k] = computed_here(near[i].weight[k]);
    }
  }
  int q = static_cast<int>(threadIdx.x);
  if (q < chunks) gather_chunk<W, kForward>(a, sm, from, to, q, here[0]);
  q += kThreads;
  if (q < chunks) gather_chunk<W, kForward>(a, sm, from, to, q, here[1]);
#pragma unroll 1
  for (q += kThreads; q < chunks; q += kThreads) {
    gather_chunk<W, kForward>(a, sm, from, to, q, find_neighbours<W>(a, sm, q, rows));
  }
  if (wide) gather_wide<W, kForward>(a, sm, from, to, rows);
}

}  // namespace tyche::engine::TYCHE_CUDA_NS::fused
