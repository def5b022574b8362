#pragma once
/// A linear step over links, as kernels: what a GraphConv is, with one operand of two matrices, or anything with more
/// operands (kMore), of which some may be rows that see themselves alone. Backwards gradients are gathered, never
/// scattered, so that nothing depends on timing: every block of threads adds up its share of the weights' gradient in
/// registers and leaves it in a slot of its own; Adam (ends.cuh) adds up the slots.
#include "engine/cuda/layerwise/rows.cuh"

namespace tyche::engine::TYCHE_CUDA_NS {

/// A value as a linear step reads it: its row, and over a link the sum or mean of others.
template <class P>
struct LinearOperand {
  const uint32_t* in_base;
  const Link* links;  ///< null: the row itself alone
  bool mean;
  Rows<const typename P::Element> in;
  uint32_t in_columns;  ///< a multiple of 16
  const typename P::Element* weights;
};

inline constexpr uint32_t kMostOperands = 8;

template <class P, bool kMore>
struct ForwardArguments {
  BatchRows out_rows;
  uint32_t count;  ///< of operands
  uint32_t out_columns;
  uint32_t out_blocks;  ///< of 64 columns
  const float* bias;    ///< or null
  Slope slope;          ///< what becomes of the sums
  uint32_t tile_rows;   ///< 16, 32 or 64
  LinearOperand<P> operands[kMore ? kMostOperands : 1];
};

/// What a row of the output is made of.
template <class P>
struct ForwardRow {
  const typename P::Element *root, *from;
  Entries<uint16_t> entries;
  float scale;

