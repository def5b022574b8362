#pragma once
/// Aggregation over neighbours in shared memory, and how rows lie there: 2·W bytes a row, in 16-byte chunks whose
/// places are permuted by row, so that neither ldmatrix nor a column of chunks meets the same bank twice.
#include "engine/cuda/fused_args.hpp"

namespace tyche::engine::TYCHE_CUDA_NS::fused {

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
inline constexpr int kNear = 6;

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

__device__ __forceinline__ void add_scaled(float (&sum)[8], float weight, uint4 x) {
  const float2 a = unpack2(x.x), b = unpack2(x.y), c = unpack2(x.z), d = unpack2(x.w);
  sum[0] += weight * a.x, sum[1] += weight * a.y, sum[2] += weight * b.x, sum[3] += weight * b.y;
  sum[4] += weight * c.x, sum[5] += weight * c.y, sum[6] += weight * d.x, sum[7] += weight * d.y;
}

/// One chunk of one row: forward the mean (or sum) of the neighbours' rows; backward its transpose, every neighbour
/// with its own 1/degree. Six neighbours in half precision; what comes after them in fp32.
template <int W, bool kForward>
__device__ __forceinline__ void gather_chunk(const Args& a, char* sm, unsigned from, unsigned to, int q,
                                             const Neighbours& near) {
  const int row = q / (W / 8), chunk = q % (W / 8);
  const auto* inverse = reinterpret_cast<const float*>(sm + a.shared.inverse);
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
  uint4 out;
  bool wide = false;
  float total[8];
  if (near.weight[1] >> 16 != 0) {
    add(3);
    add(4);
    add(5);
    if (near.weight[2] >> 16 != 0) {
      const auto* offsets = reinterpret_cast<const unsigned short*>(sm + a.shared.offsets);
      const auto* neighbours = reinterpret_cast<const unsigned short*>(sm + a.shared.neighbours);
      const int last = offsets[row + 1];
      int e = offsets[row] + kNear;
      if (e < last) {
        wide = true;
#pragma unroll
        for (int i = 0; i < 8; ++i) total[i] = 0;
        add_scaled(total, 1.0f, make_uint4(sum[0], sum[1], sum[2], sum[3]));
#pragma unroll 1
        for (; e < last; ++e) {
          const unsigned u = neighbours[e];
          add_scaled(total, kForward ? 1.0f : inverse[u],
                     *reinterpret_cast<const uint4*>(sm + from + chunk_place<W>(u, static_cast<unsigned>(chunk))));
        }
      }
    }
  }
  if (kForward || wide) {
    if (!wide) {
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float2 pair = unpack2(sum[i]);
        total[2 * i] = pair.x, total[2 * i + 1] = pair.y;
      }
    }
    const float scale = kForward ? inverse[row] : 1.0f;
    out = make_uint4(pack2(total[0] * scale, total[1] * scale), pack2(total[2] * scale, total[3] * scale),
                     pack2(total[4] * scale, total[5] * scale), pack2(total[6] * scale, total[7] * scale));
  } else {
    out = make_uint4(sum[0], sum[1], sum[2], sum[3]);
  }
  *reinterpret_cast<uint4*>(sm + to + chunk_place<W>(static_cast<unsigned>(row), static_cast<unsigned>(chunk))) = out;
}

/// All rows. A thread's first two chunks have their neighbours in registers for the whole pass.
template <int W, bool kForward>
__device__ __forceinline__ void gather(const Args& a, char* sm, unsigned from, unsigned to, int rows, int padded,
                                       const Neighbours (&near)[2]) {
  const int chunks = padded * (W / 8);
  int q = static_cast<int>(threadIdx.x);
  if (q < chunks) gather_chunk<W, kForward>(a, sm, from, to, q, near[0]);
  q += kThreads;
  if (q < chunks) gather_chunk<W, kForward>(a, sm, from, to, q, near[1]);
#pragma unroll 1
  for (q += kThreads; q < chunks; q += kThreads) {
    gather_chunk<W, kForward>(a, sm, from, to, q, find_neighbours<W>(a, sm, q, rows));
  }
}

}  // namespace tyche::engine::TYCHE_CUDA_NS::fused
