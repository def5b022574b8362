#pragma once
/// What the kernels of the layer-wise path share. A batch is a list of graphs (numbers into the tables of
/// device_graphs.hpp); in every space its rows stand graph after graph, `base[b]` being the first row of graph b and
/// base[graphs] the end. Every sum is taken in an order that depends on the graph alone (rows) or on the batch alone
/// (gradients), never on timing: the same bits every time.
#include "engine/cuda/layerwise/tile.cuh"
#include "nn/choices.hpp"

namespace tyche::engine::TYCHE_CUDA_NS {

using std::uint16_t;
using std::uint32_t;
using std::uint64_t;
using std::uint8_t;

/// A graph's messages of one layer; see blocks::LinkPlaces.
struct Link {
  const uint32_t *offsets, *columns;
  const uint16_t* counts;
  const float* scales;
  const uint32_t *roots, *back_offsets, *back_columns;
  const float *back_means, *back_sums;
  const uint32_t *child_offsets, *children;
  const float* weights;
  const uint32_t *edges, *arcs, *back_arcs;
};

/// What a graph's level starts from and ends in; see blocks::LevelPlaces.
struct LevelEnds {
  const float* features;
  const uint32_t *types, *nodes, *up_offsets, *up_rows;
  const float *multiplicity, *edge_sums, *arc_features;
  const uint32_t *arc_ends, *edge_ends;
  const uint8_t* distances;
  float total;
};

/// Rows of a graph that a readout's first stage takes together.
inline constexpr unsigned kPart = 256;

/// The rows of a batch in one space.
struct BatchRows {
  const uint32_t* ids;   ///< graphs of the batch
  const uint32_t* base;  ///< graphs + 1
  uint32_t graphs;
  uint32_t rows;  ///< base[graphs]
};

/// Elements of a matrix: its rows are `stride` apart, and zero from the last column to the next multiple of 16.
template <class T>
struct Rows {
  T* data;
  uint32_t stride;
};

template <class P>
__device__ __forceinline__ float number(const Rows<const typename P::Element>& from, size_t row, uint32_t column) {
  return P::value(from.data[row * from.stride + column]);
}

/// The same of a value that may be kept as floats: one that is but read out, whose maxima must not be blurred.
struct AnyRows {
  const void* data;
  uint32_t stride;
  bool floats;
};
template <class P>
__device__ __forceinline__ float read(const AnyRows& from, size_t row, uint32_t column) {
  const size_t at = row * from.stride + column;
  if (from.floats) return static_cast<const float*>(from.data)[at];
  return P::value(static_cast<const typename P::Element*>(from.data)[at]);
}

/// 16 bytes of halves, or of floats twice as many.
template <class P>
__device__ __forceinline__ void read_vector(const AnyRows& from, size_t row, uint32_t column,
                                            float (&out)[P::kVector]) {
  const size_t at = row * from.stride + column;
  if (!from.floats) {
    P::unpack(load_read_only(reinterpret_cast<const uint4*>(static_cast<const typename P::Element*>(from.data) + at)),
              out);
    return;
  }
  unrolled<P::kVector>([&](unsigned c) { out[c] = static_cast<const float*>(from.data)[at + c]; });
}

/// The activation that makes a value, where there is one: its derivative is what the gradient of the value is
/// multiplied with, which is kept before it.
struct Slope {
  bool activated;
  nn::Activation activation;
};

template <bool Fast>
__device__ __forceinline__ float activated(nn::Activation activation, float z) {
  if (activation == nn::Activation::elu) return z > 0 ? z : Fast ? fast_exp(z) - 1 : expm1f(z);
  if (activation == nn::Activation::tanh) return tanhf(z);
  return z > 0 ? z : 0.0f;
}
/// An activation on some numbers: the branch is taken once.
template <class P, unsigned kCount>
__device__ __forceinline__ void activate(const Slope& slope, float (&numbers)[kCount]) {
  if (!slope.activated) return;
  if (slope.activation == nn::Activation::relu) {
    unrolled<kCount>([&](unsigned c) { numbers[c] = fmaxf(numbers[c], 0.0f); });
  } else {
    unrolled<kCount>([&](unsigned c) { numbers[c] = activated<P::kFast>(slope.activation, numbers[c]); });
  }
}
/// The derivative, from the activation's value.
__device__ __forceinline__ float derivative(nn::Activation activation, float h) {
  if (activation == nn::Activation::elu) return h > 0 ? 1.0f : h + 1;
  if (activation == nn::Activation::tanh) return 1 - h * h;
  return h > 0 ? 1.0f : 0.0f;
}

__device__ __forceinline__ float slope_at(const Slope& slope, float h) {
  return slope.activated ? derivative(slope.activation, h) : 1.0f;
}

/// Where the gradient of a value goes.
template <class P>
struct Leaving {
  Rows<typename P::Element> to;
  uint32_t columns;  ///< zeros are written from this column on
  Slope slope;
  bool accumulate;  ///< adds to what is there
};
/// A vector of it; `h`: of the value.
template <class P>
__device__ __forceinline__ void leave_vector(const Leaving<P>& a, size_t row, uint32_t column, float (&sum)[P::kVector],
                                             const float (&h)[P::kVector]) {
  uint4* const to = reinterpret_cast<uint4*>(a.to.data + row * a.to.stride + column);
  uint4 words = make_uint4(0, 0, 0, 0);
  if (a.accumulate) words = *to;
  if (a.slope.activated && a.slope.activation == nn::Activation::relu) {  // as a rule, and a choice is cheap
    unrolled<P::kVector>([&](unsigned c) { sum[c] = h[c] > 0 ? sum[c] : 0.0f; });
  } else if (a.slope.activated) {
    unrolled<P::kVector>([&](unsigned c) { sum[c] *= derivative(a.slope.activation, h[c]); });
  }
  if (column + P::kVector > a.columns) {
    unrolled<P::kVector>([&](unsigned c) { sum[c] = column + c < a.columns ? sum[c] : 0.0f; });
  }
  float before[P::kVector];
  P::unpack(words, before);
  unrolled<P::kVector>([&](unsigned c) { sum[c] += before[c]; });
  *to = P::pack(sum);
}

/// The graph of a batch whose rows hold `row`.
__device__ __forceinline__ uint32_t graph_of(const uint32_t* base, uint32_t graphs, uint32_t row) {
  uint32_t low = 0, high = graphs - 1;  // the first b with base[b + 1] > row
  while (low < high) {
    const uint32_t middle = (low + high) / 2;
    if (base[middle + 1] > row) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

/// Rows that a block of threads takes.
struct Tile {
  uint32_t first, rows;
};
__device__ __forceinline__ Tile tile_of(const BatchRows& of, uint32_t tile_rows, uint32_t tile) {
  const uint32_t first = tile * tile_rows;
  return {first, of.rows - first < tile_rows ? of.rows - first : tile_rows};
}

/// The graph of every row of a tile, by all threads of the block: a search is a chain of loads, which small batches
/// feel, so a thread has a graph where there are enough of them.
__device__ __forceinline__ void find_graphs(const BatchRows& of, const Tile& tile, uint32_t* graph) {
  const unsigned tid = threadIdx.x;
  if (of.graphs > blockDim.x) {
    for (uint32_t r = tid; r < tile.rows; r += blockDim.x) graph[r] = graph_of(of.base, of.graphs, tile.first + r);
  } else if (tid < of.graphs) {
    const uint32_t begin = load_read_only(of.base + tid), end = load_read_only(of.base + tid + 1);
    const uint32_t last = end < tile.first + tile.rows ? end : tile.first + tile.rows;
    for (uint32_t row = begin < tile.first ? tile.first : begin; row < last; ++row) graph[row - tile.first] = tid;
  }
  __syncthreads();
}

/// Rows or numbers that a thread has on their way at a time.
inline constexpr uint32_t kFlight = 4;

/// Calls body with the row and column of every vector of 16 bytes of some rows, by all threads of the block.
template <class P, class Body>
__device__ __forceinline__ void for_vectors(uint32_t rows, uint32_t width, const Body& body) {
  unsigned shift = 0;  // 2^shift vectors hold a row
  while ((P::kVector << shift) < width) ++shift;
  for (unsigned q = threadIdx.x; q < rows << shift; q += kThreads) {
    const unsigned column = (q & ((1u << shift) - 1)) * P::kVector;
    if (column < width) body(q >> shift, column);
  }
}

/// The entries of a sparse row: columns and weights (counts or values); without weights all are 1.
template <class Weight>
struct Entries {
  const uint32_t* columns;
  const Weight* weights;
  uint32_t count;
};

/// sum += Σ_e weight_e · row(column_e), one vector of it; the rows are `stride` elements apart. The numbers of the next
/// rows are fetched while rows are.
template <class P, class Weight>
__device__ __forceinline__ void add_rows(float (&sum)[P::kVector], const typename P::Element* from, size_t stride,
                                         const Entries<Weight> entries) {
  if (entries.count == 0) return;
  const bool weighted = entries.weights != nullptr;
  uint32_t column[kFlight];
  float weight[kFlight];
  const auto fetch = [&](uint32_t first) {
    unrolled<kFlight>([&](unsigned i) {
      const uint32_t at = first + i < entries.count ? first + i : entries.count - 1;
      column[i] = load_read_only(entries.columns + at);
      weight[i] = weighted ? static_cast<float>(load_read_only(entries.weights + at)) : 1.0f;
      if (first + i >= entries.count) weight[i] = 0;
    });
  };
  fetch(0);
  for (uint32_t e = 0; e < entries.count; e += kFlight) {
    uint4 words[kFlight];
    float now[kFlight];
    unrolled<kFlight>([&](unsigned i) {
      words[i] = load_read_only(reinterpret_cast<const uint4*>(from + column[i] * stride));
      now[i] = weight[i];
    });
    if (e + kFlight < entries.count) fetch(e + kFlight);
    unrolled<kFlight>([&](unsigned i) {
      float v[P::kVector];
      P::unpack(words[i], v);
      unrolled<P::kVector>([&](unsigned c) { sum[c] += now[i] * v[c]; });
    });
  }
}

/// A tile of a matrix as it is.
template <class P>
__device__ __forceinline__ void copy_rows(const Rows<const typename P::Element>& from, uint32_t row0, uint32_t rows,
                                          uint32_t padded, uint32_t first, uint32_t width, typename P::Element* to) {
  for_vectors<P>(padded, width, [&](unsigned r, unsigned column) {
    uint4 words = make_uint4(0, 0, 0, 0);
    if (r < rows) {
      words =
          load_read_only(reinterpret_cast<const uint4*>(from.data + size_t{row0 + r} * from.stride + first + column));
    }
    *reinterpret_cast<uint4*>(to + P::place(r, column)) = words;
  });
}

__device__ __forceinline__ uint32_t block_width(uint32_t columns, uint32_t block) {
  return columns - block * kTile < kTile ? columns - block * kTile : kTile;
}

}  // namespace tyche::engine::TYCHE_CUDA_NS
