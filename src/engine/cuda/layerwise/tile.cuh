#pragma once
/// Tiles of 64 rows by 64 columns in shared memory, and products of them on tensor cores, in two precisions with one
/// interface:
///
///   Mixed  elements are halves; mma m16n8k16, sums in fp32
///   Full   elements are floats; each is split into two tf32 numbers and multiplied three times (m16n8k8), which keeps
///          all but the last two bits of fp32
///
/// A tile's rows are 64 elements wide whatever is used of them; groups of 16 bytes are swapped by row so that both rows
/// and columns of fragments are read without bank conflicts. Weights come from global memory in the order in which
/// lanes want them: blocks of 64 × 64, zero where a layer is narrower (weight_index()).
#include "engine/cuda/runtime/mma.cuh"

namespace tyche::engine::TYCHE_CUDA_NS {

inline constexpr unsigned kTile = 64;  ///< rows and columns of a tile
inline constexpr unsigned kBlock = kTile * kTile;
inline constexpr unsigned kThreads = 256;

/// Calls body with 0, …, kCount - 1: no loop is left of it, so that what it indexes may stay in registers.
template <unsigned kCount, class Body>
__device__ __forceinline__ void unrolled(const Body& body) {
#pragma unroll
  for (unsigned i = 0; i < kCount; ++i) body(i);
}

struct Mixed {
  using Element = Half;
  static constexpr unsigned kVector = 8;  ///< elements of 16 bytes
  static constexpr unsigned kStep = 16;   ///< the inner dimension of one product instruction
  static constexpr bool kFast = true;

  __device__ __forceinline__ static unsigned place(unsigned row, unsigned column) {
    return row * kTile + (((column >> 3) ^ (row & 7)) << 3) + (column & 7);
  }
  __device__ __forceinline__ static float value(Half element) { return to_float(element); }
  __device__ __forceinline__ static Half element(float value) { return to_half(value); }
  __device__ __forceinline__ static void unpack(uint4 words, float (&out)[kVector]) {
    const float2 a = unpack2(words.x), b = unpack2(words.y), c = unpack2(words.z), d = unpack2(words.w);
    out[0] = a.x, out[1] = a.y, out[2] = b.x, out[3] = b.y, out[4] = c.x, out[5] = c.y, out[6] = d.x, out[7] = d.y;
  }
  __device__ __forceinline__ static uint4 pack(const float (&v)[kVector]) {
    return make_uint4(pack2(v[0], v[1]), pack2(v[2], v[3]), pack2(v[4], v[5]), pack2(v[6], v[7]));
  }
  /// Where element (k, n) of a block of weights lies: lane (n % 8) * 4 + k / 2 % 4 of fragment (n / 8, k / 16).
  __host__ __device__ __forceinline__ static unsigned weight_index(unsigned k, unsigned n) {
    const unsigned lane = (n & 7) * 4 + ((k & 7) >> 1);
    return (((n >> 3) * 4 + (k >> 4)) * 32 + lane) * 4 + ((k >> 3) & 1) * 2 + (k & 1);
  }

  /// Factors of a product: 16 × kStep, and kStep × 8.
  struct Left {
    unsigned a[4];
    __device__ __forceinline__ explicit Left(const unsigned (&from)[4]) : a{from[0], from[1], from[2], from[3]} {}
  };
  struct Right {
    unsigned b[2];
    __device__ __forceinline__ Right(unsigned first, unsigned second) : b{first, second} {}
  };
  __device__ __forceinline__ static void multiply(float (&sums)[4], const Left& left, const Right& right) {
    mma_16816(sums, left.a, right.b[0], right.b[1]);
  }
  /// kStep rows of a tile from `row` on: 16 columns of them transposed, and as they are, 8 and 8.
  __device__ __forceinline__ static void load_left(unsigned (&a)[4], const Half* tile, unsigned row, unsigned column) {
    const unsigned matrix = threadIdx.x >> 3 & 3, in = threadIdx.x & 7;
    ldmatrix_x4_trans(a, tile + place(row + in + (matrix >> 1) * 8, column + (matrix & 1) * 8));
  }
  __device__ __forceinline__ static void load_right(unsigned (&b)[4], const Half* tile, unsigned row, unsigned column) {
    const unsigned matrix = threadIdx.x >> 3 & 3, in = threadIdx.x & 7;
    ldmatrix_x4_trans(b, tile + place(row + in + (matrix & 1) * 8, column + (matrix >> 1) * 8));
  }

