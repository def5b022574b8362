#pragma once
/// The gradient of the weights of a linear step whose rows see themselves alone, as a kernel: dW = dZᵀ · H. A block of
/// threads has up to 128 columns of each, so that both are read once or a few times, and every so-manyth tile of 64
/// rows; it leaves its sums in a slot of linked.cuh. What is the same for every tile (places, a norm's coefficients) is
/// found once; what is beyond a matrix's columns is whatever stands there, multiplied for nobody.
#include "engine/cuda/layerwise/dense.cuh"

namespace tyche::engine::TYCHE_CUDA_NS {

/// How the columns of both are cut: into parts of `in` by `out` columns, multiples of 16 and at most 32 units.
struct WeightsShape {
  uint32_t unit;  ///< 2, 3 or 4
  uint32_t in, out, in_parts, parts;
};
constexpr WeightsShape weights_shape(uint32_t in_columns, uint32_t out_columns, uint32_t most_unit) {
  const auto parts = [&](uint32_t columns) { return (columns + 32 * most_unit - 1) / (32 * most_unit); };
  const auto width = [&](uint32_t columns) { return ((columns + parts(columns) - 1) / parts(columns) + 15) / 16 * 16; };
  const uint32_t in = width(in_columns), out = width(out_columns), wide = std::max(in, out);
  return {std::max(2u, (wide + 31) / 32), in, out, parts(in_columns), parts(in_columns) * parts(out_columns)};
}
/// Slices of rows: every one leaves a gradient, which Adam reads. Of four tiles or more, of two where there are few.
inline uint32_t weights_slices(uint32_t rows, uint32_t in_columns, uint32_t out_columns, uint32_t blocks_at_once) {
  const uint32_t tiles = (rows + kTile - 1) / kTile, narrow = weights_shape(in_columns, out_columns, 2).parts;
  return std::max((tiles + 3) / 4, std::min((tiles + 1) / 2, std::max(1u, blocks_at_once / 4 / narrow)));
}

/// What a gradient of weights is made of, and where it is left.
template <class P>
struct DenseWeights {
  uint32_t rows;
  Source<P> in;  ///< plain or normalised
  Rows<const typename P::Element> d_out;
  uint32_t in_columns, out_columns;  ///< multiples of 16
  float* slots;
  uint32_t slices;
  bool biased;  ///< somebody wants the gradient of a bias
  WeightsShape shape;
};

/// Tiles that are there or on their way.
template <class P>
inline constexpr unsigned kStages = 8 / sizeof(typename P::Element);
/// Of one matrix in a tile: blocks of 64 columns.
constexpr unsigned side_size(unsigned unit) { return (unit + 1) / 2 * kBlock; }
template <class P>
constexpr size_t weights_shared(unsigned unit) {
  return kStages<P> * 2 * side_size(unit) * sizeof(typename P::Element);
}

template <class P>
__device__ __forceinline__ unsigned side_place(unsigned row, unsigned column) {
  return column / kTile * kBlock + P::place(row, column % kTile);
}

/// What a warp has of a tile: columns out0 + 16 m … of dZ and in0 + 8 n … of H. add(): their product, and (kBias) the
/// sum of the rows of dZ, in every column of bias[m].
template <class P, unsigned kUnit>
struct Corner;
template <unsigned kUnit>
struct Corner<Mixed, kUnit> {
  unsigned of_d[kUnit], of_in[(kUnit + 1) / 2];  ///< where this lane reads first

