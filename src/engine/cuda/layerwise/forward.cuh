#pragma once
/// A linear step forwards, as a kernel: what a GraphConv is, with one operand of two matrices; a linear layer, whose
/// rows see themselves alone; or anything with more operands (kMore).
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
  nn::Activation activation;
  bool activates;      ///< false: the output is as it is
  uint32_t tile_rows;  ///< 16, 32 or 64
  LinearOperand<P> operands[kMore ? kMostOperands : 1];
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
      unrolled<P::kVector>([&](unsigned c) { sum[c] *= scale; });
    }
    *reinterpret_cast<uint4*>(roots + P::place(r, column)) = root;
    *reinterpret_cast<uint4*>(sums + P::place(r, column)) = P::pack(sum);
  }
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
  const uint32_t row0 = tile * a.tile_rows;
  const uint32_t rows = a.out_rows.rows - row0 < a.tile_rows ? a.out_rows.rows - row0 : a.tile_rows;
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
      gather_inputs<P>(info, rows, padded, k * kTile, width, from.in.stride, roots, sums);
      __syncthreads();
      if (m0 < rows && n0 < columns) {
        const Element* block = from.weights + size_t{k * a.out_blocks + out_block} * 2 * kBlock;
        const bool second = m0 + 16 < rows;
        multiply_rows(acc, roots, m0, second, block, n0 / 8, width / P::kStep);
        if (from.links != nullptr) multiply_rows(acc, sums, m0, second, block + kBlock, n0 / 8, width / P::kStep);
      }
    }
  }
  const unsigned g = lane >> 2, t = lane & 3;
  unrolled<2>([&](unsigned m) {
    unrolled<2>([&](unsigned n) {
      const uint32_t column = out_block * kTile + n0 + n * 8 + 2 * t;
      if (column >= a.out_columns) return;
      const bool both = column + 1 < a.out_columns;
      const float bias0 = a.bias == nullptr ? 0.0f : a.bias[column];
      const float bias1 = a.bias == nullptr || !both ? 0.0f : a.bias[column + 1];
      unrolled<2>([&](unsigned half) {
        const uint32_t r = m0 + m * 16 + half * 8 + g;
        if (r >= rows) return;
        Out* to = out.data + size_t{row0 + r} * out.stride + column;
        float z0 = acc[m][n][half * 2] + bias0, z1 = acc[m][n][half * 2 + 1] + bias1;
        if (a.activates) {
          z0 = activated<P::kFast>(a.activation, z0);
          z1 = activated<P::kFast>(a.activation, z1);
        }
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
      });
    });
  });
}

}  // namespace tyche::engine::TYCHE_CUDA_NS
