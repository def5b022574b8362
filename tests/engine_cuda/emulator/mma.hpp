#pragma once
/// The twins of runtime/mma.cuh.
#include <cmath>

#include "engine/cuda/runtime/mma.cuh"

namespace tyche::engine::TYCHE_CUDA_NS {

inline Half to_half(float value) { return emulation::half_bits(value); }
inline float to_float(Half bits) { return emulation::half_value(bits); }
inline unsigned pack2(float low, float high) {
  return static_cast<unsigned>(to_half(low)) | static_cast<unsigned>(to_half(high)) << 16;
}
inline float2 unpack2(unsigned pair) {
  return {to_float(static_cast<Half>(pair & 0xffffu)), to_float(static_cast<Half>(pair >> 16))};
}
inline unsigned hfma2(unsigned a, unsigned b, unsigned c) {
  const float2 x = unpack2(a), y = unpack2(b), z = unpack2(c);
  return pack2(std::fma(x.x, y.x, z.x), std::fma(x.y, y.y, z.y));
}
inline unsigned hmul2(unsigned a, unsigned b) {
  const float2 x = unpack2(a), y = unpack2(b);
  return pack2(x.x * y.x, x.y * y.y);
}
inline unsigned hmin2(unsigned a, unsigned b) {
  const float2 x = unpack2(a), y = unpack2(b);
  return pack2(std::fmin(x.x, y.x), std::fmin(x.y, y.y));
}
inline unsigned hadd2(unsigned a, unsigned b) {
  const float2 x = unpack2(a), y = unpack2(b);
  return pack2(x.x + y.x, x.y + y.y);
}
inline unsigned hmax2(unsigned a, unsigned b) {
  const float2 x = unpack2(a), y = unpack2(b);
  return pack2(std::fmax(x.x, y.x), std::fmax(x.y, y.y));
}
inline unsigned above_zero2(unsigned a) {
  const float2 x = unpack2(a);
  return (x.x > 0 ? 0xffffu : 0u) | (x.y > 0 ? 0xffff0000u : 0u);
}
inline unsigned hpositive2(unsigned a) {
  const float2 x = unpack2(a);
  return (x.x > 0 ? 0x3C00u : 0u) | (x.y > 0 ? 0x3C000000u : 0u);
}
inline unsigned both_low(unsigned a) { return (a & 0xffffu) | a << 16; }
inline unsigned both_high(unsigned a) { return a >> 16 | (a & 0xffff0000u); }

namespace emulation {
struct Row {
  unsigned short value[8];
};
inline Row row_at(const void* from) {
  Row row;
  std::memcpy(&row, from, sizeof row);
  return row;
}
template <int Matrices>
void load_matrices(unsigned* r, const void* lane_row, bool transposed) {
  const Exchange<const void*> all(lane_row);
  const unsigned lane = threadIdx.x % 32;
  for (unsigned m = 0; m < Matrices; ++m) {
    unsigned short low, high;
    if (transposed) {
      low = row_at(all.read(m * 8 + 2 * (lane % 4))).value[lane / 4];
      high = row_at(all.read(m * 8 + 2 * (lane % 4) + 1)).value[lane / 4];
    } else {
      const Row row = row_at(all.read(m * 8 + lane / 4));
      low = row.value[2 * (lane % 4)];
      high = row.value[2 * (lane % 4) + 1];
    }
    r[m] = static_cast<unsigned>(low) | static_cast<unsigned>(high) << 16;
  }
}
struct Fragments {
  unsigned a[4], b[2];
};
}  // namespace emulation

inline void ldmatrix_x4(unsigned (&r)[4], const void* lane_row) { emulation::load_matrices<4>(r, lane_row, false); }
inline void ldmatrix_x4_trans(unsigned (&r)[4], const void* lane_row) {
  emulation::load_matrices<4>(r, lane_row, true);
}
inline void ldmatrix_x2(unsigned (&r)[2], const void* lane_row) { emulation::load_matrices<2>(r, lane_row, false); }
inline void ldmatrix_x2_trans(unsigned (&r)[2], const void* lane_row) {
  emulation::load_matrices<2>(r, lane_row, true);
}

inline void mma_16816(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  const emulation::Exchange<emulation::Fragments> all({{a[0], a[1], a[2], a[3]}, {b0, b1}});
  const unsigned lane = threadIdx.x % 32;
  const auto half_of = [](unsigned pair, unsigned which) {
    return to_float(static_cast<Half>(which == 0 ? pair & 0xffffu : pair >> 16));
  };
  for (unsigned q = 0; q < 4; ++q) {
    const unsigned row = lane / 4 + (q / 2) * 8, column = 2 * (lane % 4) + q % 2;
    float sum = 0;
    for (unsigned k = 0; k < 16; ++k) {
      const unsigned left = all.read((row % 8) * 4 + (k % 8) / 2).a[row / 8 + (k / 8) * 2];
      const unsigned right = all.read(column * 4 + (k % 8) / 2).b[k / 8];
      sum += half_of(left, k % 2) * half_of(right, k % 2);
    }
    c[q] += sum;
  }
}

inline void mma_1688_tf32(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  const emulation::Exchange<emulation::Fragments> all({{a[0], a[1], a[2], a[3]}, {b0, b1}});
  const unsigned lane = threadIdx.x % 32;
  const auto real = [](unsigned bits) {
    bits &= ~0x1fffu;
    float value;
    std::memcpy(&value, &bits, 4);
    return value;
  };
  for (unsigned q = 0; q < 4; ++q) {
    const unsigned row = lane / 4 + (q / 2) * 8, column = 2 * (lane % 4) + q % 2;
    float sum = 0;
    for (unsigned k = 0; k < 8; ++k) {
      sum +=
          real(all.read((row % 8) * 4 + k % 4).a[row / 8 + (k / 4) * 2]) * real(all.read(column * 4 + k % 4).b[k / 4]);
    }
    c[q] += sum;
  }
}

inline unsigned movmatrix(unsigned value) {
  const emulation::Exchange<unsigned> all(value);
  const unsigned lane = threadIdx.x % 32, row = lane / 4, column = 2 * (lane % 4);
  const auto element = [&](unsigned r, unsigned c) {
    const unsigned pair = all.read(r * 4 + c / 2);
    return c % 2 == 0 ? pair & 0xffffu : pair >> 16;
  };
  return element(column, row) | element(column + 1, row) << 16;
}

}  // namespace tyche::engine::TYCHE_CUDA_NS