  __device__ __forceinline__ Corner(unsigned out0, unsigned in0) {
    const unsigned row = threadIdx.x & 7, odd = (threadIdx.x >> 3 & 1) * 8, upper = (threadIdx.x >> 4 & 1) * 8;
    // A number from a lane, its own, is not found again for every tile.
    const auto own = [&](unsigned place) { return shfl(place, static_cast<int>(threadIdx.x & 31)); };
    unrolled<kUnit>([&](unsigned m) { of_d[m] = own(side_place<Mixed>(row + upper, out0 + m * 16 + odd)); });
    unrolled<(kUnit + 1) / 2>([&](unsigned n) { of_in[n] = own(side_place<Mixed>(row + odd, in0 + n * 16 + upper)); });
  }
  template <bool kBias>
  __device__ __forceinline__ void add(float (&sums)[kUnit][kUnit][4], float (&bias)[kUnit][4], const Half* d,
                                      const Half* in) const {
    constexpr unsigned kOnes = 0x3c003c00;
    unrolled<kTile / 16>([&](unsigned s) {
      const unsigned k = s * 16 * kTile;
      unsigned a[kUnit][4], b[kUnit / 2][4], last[2];
      unrolled<kUnit / 2>([&](unsigned n) { ldmatrix_x4_trans(b[n], in + of_in[n] + k); });
      if constexpr (kUnit % 2 != 0) ldmatrix_x2_trans(last, in + of_in[kUnit / 2] + k);
      unrolled<kUnit>([&](unsigned m) { ldmatrix_x4_trans(a[m], d + of_d[m] + k); });
      unrolled<kUnit>([&](unsigned m) {
        unrolled<kUnit / 2>([&](unsigned n) {
          mma_16816(sums[m][2 * n], a[m], b[n][0], b[n][1]);
          mma_16816(sums[m][2 * n + 1], a[m], b[n][2], b[n][3]);
        });
        if constexpr (kUnit % 2 != 0) mma_16816(sums[m][kUnit - 1], a[m], last[0], last[1]);
        if constexpr (kBias) mma_16816(bias[m], a[m], kOnes, kOnes);
      });
    });
  }
};
template <unsigned kUnit>
struct Corner<Full, kUnit> {
  unsigned out0, in0;

