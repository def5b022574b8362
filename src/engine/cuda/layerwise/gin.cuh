#pragma once
/// What stands between the linear layers of gin, as kernels: (1 + ε) h_v + Σ messages, where a message is h_u or, with
/// edge features, relu(h_u + m_uv), and its way back. Rows are gathered both ways (edges go both ways, so the transpose
/// has the same rows), and sums over a batch go to slots: the same bits every time. A thread takes 16 bytes of a row.
#include "engine/cuda/layerwise/rows.cuh"

namespace tyche::engine::TYCHE_CUDA_NS {

template <class P>
struct SumArguments {
  BatchRows rows;
  const Link* links;
  Rows<const typename P::Element> in;
  uint32_t columns;                       ///< a multiple of 16
  Rows<const typename P::Element> edges;  ///< m: a row per edge of the batch; null data: edges have no features
  const uint32_t* edge_base;
  const float* eps;
};

/// One vector of a row: where it is, and who its neighbours are.
template <class P>
struct SumPlace {
  uint32_t graph, row, column;
  Entries<uint16_t> entries;
  const uint32_t* edges;  ///< one per entry, or null
};

template <class P>
__device__ __forceinline__ SumPlace<P> sum_place(const SumArguments<P>& a, size_t q) {
  const uint32_t vectors = a.columns / P::kVector;
  SumPlace<P> my;
  my.row = static_cast<uint32_t>(q / vectors);
  my.column = static_cast<uint32_t>(q % vectors) * P::kVector;
  my.graph = graph_of(a.rows.base, a.rows.graphs, my.row);
  const Link& link = a.links[a.rows.ids[my.graph]];
  const uint32_t v = my.row - a.rows.base[my.graph];
  const uint32_t begin = load_read_only(link.offsets + v), end = load_read_only(link.offsets + v + 1);
  my.entries = {link.columns + begin, nullptr, end - begin};
  my.edges = link.edges == nullptr ? nullptr : link.edges + begin;
  return my;
}

template <class P>
__device__ __forceinline__ void load_vector(const Rows<const typename P::Element>& from, size_t row, uint32_t column,
                                            float (&out)[P::kVector]) {
  P::unpack(load_read_only(reinterpret_cast<const uint4*>(from.data + row * from.stride + column)), out);
}

template <class P>
__global__ void __launch_bounds__(kThreads) sum_kernel(SumArguments<P> a, Rows<typename P::Element> out) {
  const size_t q = size_t{blockIdx.x} * kThreads + threadIdx.x;
  if (q >= size_t{a.rows.rows} * (a.columns / P::kVector)) return;
  const SumPlace<P> my = sum_place(a, q);
  const size_t first = a.rows.base[my.graph];
  float sum[P::kVector] = {}, own[P::kVector];
  if (a.edges.data == nullptr) {
    add_rows<P>(sum, a.in.data + first * a.in.stride + my.column, a.in.stride, my.entries);
  } else {
    for (uint32_t e = 0; e < my.entries.count; ++e) {
      float h[P::kVector], m[P::kVector];
      load_vector<P>(a.in, first + my.entries.columns[e], my.column, h);
      load_vector<P>(a.edges, size_t{a.edge_base[my.graph]} + my.edges[e], my.column, m);
#pragma unroll
      for (unsigned c = 0; c < P::kVector; ++c) sum[c] += h[c] + m[c] > 0 ? h[c] + m[c] : 0.0f;
    }
  }
  load_vector<P>(a.in, my.row, my.column, own);
  const float factor = 1 + *a.eps;
#pragma unroll
  for (unsigned c = 0; c < P::kVector; ++c) sum[c] += factor * own[c];
  *reinterpret_cast<uint4*>(out.data + size_t{my.row} * out.stride + my.column) = P::pack(sum);
}

template <class P>
struct SumBackArguments {
  SumArguments<P> forward;
  Rows<const typename P::Element> d;  ///< gradient of the sums
  bool wanted;                        ///< whether that of the input is wanted, beside that of ε
  uint32_t d_in_columns;              ///< zeros are written from this column on
  nn::Activation activation;
  bool activated_input;
  float* slots;  ///< one per block of threads
  uint32_t slices;
};

template <class P>
__global__ void __launch_bounds__(kThreads) sum_back_kernel(SumBackArguments<P> a, Rows<typename P::Element> d_in) {
  __shared__ float parts[kThreads];
  const SumArguments<P>& f = a.forward;
  const float factor = 1 + *f.eps;
  float eps = 0;
  const size_t total = size_t{f.rows.rows} * (f.columns / P::kVector);
  for (size_t q = size_t{blockIdx.x} * kThreads + threadIdx.x; q < total; q += size_t{a.slices} * kThreads) {
    const SumPlace<P> my = sum_place(f, q);
    float d[P::kVector], h[P::kVector], sum[P::kVector] = {};
    load_vector<P>(a.d, my.row, my.column, d);
    load_vector<P>(f.in, my.row, my.column, h);
#pragma unroll
    for (unsigned c = 0; c < P::kVector; ++c) eps += d[c] * h[c];
    if (!a.wanted) continue;
    const size_t first = f.rows.base[my.graph];
    if (f.edges.data == nullptr) {
      add_rows<P>(sum, a.d.data + first * a.d.stride + my.column, a.d.stride, my.entries);
    } else {
      for (uint32_t e = 0; e < my.entries.count; ++e) {
        float of[P::kVector], m[P::kVector];
        load_vector<P>(a.d, first + my.entries.columns[e], my.column, of);
        load_vector<P>(f.edges, size_t{f.edge_base[my.graph]} + my.edges[e], my.column, m);
#pragma unroll
        for (unsigned c = 0; c < P::kVector; ++c) sum[c] += h[c] + m[c] > 0 ? of[c] : 0.0f;
      }
    }
#pragma unroll
    for (unsigned c = 0; c < P::kVector; ++c) {
      const float slope = a.activated_input ? derivative(a.activation, h[c]) : 1.0f;
      sum[c] = my.column + c < a.d_in_columns ? (sum[c] + factor * d[c]) * slope : 0.0f;
    }
    *reinterpret_cast<uint4*>(d_in.data + size_t{my.row} * d_in.stride + my.column) = P::pack(sum);
  }
  parts[threadIdx.x] = eps;
  __syncthreads();
  for (unsigned half = kThreads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) parts[threadIdx.x] += parts[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) a.slots[blockIdx.x] = parts[0];
}

template <class P>
struct EdgeBackArguments {
  BatchRows rows;  ///< the edges of the batch
  const LevelEnds* ends;
  const uint32_t* node_base;
  Rows<const typename P::Element> in, edges, d;  ///< of the sum: its input, m, and its gradient
  uint32_t columns;
};

/// The gradient of m: an edge carries a message each way.
template <class P>
__global__ void __launch_bounds__(kThreads) edge_back_kernel(EdgeBackArguments<P> a, Rows<typename P::Element> out) {
  const uint32_t vectors = a.columns / P::kVector;
  const size_t q = size_t{blockIdx.x} * kThreads + threadIdx.x;
  if (q >= size_t{a.rows.rows} * vectors) return;
  const uint32_t row = static_cast<uint32_t>(q / vectors), column = static_cast<uint32_t>(q % vectors) * P::kVector;
  const uint32_t b = graph_of(a.rows.base, a.rows.graphs, row);
  const uint32_t* ends = a.ends[a.rows.ids[b]].edge_ends + 2 * size_t{row - a.rows.base[b]};
  float m[P::kVector], sum[P::kVector] = {};
  load_vector<P>(a.edges, row, column, m);
#pragma unroll
  for (unsigned side = 0; side < 2; ++side) {
    float h[P::kVector], d[P::kVector];
    load_vector<P>(a.in, size_t{a.node_base[b]} + ends[side], column, h);
    load_vector<P>(a.d, size_t{a.node_base[b]} + ends[1 - side], column, d);
#pragma unroll
    for (unsigned c = 0; c < P::kVector; ++c) sum[c] += h[c] + m[c] > 0 ? d[c] : 0.0f;
  }
  *reinterpret_cast<uint4*>(out.data + size_t{row} * out.stride + column) = P::pack(sum);
}

}  // namespace tyche::engine::TYCHE_CUDA_NS