  __device__ __forceinline__ void read(uint32_t column, size_t stride, uint4& own, float (&sum)[P::kVector]) const {
    own = load_read_only(reinterpret_cast<const uint4*>(root + column));
    add_rows<P>(sum, from + column, stride, entries);
    const float factor = scale;
    unrolled<P::kVector>([&](unsigned c) { sum[c] *= factor; });
  }
};

/// The row's own and its neighbours' places in the layer's input.
template <class P>
__device__ __forceinline__ ForwardRow<P> forward_row(const BatchRows& out_rows, const LinearOperand<P>& from,
                                                     uint32_t row) {
  const Rows<const typename P::Element>& in = from.in;
  if (from.links == nullptr) {
    const typename P::Element* own = in.data + size_t{row} * in.stride;
    return {own, own, {nullptr, nullptr, 0}, 0.0f};
  }
  const uint32_t b = graph_of(out_rows.base, out_rows.graphs, row), v = row - out_rows.base[b];
  const Link& link = from.links[out_rows.ids[b]];
  const uint32_t begin = load_read_only(link.offsets + v), end = load_read_only(link.offsets + v + 1);
  const uint32_t own = link.roots == nullptr ? v : load_read_only(link.roots + v);
  ForwardRow<P> my;
  my.from = in.data + size_t{from.in_base[b]} * in.stride;
  my.root = my.from + size_t{own} * in.stride;
  my.entries = {link.columns + begin, link.counts == nullptr ? nullptr : link.counts + begin, end - begin};
  my.scale = from.mean ? load_read_only(link.scales + v) : 1.0f;
  return my;
}

/// Of a tile's rows what they have of their own beside what they sum up ([h_root | Σ h_neighbour], or that of gradients
/// back), `width` columns from `first` on, rows from `rows` to `padded` zero.
template <class P, class Row>
__device__ __forceinline__ void gather_rows(const Row* info, uint32_t rows, uint32_t padded, uint32_t first,
                                            uint32_t width, size_t stride, typename P::Element* roots,
                                            typename P::Element* sums) {
  for_vectors<P>(padded, width, [&](unsigned r, unsigned column) {
    uint4 root = make_uint4(0, 0, 0, 0);
    float sum[P::kVector] = {};
    if (r < rows) info[r].read(first + column, stride, root, sum);
    *reinterpret_cast<uint4*>(roots + P::place(r, column)) = root;
    *reinterpret_cast<uint4*>(sums + P::place(r, column)) = P::pack(sum);
  });
}

template <class P>
inline constexpr size_t kForwardShared = 2 * kBlock * sizeof(typename P::Element) + kTile * sizeof(ForwardRow<P>);

/// out = f(Σ over operands of [h_root | Σ h_neighbour] · W + b): one block of threads per tile of rows and 64 columns.
template <class P, class Out, bool kMore>
__global__ void __launch_bounds__(kThreads, 3) forward_kernel(ForwardArguments<P, kMore> a, Rows<Out> out) {
  using Element = typename P::Element;
  Element* roots = reinterpret_cast<Element*>(dynamic_shared());
  Element* sums = roots + kBlock;
  ForwardRow<P>* info = reinterpret_cast<ForwardRow<P>*>(sums + kBlock);
  const uint32_t tile = blockIdx.x / a.out_blocks, out_block = blockIdx.x % a.out_blocks;
  const Tile part = tile_of(a.out_rows, a.tile_rows, tile);
  const uint32_t row0 = part.first, rows = part.rows;
  const uint32_t padded = (rows + 15) & ~15u;
  const unsigned warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
  const unsigned m0 = (warp & 1) * 32, n0 = (warp >> 1) * 16;
  const uint32_t columns = block_width(a.out_columns, out_block);
  float acc[2][2][4] = {};
  for (uint32_t o = 0; o < (kMore ? a.count : 1); ++o) {
    const LinearOperand<P>& from = a.operands[o];
    if (threadIdx.x < rows) info[threadIdx.x] = forward_row<P>(a.out_rows, from, row0 + threadIdx.x);
    const uint32_t in_blocks = (from.in_columns + kTile - 1) / kTile;
    for (uint32_t k = 0; k < in_blocks; ++k) {
      const uint32_t width = block_width(from.in_columns, k);
      __syncthreads();
      gather_rows<P>(info, rows, padded, k * kTile, width, from.in.stride, roots, sums);
      __syncthreads();
      if (m0 < rows && n0 < columns) {
        const Element* block = from.weights + size_t{k * a.out_blocks + out_block} * 2 * kBlock;
        const bool second = m0 + 16 < rows;
        multiply_rows<P>(acc, roots, m0, second, block, n0 / 8, width / P::kStep);
        if (from.links != nullptr) multiply_rows<P>(acc, sums, m0, second, block + kBlock, n0 / 8, width / P::kStep);
      }
    }
  }
  const unsigned g = lane >> 2, t = lane & 3;
  unrolled<2>([&](unsigned m) {
    unrolled<2>([&](unsigned n) {
      const uint32_t column = out_block * kTile + n0 + n * 8 + 2 * t;
      if (column >= a.out_columns) return;
      const bool both = column + 1 < a.out_columns;
      float bias[2];
      unrolled<2>([&](unsigned c) { bias[c] = a.bias == nullptr || (c > 0 && !both) ? 0.0f : a.bias[column + c]; });
      unrolled<2>([&](unsigned half) {
        const uint32_t r = m0 + m * 16 + half * 8 + g;
        if (r >= rows) return;
        Out* to = out.data + size_t{row0 + r} * out.stride + column;
        float z[2] = {acc[m][n][half * 2] + bias[0], acc[m][n][half * 2 + 1] + bias[1]};
        unrolled<2>([&](unsigned c) {
          if (a.slope.activated) z[c] = activated<P::kFast>(a.slope.activation, z[c]);
        });
        if (both) {
          Of<Out>::store_two(to, z);
        } else {
          *to = Of<Out>::element(z[0]);
        }
      });
    });
  });
}

// ---- back

template <class P>
struct BackwardArguments {
  LinearOperand<P> from;  ///< weights: of the copy for gradients
  BatchRows rows;         ///< of the input; of the output where nobody wants the gradient of the input
  const uint32_t* out_base;
  Rows<const typename P::Element> d_out;  ///< before the activation
  uint32_t out_columns;                   ///< a multiple of 16
  float* slots;                           ///< slices × blocks of weights × kSlot
  uint32_t slices;
  uint32_t tile_rows;  ///< 16, 32 or 64
  Leaving<P> d_in;
};

/// Where the gradient of a row of the input comes from. Without children its own row of the output is its child.
template <class P>
struct BackwardRow {
  const typename P::Element* from;
  Entries<float> children, entries;
  uint32_t own;