  // Of a dense product (dense.cuh) a thread makes 8 bytes in a row of every kStep columns: the columns of fragments are
  // renamed, so that what is made goes to memory from registers.
  static constexpr unsigned kOwn = kStep / 4;
  using Fragment = uint4;  ///< a lane's weights of kStep × kStep
  /// Where element (k, n) of kStep × kStep weights lies.
  __host__ __device__ __forceinline__ static unsigned dense_index(unsigned k, unsigned n) {
    const unsigned lane = ((n >> 2) * 2 + (n & 1)) * 4 + ((k & 7) >> 1);
    return lane * 8 + ((n >> 1) & 1) * 4 + (k >> 3) * 2 + (k & 1);
  }
  __device__ __forceinline__ static void store_two(Half* to, const float (&v)[2]) {
    *reinterpret_cast<unsigned*>(to) = pack2(v[0], v[1]);
  }
  __device__ __forceinline__ static void unpack(unsigned word, float* out) {
    const float2 both = unpack2(word);
    out[0] = both.x, out[1] = both.y;
  }
  __device__ __forceinline__ static unsigned pack(const float* v) { return pack2(v[0], v[1]); }
  static constexpr unsigned kTerms = 2;
  __device__ __forceinline__ static void multiply(float (&sums)[kTerms][4], const Left& left, Fragment b) {
    multiply(sums[0], left, {b.x, b.y});
    multiply(sums[1], left, {b.z, b.w});
  }
};

/// A float as two tf32 numbers.
struct Split {
  unsigned high, low;
};
__device__ __forceinline__ Split split(unsigned bits) {
  const unsigned high = bits & 0xffffe000u;
  return {high, bits_of(float_of(bits) - float_of(high))};
}

struct Full {
  using Element = float;
  static constexpr unsigned kVector = 4;
  static constexpr unsigned kStep = 8;
  static constexpr bool kFast = false;

  __device__ __forceinline__ static unsigned place(unsigned row, unsigned column) {
    return row * kTile + (column ^ (((row & 3) << 3) | (row & 4)));
  }
  __device__ __forceinline__ static float value(float element) { return element; }
  __device__ __forceinline__ static float element(float value) { return value; }
  __device__ __forceinline__ static void unpack(uint4 words, float (&out)[kVector]) {
    out[0] = float_of(words.x), out[1] = float_of(words.y), out[2] = float_of(words.z), out[3] = float_of(words.w);
  }
  __device__ __forceinline__ static uint4 pack(const float (&v)[kVector]) {
    return make_uint4(bits_of(v[0]), bits_of(v[1]), bits_of(v[2]), bits_of(v[3]));
  }
  __host__ __device__ __forceinline__ static unsigned weight_index(unsigned k, unsigned n) {
    const unsigned lane = (n & 7) * 4 + (k & 3);
    return (((n >> 3) * 8 + (k >> 3)) * 32 + lane) * 2 + ((k >> 2) & 1);
  }

  struct Left {
    unsigned high[4], low[4];
    __device__ __forceinline__ explicit Left(const unsigned (&a)[4]) {
      unrolled<4>([&](unsigned i) {
        const Split both = split(a[i]);
        high[i] = both.high;
        low[i] = both.low;
      });
    }
  };
  struct Right {
    Split b[2];
    Right() = default;
    __device__ __forceinline__ Right(unsigned first, unsigned second) : b{split(first), split(second)} {}
  };
  /// The small products first.
  __device__ __forceinline__ static void multiply(float (&sums)[4], const Left& left, const Right& right) {
    mma_1688_tf32(sums, left.low, right.b[0].high, right.b[1].high);
    mma_1688_tf32(sums, left.high, right.b[0].low, right.b[1].low);
    mma_1688_tf32(sums, left.high, right.b[0].high, right.b[1].high);
  }
  __device__ __forceinline__ static void load_left(unsigned (&a)[4], const float* tile, unsigned row, unsigned column) {
    const unsigned g = threadIdx.x >> 2 & 7, t = threadIdx.x & 3;
    unrolled<4>([&](unsigned i) { a[i] = bits_of(tile[place(row + t + (i >> 1) * 4, column + g + (i & 1) * 8)]); });
  }
  __device__ __forceinline__ static void load_right(unsigned (&b)[4], const float* tile, unsigned row,
                                                    unsigned column) {
    const unsigned g = threadIdx.x >> 2 & 7, t = threadIdx.x & 3;
    unrolled<4>([&](unsigned i) { b[i] = bits_of(tile[place(row + t + (i & 1) * 4, column + g + (i >> 1) * 8)]); });
  }

