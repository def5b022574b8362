#pragma once
/// An aggregate over neighbours or arcs, as kernels: (1 + ε) h_v + Σ messages, their mean or maximum, where a message
/// is h_u, m_uv (the arc's value) or σ(h_u + m_uv); and its way back. Rows are gathered both ways, and sums over a
/// batch go to slots: the same bits every time. A thread takes 16 bytes of a row.
#include "engine/cuda/layerwise/rows.cuh"
#include "nn/program.hpp"

namespace tyche::engine::TYCHE_CUDA_NS {

/// sum: or mean, of rows or arcs; counted: the same of classes of rows; max: of either; relu, both: the sum or mean of
/// messages of both, σ being ReLU or not.
enum class Gathered { sum, counted, max, relu, both };

template <class P>
struct GatherArguments {
  BatchRows rows;  ///< of the output
  const Link* links;
  bool of_arcs;                        ///< whether the rows that are read are those of arcs
  Rows<const typename P::Element> in;  ///< the rows that are read
  const uint32_t* in_base;
  Rows<const typename P::Element> arcs;  ///< messages of both: m, a row per edge of the batch
  const uint32_t* arc_base;
  uint32_t columns;  ///< a multiple of 16
  nn::Reduce reduce;
  nn::Activation activation;  ///< of messages of both
  const float* eps;           ///< or null
  uint32_t* winners;          ///< max: the row or edge, of the graph's own numbers; like the output
};

template <class P>
__device__ __forceinline__ void load_vector(const Rows<const typename P::Element>& from, size_t row, uint32_t column,
                                            float (&out)[P::kVector]) {
  P::unpack(load_read_only(reinterpret_cast<const uint4*>(from.data + row * from.stride + column)), out);
}

/// σ(h + m).
template <class P, Gathered G>
__device__ __forceinline__ float message(nn::Activation activation, float h, float m) {
  if constexpr (G == Gathered::relu) return h + m > 0 ? h + m : 0.0f;
  return activated<P::kFast>(activation, h + m);
}
/// d times its derivative.
template <class P, Gathered G>
__device__ __forceinline__ float message_back(nn::Activation activation, float h, float m, float d) {
  if constexpr (G == Gathered::relu) return h + m > 0 ? d : 0.0f;
  return d * derivative(activation, activated<P::kFast>(activation, h + m));
}

template <class P, Gathered G>
__global__ void __launch_bounds__(kThreads) gather_kernel(GatherArguments<P> a, Rows<typename P::Element> out) {
  const uint32_t vectors = a.columns / P::kVector;
  const size_t q = size_t{blockIdx.x} * kThreads + threadIdx.x;
  if (q >= size_t{a.rows.rows} * vectors) return;
  const uint32_t row = static_cast<uint32_t>(q / vectors), column = static_cast<uint32_t>(q % vectors) * P::kVector;
  const uint32_t b = graph_of(a.rows.base, a.rows.graphs, row), v = row - a.rows.base[b];
  const Link& link = a.links[a.rows.ids[b]];
  const uint32_t begin = load_read_only(link.offsets + v), end = load_read_only(link.offsets + v + 1);
  const uint32_t* names = (a.of_arcs ? link.edges : link.columns) + begin;
  const size_t first = a.in_base[b];
  float sum[P::kVector] = {};
  if constexpr (G == Gathered::sum || G == Gathered::counted) {
    const uint16_t* counts = G == Gathered::counted ? link.counts + begin : nullptr;
    add_rows<P>(sum, a.in.data + first * a.in.stride + column, a.in.stride,
                Entries<uint16_t>{names, counts, end - begin});
  } else if constexpr (G == Gathered::max) {
    uint32_t winner[P::kVector];
#pragma unroll
    for (unsigned c = 0; c < P::kVector; ++c) winner[c] = ~0u;
    for (uint32_t e = 0; e < end - begin; ++e) {
      float h[P::kVector];
      load_vector<P>(a.in, first + names[e], column, h);
#pragma unroll
      for (unsigned c = 0; c < P::kVector; ++c) {
        if (e != 0 && !(h[c] > sum[c])) continue;
        sum[c] = h[c];
        winner[c] = names[e];
      }
    }
#pragma unroll
    for (unsigned c = 0; c < P::kVector; ++c) a.winners[size_t{row} * a.columns + column + c] = winner[c];
  } else {
    for (uint32_t e = 0; e < end - begin; ++e) {
      float h[P::kVector], m[P::kVector];
      load_vector<P>(a.in, first + names[e], column, h);
      load_vector<P>(a.arcs, size_t{a.arc_base[b]} + link.edges[begin + e], column, m);
#pragma unroll
      for (unsigned c = 0; c < P::kVector; ++c) sum[c] += message<P, G>(a.activation, h[c], m[c]);
    }
  }
  if (a.reduce == nn::Reduce::mean) {
    const float scale = load_read_only(link.scales + v);
#pragma unroll
    for (unsigned c = 0; c < P::kVector; ++c) sum[c] *= scale;
  }
  if (a.eps != nullptr) {
    float own[P::kVector];
    load_vector<P>(a.in, row, column, own);
    const float factor = 1 + *a.eps;
#pragma unroll
    for (unsigned c = 0; c < P::kVector; ++c) sum[c] += factor * own[c];
  }
  *reinterpret_cast<uint4*>(out.data + size_t{row} * out.stride + column) = P::pack(sum);
}

/// Writes a vector of a gradient, or adds to it; zeros from `columns` on.
template <class P>
__device__ __forceinline__ void leave_vector(float (&sum)[P::kVector], uint32_t column, uint32_t columns,
                                             const Slope& slope, const float (&h)[P::kVector], bool accumulate,
                                             typename P::Element* to) {
  float before[P::kVector] = {};
  if (accumulate) P::unpack(*reinterpret_cast<const uint4*>(to), before);
#pragma unroll
  for (unsigned c = 0; c < P::kVector; ++c) {
    sum[c] = column + c < columns ? sum[c] * slope_at(slope, h[c]) : 0.0f;
    if (accumulate) sum[c] += before[c];
  }
  *reinterpret_cast<uint4*>(to) = P::pack(sum);
}

template <class P>
struct GatherBackArguments {
  GatherArguments<P> forward;
  BatchRows in_rows;
  Rows<const typename P::Element> d;  ///< gradient of the output
  bool wanted;                        ///< whether that of the input is wanted, beside that of ε
  uint32_t d_in_columns;              ///< zeros are written from this column on
  Slope slope;
  bool accumulate;
  float* slots;  ///< where there is an ε: one per block of threads
  uint32_t slices;
};

/// To the rows that were read.
template <class P, Gathered G>
__global__ void __launch_bounds__(kThreads)
    gather_back_kernel(GatherBackArguments<P> a, Rows<typename P::Element> d_in) {
  __shared__ float parts[kThreads];
  const GatherArguments<P>& f = a.forward;
  const float factor = f.eps == nullptr ? 0.0f : 1 + *f.eps;
  float eps = 0;
  const uint32_t vectors = f.columns / P::kVector;
  const size_t total = size_t{a.in_rows.rows} * vectors;
  for (size_t q = size_t{blockIdx.x} * kThreads + threadIdx.x; q < total; q += size_t{a.slices} * kThreads) {
    const uint32_t row = static_cast<uint32_t>(q / vectors), column = static_cast<uint32_t>(q % vectors) * P::kVector;
    const uint32_t b = graph_of(a.in_rows.base, a.in_rows.graphs, row), u = row - a.in_rows.base[b];
    float d[P::kVector] = {}, h[P::kVector], sum[P::kVector] = {};
    load_vector<P>(f.in, row, column, h);
    if (f.eps != nullptr) {
      load_vector<P>(a.d, row, column, d);
#pragma unroll
      for (unsigned c = 0; c < P::kVector; ++c) eps += d[c] * h[c];
    }
    if (!a.wanted) continue;
    const Link& link = f.links[a.in_rows.ids[b]];
    const uint32_t begin = load_read_only(link.back_offsets + u), end = load_read_only(link.back_offsets + u + 1);
    const float* weights = f.reduce == nn::Reduce::mean ? link.back_means : link.back_sums;
    if (weights != nullptr) weights += begin;
    const uint32_t* names = link.back_columns + begin;
    const size_t first = f.rows.base[b];
    if constexpr (G == Gathered::sum || G == Gathered::counted) {
      add_rows<P>(sum, a.d.data + first * a.d.stride + column, a.d.stride, Entries<float>{names, weights, end - begin});
    } else {
      for (uint32_t e = 0; e < end - begin; ++e) {
        float of[P::kVector];
        load_vector<P>(a.d, first + names[e], column, of);
        if constexpr (G == Gathered::max) {
#pragma unroll
          for (unsigned c = 0; c < P::kVector; ++c) {
            if (f.winners[(first + names[e]) * f.columns + column + c] == u) sum[c] += of[c];
          }
        } else {
          float m[P::kVector];
          load_vector<P>(f.arcs, size_t{f.arc_base[b]} + link.edges[begin + e], column, m);
          const float weight = weights == nullptr ? 1.0f : weights[e];
#pragma unroll
          for (unsigned c = 0; c < P::kVector; ++c) {
            sum[c] += message_back<P, G>(f.activation, h[c], m[c], weight * of[c]);
          }
        }
      }
    }
#pragma unroll
    for (unsigned c = 0; c < P::kVector; ++c) sum[c] += factor * d[c];
    leave_vector<P>(sum, column, a.d_in_columns, a.slope, h, a.accumulate,
                    d_in.data + size_t{row} * d_in.stride + column);
  }
  if (f.eps == nullptr) return;
  parts[threadIdx.x] = eps;
  __syncthreads();
  for (unsigned half = kThreads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) parts[threadIdx.x] += parts[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) a.slots[blockIdx.x] = parts[0];
}

template <class P>
struct ArcBackArguments {
  GatherArguments<P> forward;
  BatchRows rows;  ///< the edges of the batch
  const LevelEnds* ends;
  Rows<const typename P::Element> d;  ///< gradient of the output
  uint32_t columns;                   ///< zeros are written from this column on
  Slope slope;
  bool accumulate;
};

/// To the arcs: an edge carries a message each way.
template <class P, Gathered G>
__global__ void __launch_bounds__(kThreads) arc_back_kernel(ArcBackArguments<P> a, Rows<typename P::Element> out) {
  const GatherArguments<P>& f = a.forward;
  const uint32_t vectors = f.columns / P::kVector;
  const size_t q = size_t{blockIdx.x} * kThreads + threadIdx.x;
  if (q >= size_t{a.rows.rows} * vectors) return;
  const uint32_t row = static_cast<uint32_t>(q / vectors), column = static_cast<uint32_t>(q % vectors) * P::kVector;
  const uint32_t b = graph_of(a.rows.base, a.rows.graphs, row), id = a.rows.ids[b], edge = row - a.rows.base[b];
  const uint32_t* ends = a.ends[id].edge_ends + 2 * size_t{edge};
  float m[P::kVector], sum[P::kVector] = {};
  constexpr bool kBoth = G == Gathered::relu || G == Gathered::both;
  if constexpr (kBoth) {
    load_vector<P>(f.arcs, row, column, m);
  } else {
    load_vector<P>(f.in, row, column, m);
  }
#pragma unroll
  for (unsigned side = 0; side < 2; ++side) {
    const uint32_t to = ends[1 - side];
    const size_t at = size_t{f.rows.base[b]} + to;
    float h[P::kVector] = {}, d[P::kVector];
    load_vector<P>(a.d, at, column, d);
    if constexpr (kBoth) load_vector<P>(f.in, size_t{f.in_base[b]} + ends[side], column, h);
    const float weight = f.reduce == nn::Reduce::mean ? f.links[id].scales[to] : 1.0f;
#pragma unroll
    for (unsigned c = 0; c < P::kVector; ++c) {
      if constexpr (kBoth) {
        sum[c] += message_back<P, G>(f.activation, h[c], m[c], weight * d[c]);
      } else if (G != Gathered::max || f.winners[at * f.columns + column + c] == edge) {
        sum[c] += weight * d[c];
      }
    }
  }
  leave_vector<P>(sum, column, a.columns, a.slope, m, a.accumulate, out.data + size_t{row} * out.stride + column);
}

}  // namespace tyche::engine::TYCHE_CUDA_NS
