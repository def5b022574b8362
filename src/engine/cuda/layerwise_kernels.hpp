#pragma once
/// The kernels of the layer-wise path. A batch is a list of graphs (numbers into the tables of device_graphs.hpp); in
/// every space its rows stand graph after graph, `base[b]` being the first row of graph b and base[graphs] the end.
/// Every sum is taken in an order that depends on the graph alone (rows) or on the batch alone (gradients), never on
/// timing: the same bits every time.
#include "engine/cuda/layerwise_tile.hpp"
#include "engine/cuda/philox.hpp"

namespace tyche::engine::TYCHE_CUDA_NS {

using std::uint16_t;
using std::uint32_t;
using std::uint64_t;

/// A graph's messages of one layer; see blocks::LinkPlaces.
struct Link {
  const uint32_t *offsets, *columns;
  const uint16_t* counts;
  const float* scales;
  const uint32_t *roots, *back_offsets, *back_columns;
  const float* back_values;
  const uint32_t *child_offsets, *children;
};

/// What a graph's level starts from and ends in; see blocks::LevelPlaces.
struct LevelEnds {
  const float* features;
  const uint32_t *types, *nodes, *up_offsets, *up_rows;
  const float* multiplicity;
  float total;
};

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

enum class Function : int { elu, tanh, relu, none };
enum class Pooling : int { max, mean, sum };

template <bool Fast>
__device__ __forceinline__ float activated(Function function, float z) {
  if (function == Function::elu) return z > 0 ? z : Fast ? fast_exp(z) - 1 : expm1f(z);
  if (function == Function::tanh) return tanhf(z);
  return z > 0 || function == Function::none ? z : 0.0f;
}
/// The derivative, from the function's value.
__device__ __forceinline__ float derivative(Function function, float h) {
  if (function == Function::elu) return h > 0 ? 1.0f : h + 1;
  if (function == Function::tanh) return 1 - h * h;
  return h > 0 || function == Function::none ? 1.0f : 0.0f;
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

/// 2^result vectors of 16 bytes hold `columns` columns.
template <class P>
__device__ __forceinline__ unsigned vector_shift(unsigned columns) {
  unsigned shift = 0;
  while ((P::kVector << shift) < columns) ++shift;
  return shift;
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
  constexpr uint32_t kFlight = 4;
  if (entries.count == 0) return;
  const bool weighted = entries.weights != nullptr;
  uint32_t column[kFlight];
  float weight[kFlight];
  const auto fetch = [&](uint32_t first) {
#pragma unroll
    for (uint32_t i = 0; i < kFlight; ++i) {
      const uint32_t at = first + i < entries.count ? first + i : entries.count - 1;
      column[i] = load_read_only(entries.columns + at);
      weight[i] = weighted ? static_cast<float>(load_read_only(entries.weights + at)) : 1.0f;
      if (first + i >= entries.count) weight[i] = 0;
    }
  };
  fetch(0);
  for (uint32_t e = 0; e < entries.count; e += kFlight) {
    uint4 words[kFlight];
    float now[kFlight];
#pragma unroll
    for (uint32_t i = 0; i < kFlight; ++i) {
      words[i] = load_read_only(reinterpret_cast<const uint4*>(from + column[i] * stride));
      now[i] = weight[i];
    }
    if (e + kFlight < entries.count) fetch(e + kFlight);
#pragma unroll
    for (uint32_t i = 0; i < kFlight; ++i) {
      float v[P::kVector];
      P::unpack(words[i], v);
#pragma unroll
      for (unsigned c = 0; c < P::kVector; ++c) sum[c] += now[i] * v[c];
    }
  }
}

// ---- inputs

struct InputArguments {
  BatchRows rows;
  const LevelEnds* ends;
  uint32_t features;  ///< columns copied from the data
  uint32_t below;     ///< nodes of a set, whose outputs' mean comes first; 0: none
  const float* node_outputs;
  uint32_t node_stride;
  const uint32_t* node_base;
  uint32_t width;  ///< of those outputs
};

/// What a level starts from: features, or the mean of nodes' outputs and the one-hot type. A block takes kTile rows.
template <class P>
__global__ void __launch_bounds__(kThreads) input_kernel(InputArguments a, Rows<typename P::Element> out) {
  __shared__ const LevelEnds* ends_of[kTile];
  __shared__ uint32_t local_of[kTile], node_of[kTile];
  const uint32_t row0 = blockIdx.x * kTile, rows = a.rows.rows - row0 < kTile ? a.rows.rows - row0 : kTile;
  if (threadIdx.x < rows) {
    const uint32_t b = graph_of(a.rows.base, a.rows.graphs, row0 + threadIdx.x);
    local_of[threadIdx.x] = row0 + threadIdx.x - a.rows.base[b];
    ends_of[threadIdx.x] = a.ends + a.rows.ids[b];
    node_of[threadIdx.x] = a.below > 0 ? a.node_base[b] : 0;
  }
  __syncthreads();
  for (uint32_t q = threadIdx.x; q < rows * out.stride; q += kThreads) {
    const uint32_t r = q / out.stride, column = q % out.stride, local = local_of[r];
    const LevelEnds& ends = *ends_of[r];
    float value = 0;
    if (ends.features != nullptr) {
      if (column < a.features) value = ends.features[size_t{local} * a.features + column];
    } else if (a.below > 0 && column < a.width) {
      for (uint32_t j = 0; j < a.below; ++j) {
        const size_t node = node_of[r] + ends.nodes[size_t{local} * a.below + j];
        value += a.node_outputs[node * a.node_stride + column];
      }
      value *= 1 / static_cast<float>(a.below);
    } else {
      value = ends.types[local] + (a.below > 0 ? a.width : 0) == column ? 1.0f : 0.0f;
    }
    out.data[size_t{row0 + r} * out.stride + column] = P::element(value);
  }
}

struct RandomArguments {
  BatchRows rows;
  const uint32_t* graph_numbers;  ///< of the data set, by id
  uint32_t first, count;          ///< columns
  uint2 key;
  bool normal;
  float scale;
  const float* pinned;  ///< rows × count, or none
};

/// Random columns first … first + count - 1. A block takes kTile rows, a thread four columns at a time.
template <class P>
__global__ void __launch_bounds__(kThreads) random_kernel(RandomArguments a, Rows<typename P::Element> out) {
  __shared__ uint32_t number_of[kTile], local_of[kTile];
  const uint32_t row0 = blockIdx.x * kTile, rows = a.rows.rows - row0 < kTile ? a.rows.rows - row0 : kTile;
  if (threadIdx.x < rows) {
    const uint32_t b = graph_of(a.rows.base, a.rows.graphs, row0 + threadIdx.x);
    local_of[threadIdx.x] = row0 + threadIdx.x - a.rows.base[b];
    number_of[threadIdx.x] = a.graph_numbers[a.rows.ids[b]];
  }
  __syncthreads();
  const uint32_t blocks = (a.count + 3) / 4;
  for (uint32_t q = threadIdx.x; q < rows * blocks; q += kThreads) {
    const uint32_t r = q / blocks, column = q % blocks * 4;
    const uint32_t columns = a.count - column < 4 ? a.count - column : 4;
    float v[4] = {};
    if (a.pinned != nullptr) {
      for (uint32_t i = 0; i < columns; ++i) v[i] = a.pinned[size_t{row0 + r} * a.count + column + i];
    } else {
      const float4 drawn = feature_block<P::kFast>(a.key, column / 4, local_of[r], number_of[r], a.normal, a.scale);
      v[0] = drawn.x, v[1] = drawn.y, v[2] = drawn.z, v[3] = drawn.w;
    }
    typename P::Element* to = out.data + size_t{row0 + r} * out.stride + a.first + column;
#pragma unroll
    for (uint32_t i = 0; i < 4; ++i) {
      if (i < columns) to[i] = P::element(v[i]);
    }
  }
}

// ---- a layer forwards

template <class P>
struct ForwardArguments {
  BatchRows out_rows;
  const uint32_t* in_base;
  const Link* links;
  Rows<const typename P::Element> in;
  uint32_t in_columns;  ///< a multiple of 16
  uint32_t out_columns;
  uint32_t out_blocks;  ///< of 64 columns
  const typename P::Element* weights;
  const float* bias;
  Function function;
  uint32_t tile_rows;  ///< 16, 32 or 64
};

/// What a row of the output is made of.
template <class P>
struct ForwardRow {
  const typename P::Element *root, *from;
  Entries<uint16_t> entries;
  float scale;
};

/// The row's own and its neighbours' places in the layer's input.
template <class P>
__device__ __forceinline__ ForwardRow<P> forward_row(const BatchRows& out_rows, const uint32_t* in_base,
                                                     const Link* links, const Rows<const typename P::Element>& in,
                                                     uint32_t row) {
  const uint32_t b = graph_of(out_rows.base, out_rows.graphs, row), v = row - out_rows.base[b];
  const Link& link = links[out_rows.ids[b]];
  const uint32_t begin = load_read_only(link.offsets + v), end = load_read_only(link.offsets + v + 1);
  const uint32_t own = link.roots == nullptr ? v : load_read_only(link.roots + v);
  ForwardRow<P> my;
  my.from = in.data + size_t{in_base[b]} * in.stride;
  my.root = my.from + size_t{own} * in.stride;
  my.entries = {link.columns + begin, link.counts == nullptr ? nullptr : link.counts + begin, end - begin};
  my.scale = load_read_only(link.scales + v);
  return my;
}

/// [h_root | Σ h_neighbour] of a tile, `width` columns from `first` on, rows from `rows` to `padded` zero.
template <class P>
__device__ __forceinline__ void gather_inputs(const ForwardRow<P>* info, uint32_t rows, uint32_t padded, uint32_t first,
                                              uint32_t width, size_t stride, typename P::Element* roots,
                                              typename P::Element* sums) {
  const unsigned shift = vector_shift<P>(width);
  for (unsigned q = threadIdx.x; q < padded << shift; q += kThreads) {
    const unsigned r = q >> shift, column = (q & ((1u << shift) - 1)) * P::kVector;
    if (column >= width) continue;
    uint4 root = make_uint4(0, 0, 0, 0);
    float sum[P::kVector] = {};
    if (r < rows) {
      const ForwardRow<P>& my = info[r];
      root = load_read_only(reinterpret_cast<const uint4*>(my.root + first + column));
      add_rows<P>(sum, my.from + first + column, stride, my.entries);
      const float scale = my.scale;
#pragma unroll
      for (unsigned c = 0; c < P::kVector; ++c) sum[c] *= scale;
    }
    *reinterpret_cast<uint4*>(roots + P::place(r, column)) = root;
    *reinterpret_cast<uint4*>(sums + P::place(r, column)) = P::pack(sum);
  }
}

/// A tile of a matrix as it is.
template <class P>
__device__ __forceinline__ void copy_rows(const Rows<const typename P::Element>& from, uint32_t row0, uint32_t rows,
                                          uint32_t padded, uint32_t first, uint32_t width, typename P::Element* to) {
  const unsigned shift = vector_shift<P>(width);
  for (unsigned q = threadIdx.x; q < padded << shift; q += kThreads) {
    const unsigned r = q >> shift, column = (q & ((1u << shift) - 1)) * P::kVector;
    if (column >= width) continue;
    uint4 words = make_uint4(0, 0, 0, 0);
    if (r < rows) {
      words =
          load_read_only(reinterpret_cast<const uint4*>(from.data + size_t{row0 + r} * from.stride + first + column));
    }
    *reinterpret_cast<uint4*>(to + P::place(r, column)) = words;
  }
}

__device__ __forceinline__ uint32_t block_width(uint32_t columns, uint32_t block) {
  return columns - block * kTile < kTile ? columns - block * kTile : kTile;
}

template <class P>
inline constexpr size_t kForwardShared = 2 * kBlock * sizeof(typename P::Element) + kTile * sizeof(ForwardRow<P>);

/// out = f([h_root | Σ h_neighbour] · W + b): one block of threads a tile of rows and 64 columns. Out is float for
/// the last layer of a level, whose maxima must not be blurred.
template <class P, class Out>
__global__ void __launch_bounds__(kThreads, 3) forward_kernel(ForwardArguments<P> a, Rows<Out> out) {
  using Element = typename P::Element;
  Element* roots = reinterpret_cast<Element*>(dynamic_shared());
  Element* sums = roots + kBlock;
  ForwardRow<P>* info = reinterpret_cast<ForwardRow<P>*>(sums + kBlock);
  const uint32_t tile = blockIdx.x / a.out_blocks, out_block = blockIdx.x % a.out_blocks;
  const uint32_t row0 = tile * a.tile_rows;
  const uint32_t rows = a.out_rows.rows - row0 < a.tile_rows ? a.out_rows.rows - row0 : a.tile_rows;
  const uint32_t padded = (rows + 15) & ~15u;
  if (threadIdx.x < rows) {
    info[threadIdx.x] = forward_row<P>(a.out_rows, a.in_base, a.links, a.in, row0 + threadIdx.x);
  }
  const unsigned warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
  const unsigned m0 = (warp & 1) * 32, n0 = (warp >> 1) * 16;
  const uint32_t columns = block_width(a.out_columns, out_block);
  float acc[2][2][4] = {};
  const uint32_t in_blocks = (a.in_columns + kTile - 1) / kTile;
  for (uint32_t k = 0; k < in_blocks; ++k) {
    const uint32_t width = block_width(a.in_columns, k);
    __syncthreads();
    gather_inputs<P>(info, rows, padded, k * kTile, width, a.in.stride, roots, sums);
    __syncthreads();
    if (m0 < rows && n0 < columns) {
      const Element* block = a.weights + size_t{k * a.out_blocks + out_block} * 2 * kBlock;
      const bool second = m0 + 16 < rows;
      multiply_rows(acc, roots, m0, second, block, n0 / 8, width / P::kStep);
      multiply_rows(acc, sums, m0, second, block + kBlock, n0 / 8, width / P::kStep);
    }
  }
  const unsigned g = lane >> 2, t = lane & 3;
#pragma unroll
  for (unsigned m = 0; m < 2; ++m) {
#pragma unroll
    for (unsigned n = 0; n < 2; ++n) {
      const uint32_t column = out_block * kTile + n0 + n * 8 + 2 * t;
      if (column >= a.out_columns) continue;
      const bool both = column + 1 < a.out_columns;
      const float bias0 = a.bias[column], bias1 = both ? a.bias[column + 1] : 0.0f;
#pragma unroll
      for (unsigned half = 0; half < 2; ++half) {
        const uint32_t r = m0 + m * 16 + half * 8 + g;
        if (r >= rows) continue;
        Out* to = out.data + size_t{row0 + r} * out.stride + column;
        const float z0 = activated<P::kFast>(a.function, acc[m][n][half * 2] + bias0);
        const float z1 = activated<P::kFast>(a.function, acc[m][n][half * 2 + 1] + bias1);
        if constexpr (sizeof(Out) == 2) {
          if (both) {
            *reinterpret_cast<unsigned*>(to) = pack2(z0, z1);
          } else {
            *to = to_half(z0);
          }
        } else if (both) {
          *reinterpret_cast<float2*>(to) = make_float2(z0, z1);
        } else {
          *to = z0;
        }
      }
    }
  }
}

// ---- a layer backwards

template <class P>
struct BackwardArguments {
  BatchRows in_rows;
  const uint32_t* out_base;
  const Link* links;
  Rows<const typename P::Element> in;     ///< the layer's input
  uint32_t in_columns;                    ///< a multiple of 16
  Rows<const typename P::Element> d_out;  ///< gradient of the layer's output before its activation
  uint32_t out_columns;                   ///< a multiple of 16
  Rows<typename P::Element> d_in;         ///< of its input, before that one's activation
  uint32_t d_in_columns;                  ///< zeros are written from this column on
  Function in_function;                   ///< that made the input
  const typename P::Element* weights;
  float* slots;  ///< slices × blocks of weights × kSlot
  uint32_t slices;
  uint32_t tile_rows;  ///< 16, 32 or 64
};

/// Where the gradient of a row of the input comes from. Without children its own row of the output is its child.
template <class P>
struct BackwardRow {
  const typename P::Element* from;
  Entries<float> children, entries;
  uint32_t own;
};

template <class P>
__device__ __forceinline__ BackwardRow<P> backward_row(const BackwardArguments<P>& a, uint32_t row) {
  const uint32_t b = graph_of(a.in_rows.base, a.in_rows.graphs, row), v = row - a.in_rows.base[b];
  const Link& link = a.links[a.in_rows.ids[b]];
  const uint32_t begin = load_read_only(link.back_offsets + v), end = load_read_only(link.back_offsets + v + 1);
  BackwardRow<P> my;
  my.from = a.d_out.data + size_t{a.out_base[b]} * a.d_out.stride;
  my.entries = {link.back_columns + begin, link.back_values + begin, end - begin};
  my.children = {nullptr, nullptr, 0};
  my.own = v;
  if (link.children != nullptr) {
    const uint32_t first = load_read_only(link.child_offsets + v);
    my.children.columns = link.children + first;
    my.children.count = load_read_only(link.child_offsets + v + 1) - first;
  }
  return my;
}

/// The transposed sums of the output's gradient for a tile of input rows.
template <class P>
__device__ __forceinline__ void gather_gradients(const BackwardRow<P>* info, uint32_t rows, uint32_t padded,
                                                 uint32_t first, uint32_t width, size_t stride,
                                                 typename P::Element* roots, typename P::Element* sums) {
  const unsigned shift = vector_shift<P>(width);
  for (unsigned q = threadIdx.x; q < padded << shift; q += kThreads) {
    const unsigned r = q >> shift, column = (q & ((1u << shift) - 1)) * P::kVector;
    if (column >= width) continue;
    uint4 root = make_uint4(0, 0, 0, 0);
    float sum[P::kVector] = {};
    if (r < rows) {
      const BackwardRow<P>& my = info[r];
      const typename P::Element* base = my.from + first + column;
      if (my.children.columns == nullptr) {
        root = load_read_only(reinterpret_cast<const uint4*>(base + size_t{my.own} * stride));
      } else {
        add_rows<P>(sum, base, stride, my.children);
        root = P::pack(sum);
#pragma unroll
        for (unsigned c = 0; c < P::kVector; ++c) sum[c] = 0;
      }
      add_rows<P>(sum, base, stride, my.entries);
    }
    *reinterpret_cast<uint4*>(roots + P::place(r, column)) = root;
    *reinterpret_cast<uint4*>(sums + P::place(r, column)) = P::pack(sum);
  }
}

/// What a block of threads leaves of a block of weights: both matrices' gradients (out × in) and the bias'.
inline constexpr unsigned kSlot = 2 * kBlock + kTile;

/// Sums a block of threads keeps over its tiles: warps 0 to 3 hold a quarter each of the roots' matrix, 4 to 7 of the
/// neighbours'; four threads a column of the bias.
struct WeightGradient {
  float weights[2][4][4] = {};
  float bias = 0;

  __device__ __forceinline__ static unsigned out0() { return (threadIdx.x >> 5 & 1) * 32; }
  __device__ __forceinline__ static unsigned in0() { return (threadIdx.x >> 6 & 1) * 32; }

  /// Adds outᵀ · in, where `out` and `in` are this warp's tiles.
  template <class Element>
  __device__ __forceinline__ void add(const Element* out, uint32_t out_width, const Element* in, uint32_t in_width,
                                      uint32_t rows) {
    if (out0() >= out_width || in0() >= in_width) return;
    multiply_columns(weights, out, out0(), out_width, in, in0(), in_width, rows);
  }
  template <class P>
  __device__ __forceinline__ void add_bias(const typename P::Element* out, uint32_t out_width, uint32_t rows) {
    const unsigned column = threadIdx.x % kTile, first = threadIdx.x / kTile * 16;
    if (column >= out_width) return;
    for (unsigned r = first; r < rows && r < first + 16; ++r) bias += P::value(out[P::place(r, column)]);
  }
  /// Uses the first kThreads floats of shared memory.
  __device__ __forceinline__ void leave(float* slot, uint32_t out_width, uint32_t in_width) const {
    const unsigned lane = threadIdx.x & 31, g = lane >> 2, t = lane & 3;
    if (out0() < out_width && in0() < in_width) {
      float* matrix = slot + (threadIdx.x < kThreads / 2 ? 0 : kBlock);
#pragma unroll
      for (unsigned m = 0; m < 2; ++m) {
#pragma unroll
        for (unsigned n = 0; n < 4; ++n) {
          float* to = matrix + (out0() + m * 16 + g) * kTile + in0() + n * 8 + 2 * t;
          *reinterpret_cast<float2*>(to) = make_float2(weights[m][n][0], weights[m][n][1]);
          *reinterpret_cast<float2*>(to + 8 * kTile) = make_float2(weights[m][n][2], weights[m][n][3]);
        }
      }
    }
    __syncthreads();
    float* shared = reinterpret_cast<float*>(dynamic_shared());
    shared[threadIdx.x] = bias;
    __syncthreads();
    if (threadIdx.x < kTile) {
      slot[2 * kBlock + threadIdx.x] = (shared[threadIdx.x] + shared[threadIdx.x + kTile]) +
                                       (shared[threadIdx.x + 2 * kTile] + shared[threadIdx.x + 3 * kTile]);
    }
  }
};

template <class P>
inline constexpr size_t kBackwardShared = 3 * kBlock * sizeof(typename P::Element) + kTile * sizeof(BackwardRow<P>);

/// dW = Sᵀ · H over the rows, dH = S · W, where S are the transposed sums of the output's gradient. A block of threads
/// takes every slices-th tile of input rows for one block of 64 × 64 weights; the one for the first 64 outputs also
/// makes the input's gradient.
template <class P>
__global__ void __launch_bounds__(kThreads, 2) backward_kernel(BackwardArguments<P> a) {
  using Element = typename P::Element;
  Element* roots = reinterpret_cast<Element*>(dynamic_shared());
  Element* sums = roots + kBlock;
  Element* inputs = sums + kBlock;
  BackwardRow<P>* info = reinterpret_cast<BackwardRow<P>*>(inputs + kBlock);
  const uint32_t in_blocks = (a.in_columns + kTile - 1) / kTile, out_blocks = (a.out_columns + kTile - 1) / kTile;
  const uint32_t units = in_blocks * out_blocks, unit = blockIdx.x % units, slice = blockIdx.x / units;
  const uint32_t i = unit / out_blocks, own = unit % out_blocks;
  const bool spread = own == 0;
  const uint32_t in_width = block_width(a.in_columns, i), own_width = block_width(a.out_columns, own);
  const unsigned warp = threadIdx.x >> 5, lane = threadIdx.x & 31, g = lane >> 2, t = lane & 3;
  const unsigned m0 = (warp & 1) * 32, n0 = (warp >> 1) * 16;  // of dH: rows, columns
  WeightGradient gradient;
  const uint32_t tiles = (a.in_rows.rows + a.tile_rows - 1) / a.tile_rows;
  for (uint32_t tile = slice; tile < tiles; tile += a.slices) {
    const uint32_t row0 = tile * a.tile_rows;
    const uint32_t rows = a.in_rows.rows - row0 < a.tile_rows ? a.in_rows.rows - row0 : a.tile_rows;
    const uint32_t padded = (rows + 15) & ~15u;
    __syncthreads();
    if (threadIdx.x < rows) info[threadIdx.x] = backward_row<P>(a, row0 + threadIdx.x);
    copy_rows<P>(a.in, row0, rows, padded, i * kTile, in_width, inputs);
    float d_in[2][2][4] = {};
    for (uint32_t j = own; j < (spread ? out_blocks : own + 1); ++j) {
      const uint32_t width = block_width(a.out_columns, j);
      __syncthreads();
      gather_gradients<P>(info, rows, padded, j * kTile, width, a.d_out.stride, roots, sums);
      __syncthreads();
      if (spread && m0 < rows && n0 < in_width) {
        const Element* block = a.weights + size_t{i * out_blocks + j} * 2 * kBlock;
        const bool second = m0 + 16 < rows;
        multiply_rows(d_in, roots, m0, second, block, n0 / 8, width / P::kStep);
        multiply_rows(d_in, sums, m0, second, block + kBlock, n0 / 8, width / P::kStep);
      }
      if (j == own) {
        gradient.add(warp < 4 ? roots : sums, own_width, inputs, in_width, padded);
        // Every output row has one root: the sum over all roots' sums is the bias' gradient.
        if (i == 0) gradient.add_bias<P>(roots, own_width, padded);
      }
    }
    if (!spread || m0 >= rows || n0 >= in_width) continue;
#pragma unroll
    for (unsigned m = 0; m < 2; ++m) {
#pragma unroll
      for (unsigned n = 0; n < 2; ++n) {
        const unsigned column = n0 + n * 8 + 2 * t;
#pragma unroll
        for (unsigned half = 0; half < 2; ++half) {
          const unsigned r = m0 + m * 16 + half * 8 + g;
          if (r >= rows) continue;
          float d[2];
#pragma unroll
          for (unsigned c = 0; c < 2; ++c) {
            const bool wanted = i * kTile + column + c < a.d_in_columns;
            const float h = P::value(inputs[P::place(r, column + c)]);
            d[c] = wanted ? d_in[m][n][half * 2 + c] * derivative(a.in_function, h) : 0.0f;
          }
          Element* to = a.d_in.data + size_t{row0 + r} * a.d_in.stride + i * kTile + column;
          if constexpr (sizeof(Element) == 2) {
            *reinterpret_cast<unsigned*>(to) = pack2(d[0], d[1]);
          } else {
            *reinterpret_cast<float2*>(to) = make_float2(d[0], d[1]);
          }
        }
      }
    }
  }
  gradient.leave(a.slots + (size_t{slice} * units + unit) * kSlot, own_width, in_width);
}

// ---- a level's first layer backwards, where nobody wants the gradient of its input

template <class P>
struct FirstBackwardArguments {
  BatchRows out_rows;
  const uint32_t* in_base;
  const Link* links;
  Rows<const typename P::Element> in;
  uint32_t in_columns;                    ///< a multiple of 16
  Rows<const typename P::Element> d_out;  ///< gradient of the layer's output before its activation
  uint32_t out_columns;                   ///< a multiple of 16
  float* slots;
  uint32_t slices;
  uint32_t tile_rows;  ///< 16, 32 or 64
};

template <class P>
inline constexpr size_t kFirstBackwardShared = 3 * kBlock * sizeof(typename P::Element) + kTile * sizeof(ForwardRow<P>);

/// dW = dZᵀ · [h_root | Σ h_neighbour] over the rows of the output. On quotients the first layer has few rows in, each
/// with hundreds of neighbours out, and narrow ones: gathered forwards again, they cost nothing.
template <class P>
__global__ void __launch_bounds__(kThreads, 2) first_backward_kernel(FirstBackwardArguments<P> a) {
  using Element = typename P::Element;
  Element* roots = reinterpret_cast<Element*>(dynamic_shared());
  Element* sums = roots + kBlock;
  Element* gradients = sums + kBlock;
  ForwardRow<P>* info = reinterpret_cast<ForwardRow<P>*>(gradients + kBlock);
  const uint32_t in_blocks = (a.in_columns + kTile - 1) / kTile, out_blocks = (a.out_columns + kTile - 1) / kTile;
  const uint32_t units = in_blocks * out_blocks, unit = blockIdx.x % units, slice = blockIdx.x / units;
  const uint32_t i = unit / out_blocks, own = unit % out_blocks;
  const uint32_t in_width = block_width(a.in_columns, i), own_width = block_width(a.out_columns, own);
  WeightGradient gradient;
  const uint32_t tiles = (a.out_rows.rows + a.tile_rows - 1) / a.tile_rows;
  for (uint32_t tile = slice; tile < tiles; tile += a.slices) {
    const uint32_t row0 = tile * a.tile_rows;
    const uint32_t rows = a.out_rows.rows - row0 < a.tile_rows ? a.out_rows.rows - row0 : a.tile_rows;
    const uint32_t padded = (rows + 15) & ~15u;
    __syncthreads();
    if (threadIdx.x < rows) {
      info[threadIdx.x] = forward_row<P>(a.out_rows, a.in_base, a.links, a.in, row0 + threadIdx.x);
    }
    copy_rows<P>(a.d_out, row0, rows, padded, own * kTile, own_width, gradients);
    __syncthreads();
    gather_inputs<P>(info, rows, padded, i * kTile, in_width, a.in.stride, roots, sums);
    __syncthreads();
    gradient.add(gradients, own_width, threadIdx.x < kThreads / 2 ? roots : sums, in_width, padded);
    if (i == 0) gradient.add_bias<P>(gradients, own_width, padded);
  }
  gradient.leave(a.slots + (size_t{slice} * units + unit) * kSlot, own_width, in_width);
}

}  // namespace tyche::engine::TYCHE_CUDA_NS
