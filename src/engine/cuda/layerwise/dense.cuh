#pragma once
/// Linear steps whose rows see themselves alone, as kernels: out = f(Σ over operands of in · W + b), the gradient of an
/// operand, and that of its weights. A block of threads takes a tile of rows whole, up to 192 columns wide, so that a
/// matrix goes through memory once; gradients of weights are left in the slots of linked.cuh.
#include "engine/cuda/layerwise/linked.cuh"
#include "engine/cuda/layerwise/links.cuh"

namespace tyche::engine::TYCHE_CUDA_NS {

inline constexpr uint32_t kWide = 3;  ///< blocks of 64 columns that a block of threads takes together

template <class P>
struct DenseOperand {
  Rows<const typename P::Element> in;
  uint32_t columns;  ///< a multiple of 16
  const typename P::Element* weights;
};

template <class P>
struct DenseArguments {
  uint32_t rows;
  uint32_t tile_rows;  ///< 16, 32 or 64
  uint32_t columns;    ///< that are made; back: a multiple of 16
  uint32_t chunks;     ///< of kWide blocks of them
  bool keeps;          ///< weights stand in shared memory
  uint32_t in_stride,
      out_stride;  ///< how far apart blocks of weights are, by the operand's columns and by the output's
  Slope slope;     ///< of what is made, or back of those whose gradient it is
  // forwards
  const float* bias;  ///< or null
  uint32_t kept;      ///< columns of the value; what is made is zero from there on
  // back: what is made is the gradient of these
  Rows<const typename P::Element> values;
  bool accumulate;
  /// Where a norm follows (or back, comes before): sums by column, one slice per block of threads; null: none. Of gaps
  /// to `mean` and their squares, or (back) of gradients and of those times (x - mean) · scale.
  float* sums;
  const float *mean, *scale;
  Rows<const typename P::Element> x;
  uint32_t count;  ///< of operands
  DenseOperand<P> operands[kMostOperands];
};

template <class P>
__device__ __forceinline__ void load_floats(const float* from, float (&out)[P::kVector]) {
#pragma unroll
  for (unsigned c = 0; c < P::kVector; c += 4) {
    const float4 four = *reinterpret_cast<const float4*>(from + c);
    out[c] = four.x, out[c + 1] = four.y, out[c + 2] = four.z, out[c + 3] = four.w;
  }
}

/// Up to kWide blocks of a tile of rows, from column `first` on, zero below; arrives with the next group of copies.
/// Blocks stand `apart` elements from each other.
template <class P>
__device__ __forceinline__ void fetch_rows(const Rows<const typename P::Element>& from, uint32_t row0, uint32_t rows,
                                           uint32_t padded, uint32_t first, uint32_t width, typename P::Element* to,
                                           uint32_t apart) {
  const unsigned shift = vector_shift<P>(width), column = (threadIdx.x & ((1u << shift) - 1)) * P::kVector;
  if (column >= width) return;
  const typename P::Element* own = from.data + size_t{row0} * from.stride + first + column;
  to += column / kTile * apart;
#pragma unroll 4
  for (unsigned r = threadIdx.x >> shift; r < padded; r += kThreads >> shift) {
    typename P::Element* at = to + P::place(r, column % kTile);
    if (r < rows) {
      cp_async16(at, own + size_t{r} * from.stride);
    } else {
      *reinterpret_cast<uint4*>(at) = make_uint4(0, 0, 0, 0);
    }
  }
}

/// Floats of a row of a tile that is made, as it stands in shared memory, where rows of a fragment are in banks apart.
__host__ __device__ constexpr uint32_t staged_stride(uint32_t columns) { return (columns + 31) / 32 * 32 + 8; }

__device__ __forceinline__ void store_value(float* to, float value) { *to = value; }
__device__ __forceinline__ void store_value(Half* to, float value) { *to = to_half(value); }

/// Elements of a tile that is read: two of them are there at a time.
template <class P>
__host__ __device__ uint32_t dense_input(const DenseArguments<P>& a) {
  uint32_t most = 0;
  for (uint32_t o = 0; o < a.count; ++o) most = a.operands[o].columns > most ? a.operands[o].columns : most;
  const uint32_t blocks = (most + kTile - 1) / kTile;
  return (blocks < kWide ? blocks : kWide) * a.tile_rows * kTile;
}
/// Floats behind it: of a tile that is made, and of sums.
template <class P>
__host__ __device__ uint32_t dense_floats(const DenseArguments<P>& a) {
  const uint32_t made = (a.columns + 15) / 16 * 16;
  return a.tile_rows * staged_stride(made < kWide * kTile ? made : kWide * kTile) +
         (a.sums == nullptr ? 0 : 2 * P::kVector * kThreads);
}
/// Bytes of shared memory, with the weights where `keeps` says so.
template <class P>
size_t dense_shared(const DenseArguments<P>& a) {
  const uint32_t made = (a.columns + 15) / 16 * 16;
  uint32_t blocks = 0;
  for (uint32_t o = 0; a.keeps && o < a.count; ++o) blocks += (a.operands[o].columns + kTile - 1) / kTile;
  return (2 * dense_input(a) + size_t{blocks} * kTile * (made < kWide * kTile ? made : kWide * kTile)) *
             sizeof(typename P::Element) +
         dense_floats(a) * sizeof(float);
}

/// How a dense step is cut.
struct DenseShape {
  uint32_t tile_rows, chunks, slices;
  uint32_t wide;  ///< 64 columns, or where tiles are small 128
};

/// acc[i] += 32 rows of a block of 64 columns · 16 columns of the weights, for every i.
template <unsigned kN>
__device__ __forceinline__ void multiply_wide(float (&acc)[kN][2][2][4], const Half* tile, unsigned row0, bool second,
                                              const Half* const (&blocks)[kN], unsigned count, unsigned steps) {
  const unsigned lane = threadIdx.x & 31, row = row0 + (lane & 15);
#pragma unroll 2
  for (unsigned s = 0; s < steps; ++s) {
    unsigned a[2][4];
    ldmatrix_x4(a[0], tile + Mixed::place(row, s * 16 + (lane >> 4) * 8));
    if (second) ldmatrix_x4(a[1], tile + Mixed::place(row + 16, s * 16 + (lane >> 4) * 8));
    unrolled<kN>([&](unsigned i) {
      if (i >= count) return;
      const uint2* weights = reinterpret_cast<const uint2*>(blocks[i]) + s * 32 + lane;
      const uint2 b0 = weights[0], b1 = weights[4 * 32];
      mma_16816(acc[i][0][0], a[0], b0.x, b0.y);
      mma_16816(acc[i][0][1], a[0], b1.x, b1.y);
      if (!second) return;
      mma_16816(acc[i][1][0], a[1], b0.x, b0.y);
      mma_16816(acc[i][1][1], a[1], b1.x, b1.y);
    });
  }
}
template <unsigned kN>
__device__ __forceinline__ void multiply_wide(float (&acc)[kN][2][2][4], const float* tile, unsigned row0, bool second,
                                              const float* const (&blocks)[kN], unsigned count, unsigned steps) {
  unrolled<kN>([&](unsigned i) {
    if (i < count) multiply_rows(acc[i], tile, row0, second, blocks[i], 0, steps);
  });
}

/// What a vector of a gradient is made with: the numbers that it is of, and what a norm had read.
struct Beside {
  uint4 value, x;
};

/// What a thread needs of its columns, which are the same in every row.
template <class P, bool kBack>
struct OwnColumns {
  float bias[P::kVector], mean[P::kVector], scale[P::kVector];