  __device__ __forceinline__ void read(uint32_t column, size_t stride, uint4& root, float (&sum)[P::kVector]) const {
    const typename P::Element* base = from + column;
    if (children.columns == nullptr) {
      root = load_read_only(reinterpret_cast<const uint4*>(base + size_t{own} * stride));
    } else {
      add_rows<P>(sum, base, stride, children);
      root = P::pack(sum);
      unrolled<P::kVector>([&](unsigned c) { sum[c] = 0; });
    }
    add_rows<P>(sum, base, stride, entries);
  }
};

template <class P>
__device__ __forceinline__ BackwardRow<P> backward_row(const BackwardArguments<P>& a, uint32_t row) {
  const uint32_t b = graph_of(a.rows.base, a.rows.graphs, row), v = row - a.rows.base[b];
  const Link& link = a.from.links[a.rows.ids[b]];
  const uint32_t begin = load_read_only(link.back_offsets + v), end = load_read_only(link.back_offsets + v + 1);
  BackwardRow<P> my;
  my.from = a.d_out.data + size_t{a.out_base[b]} * a.d_out.stride;
  const float* weights = a.from.mean ? link.back_means : link.back_sums;
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

/// What a block of threads leaves of a block of weights: both matrices' gradients (out × in) and the bias'.
inline constexpr unsigned kSlot = 2 * kBlock + kTile;

/// The block of weights that a block of threads works for, and its slice of the rows.
struct WeightUnit {
  uint32_t out_blocks, units, unit, slice, in, out, in_width, out_width;

  template <class P>
  __device__ __forceinline__ explicit WeightUnit(const BackwardArguments<P>& a)
      : out_blocks((a.out_columns + kTile - 1) / kTile),
        units((a.from.in_columns + kTile - 1) / kTile * out_blocks),
        unit(blockIdx.x % units),
        slice(blockIdx.x / units),
        in(unit / out_blocks),
        out(unit % out_blocks),
        in_width(block_width(a.from.in_columns, in)),
        out_width(block_width(a.out_columns, out)) {}
};

/// Sums a block of threads keeps over its tiles: warps 0 to 3 hold a quarter each of the roots' matrix, 4 to 7 of the
/// neighbours'; four threads per column of the bias.
template <class P>
struct WeightGradient {
  using Element = typename P::Element;

  float weights[2][4][4] = {};
  float bias = 0;

  __device__ __forceinline__ static unsigned out0() { return (threadIdx.x >> 5 & 1) * 32; }
  __device__ __forceinline__ static unsigned in0() { return (threadIdx.x >> 6 & 1) * 32; }

  /// Adds outᵀ · in, where `out` and `in` are this warp's tiles.
  __device__ __forceinline__ void add(const WeightUnit& own, const Element* out, const Element* in, uint32_t rows) {
    if (out0() >= own.out_width || in0() >= own.in_width) return;
    multiply_columns<P>(weights, out, out0(), own.out_width, in, in0(), own.in_width, rows);
  }
  __device__ __forceinline__ void add_bias(const WeightUnit& own, const Element* out, uint32_t rows) {
    const unsigned column = threadIdx.x % kTile, first = threadIdx.x / kTile * 16;
    if (own.in > 0 || column >= own.out_width) return;
    for (unsigned r = first; r < rows && r < first + 16; ++r) bias += P::value(out[P::place(r, column)]);
  }
  /// Uses the first kThreads floats of shared memory.
  __device__ __forceinline__ void leave(const BackwardArguments<P>& a, const WeightUnit& own) const {
    const unsigned lane = threadIdx.x & 31, g = lane >> 2, t = lane & 3;
    float* slot = a.slots + (size_t{own.slice} * own.units + own.unit) * kSlot;
    float* matrix = slot + (threadIdx.x < kThreads / 2 ? 0 : kBlock) + out0() * kTile + in0();
    if (out0() < own.out_width && in0() < own.in_width) {
      unrolled<2>([&](unsigned m) {
        unrolled<4>([&](unsigned n) {
          float* to = matrix + (m * 16 + g) * kTile + n * 8 + 2 * t;
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

template <class P, bool kFirst>
using GradientRow = std::conditional_t<kFirst, ForwardRow<P>, BackwardRow<P>>;
template <class P, bool kFirst>
inline constexpr size_t kBackwardShared = 3 * kBlock * sizeof(typename P::Element) + kTile *
                                                                                         sizeof(GradientRow<P, kFirst>);

/// dW = Sᵀ · H over the rows, dH = S · W, where S are the transposed sums of the output's gradient. A block of threads
/// takes every slices-th tile of input rows for one block of 64 × 64 weights; the one for the first 64 outputs also
/// makes the input's gradient. kFirst: dW = dZᵀ · [h_root | Σ h_neighbour] over the rows of the output, where nobody
/// wants the gradient of the input. On quotients the first layer has few rows in, each with hundreds of neighbours out,
/// and narrow ones: gathered forwards again, they cost nothing.
template <class P, bool kFirst>
__global__ void __launch_bounds__(kThreads, 2) backward_kernel(BackwardArguments<P> a) {
  using Element = typename P::Element;
  Element* roots = reinterpret_cast<Element*>(dynamic_shared());
  Element* sums = roots + kBlock;
  Element* plain = sums + kBlock;
  auto* info = reinterpret_cast<GradientRow<P, kFirst>*>(plain + kBlock);
  const WeightUnit own(a);
  const bool spread = own.out == 0;
  const unsigned warp = threadIdx.x >> 5, lane = threadIdx.x & 31, g = lane >> 2, t = lane & 3;
  const unsigned m0 = (warp & 1) * 32, n0 = (warp >> 1) * 16;  // of dH: rows, columns
  WeightGradient<P> gradient;
  for (uint32_t tile = own.slice; size_t{tile} * a.tile_rows < a.rows.rows; tile += a.slices) {
    const Tile part = tile_of(a.rows, a.tile_rows, tile);
    const uint32_t row0 = part.first, rows = part.rows, padded = (rows + 15) & ~15u;
    __syncthreads();
    if constexpr (kFirst) {
      if (threadIdx.x < rows) info[threadIdx.x] = forward_row<P>(a.rows, a.from, row0 + threadIdx.x);
      copy_rows<P>(a.d_out, row0, rows, padded, own.out * kTile, own.out_width, plain);
      __syncthreads();
      gather_rows<P>(info, rows, padded, own.in * kTile, own.in_width, a.from.in.stride, roots, sums);
      __syncthreads();
      gradient.add(own, plain, warp < 4 ? roots : sums, padded);
      gradient.add_bias(own, plain, padded);
      continue;
    } else {
      if (threadIdx.x < rows) info[threadIdx.x] = backward_row<P>(a, row0 + threadIdx.x);
      copy_rows<P>(a.from.in, row0, rows, padded, own.in * kTile, own.in_width, plain);
      float d_in[2][2][4] = {};
      for (uint32_t j = own.out; j < (spread ? own.out_blocks : own.out + 1); ++j) {
        const uint32_t width = block_width(a.out_columns, j);
        __syncthreads();
        gather_rows<P>(info, rows, padded, j * kTile, width, a.d_out.stride, roots, sums);
        __syncthreads();
        if (spread && m0 < rows && n0 < own.in_width) {
          const Element* block = a.from.weights + size_t{own.in * own.out_blocks + j} * 2 * kBlock;
          const bool second = m0 + 16 < rows;
          multiply_rows<P>(d_in, roots, m0, second, block, n0 / 8, width / P::kStep);
          multiply_rows<P>(d_in, sums, m0, second, block + kBlock, n0 / 8, width / P::kStep);
        }
        if (j == own.out) {
          gradient.add(own, warp < 4 ? roots : sums, plain, padded);
          gradient.add_bias(own, roots, padded);  // every output row has one root: all roots' sums make it
        }
      }
      if (!spread || m0 >= rows || n0 >= own.in_width) continue;
      unrolled<2>([&](unsigned m) {
        unrolled<2>([&](unsigned n) {
          const unsigned column = n0 + n * 8 + 2 * t;
          unrolled<2>([&](unsigned half) {
            const unsigned r = m0 + m * 16 + half * 8 + g;
            if (r >= rows) return;
            float d[2];
            Element* to = a.d_in.to.data + size_t{row0 + r} * a.d_in.to.stride + own.in * kTile + column;
            unrolled<2>([&](unsigned c) {
              const bool wanted = own.in * kTile + column + c < a.d_in.columns;
              const float h = P::value(plain[P::place(r, column + c)]);
              d[c] = wanted ? d_in[m][n][half * 2 + c] * slope_at(a.d_in.slope, h) : 0.0f;
              if (a.d_in.accumulate) d[c] += P::value(to[c]);
            });
            P::store_two(to, d);
          });
        });
      });
    }
  }
  gradient.leave(a, own);
}

}  // namespace tyche::engine::TYCHE_CUDA_NS
