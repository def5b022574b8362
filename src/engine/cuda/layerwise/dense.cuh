#pragma once
/// Linear steps whose rows see themselves alone, as kernels: out = f(Σ over operands of in · W + b), the gradient of an
/// operand, and that of its weights. A warp takes 16 rows and up to four units of columns; numbers go from memory to the
/// tensor cores and back through registers alone (Mixed::kOwn), weights stand in shared memory. What a norm makes of
/// numbers, or of a gradient on its way back, is made as they are read (Source), so that it is nowhere stored. Gradients
/// of weights are left in the slots of linked.cuh.
#include "engine/cuda/layerwise/linked.cuh"
#include "engine/cuda/layerwise/links.cuh"

namespace tyche::engine::TYCHE_CUDA_NS {

inline constexpr uint32_t kWide = 3;  ///< blocks of 64 columns that a block of threads of weights_kernel takes together

/// Numbers as a product sees them, by column: normalised: f(in · of_in + fixed); gradient, of what a norm has read:
/// in · of_in + x · of_x + fixed, where `in` is the gradient of what the norm made.
enum class Seen : uint32_t { plain, normalised, gradient };
template <class P>
struct Source {
  Rows<const typename P::Element> in, x{};
  Seen seen = Seen::plain;
  Slope slope{};  ///< f
  const float *of_in = nullptr, *of_x = nullptr, *fixed = nullptr;
};

template <unsigned kCount>
__device__ __forceinline__ void load_floats(const float* from, float (&out)[kCount]) {
#pragma unroll
  for (unsigned c = 0; c < kCount; c += kCount % 4 == 0 ? 4 : 2) {
    if constexpr (kCount % 4 == 0) {
      const float4 four = *reinterpret_cast<const float4*>(from + c);
      out[c] = four.x, out[c + 1] = four.y, out[c + 2] = four.z, out[c + 3] = four.w;
    } else {
      const float2 two = *reinterpret_cast<const float2*>(from + c);
      out[c] = two.x, out[c + 1] = two.y;
    }
  }
}

/// What `source` has by column, `count` columns from `first` on, in shared memory: of_in, of_x, fixed.
template <class P>
__device__ __forceinline__ void copy_columns(const Source<P>& source, uint32_t first, uint32_t count, float* to) {
  for (uint32_t c = threadIdx.x; source.seen != Seen::plain && c < count; c += kThreads) {
    to[c] = source.of_in[first + c];
    if (source.seen == Seen::gradient) to[count + c] = source.of_x[first + c];
    to[2 * count + c] = source.fixed[first + c];
  }
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
/// Numbers from `column` on as a product sees them; `columns`: what copy_columns() has left.
template <class P, unsigned kCount>
__device__ __forceinline__ void see(const Source<P>& source, const float* columns, uint32_t count, uint32_t column,
                                    float (&in)[kCount], const float (&x)[kCount]) {
  float of_in[kCount], fixed[kCount];
  load_floats(columns + column, of_in);
  load_floats(columns + 2 * count + column, fixed);
  if (source.seen == Seen::gradient) {
    float of_x[kCount];
    load_floats(columns + count + column, of_x);
    unrolled<kCount>([&](unsigned c) { fixed[c] += x[c] * of_x[c]; });
  }
  unrolled<kCount>([&](unsigned c) { in[c] = in[c] * of_in[c] + fixed[c]; });
  activate<P>(source.slope, in);
}

template <class P>
struct DenseOperand {
  Source<P> from;
  uint32_t units;                      ///< of P::kStep columns
  const typename P::Element* weights;  ///< units × those of what is made, a fragment per lane each
  const float* bias;                   ///< or null
};

template <class P>
struct DenseArguments {
  uint32_t rows;
  uint32_t columns, units;  ///< that are made; back: a multiple of 16
  uint32_t teams;           ///< warps that share the columns of a row: 1, 2, 4 or 8
  uint32_t chunks;          ///< of teams · kN units, one for a block of threads
  bool keeps;               ///< weights stand in shared memory
  uint32_t kept;            ///< columns of the value; what is made is zero from there on, or (forwards) left as it is
  Slope slope;              ///< of what is made, or back of those whose gradient it is
  // back: what is made is the gradient of these
  Source<P> values;
  bool accumulate;
  Rows<typename P::Element> left;  ///< where the first operand is left as it was seen; or null
  /// Where a norm follows (or back, comes before): sums by column, one slice per block of threads; null: none. Of gaps
  /// to `mean` and their squares, or (back) of gradients and of those times (x - mean) · scale.
  float* sums;
  const float *mean, *scale;
  Rows<const typename P::Element> x;
  uint32_t count;  ///< of operands
  DenseOperand<P> operands[kMostOperands];
};

/// How a dense step is cut: blocks of threads, and what each of them has.
struct DenseShape {
  uint32_t own;  ///< units of a warp: 3 or 4
  uint32_t teams, chunks, slices;

  [[nodiscard]] constexpr uint32_t tile_rows() const { return kThreads / 32 / teams * 16; }
};
inline DenseShape dense_shape(uint32_t rows, uint32_t units, uint32_t blocks_at_once) {
  constexpr uint32_t kWarps = kThreads / 32;
  DenseShape shape{4, kWarps, (units + 4 * kWarps - 1) / (4 * kWarps), 0};
  const auto tiles = [&] { return (rows + shape.tile_rows() - 1) / shape.tile_rows(); };
  const auto narrowest = [&](uint32_t teams) {
    for (const uint32_t own : {3u, 4u}) {
      if (shape.chunks == 1 && own * teams >= units) return own;
    }
    return 0u;
  };
  for (uint32_t teams = kWarps / 2; teams > 0 && narrowest(teams) > 0; teams /= 2) shape.teams = teams;
  // Where rows are few, more warps share one.
  while (shape.teams < kWarps && shape.teams * 3 < units && tiles() < blocks_at_once / 2) shape.teams *= 2;
  if (shape.chunks == 1) shape.own = narrowest(shape.teams);
  shape.slices = rows == 0 ? 0 : std::min(tiles(), std::max(1u, blocks_at_once / shape.chunks));
  return shape;
}

/// Columns that a block of threads makes, padded.
template <class P>
__host__ __device__ __forceinline__ uint32_t dense_width(const DenseArguments<P>& a, uint32_t own) {
  const uint32_t all = a.teams * own;
  return (a.units < all ? a.units : all) * P::kStep;
}
/// Bytes of shared memory: weights; by column what operands are seen with, and what is made; the sums of all threads.
template <class P>
size_t dense_shared(const DenseArguments<P>& a, uint32_t own) {
  const size_t width = dense_width(a, own);
  size_t elements = 0, floats = 6 * width;
  for (uint32_t o = 0; o < a.count; ++o) {
    if (a.keeps) elements += a.operands[o].units * P::kStep * width;
    if (a.operands[o].from.seen != Seen::plain) floats += 3 * a.operands[o].units * P::kStep;
  }
  if (a.sums != nullptr) floats += kThreads * own;
  return elements * sizeof(typename P::Element) + floats * sizeof(float) + own * 32 * sizeof(typename P::Fragment);
}

/// Every value's sum over the lanes of its column (those that differ in the upper three bits); lane 4 g + t has that of
/// value g, or of value g / 2 where there are four.
template <unsigned kCount>
__device__ __forceinline__ float column_sum(float (&values)[kCount]) {
  const unsigned lane = threadIdx.x & 31;
  unsigned bit = 16;
#pragma unroll
  for (unsigned half = kCount / 2; half > 0; half /= 2, bit /= 2) {
    const bool upper = (lane & bit) != 0;
#pragma unroll
    for (unsigned i = 0; i < half; ++i) {
      const float keep = upper ? values[i + half] : values[i], give = upper ? values[i] : values[i + half];
      values[i] = keep + shfl_xor(give, static_cast<int>(bit));
    }
  }
  for (; bit >= 4; bit /= 2) values[0] += shfl_xor(values[0], static_cast<int>(bit));
  return values[0];
}

__device__ __forceinline__ void store_value(float* to, float value) { *to = value; }
__device__ __forceinline__ void store_value(Half* to, float value) { *to = to_half(value); }

/// Forwards, or (back) the gradient of an operand before its activation. A block of threads takes every so-manyth tile
/// of rows. kN: units of columns that a warp makes.
template <class P, class Out, bool kBack, unsigned kN>
__global__ void __launch_bounds__(kThreads, 2) dense_kernel(DenseArguments<P> a, Rows<Out> out) {
  using Element = typename P::Element;
  using Fragment = typename P::Fragment;
  constexpr unsigned kOwn = P::kOwn, kAhead = 2;
  Fragment* const kept = reinterpret_cast<Fragment*>(dynamic_shared());
  const unsigned warp = threadIdx.x >> 5, lane = threadIdx.x & 31, g = lane >> 2, t = lane & 3;
  const uint32_t chunk = blockIdx.x % a.chunks, first = chunk * a.teams * kN;
  const uint32_t width = a.units - first < a.teams * kN ? a.units - first : a.teams * kN;
  const uint32_t n0 = warp % a.teams * kN, own = n0 >= width ? 0 : width - n0 < kN ? width - n0 : kN;
  const uint32_t tile_rows = kThreads / 32 / a.teams * 16, made_columns = dense_width(a, kN);
  uint32_t keeping = 0;
  for (uint32_t o = 0; a.keeps && o < a.count; ++o) {
    const Fragment* weights = reinterpret_cast<const Fragment*>(a.operands[o].weights) + size_t{first} * 32;
    constexpr uint32_t kPieces = 16 / sizeof(Fragment);  // of a copy
    const uint32_t across = width * 32 / kPieces;
    for (uint32_t q = threadIdx.x; q < a.operands[o].units * across; q += kThreads) {
      const uint32_t k = q / across, at = q % across * kPieces;
      cp_async16(kept + (keeping + k) * width * 32 + at, weights + size_t{k} * a.units * 32 + at);
    }
    keeping += a.operands[o].units;
  }
  cp_async_commit();
  // By column of what is made: bias; mean and scale; of_in, of_x, fixed of what is seen beside.
  float* const by_column = reinterpret_cast<float*>(kept + keeping * width * 32);
  float* const beside = by_column + 3 * made_columns;
  float* const seen = beside + 3 * made_columns;
  pdl_wait();
  pdl_trigger();
  for (uint32_t c = threadIdx.x; c < made_columns; c += kThreads) {
    const uint32_t column = first * P::kStep + c;
    const bool there = column < a.kept, measured = there && a.sums != nullptr;
    float bias = 0;
    for (uint32_t o = 0; !kBack && there && o < a.count; ++o) {
      if (a.operands[o].bias != nullptr) bias += a.operands[o].bias[column];
    }
    by_column[c] = bias;
    by_column[made_columns + c] = measured ? a.mean[column] : 0.0f;
    by_column[2 * made_columns + c] = measured && kBack ? a.scale[column] : 0.0f;
  }
  if (kBack) copy_columns(a.values, first * P::kStep, made_columns, beside);
  uint32_t seen_count = 0;
  for (uint32_t o = 0; o < a.count; ++o) {
    const uint32_t columns = a.operands[o].units * P::kStep;
    copy_columns(a.operands[o].from, 0, columns, seen + seen_count);
    if (a.operands[o].from.seen != Seen::plain) seen_count += 3 * columns;
  }
  cp_async_wait<0>();
  __syncthreads();
  // Two units of an operand are worked on while the next two come.
  struct Cursor {
    uint32_t row0, operand, k, unit, column;  ///< unit: of all operands' weights; column: where those of `seen` begin
  };
  const auto after = [&](Cursor c) {
    const DenseOperand<P>& operand = a.operands[c.operand];
    const uint32_t units = operand.units;
    c.unit += units - c.k < kAhead ? units - c.k : kAhead;
    if ((c.k += kAhead) < units) return c;
    c.k = 0;
    if (operand.from.seen != Seen::plain) c.column += 3 * units * P::kStep;
    if (++c.operand < a.count) return c;
    return Cursor{c.row0 + gridDim.x / a.chunks * tile_rows, 0, 0, 0, 0};
  };
  // What is read of rows beyond the last is that one's, and nobody sees what becomes of it.
  const auto load = [&](const Rows<const Element>& from, uint32_t row0, uint32_t column, uint2 (&words)[2]) {
    unrolled<2>([&](unsigned r) {
      const uint32_t row = row0 + r * 8 + g, at = row < a.rows ? row : a.rows - 1;
      words[r] = *reinterpret_cast<const uint2*>(from.data + size_t{at} * from.stride + column);
    });
  };
  uint2 next[kAhead][2] = {}, next_x[kAhead][2] = {};
  const auto fetch = [&](const Cursor& c) {
    const DenseOperand<P>& operand = a.operands[c.operand];
    unrolled<kAhead>([&](unsigned i) {
      const uint32_t k = c.k + i < operand.units ? c.k + i : c.k, column = k * P::kStep + t * kOwn;
      load(operand.from.in, c.row0, column, next[i]);
      if (operand.from.seen == Seen::gradient) load(operand.from.x, c.row0, column, next_x[i]);
    });
  };
  float total[kN] = {}, acc[kN][P::kTerms][4] = {};
  Cursor now = {blockIdx.x / a.chunks * tile_rows + warp / a.teams * 16, 0, 0, 0, 0};
  if (own == 0) now.row0 = a.rows;
  if (now.row0 < a.rows) fetch(now);
  while (now.row0 < a.rows) {
    uint2 in[kAhead][2], x[kAhead][2];
    unrolled<2 * kAhead>([&](unsigned i) {
      in[i / 2][i % 2] = next[i / 2][i % 2];
      x[i / 2][i % 2] = next_x[i / 2][i % 2];
    });
    const Cursor then = after(now);
    if (then.row0 < a.rows) fetch(then);
    const DenseOperand<P>& operand = a.operands[now.operand];
    if (operand.from.seen != Seen::plain) {
      unrolled<2 * kAhead>([&](unsigned i) {
        float v[kOwn], w[kOwn];
        P::unpack(in[i / 2][i % 2], v);
        P::unpack(x[i / 2][i % 2], w);
        see(operand.from, seen + now.column, operand.units * P::kStep, (now.k + i / 2) * P::kStep + t * kOwn, v, w);
        in[i / 2][i % 2] = P::pack(v);
      });
    }
    if (a.left.data != nullptr && now.operand == 0 && n0 == 0 && chunk == 0) {
      unrolled<2 * kAhead>([&](unsigned i) {
        const uint32_t row = now.row0 + i % 2 * 8 + g, unit = now.k + i / 2;
        if (row >= a.rows || unit >= operand.units) return;
        *reinterpret_cast<uint2*>(a.left.data + size_t{row} * a.left.stride + unit * P::kStep + t * kOwn) =
            in[i / 2][i % 2];
      });
    }
    unrolled<kAhead>([&](unsigned i) {
      if (i > 0 && now.k + i >= operand.units) return;
      const typename P::Left left(in[i][0], in[i][1]);
      if (a.keeps) {  // beyond `own`: whatever stands there, for nobody
        const Fragment* const weights = kept + ((now.unit + i) * width + n0) * 32 + lane;
        unrolled<kN>([&](unsigned n) { P::multiply(acc[n], left, weights[n * 32]); });
      } else {
        const Fragment* const weights = reinterpret_cast<const Fragment*>(operand.weights) +
                                        (size_t{now.k + i} * a.units + first + n0) * 32 + lane;
        unrolled<kN>([&](unsigned n) {
          if (n < own) P::multiply(acc[n], left, weights[n * 32]);
        });
      }
    });
    const uint32_t row0 = now.row0;
    now = then;
    if (then.row0 == row0) continue;

    // All that is read beside, before anything is written. A gradient whose sums are taken adds to none; what is seen
    // normalised is what that norm had read.
    constexpr unsigned kBeside = kBack ? kN : 1;
    const bool reads_values = a.slope.activated || a.values.seen != Seen::plain;
    const bool reads_more = a.accumulate || (a.sums != nullptr && a.values.seen == Seen::plain);
    uint2 value[kBeside][2] = {}, more[kBeside][2] = {};
    const auto column_of = [&](unsigned n) { return (n0 + n) * P::kStep + t * kOwn; };  // of the chunk
    if constexpr (kBack) {
      const Rows<const Element> beside_it = a.accumulate ? Rows<const Element>{out.data, out.stride} : a.x;
      unrolled<kN>([&](unsigned n) {
        if (n >= own) return;
        const uint32_t column = first * P::kStep + column_of(n);
        if (reads_values) load(a.values.in, row0, column, value[n]);
        if (reads_more) load(beside_it, row0, column, more[n]);
      });
    }
    unrolled<kN>([&](unsigned n) {
      if (n >= own) return;
      const uint32_t column = first * P::kStep + column_of(n);
      float made[2 * kOwn], sums[2 * kOwn] = {};  // of both rows
      unrolled<2 * kOwn>([&](unsigned i) {
        const unsigned r = i / kOwn, c = i % kOwn;
        made[i] = acc[n][c / 2][2 * r + c % 2];
      });
      const auto both = [&](const uint2(&words)[2], float (&numbers)[2 * kOwn]) {
        unrolled<2>([&](unsigned r) {
          float own_row[kOwn];
          P::unpack(words[r], own_row);
          unrolled<kOwn>([&](unsigned c) { numbers[r * kOwn + c] = own_row[c]; });
        });
      };
      float h[2 * kOwn] = {};
      if constexpr (kBack) {
        if (reads_values) {
          both(value[n], h);
          if (a.values.seen != Seen::plain) {
            unrolled<2>([&](unsigned r) {
              float own_row[kOwn];
              unrolled<kOwn>([&](unsigned c) { own_row[c] = h[r * kOwn + c]; });
              see(a.values, beside, made_columns, column_of(n), own_row, own_row);
              unrolled<kOwn>([&](unsigned c) { h[r * kOwn + c] = own_row[c]; });
            });
          }
          if (a.slope.activation == nn::Activation::relu) {
            unrolled<2 * kOwn>([&](unsigned i) { made[i] = h[i] > 0 || !a.slope.activated ? made[i] : 0.0f; });
          } else {
            unrolled<2 * kOwn>([&](unsigned i) { made[i] *= slope_at(a.slope, h[i]); });
          }
        }
        if (a.kept < a.columns) {
          unrolled<2 * kOwn>([&](unsigned i) { made[i] = column + i % kOwn < a.kept ? made[i] : 0.0f; });
        }
        uint2 other[2];
        unrolled<2>([&](unsigned r) { other[r] = reads_more ? more[n][r] : value[n][r]; });
        both(other, h);
        if (a.accumulate) unrolled<2 * kOwn>([&](unsigned i) { made[i] += h[i]; });
      } else {
        float bias[kOwn];
        load_floats(by_column + column_of(n), bias);
        unrolled<2 * kOwn>([&](unsigned i) { made[i] += bias[i % kOwn]; });
        activate<P>(a.slope, made);
      }
      unrolled<2>([&](unsigned r) {
        const uint32_t row = row0 + r * 8 + g;
        if (row >= a.rows) return;
        Out* const to = out.data + size_t{row} * out.stride + column;
        float own_row[kOwn];
        unrolled<kOwn>([&](unsigned c) { own_row[c] = made[r * kOwn + c]; });
        if constexpr (sizeof(Out) == sizeof(Element)) {  // back, columns are a multiple of 16
          if (column + kOwn <= a.columns) {
            *reinterpret_cast<uint2*>(to) = P::pack(own_row);
            return;
          }
        }
#pragma unroll
        for (unsigned c = 0; c < kOwn; ++c) {  // what is beyond may be another value's
          if (column + c < a.columns) store_value(to + c, own_row[c]);
        }
      });
      unrolled<P::kTerms * 4>([&](unsigned i) { (&acc[n][0][0])[i] = 0; });
      if (a.sums == nullptr) return;
      float mean[kOwn], scale[kOwn];
      load_floats(by_column + made_columns + column_of(n), mean);
      if (kBack) load_floats(by_column + 2 * made_columns + column_of(n), scale);
      unrolled<2 * kOwn>([&](unsigned i) {
        const unsigned c = i % kOwn;
        const float there = row0 + i / kOwn * 8 + g < a.rows ? made[i] : kBack ? 0.0f : mean[c];
        const float gap = kBack ? (h[i] - mean[c]) * scale[c] : there - mean[c];
        sums[c] += kBack ? there : gap;
        sums[kOwn + c] += kBack ? there * gap : gap * gap;
      });
      total[n] += column_sum(sums);
    });
  }
  if (a.sums == nullptr) return;
  float* const totals = seen + seen_count;
  unrolled<kN>([&](unsigned n) { totals[(warp * kN + n) * 32 + lane] = total[n]; });
  __syncthreads();
  for (uint32_t c = threadIdx.x; c < 2 * a.kept; c += kThreads) {
    const uint32_t which = c / a.kept, column = c % a.kept, unit = column / P::kStep, in = column % P::kStep;
    const uint32_t holder = (which * kOwn + in % kOwn) * (4 / kOwn) * 4 + in / kOwn;  // a lane
    float sum = 0;
    for (uint32_t other = unit / kN; other < kThreads / 32; other += a.teams) {
      sum += totals[(other * kN + unit % kN) * 32 + holder];
    }
    a.sums[size_t{blockIdx.x} * 2 * a.kept + c] = sum;
  }
}

// ---- gradients of weights

/// How many blocks of threads share the weights of an operand.
__host__ __device__ constexpr uint32_t weight_parts(uint32_t in_blocks, uint32_t out_blocks) {
  return in_blocks * ((out_blocks + kWide - 1) / kWide);
}

/// What a gradient of weights is made of, and where it is left (WeightArguments).
template <class P>
struct DenseWeights {
  uint32_t rows;
  Source<P> in;  ///< plain or normalised
  Rows<const typename P::Element> d_out;
  uint32_t in_columns, out_columns;  ///< multiples of 16
  float* slots;
  uint32_t slices;
};
template <class P>
inline constexpr size_t kWeightsShared =
    2 * (1 + kWide) * kBlock * sizeof(typename P::Element) + 3 * kTile * sizeof(float);

/// Up to kWide blocks of a tile of rows, from column `first` on, zero below; arrives with the next group of copies.
template <class P>
__device__ __forceinline__ void fetch_rows(const Rows<const typename P::Element>& from, uint32_t row0, uint32_t rows,
                                           uint32_t first, uint32_t width, typename P::Element* to) {
  const unsigned shift = vector_shift<P>(width), column = (threadIdx.x & ((1u << shift) - 1)) * P::kVector;
  if (column >= width) return;
  const typename P::Element* own = from.data + size_t{row0} * from.stride + first + column;
  to += column / kTile * kBlock;
#pragma unroll 4
  for (unsigned r = threadIdx.x >> shift; r < kTile; r += kThreads >> shift) {
    typename P::Element* at = to + P::place(r, column % kTile);
    if (r < rows) {
      cp_async16(at, own + size_t{r} * from.stride);
    } else {
      *reinterpret_cast<uint4*>(at) = make_uint4(0, 0, 0, 0);
    }
  }
}
/// What this thread has fetched of a block as a product sees it; `columns`: what copy_columns() has left.
template <class P>
__device__ __forceinline__ void see_rows(const Source<P>& source, const float* columns, uint32_t rows, uint32_t width,
                                         typename P::Element* tile) {
  const unsigned shift = vector_shift<P>(width), column = (threadIdx.x & ((1u << shift) - 1)) * P::kVector;
  if (source.seen == Seen::plain || column >= width) return;
  for (unsigned r = threadIdx.x >> shift; r < rows; r += kThreads >> shift) {
    uint4* const at = reinterpret_cast<uint4*>(tile + P::place(r, column));
    float v[P::kVector];
    P::unpack(*at, v);
    see(source, columns, width, column, v, v);
    *at = P::pack(v);
  }
}

/// dW = dZᵀ · H: a block of threads takes every slices-th tile of rows for 64 columns of H and up to 192 of dZ. While
/// a tile is worked on, the next one comes.
template <class P>
__global__ void __launch_bounds__(kThreads, 2) weights_kernel(DenseWeights<P> a) {
  using Element = typename P::Element;
  Element* buffers = reinterpret_cast<Element*>(dynamic_shared());
  constexpr uint32_t kStage = (1 + kWide) * kBlock;
  const uint32_t in_blocks = (a.in_columns + kTile - 1) / kTile, out_blocks = (a.out_columns + kTile - 1) / kTile;
  const uint32_t parts = weight_parts(in_blocks, out_blocks), part = blockIdx.x % parts, slice = blockIdx.x / parts;
  const uint32_t i = part % in_blocks, first = part / in_blocks * kWide;
  const uint32_t in_width = block_width(a.in_columns, i);
  const uint32_t rest = a.out_columns - first * kTile, out_width = rest < kWide * kTile ? rest : kWide * kTile;
  const uint32_t regions = (out_width + 31) / 32 * 2;  // of 32 columns of dZ by 32 of H; a warp has up to two
  const unsigned warp = threadIdx.x >> 5;
  const uint32_t tiles = (a.rows + kTile - 1) / kTile;
  const auto rows_of = [&](uint32_t tile) { return a.rows - tile * kTile < kTile ? a.rows - tile * kTile : kTile; };
  const auto fetch = [&](uint32_t tile, Element* to) {
    fetch_rows<P>(a.in.in, tile * kTile, rows_of(tile), i * kTile, in_width, to);
    fetch_rows<P>(a.d_out, tile * kTile, rows_of(tile), first * kTile, out_width, to + kBlock);
  };
  float sums[2][2][4][4] = {}, bias[kWide] = {};
  pdl_wait();
  pdl_trigger();
  fetch(slice, buffers);
  cp_async_commit();
  float* const in_columns = reinterpret_cast<float*>(buffers + 2 * kStage);
  copy_columns(a.in, i * kTile, in_width, in_columns);
  __syncthreads();
  unsigned at = 0;
  for (uint32_t tile = slice; tile < tiles; tile += a.slices, at ^= 1) {
    Element* const in = buffers + at * kStage;
    const Element* const d = in + kBlock;
    if (tile + a.slices < tiles) fetch(tile + a.slices, buffers + (at ^ 1) * kStage);
    cp_async_commit();
    cp_async_wait<1>();
    see_rows<P>(a.in, in_columns, rows_of(tile), in_width, in);
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