  __device__ __forceinline__ Corner(unsigned first_out, unsigned first_in) : out0(first_out), in0(first_in) {}
  template <bool kBias>
  __device__ __forceinline__ void add(float (&sums)[kUnit][kUnit][4], float (&bias)[kUnit][4], const float* d,
                                      const float* in) const {
    constexpr unsigned kOne = 0x3f800000;
    const unsigned g = threadIdx.x >> 2 & 7, t = threadIdx.x & 3;
    const auto at = [&](const float* tile, unsigned row, unsigned column) {
      return bits_of(tile[side_place<Full>(row, column)]);
    };
    for (unsigned k = 0; k < kTile; k += 8, d += 8 * kTile, in += 8 * kTile) {
      Full::Right b[kUnit];
      unrolled<kUnit>([&](unsigned n) { b[n] = {at(in, t, in0 + n * 8 + g), at(in, t + 4, in0 + n * 8 + g)}; });
      unrolled<kUnit>([&](unsigned m) {
        unsigned a[4];
        unrolled<4>([&](unsigned i) { a[i] = at(d, t + (i >> 1) * 4, out0 + m * 16 + g + (i & 1) * 8); });
        const Full::Left left(a);
        if constexpr (kBias) Full::multiply(bias[m], left, {kOne, kOne});
        unrolled<kUnit>([&](unsigned n) { Full::multiply(sums[m][n], left, b[n]); });
      });
    }
  }
};

/// Two by four warps have 16 kUnit columns of dZ by 8 kUnit of H each. A thread's vectors of all tiles have one column.
template <class P, unsigned kUnit>
__global__ void __launch_bounds__(kThreads, 1) weights_kernel(DenseWeights<P> a) {
  using Element = typename P::Element;
  Element* const stages = reinterpret_cast<Element*>(dynamic_shared());
  constexpr unsigned kSide = side_size(kUnit), kAcross = kSide / kTile / P::kVector, kDown = kThreads / kAcross;
  const uint32_t part = blockIdx.x % a.shape.parts, slice = blockIdx.x / a.shape.parts;
  const uint32_t in_first = part % a.shape.in_parts * a.shape.in, out_first = part / a.shape.in_parts * a.shape.out;
  const uint32_t in_end = a.in_columns - in_first < a.shape.in ? a.in_columns - in_first : a.shape.in;
  const uint32_t out_end = a.out_columns - out_first < a.shape.out ? a.out_columns - out_first : a.shape.out;
  const unsigned own_row = threadIdx.x / kAcross, column = threadIdx.x % kAcross * P::kVector;
  const unsigned own_place = side_place<P>(own_row, column);
  const Element* const in_from = a.in.in.data + in_first + column;
  const Element* const d_from = a.d_out.data + out_first + column;
  const auto fetch_side = [&](uint32_t row0, const Element* from, uint32_t stride, Element* to) {
    unrolled<kTile / kDown>([&](unsigned i) {
      const uint32_t row = row0 + i * kDown + own_row;
      cp_async16_or_zero(to + own_place + i * kDown * kTile, from + size_t{row} * stride, row < a.rows);
    });
  };
  const auto fetch = [&](uint32_t row0, Element* to) {
    if (row0 < a.rows && column < in_end) fetch_side(row0, in_from, a.in.in.stride, to);
    if (row0 < a.rows && column < out_end) fetch_side(row0, d_from, a.d_out.stride, to + kSide);
    cp_async_commit();
  };
  pdl_wait();
  pdl_trigger();
  const uint32_t apart = a.slices * kTile;
  uint32_t ahead = slice * kTile;
  unrolled<kStages<P> - 1>([&](unsigned i) {
    fetch(ahead, stages + i * 2 * kSide);
    ahead += apart;
  });
  const bool sees = a.in.seen == Seen::normalised && column < in_end;
  float of_in[P::kVector] = {}, fixed[P::kVector] = {};
  if (sees) {
    load_floats(a.in.of_in + in_first + column, of_in);
    load_floats(a.in.fixed + in_first + column, fixed);
  }
  const unsigned warp = shfl(threadIdx.x >> 5, 0), out0 = warp / 4 * kUnit * 16, in0 = warp % 4 * kUnit * 8;
  const bool works = out0 < out_end && in0 < in_end, biased = a.biased && in_first == 0 && in0 == 0;
  const Corner<P, kUnit> corner(out0, in0);
  float sums[kUnit][kUnit][4] = {}, bias[kUnit][4] = {};
  unsigned stage = 0;
  for (uint32_t row0 = slice * kTile; row0 < a.rows; row0 += apart) {
    Element* const in = stages + stage * 2 * kSide;
    cp_async_wait<kStages<P> - 2>();
#pragma unroll 1
    for (unsigned r = 0; sees && r < kTile; r += 2 * kDown) {
      uint4* at[2];
      float v[2 * P::kVector];
      unrolled<2>([&](unsigned i) {
        float own[P::kVector];
        at[i] = reinterpret_cast<uint4*>(in + own_place + (r + i * kDown) * kTile);
        P::unpack(*at[i], own);
        unrolled<P::kVector>([&](unsigned c) { v[i * P::kVector + c] = own[c] * of_in[c] + fixed[c]; });
      });
      activate<P>(a.in.slope, v);
      unrolled<2>([&](unsigned i) {
        float own[P::kVector];
        unrolled<P::kVector>([&](unsigned c) { own[c] = v[i * P::kVector + c]; });
        *at[i] = P::pack(own);
      });
    }
    __syncthreads();  // the tile is there, and all are done with the one before it, whose place the next one takes
    fetch(ahead, stages + (stage + kStages<P> - 1) % kStages<P> * 2 * kSide);
    ahead += apart;
    if (works && biased) corner.template add<true>(sums, bias, in + kSide, in);
    if (works && !biased) corner.template add<false>(sums, bias, in + kSide, in);
    stage = (stage + 1) % kStages<P>;
  }
  if (!works) return;
  const uint32_t out_blocks = (a.out_columns + kTile - 1) / kTile, in_blocks = (a.in_columns + kTile - 1) / kTile;
  float* const slots = a.slots + size_t{slice} * in_blocks * out_blocks * kSlot;
  const unsigned g = threadIdx.x >> 2 & 7, t = threadIdx.x & 3;
  unrolled<kUnit>([&](unsigned m) {
    if (out0 + m * 16 >= out_end) return;
    const uint32_t j = out_first + out0 + m * 16 + g;
    unrolled<kUnit>([&](unsigned n) {
      if (in0 + n * 8 >= in_end) return;
      const uint32_t k = in_first + in0 + n * 8 + 2 * t;
      float* const to = slots + (k / kTile * out_blocks + j / kTile) * kSlot + j % kTile * kTile + k % kTile;
      *reinterpret_cast<float2*>(to) = make_float2(sums[m][n][0], sums[m][n][1]);
      *reinterpret_cast<float2*>(to + 8 * kTile) = make_float2(sums[m][n][2], sums[m][n][3]);
    });
    if (!biased || t != 0) return;
    float* const to = slots + j / kTile * kSlot + 2 * kBlock + j % kTile;
    to[0] = bias[m][0];
    to[8] = bias[m][2];
  });
}

}  // namespace tyche::engine::TYCHE_CUDA_NS
