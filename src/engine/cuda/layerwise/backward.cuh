#pragma once
/// An operand of a linear step backwards, as kernels: gradients are gathered, never scattered, so that nothing depends
/// on timing. Every block of threads adds up its share of the weights' gradient in registers and leaves it in a slot of
/// its own; Adam (ends.cuh) adds up the slots.
#include "engine/cuda/layerwise/forward.cuh"

namespace tyche::engine::TYCHE_CUDA_NS {

template <class P>
struct BackwardArguments {
  BatchRows in_rows;
  const uint32_t* out_base;
  const Link* links;
  bool mean;
  Rows<const typename P::Element> in;     ///< the layer's input
  uint32_t in_columns;                    ///< a multiple of 16
  Rows<const typename P::Element> d_out;  ///< gradient of the layer's output before its activation
  uint32_t out_columns;                   ///< a multiple of 16
  Rows<typename P::Element> d_in;         ///< of its input, before that one's activation
  uint32_t d_in_columns;                  ///< zeros are written from this column on
  bool accumulate;                        ///< adds to d_in
  Slope slope;                            ///< of the input
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
  const float* weights = a.mean ? link.back_means : link.back_sums;
  my.entries = {link.back_columns + begin, weights == nullptr ? nullptr : weights + begin, end - begin};
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
        unrolled<P::kVector>([&](unsigned c) { sum[c] = 0; });
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
/// neighbours'; four threads per column of the bias.
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
      unrolled<2>([&](unsigned m) {
        unrolled<4>([&](unsigned n) {
          float* to = matrix + (out0() + m * 16 + g) * kTile + in0() + n * 8 + 2 * t;
          *reinterpret_cast<float2*>(to) = make_float2(weights[m][n][0], weights[m][n][1]);
          *reinterpret_cast<float2*>(to + 8 * kTile) = make_float2(weights[m][n][2], weights[m][n][3]);
        });
      });
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
    unrolled<2>([&](unsigned m) {
      unrolled<2>([&](unsigned n) {
        const unsigned column = n0 + n * 8 + 2 * t;
        unrolled<2>([&](unsigned half) {
          const unsigned r = m0 + m * 16 + half * 8 + g;
          if (r >= rows) return;
          float d[2];
          Element* to = a.d_in.data + size_t{row0 + r} * a.d_in.stride + i * kTile + column;
          unrolled<2>([&](unsigned c) {
            const bool wanted = i * kTile + column + c < a.d_in_columns;
            const float h = P::value(inputs[P::place(r, column + c)]);
            d[c] = wanted ? d_in[m][n][half * 2 + c] * slope_at(a.slope, h) : 0.0f;
            if (a.accumulate) d[c] += P::value(to[c]);
          });
          if constexpr (sizeof(Element) == 2) {
            *reinterpret_cast<unsigned*>(to) = pack2(d[0], d[1]);
          } else {
            *reinterpret_cast<float2*>(to) = make_float2(d[0], d[1]);
          }
        });
      });
    });
  }
  gradient.leave(a.slots + (size_t{slice} * units + unit) * kSlot, own_width, in_width);
}

// ---- where nobody wants the gradient of the input, as in a first layer

template <class P>
struct FirstBackwardArguments {
  BatchRows out_rows;
  LinearOperand<P> from;
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
  const uint32_t in_blocks = (a.from.in_columns + kTile - 1) / kTile, out_blocks = (a.out_columns + kTile - 1) / kTile;
  const uint32_t units = in_blocks * out_blocks, unit = blockIdx.x % units, slice = blockIdx.x / units;
  const uint32_t i = unit / out_blocks, own = unit % out_blocks;
  const uint32_t in_width = block_width(a.from.in_columns, i), own_width = block_width(a.out_columns, own);
  WeightGradient gradient;
  const uint32_t tiles = (a.out_rows.rows + a.tile_rows - 1) / a.tile_rows;
  for (uint32_t tile = slice; tile < tiles; tile += a.slices) {
    const uint32_t row0 = tile * a.tile_rows;
    const uint32_t rows = a.out_rows.rows - row0 < a.tile_rows ? a.out_rows.rows - row0 : a.tile_rows;
    const uint32_t padded = (rows + 15) & ~15u;
    __syncthreads();
    if (threadIdx.x < rows) info[threadIdx.x] = forward_row<P>(a.out_rows, a.from, row0 + threadIdx.x);
    copy_rows<P>(a.d_out, row0, rows, padded, own * kTile, own_width, gradients);
    __syncthreads();
    gather_inputs<P>(info, rows, padded, i * kTile, in_width, a.from.in.stride, roots, sums);
    __syncthreads();
    gradient.add(gradients, own_width, threadIdx.x < kThreads / 2 ? roots : sums, in_width, padded);
    if (i == 0) gradient.add_bias<P>(gradients, own_width, padded);
  }
  gradient.leave(a.slots + (size_t{slice} * units + unit) * kSlot, own_width, in_width);
}

}  // namespace tyche::engine::TYCHE_CUDA_NS
