#pragma once
/// Linear steps whose rows see themselves alone, as kernels: out = f(Σ over operands of in · W + b), and the gradient
/// of an operand; that of its weights is in weights.cuh. A warp takes 16 rows and up to four units of columns: rows
/// come through a ring of pieces in shared memory, where the weights stand too, and what is made goes to memory from
/// registers (Mixed::kOwn). What a norm makes of numbers, or of a gradient on its way back, is made as they are read
/// (Source): the former is nowhere stored, the latter is left by the first operand for the others.
#include "engine/cuda/layerwise/linked.cuh"
#include "engine/cuda/layerwise/links.cuh"

namespace tyche::engine::TYCHE_CUDA_NS {

inline constexpr uint32_t kWide = 3;  ///< most blocks of 64 columns of a norm whose work linear steps do

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

/// Numbers side by side, 1 or an even count, as many at a time as can be.
template <unsigned kCount>
__device__ __forceinline__ void load_floats(const float* from, float (&out)[kCount]) {
  constexpr unsigned kTogether = kCount % 4 == 0 ? 4 : kCount;
  struct alignas(kTogether * sizeof(float)) Some {
    float numbers[kTogether];
  };
  unrolled<kCount / kTogether>([&](unsigned i) {
    const Some some = reinterpret_cast<const Some*>(from)[i];
    unrolled<kTogether>([&](unsigned c) { out[i * kTogether + c] = some.numbers[c]; });
  });
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
/// Numbers as a product sees them (kGradient, or normalised), of one row from `column` on, or row after row; `columns`:
/// what copy_columns() has left of `count` columns.
template <unsigned kColumns, bool kGradient, class P, unsigned kCount>
__device__ __forceinline__ void see(const Source<P>& source, const float* columns, uint32_t count, uint32_t column,
                                    float (&in)[kCount], const float (&x)[kCount]) {
  float of_in[kColumns], fixed[kColumns];
  load_floats(columns + column, of_in);
  load_floats(columns + 2 * count + column, fixed);
  if constexpr (kGradient) {
    float of_x[kColumns];
    load_floats(columns + count + column, of_x);
    unrolled<kCount>(
        [&](unsigned i) { in[i] = in[i] * of_in[i % kColumns] + (x[i] * of_x[i % kColumns] + fixed[i % kColumns]); });
  } else {
    unrolled<kCount>([&](unsigned i) { in[i] = in[i] * of_in[i % kColumns] + fixed[i % kColumns]; });
    activate<P>(source.slope, in);
  }
}

/// The same of a fragment that ldmatrix_x4() has loaded: words of the upper and lower row, of the unit's first half of
/// columns and of its second.
template <class P, bool kGradient>
__device__ __forceinline__ void see_fragment(const Source<P>& source, const float* columns, uint32_t count,
                                             uint32_t first, unsigned (&in)[4], const unsigned (&x)[4]) {
  constexpr unsigned kWord = P::kStep / 8;  // numbers
  unrolled<2>([&](unsigned half) {
    float v[2 * kWord], w[2 * kWord];
    unrolled<2>([&](unsigned r) {
      P::unpack(in[2 * half + r], v + r * kWord);
      P::unpack(x[2 * half + r], w + r * kWord);
    });
    see<kWord, kGradient>(source, columns, count, first + half * P::kStep / 2 + (threadIdx.x & 3) * kWord, v, w);
    unrolled<2>([&](unsigned r) { in[2 * half + r] = P::pack(v + r * kWord); });
  });
}

/// What a thread has of two rows of a unit, row after row.
template <class P>
__device__ __forceinline__ void unpack_both(const uint2 (&words)[2], float (&out)[2 * P::kOwn]) {
  unrolled<2>([&](unsigned r) {
    P::unpack(words[r].x, out + r * P::kOwn);
    P::unpack(words[r].y, out + r * P::kOwn + P::kOwn / 2);
  });
}
template <class P>
__device__ __forceinline__ uint2 pack_row(const float (&both)[2 * P::kOwn], unsigned r) {
  return make_uint2(P::pack(both + r * P::kOwn), P::pack(both + r * P::kOwn + P::kOwn / 2));
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
  bool biased;              ///< some operand has a bias
  uint32_t matrices;        ///< that operands are seen from: 2 where one is a norm's gradient
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

/// Blocks of threads that a multiprocessor has registers for.
__host__ __device__ constexpr unsigned dense_blocks(bool back, unsigned own) { return back || own > 3 ? 2 : 3; }

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
/// Rows on their way: a warp has some pieces of two units of its 16 rows; 64 bytes of a row stand 80 apart, which keeps
/// rows that are read together in different banks.
inline constexpr uint32_t kApart = 20, kPieceWords = 16 * kApart;
__host__ __device__ constexpr uint32_t pieces_of(bool back) { return back ? 3 : 4; }

/// Bytes of shared memory: rows on their way; weights; by column what operands are seen with, and what is made; the
/// sums of all threads.
template <class P>
size_t dense_shared(const DenseArguments<P>& a, uint32_t own, bool back) {
  const size_t width = dense_width(a, own);
  size_t elements = 0, floats = 6 * width + kThreads / 32 * pieces_of(back) * a.matrices * kPieceWords;
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

/// Forwards, or (back) the gradient of an operand before its activation. A block of threads takes every so-manyth tile
/// of rows. kN: units of columns that a warp makes. What is the same for a warp is taken from its first lane, so that
/// no branch splits one.
template <class P, class Out, bool kBack, unsigned kN>
__global__ void __launch_bounds__(kThreads, dense_blocks(kBack, kN)) dense_kernel(DenseArguments<P> a, Rows<Out> out) {
  using Element = typename P::Element;
  using Fragment = typename P::Fragment;
  constexpr unsigned kOwn = P::kOwn, kAhead = 2, kBoth = 2 * kOwn;  // numbers of a thread in a unit: of a row, of two
  constexpr uint32_t kPieces = pieces_of(kBack);
  uint32_t* const rings = reinterpret_cast<uint32_t*>(dynamic_shared());
  const uint32_t piece_words = a.matrices * kPieceWords, ring_words = kPieces * piece_words;
  Fragment* const kept = reinterpret_cast<Fragment*>(rings + kThreads / 32 * ring_words);
  const unsigned warp = shfl(threadIdx.x >> 5, 0), lane = threadIdx.x & 31, g = lane >> 2, t = lane & 3;
  const uint32_t chunk = blockIdx.x % a.chunks, first = chunk * a.teams * kN;
  const uint32_t width = a.units - first < a.teams * kN ? a.units - first : a.teams * kN;
  const uint32_t n0 = warp % a.teams * kN, own = n0 >= width ? 0 : width - n0 < kN ? width - n0 : kN;
  const uint32_t tile_rows = kThreads / 32 / a.teams * 16, made_columns = dense_width(a, kN);
  uint32_t keeping = 0;
  for (uint32_t o = 0; a.keeps && o < a.count; ++o) {
    const Fragment* weights = reinterpret_cast<const Fragment*>(a.operands[o].weights) + size_t{first} * 32;
    constexpr uint32_t kTogether = 16 / sizeof(Fragment);  // of a copy
    const uint32_t across = width * 32 / kTogether;
    for (uint32_t q = threadIdx.x; q < a.operands[o].units * across; q += kThreads) {
      const uint32_t k = q / across, at = q % across * kTogether;
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
  const uint32_t own_first = n0 * P::kStep + t * kOwn;  // of this thread's columns, among those of the chunk
  const bool activates = a.slope.activated, relu = a.slope.activation == nn::Activation::relu;
  // A gradient whose sums are taken adds to none; what is seen normalised is what that norm had read.
  const bool measures = a.sums != nullptr, reads_values = activates || a.values.seen != Seen::plain;
  const bool reads_more = a.accumulate || (measures && a.values.seen == Seen::plain);
  // What is read of rows beyond the last is that one's, and nobody sees what becomes of it.
  const uint32_t last = a.rows - 1, apart = gridDim.x / a.chunks * tile_rows;
  const auto row_of = [&](uint32_t row0, unsigned r) { return row0 + r * 8 + g <= last ? row0 + r * 8 + g : last; };
  const auto at = [&](const Rows<const Element>& from, uint32_t row, uint32_t column) {
    return reinterpret_cast<const uint2*>(from.data + size_t{row} * from.stride + column);
  };
  // Two units of an operand are worked on while the next few come.
  struct Ahead {
    uint32_t row0, operand, left;  ///< columns that are left of the operand
    const Element *in[2], *x[2];
  };
  uint32_t* const ring = rings + warp * ring_words;
  const auto point = [&](Ahead& ahead) {
    const DenseOperand<P>& operand = a.operands[ahead.operand];
    ahead.left = operand.units * P::kStep;
    unrolled<2>([&](unsigned r) {
      const size_t own_row = row_of(ahead.row0, r);
      ahead.in[r] = operand.from.in.data + own_row * operand.from.in.stride + t * P::kVector;
      if (kBack) ahead.x[r] = operand.from.x.data + own_row * operand.from.x.stride + t * P::kVector;
    });
  };
  const auto fetch = [&](Ahead& ahead, uint32_t slot) {
    if (ahead.row0 < a.rows) {
      uint32_t* const to = ring + slot * piece_words + g * kApart + t * 4;
      if (t * P::kVector < ahead.left) {
        unrolled<2>([&](unsigned r) { cp_async16(to + r * 8 * kApart, ahead.in[r]); });
        if (kBack && a.operands[ahead.operand].from.seen == Seen::gradient) {
          unrolled<2>([&](unsigned r) { cp_async16(to + kPieceWords + r * 8 * kApart, ahead.x[r]); });
        }
      }
      if (ahead.left > kAhead * P::kStep) {
        ahead.left -= kAhead * P::kStep;
        unrolled<2>([&](unsigned r) {
          ahead.in[r] += kAhead * P::kStep;
          if (kBack) ahead.x[r] += kAhead * P::kStep;
        });
      } else {
        if (++ahead.operand == a.count) {
          ahead.operand = 0;
          ahead.row0 += apart;
        }
        point(ahead);
      }
    }
    cp_async_commit();
  };
  const uint32_t begin = own == 0 ? a.rows : blockIdx.x / a.chunks * tile_rows + warp / a.teams * 16;
  Ahead ahead{begin, 0, 0, {}, {}};
  point(ahead);
  for (uint32_t slot = 0; slot + 1 < kPieces; ++slot) fetch(ahead, slot);
  uint32_t now = 0, then = kPieces - 1;  // slots
  float total[kN] = {};
  for (uint32_t row0 = begin; row0 < a.rows; row0 += apart) {
    const bool there[2] = {row0 + g <= last, row0 + g + 8 <= last};
    const uint32_t row[2] = {row_of(row0, 0), row_of(row0, 1)};
    constexpr uint32_t kUnit = P::kStep * sizeof(Element) / sizeof(uint2);  // words from a unit to the next
    float acc[kN][P::kTerms][4];
    unrolled<kN * P::kTerms * 4>([&](unsigned i) { (&acc[0][0][0])[i] = 0; });
    const float* columns = seen;
    const Fragment* weights = kept + n0 * 32 + lane;
    for (uint32_t o = 0; o < a.count; ++o) {
      const DenseOperand<P>& operand = a.operands[o];
      const Source<P>& from = operand.from;
      const uint32_t units = operand.units;
      for (uint32_t k0 = 0; k0 < units; k0 += kAhead) {
        cp_async_wait<static_cast<int>(kPieces) - 2>();
        __syncwarp();
        const uint32_t* const piece = ring + now * piece_words + (lane & 15) * kApart + (lane >> 4) * 4;
        unsigned in[kAhead][4];
        unrolled<kAhead>([&](unsigned i) { ldmatrix_x4(in[i], piece + i * 8); });
        if (from.seen != Seen::plain) {
          unrolled<kAhead>([&](unsigned i) {
            if (k0 + i >= units) return;
            unsigned x[4] = {};
            if (kBack) ldmatrix_x4(x, piece + kPieceWords + i * 8);
            see_fragment<P, kBack>(from, columns, units * P::kStep, (k0 + i) * P::kStep, in[i], x);
            if (!kBack || o > 0 || a.left.data == nullptr || n0 > 0 || chunk > 0) return;
            unrolled<4>([&](unsigned w) {
              Element* const to = a.left.data + size_t{row[w & 1]} * a.left.stride + (k0 + i) * P::kStep;
              if (there[w & 1]) reinterpret_cast<unsigned*>(to)[(w >> 1) * 4 + t] = in[i][w];
            });
          });
        }
        fetch(ahead, then);
        then = now;
        now = now + 1 == kPieces ? 0 : now + 1;
        unrolled<kAhead>([&](unsigned i) {
          if (k0 + i >= units) return;
          const typename P::Left left(in[i]);
          if (a.keeps) {  // beyond `own`: whatever stands there, for nobody
            unrolled<kN>([&](unsigned n) { P::multiply(acc[n], left, weights[n * 32]); });
            weights += width * 32;
          } else {
            const Fragment* const far = reinterpret_cast<const Fragment*>(operand.weights) +
                                        (size_t{k0 + i} * a.units + first + n0) * 32 + lane;
            unrolled<kN>([&](unsigned n) {
              if (n < own) P::multiply(acc[n], left, far[n * 32]);
            });
          }
        });
      }
      if (from.seen != Seen::plain) columns += 3 * units * P::kStep;
    }

    // All that is read beside, before anything is written.
    constexpr unsigned kBeside = kBack ? kN : 1;
    uint2 value[kBeside][2] = {}, more[kBeside][2] = {};
    if constexpr (kBack) {
      const Rows<const Element> other = a.accumulate ? Rows<const Element>{out.data, out.stride} : a.x;
      unrolled<2>([&](unsigned r) {
        const uint2* const value_at = at(a.values.in, row[r], first * P::kStep + own_first);
        const uint2* const more_at = at(other, row[r], first * P::kStep + own_first);
        unrolled<kN>([&](unsigned n) {
          if (reads_values && n < own) value[n][r] = value_at[n * kUnit];
          if (reads_more && n < own) more[n][r] = more_at[n * kUnit];
        });
      });
    }
    Out* const to[2] = {out.data + size_t{row[0]} * out.stride + first * P::kStep + own_first,
                        out.data + size_t{row[1]} * out.stride + first * P::kStep + own_first};
    unrolled<kN>([&](unsigned n) {
      if (n >= own) return;
      const uint32_t at_column = own_first + n * P::kStep, column = first * P::kStep + at_column;
      float made[kBoth], h[kBoth] = {};
      unrolled<kBoth>([&](unsigned i) { made[i] = acc[n][i % kOwn / 2][i / kOwn * 2 + i % 2]; });
      if constexpr (kBack) {
        if (reads_values) {
          unpack_both<P>(value[n], h);
          if (a.values.seen != Seen::plain) see<kOwn, false>(a.values, beside, made_columns, at_column, h, h);
          if (activates && relu) {
            unrolled<kBoth>([&](unsigned i) { made[i] = h[i] > 0 ? made[i] : 0.0f; });
          } else if (activates) {
            unrolled<kBoth>([&](unsigned i) { made[i] *= derivative(a.slope.activation, h[i]); });
          }
        }
        if (a.kept < a.columns) {
          unrolled<kBoth>([&](unsigned i) { made[i] = column + i % kOwn < a.kept ? made[i] : 0.0f; });
        }
        if (reads_more) {
          unpack_both<P>(more[n], h);
        } else {
          unpack_both<P>(value[n], h);
        }
        if (a.accumulate) unrolled<kBoth>([&](unsigned i) { made[i] += h[i]; });
      } else {
        if (a.biased) {
          float bias[kOwn];
          load_floats(by_column + at_column, bias);
          unrolled<kBoth>([&](unsigned i) { made[i] += bias[i % kOwn]; });
        }
        activate<P>(a.slope, made);
      }
      unrolled<2>([&](unsigned r) {
        if (!there[r]) return;
        if constexpr (sizeof(Out) == sizeof(Element)) {  // back, columns are a multiple of 16
          if (column + kOwn <= a.columns) {
            *reinterpret_cast<uint2*>(to[r] + n * P::kStep) = pack_row<P>(made, r);
            return;
          }
        }
        unrolled<kOwn>([&](unsigned c) {  // what is beyond may be another value's
          if (column + c < a.columns) to[r][n * P::kStep + c] = Of<Out>::element(made[r * kOwn + c]);
        });
      });
      if (!measures) return;
      float mean[kOwn], scale[kOwn], sums[kBoth] = {};
      load_floats(by_column + made_columns + at_column, mean);
      if (kBack) load_floats(by_column + 2 * made_columns + at_column, scale);
      if (row0 + 16 > a.rows) {
        unrolled<kBoth>([&](unsigned i) {
          if (!there[i / kOwn]) made[i] = kBack ? 0.0f : mean[i % kOwn];
        });
      }
      unrolled<kBoth>([&](unsigned i) {
        const unsigned c = i % kOwn;
        const float gap = kBack ? (h[i] - mean[c]) * scale[c] : made[i] - mean[c], one = kBack ? made[i] : gap;
        sums[c] += one;
        sums[kOwn + c] += one * gap;
      });
      total[n] += column_sum(sums);
    });
  }
  if (!measures) return;
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

}  // namespace tyche::engine::TYCHE_CUDA_NS