  static constexpr unsigned kOwn = kStep / 4;
  using Fragment = uint2;
  __host__ __device__ __forceinline__ static unsigned dense_index(unsigned k, unsigned n) {
    return (n * 4 + (k & 3)) * 2 + (k >> 2);
  }
  __device__ __forceinline__ static void store_two(float* to, const float (&v)[2]) {
    *reinterpret_cast<float2*>(to) = make_float2(v[0], v[1]);
  }
  __device__ __forceinline__ static void unpack(unsigned word, float* out) { out[0] = float_of(word); }
  __device__ __forceinline__ static unsigned pack(const float* v) { return bits_of(v[0]); }
  static constexpr unsigned kTerms = 1;
  __device__ __forceinline__ static void multiply(float (&sums)[kTerms][4], const Left& left, Fragment b) {
    multiply(sums[0], left, {b.x, b.y});
  }
};

/// The precision whose elements these are.
template <class Element>
using Of = std::conditional_t<sizeof(Element) == sizeof(float), Full, Mixed>;

/// sums[m][n] += rows row0 + 16 m … of the tile times columns 8 (n0 + n) … of the block, over `steps` steps of the
/// inner dimension. `second`: whether the rows from row0 + 16 on are wanted.
template <class P>
__device__ __forceinline__ void multiply_rows(float (&sums)[2][2][4], const typename P::Element* tile, unsigned row0,
                                              bool second, const typename P::Element* block, unsigned n0,
                                              unsigned steps) {
  constexpr unsigned kSteps = kTile / P::kStep;
  const unsigned lane = threadIdx.x & 31, row = row0 + (lane & 15);
  const uint2* weights = reinterpret_cast<const uint2*>(block) + n0 * kSteps * 32 + lane;
#pragma unroll(P::kStep / 4)
  for (unsigned s = 0; s < steps; ++s) {
    const uint2 w0 = weights[s * 32], w1 = weights[(kSteps + s) * 32];
    const typename P::Right b0(w0.x, w0.y), b1(w1.x, w1.y);
    unrolled<2>([&](unsigned m) {
      if (m == 1 && !second) return;
      unsigned a[4];
      ldmatrix_x4(a, tile + P::place(row + m * 16, s * P::kStep + (lane >> 4) * (P::kStep / 2)));
      const typename P::Left left(a);
      P::multiply(sums[m][0], left, b0);
      P::multiply(sums[m][1], left, b1);
    });
  }
}

/// sums[m][n] += columns a0 + 16 m … of tile a, transposed, times columns b0 + 8 n … of tile b, over `rows` rows (a
/// multiple of 16). Columns from a_end and b_end on, multiples of 16, are left out.
template <class P>
__device__ __forceinline__ void multiply_columns(float (&sums)[2][4][4], const typename P::Element* a_tile, unsigned a0,
                                                 unsigned a_end, const typename P::Element* b_tile, unsigned b0,
                                                 unsigned b_end, unsigned rows) {
  for (unsigned k = 0; k < rows; k += P::kStep) {
    unsigned b[2][4];
    unrolled<2>([&](unsigned n) {
      if (b0 + n * 16 < b_end) P::load_right(b[n], b_tile, k, b0 + n * 16);
    });
    unrolled<2>([&](unsigned m) {
      if (a0 + m * 16 >= a_end) return;
      unsigned a[4];
      P::load_left(a, a_tile, k, a0 + m * 16);
      const typename P::Left left(a);
      unrolled<2>([&](unsigned n) {
        if (b0 + n * 16 >= b_end) return;
        P::multiply(sums[m][2 * n], left, {b[n][0], b[n][1]});
        P::multiply(sums[m][2 * n + 1], left, {b[n][2], b[n][3]});
      });
    });
  }
}

}  // namespace tyche::engine::TYCHE_CUDA_NS