  __device__ __forceinline__ OwnColumns(const DenseArguments<P>& a, uint32_t column) {
    unrolled<P::kVector>([&](unsigned c) {
      const bool there = column + c < a.kept;
      bias[c] = !kBack && there && a.bias != nullptr ? a.bias[column + c] : 0.0f;
      mean[c] = there && a.sums != nullptr ? a.mean[column + c] : 0.0f;
      scale[c] = kBack && there && a.sums != nullptr ? a.scale[column + c] : 0.0f;
    });
  }
};

/// What becomes of a vector of sums.
template <class P, bool kBack, class Out>
__device__ __forceinline__ void finish(const DenseArguments<P>& a, float (&made)[P::kVector], const Beside& beside,
                                       const OwnColumns<P, kBack>& own, uint32_t column, Out* to) {
  if constexpr (kBack) {
    float h[P::kVector];
    P::unpack(beside.value, h);
    if (!a.slope.activated) {
    } else if (a.slope.activation == nn::Activation::relu) {
      unrolled<P::kVector>([&](unsigned c) { made[c] = h[c] > 0 ? made[c] : 0.0f; });
    } else {
      unrolled<P::kVector>([&](unsigned c) { made[c] *= derivative(a.slope.activation, h[c]); });
    }
    if (column + P::kVector > a.kept) {
      unrolled<P::kVector>([&](unsigned c) { made[c] = column + c < a.kept ? made[c] : 0.0f; });
    }
    if (a.accumulate) {
      P::unpack(*reinterpret_cast<const uint4*>(to), h);
      unrolled<P::kVector>([&](unsigned c) { made[c] += h[c]; });
    }
    *reinterpret_cast<uint4*>(to) = P::pack(made);
  } else {
    unrolled<P::kVector>([&](unsigned c) { made[c] += own.bias[c]; });
    if (!a.slope.activated) {
    } else if (a.slope.activation == nn::Activation::relu) {
      unrolled<P::kVector>([&](unsigned c) { made[c] = fmaxf(made[c], 0.0f); });
    } else {
      unrolled<P::kVector>([&](unsigned c) { made[c] = activated<P::kFast>(a.slope.activation, made[c]); });
    }
    if constexpr (sizeof(Out) == sizeof(typename P::Element)) {
      if (column + P::kVector <= a.columns) {
        *reinterpret_cast<uint4*>(to) = P::pack(made);
        return;
      }
    }
#pragma unroll
    for (unsigned c = 0; c < P::kVector; ++c) {  // what is beyond may be another value's
      if (column + c < a.columns) store_value(to + c, made[c]);
    }
  }
}

/// What a norm wants to know of a vector that was made; numbers beyond its columns are zero, and so are means there.
template <class P, bool kBack>
__device__ __forceinline__ void measure(const float (&made)[P::kVector], const Beside& beside,
                                        const OwnColumns<P, kBack>& own, float (&one)[P::kVector],
                                        float (&two)[P::kVector]) {
  float x[P::kVector];
  P::unpack(beside.x, x);
  unrolled<P::kVector>([&](unsigned c) {
    const float gap = kBack ? (x[c] - own.mean[c]) * own.scale[c] : made[c] - own.mean[c];
    one[c] += kBack ? made[c] : gap;
    two[c] += kBack ? made[c] * gap : gap * gap;
  });
}

/// Forwards, or (back) the gradient of an operand before its activation. A block of threads takes every so-manyth tile
/// of rows; while it works on one, the next one comes. Weights stand in shared memory where they fit (`keeps`). kN:
/// blocks of 64 columns, or where tiles are small of 128.
template <class P, class Out, bool kBack, unsigned kN>
__global__ void __launch_bounds__(kThreads, 2) dense_kernel(DenseArguments<P> a, Rows<Out> out) {
  using Element = typename P::Element;
  const uint32_t size = dense_input(a), apart = a.tile_rows * kTile;
  Element* const inputs = reinterpret_cast<Element*>(dynamic_shared());
  float* const staged = reinterpret_cast<float*>(inputs + 2 * size);
  constexpr uint32_t kStrip = 8 * kTile;  // weights of 8 columns of a block, as they lie
  const uint32_t chunk = blockIdx.x % a.chunks, tiles = (a.rows + a.tile_rows - 1) / a.tile_rows;
  const uint32_t first = chunk * kWide * kTile, padded_columns = (a.columns + 15) & ~15u;
  const uint32_t width = padded_columns - first < kWide * kTile ? padded_columns - first : kWide * kTile;
  const unsigned warp = threadIdx.x >> 5, lane = threadIdx.x & 31, g = lane >> 2, t = lane & 3;
  // Warps stand over 32 rows each and share the columns, 16 at a time.
  const bool tall = a.tile_rows > 32;
  const unsigned m0 = tall ? (warp & 1) * 32 : 0, n_first = (tall ? warp >> 1 : warp) * 16, n_step = tall ? 64 : 128;
  const unsigned own = n_first < width ? (width - n_first + n_step - 1) / n_step : 0;  // at most kN
  const unsigned shift = vector_shift<P>(width), vector = (threadIdx.x & ((1u << shift) - 1)) * P::kVector;
  const uint32_t stride = staged_stride(width);
  struct Cursor {
    uint32_t tile, operand, k;
  };
  const auto after = [&](Cursor c) {
    if ((c.k += kWide * kTile) < a.operands[c.operand].columns) return c;
    c.k = 0;
    if (++c.operand < a.count) return c;
    c.operand = 0;
    c.tile += gridDim.x / a.chunks;
    return c;
  };
  const auto depth_of = [&](const Cursor& c) {
    const uint32_t rest = a.operands[c.operand].columns - c.k;
    return rest < kWide * kTile ? rest : kWide * kTile;
  };
  const auto rows_of = [&](const Cursor& c) {
    const uint32_t rest = a.rows - c.tile * a.tile_rows;
    return rest < a.tile_rows ? rest : a.tile_rows;
  };
  // Of the rows of a tile that this thread makes, some at a time.
  constexpr unsigned kTogether = kN < 3 ? 4 : 2;
  Beside beside[kTogether] = {};
  const auto row_of = [&](unsigned batch, unsigned j) {
    return (threadIdx.x >> shift) + (batch * kTogether + j) * (kThreads >> shift);
  };
  const auto look_beside = [&](const Cursor& c, unsigned batch) {
    if constexpr (kBack) {
      unrolled<kTogether>([&](unsigned j) {
        if (vector >= width || row_of(batch, j) >= rows_of(c)) return;
        const size_t row = size_t{c.tile} * a.tile_rows + row_of(batch, j);
        const auto read = [&](const Rows<const Element>& from) {
          return *reinterpret_cast<const uint4*>(from.data + row * from.stride + first + vector);
        };
        if (a.slope.activated) beside[j].value = read(a.values);
        if (a.sums != nullptr) beside[j].x = read(a.x);
      });
    }
  };
  const auto fetch = [&](const Cursor& c, unsigned at) {
    const uint32_t rows = rows_of(c);
    fetch_rows<P>(a.operands[c.operand].in, c.tile * a.tile_rows, rows, (rows + 15) & ~15u, c.k, depth_of(c),
                  inputs + at * size, apart);
  };
  float* const measured = staged + size_t{a.tile_rows} * stride + threadIdx.x;  // this thread's every kThreads-th
  Element* const kept = reinterpret_cast<Element*>(staged + dense_floats(a));
  const auto weights_of = [&](uint32_t operand, uint32_t k, uint32_t n) {  // in blocks of 64 and in columns
    const size_t block = size_t{k} * a.in_stride + size_t{(first + n) / kTile} * a.out_stride;
    return a.operands[operand].weights + block * 2 * kBlock + n % kTile * kTile;
  };
  const uint32_t strips = width / 8;
  uint32_t keeping = 0;
  for (uint32_t o = 0; a.keeps && o < a.count; ++o) {
    const uint32_t blocks = (a.operands[o].columns + kTile - 1) / kTile;
    constexpr uint32_t kPieces = kStrip * sizeof(Element) / 16;
    for (uint32_t q = threadIdx.x; q < blocks * strips * kPieces; q += kThreads) {
      const uint32_t strip = q / kPieces, piece = q % kPieces * (16 / sizeof(Element));
      cp_async16(kept + (keeping + strip) * kStrip + piece, weights_of(o, strip / strips, strip % strips * 8) + piece);
    }
    keeping += blocks * strips;
  }
  for (unsigned c = 0; a.sums != nullptr && c < 2 * P::kVector; ++c) measured[c * kThreads] = 0;
  const OwnColumns<P, kBack> own_columns(a, first + vector);
  float acc[kN][2][2][4];
  Cursor now = {blockIdx.x / a.chunks, 0, 0};
  if (now.tile < tiles) fetch(now, 0);
  cp_async_commit();
  for (unsigned at = 0; now.tile < tiles; at ^= 1) {
    const Cursor next = after(now);
    if (next.tile < tiles) fetch(next, at ^ 1);
    cp_async_commit();
    cp_async_wait<1>();
    __syncthreads();
    const uint32_t rows = rows_of(now), depth = depth_of(now);
    if (now.operand == 0 && now.k == 0) {
      unrolled<kN * 16>([&](unsigned i) { (&acc[0][0][0][0])[i] = 0; });
      keeping = 0;
    }
    if (next.tile != now.tile) look_beside(now, 0);
    if (m0 < rows && own > 0) {
      for (uint32_t k = 0; k < depth; k += kTile) {
        const Element* blocks[kN];
        unrolled<kN>([&](unsigned i) {
          const uint32_t n = n_first + i * n_step;
          blocks[i] = a.keeps ? kept + (keeping + k / kTile * strips + n / 8) * kStrip
                              : weights_of(now.operand, (now.k + k) / kTile, n);
        });
        multiply_wide<kN>(acc, inputs + at * size + k / kTile * apart, m0, m0 + 16 < rows, blocks, own,
                          (depth - k < kTile ? depth - k : kTile) / P::kStep);
      }
    }
    keeping += (depth + kTile - 1) / kTile * strips;
    if (next.tile != now.tile) {
      unrolled<kN>([&](unsigned i) {
        if (i >= own || m0 >= rows) return;
        unrolled<2>([&](unsigned m) {
          unrolled<2>([&](unsigned half) {
            const uint32_t r = m0 + m * 16 + half * 8 + g;
            if (r >= rows) return;
            float* to = staged + r * stride + n_first + i * n_step + 2 * t;
            unrolled<2>([&](unsigned c) {
              *reinterpret_cast<float2*>(to + c * 8) = make_float2(acc[i][m][c][half * 2], acc[i][m][c][half * 2 + 1]);
            });
          });
        });
      });
      __syncthreads();
      if (vector < width) {
        float one[P::kVector] = {}, two[P::kVector] = {};
        for (unsigned batch = 0; row_of(batch, 0) < rows; ++batch) {
          if (batch > 0) look_beside(now, batch);
          unrolled<kTogether>([&](unsigned j) {
            const unsigned r = row_of(batch, j);
            if (r >= rows) return;
            float made[P::kVector];
            load_floats<P>(staged + r * stride + vector, made);
            const size_t row = size_t{now.tile} * a.tile_rows + r;
            finish<P, kBack>(a, made, beside[j], own_columns, first + vector,
                             out.data + row * out.stride + first + vector);
            if (a.sums != nullptr) measure<P, kBack>(made, beside[j], own_columns, one, two);
          });
        }
#pragma unroll
        for (unsigned c = 0; a.sums != nullptr && c < P::kVector; ++c) {
          measured[c * kThreads] += one[c];
          measured[(P::kVector + c) * kThreads] += two[c];
        }
      }
    }
    __syncthreads();
    now = next;
  }
  if (a.sums == nullptr) return;
  __syncthreads();
  const float* all = staged + size_t{a.tile_rows} * stride;
  for (uint32_t c = threadIdx.x; c < 2 * a.kept; c += kThreads) {
    const uint32_t which = c / a.kept, column = c % a.kept;
    const float* from = all + (which * P::kVector + column % P::kVector) * kThreads + column / P::kVector;
    float sum = 0;
    for (unsigned group = 0; group < kThreads >> shift; ++group) sum += from[group << shift];
    a.sums[size_t{blockIdx.x} * 2 * a.kept + c] = sum;
  }
}

/// How many blocks of threads share the weights of an operand.
__host__ __device__ constexpr uint32_t weight_parts(uint32_t in_blocks, uint32_t out_blocks) {
  return in_blocks * ((out_blocks + kWide - 1) / kWide);
}

template <class P>
inline constexpr size_t kWeightsShared = 2 * (kWide + 1) * kBlock * sizeof(typename P::Element);

/// dW = dZᵀ · H: a block of threads takes every slices-th tile of rows for 64 columns of H and up to 192 of dZ. While
/// a tile is worked on, the next one comes.
template <class P>
__global__ void __launch_bounds__(kThreads, 2) weights_kernel(WeightArguments<P> a, uint32_t all_rows) {
  using Element = typename P::Element;
  Element* buffers = reinterpret_cast<Element*>(dynamic_shared());
  const uint32_t in_blocks = (a.in_columns + kTile - 1) / kTile, out_blocks = (a.out_columns + kTile - 1) / kTile;
  const uint32_t parts = weight_parts(in_blocks, out_blocks), part = blockIdx.x % parts, slice = blockIdx.x / parts;
  const uint32_t i = part % in_blocks, first = part / in_blocks * kWide;
  const uint32_t in_width = block_width(a.in_columns, i);
  const uint32_t rest = a.out_columns - first * kTile, out_width = rest < kWide * kTile ? rest : kWide * kTile;
  const uint32_t regions = (out_width + 31) / 32 * 2;  // of 32 columns of dZ by 32 of H; a warp has up to two
  const unsigned warp = threadIdx.x >> 5;
  const uint32_t tiles = (all_rows + kTile - 1) / kTile;
  const auto fetch = [&](uint32_t tile, Element* to) {
    const uint32_t row0 = tile * kTile, rows = all_rows - row0 < kTile ? all_rows - row0 : kTile;
    fetch_rows<P>(a.in, row0, rows, kTile, i * kTile, in_width, to, kBlock);
    fetch_rows<P>(a.d_out, row0, rows, kTile, first * kTile, out_width, to + kBlock, kBlock);
  };
  float sums[2][2][4][4] = {}, bias[kWide] = {};
  fetch(slice, buffers);
  cp_async_commit();
  unsigned at = 0;
  for (uint32_t tile = slice; tile < tiles; tile += a.slices, at ^= 1) {
    const Element* in = buffers + at * (kWide + 1) * kBlock;
    const Element* d = in + kBlock;
    if (tile + a.slices < tiles) fetch(tile + a.slices, buffers + (at ^ 1) * (kWide + 1) * kBlock);
    cp_async_commit();
    cp_async_wait<1>();
    __syncthreads();
    unrolled<2>([&](unsigned own) {
      const uint32_t region = warp + own * 8, out0 = region / 2 * 32, in0 = region % 2 * 32;
      if (region >= regions || in0 >= in_width) return;
      multiply_columns(sums[own], d + out0 / kTile * kBlock, out0 % kTile, out_width - out0 / kTile * kTile, in, in0,
                       in_width, kTile);
    });
    if (i == 0) {
      const unsigned column = threadIdx.x % kTile, begin = threadIdx.x / kTile * 16;
      unrolled<kWide>([&](unsigned o) {
        if (o * kTile + column >= out_width) return;
        unrolled<16>([&](unsigned r) { bias[o] += P::value(d[o * kBlock + P::place(begin + r, column)]); });
      });
    }
    __syncthreads();
  }
  float* slots = a.slots + (size_t{slice} * in_blocks * out_blocks + i * out_blocks + first) * kSlot;
  unrolled<2>([&](unsigned own) {
    const uint32_t region = warp + own * 8, out0 = region / 2 * 32, in0 = region % 2 * 32;
    if (region >= regions || in0 >= in_width) return;
    leave_matrix(sums[own], slots + out0 / kTile * kSlot + out0 % kTile * kTile + in0);
  });
  if (i != 0) return;
#pragma unroll
  for (unsigned o = 0; o < kWide; ++o) {
    if (o * kTile < out_width) leave_bias(bias[o], slots + o * kSlot);
  }
}

}  // namespace tyche::engine::TYCHE_CUDA_NS
