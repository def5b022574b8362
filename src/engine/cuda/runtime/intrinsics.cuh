#pragma once
/// What kernels of this room ask of a GPU beyond plain C++, each with its twin in the emulator. Fragment layouts are
/// PTX's (mma.m16n8k16, mma.m16n8k8, ldmatrix, movmatrix). All 32 lanes of a warp must take part in collective calls.
#include <bit>
#include <cmath>

#include "engine/cuda/runtime/device.hpp"

namespace tyche::engine::TYCHE_CUDA_NS {

/// The bits of a half-precision number.
using Half = unsigned short;

#ifdef TYCHE_CUDA_EMULATED

__forceinline__ char* dynamic_shared() { return emulation::shared_memory(); }

template <class T>
T shfl(T value, int lane) {
  const emulation::Exchange<T> all(value);
  return all.read(static_cast<unsigned>(lane) % 32);
}
template <class T>
T shfl_xor(T value, int mask) {
  const emulation::Exchange<T> all(value);
  return all.read((threadIdx.x % 32) ^ static_cast<unsigned>(mask));
}
template <class T>
T shfl_down(T value, int distance) {
  const emulation::Exchange<T> all(value);
  const unsigned from = threadIdx.x % 32 + static_cast<unsigned>(distance);
  return all.read(from < 32 ? from : threadIdx.x % 32);
}
inline unsigned ballot(bool value) {
  const emulation::Exchange<bool> all(value);
  unsigned bits = 0;
  for (unsigned lane = 0; lane < 32; ++lane) bits |= all.read(lane) ? 1u << lane : 0u;
  return bits;
}

inline unsigned popcount(unsigned bits) { return static_cast<unsigned>(std::popcount(bits)); }

namespace emulation {
/// Half precision by table and by hand: round to nearest even, infinities kept.
[[nodiscard]] float half_value(Half bits);
[[nodiscard]] Half half_bits(float value);
}  // namespace emulation
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
inline unsigned hadd2(unsigned a, unsigned b) {
  const float2 x = unpack2(a), y = unpack2(b);
  return pack2(x.x + y.x, x.y + y.y);
}
inline unsigned hmax2(unsigned a, unsigned b) {
  const float2 x = unpack2(a), y = unpack2(b);
  return pack2(std::fmax(x.x, y.x), std::fmax(x.y, y.y));
}
inline unsigned hmin2(unsigned a, unsigned b) {
  const float2 x = unpack2(a), y = unpack2(b);
  return pack2(std::fmin(x.x, y.x), std::fmin(x.y, y.y));
}
/// 1 where a half is above zero, else 0; one half in both places.
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

inline unsigned to_tf32(float value) {
  unsigned bits;
  std::memcpy(&bits, &value, 4);
  if ((bits & 0x7f800000u) == 0x7f800000u) return bits;
  return (bits + 0x1000u) & ~0x1fffu;
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

inline void cp_async16(void* shared, const void* global) { emulation::copy_later(shared, global, 16); }
inline void cp_async_commit() { emulation::copy_commit(); }
template <int GroupsLeft>
void cp_async_wait() {
  emulation::copy_wait(GroupsLeft);
}
inline void pdl_wait() {}
inline void pdl_trigger() {}

inline float fast_exp(float x) { return std::exp(x); }
inline float fast_exp2(float x) { return std::exp2(x); }
inline float fast_log(float x) { return std::log(x); }
inline void fast_sincos(float x, float* sine, float* cosine) {
  *sine = std::sin(x);
  *cosine = std::cos(x);
}
inline float fast_div(float a, float b) { return a / b; }
inline float fast_rsqrt(float x) { return 1 / std::sqrt(x); }
inline unsigned mul_high(unsigned a, unsigned b) {
  return static_cast<unsigned>(static_cast<std::uint64_t>(a) * b >> 32);
}
inline unsigned bits_of(float value) {
  unsigned bits;
  std::memcpy(&bits, &value, 4);
  return bits;
}
inline float float_of(unsigned bits) {
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}
inline int atomic_add(int* where, int value) { return (*where += value) - value; }
inline unsigned atomic_add(unsigned* where, unsigned value) { return (*where += value) - value; }
inline int atomic_min(int* where, int value) {
  const int old = *where;
  if (value < old) *where = value;
  return old;
}
inline unsigned atomic_max(unsigned* where, unsigned value) {
  const unsigned old = *where;
  if (value > old) *where = value;
  return old;
}
template <class T>
T load_cg(const T* from) {
  return *from;
}
template <class T>
void store_cg(T* to, T value) {
  *to = value;
}
template <class T>
T load_read_only(const T* from) {
  return *from;
}

#else

__device__ __forceinline__ char* dynamic_shared() {
  extern __shared__ __align__(1024) char tyche_dynamic_shared[];
  return tyche_dynamic_shared;
}

template <class T>
__device__ __forceinline__ T shfl(T value, int lane) {
  return __shfl_sync(~0u, value, lane);
}
template <class T>
__device__ __forceinline__ T shfl_xor(T value, int mask) {
  return __shfl_xor_sync(~0u, value, mask);
}
template <class T>
__device__ __forceinline__ T shfl_down(T value, int distance) {
  return __shfl_down_sync(~0u, value, distance);
}
__device__ __forceinline__ unsigned ballot(bool value) { return __ballot_sync(~0u, value); }
__device__ __forceinline__ unsigned popcount(unsigned bits) { return static_cast<unsigned>(__popc(bits)); }

__device__ __forceinline__ Half to_half(float value) { return __half_as_ushort(__float2half_rn(value)); }
__device__ __forceinline__ float to_float(Half bits) { return __half2float(__ushort_as_half(bits)); }
namespace detail {
__device__ __forceinline__ __half2 as_half2(unsigned pair) {
  __half2 value;
  memcpy(&value, &pair, 4);
  return value;
}
__device__ __forceinline__ unsigned as_word(__half2 pair) {
  unsigned value;
  memcpy(&value, &pair, 4);
  return value;
}
}  // namespace detail
__device__ __forceinline__ unsigned pack2(float low, float high) {
  return detail::as_word(__floats2half2_rn(low, high));
}
__device__ __forceinline__ float2 unpack2(unsigned pair) { return __half22float2(detail::as_half2(pair)); }
__device__ __forceinline__ unsigned hfma2(unsigned a, unsigned b, unsigned c) {
  return detail::as_word(__hfma2(detail::as_half2(a), detail::as_half2(b), detail::as_half2(c)));
}
__device__ __forceinline__ unsigned hmul2(unsigned a, unsigned b) {
  return detail::as_word(__hmul2(detail::as_half2(a), detail::as_half2(b)));
}
__device__ __forceinline__ unsigned hadd2(unsigned a, unsigned b) {
  return detail::as_word(__hadd2(detail::as_half2(a), detail::as_half2(b)));
}
__device__ __forceinline__ unsigned hmax2(unsigned a, unsigned b) {
  return detail::as_word(__hmax2(detail::as_half2(a), detail::as_half2(b)));
}
__device__ __forceinline__ unsigned hmin2(unsigned a, unsigned b) {
  return detail::as_word(__hmin2(detail::as_half2(a), detail::as_half2(b)));
}
__device__ __forceinline__ unsigned hpositive2(unsigned a) {
  return detail::as_word(__hgt2(detail::as_half2(a), detail::as_half2(0u)));
}
__device__ __forceinline__ unsigned both_low(unsigned a) { return detail::as_word(__low2half2(detail::as_half2(a))); }
__device__ __forceinline__ unsigned both_high(unsigned a) { return detail::as_word(__high2half2(detail::as_half2(a))); }

__device__ __forceinline__ unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}
__device__ __forceinline__ void ldmatrix_x4(unsigned (&r)[4], const void* lane_row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3},[%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(shared_address(lane_row))
               : "memory");
}
__device__ __forceinline__ void ldmatrix_x4_trans(unsigned (&r)[4], const void* lane_row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3},[%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(shared_address(lane_row))
               : "memory");
}
__device__ __forceinline__ void ldmatrix_x2(unsigned (&r)[2], const void* lane_row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1},[%2];"
               : "=r"(r[0]), "=r"(r[1])
               : "r"(shared_address(lane_row))
               : "memory");
}
__device__ __forceinline__ void ldmatrix_x2_trans(unsigned (&r)[2], const void* lane_row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1},[%2];"
               : "=r"(r[0]), "=r"(r[1])
               : "r"(shared_address(lane_row))
               : "memory");
}
__device__ __forceinline__ void mma_16816(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
__device__ __forceinline__ unsigned to_tf32(float value) {
  unsigned bits;
  asm("cvt.rna.tf32.f32 %0,%1;" : "=r"(bits) : "f"(value));
  return bits;
}
__device__ __forceinline__ void mma_1688_tf32(float (&c)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
__device__ __forceinline__ unsigned movmatrix(unsigned value) {
  unsigned result;
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0,%1;" : "=r"(result) : "r"(value));
  return result;
}

__device__ __forceinline__ void cp_async16(void* shared, const void* global) {
  asm volatile("cp.async.cg.shared.global [%0],[%1],16;" ::"r"(shared_address(shared)), "l"(global) : "memory");
}
__device__ __forceinline__ void cp_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int GroupsLeft>
__device__ __forceinline__ void cp_async_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(GroupsLeft) : "memory");
}
__device__ __forceinline__ void pdl_wait() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}
__device__ __forceinline__ void pdl_trigger() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

__device__ __forceinline__ float fast_exp(float x) { return __expf(x); }
__device__ __forceinline__ float fast_exp2(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0,%1;" : "=f"(y) : "f"(x));
  return y;
}
__device__ __forceinline__ float fast_log(float x) { return __logf(x); }
__device__ __forceinline__ void fast_sincos(float x, float* sine, float* cosine) { __sincosf(x, sine, cosine); }
__device__ __forceinline__ float fast_div(float a, float b) { return __fdividef(a, b); }
__device__ __forceinline__ float fast_rsqrt(float x) { return rsqrtf(x); }
__device__ __forceinline__ unsigned mul_high(unsigned a, unsigned b) { return __umulhi(a, b); }
__device__ __forceinline__ unsigned bits_of(float value) { return __float_as_uint(value); }
__device__ __forceinline__ float float_of(unsigned bits) { return __uint_as_float(bits); }
__device__ __forceinline__ int atomic_add(int* where, int value) { return atomicAdd(where, value); }
__device__ __forceinline__ unsigned atomic_add(unsigned* where, unsigned value) { return atomicAdd(where, value); }
__device__ __forceinline__ int atomic_min(int* where, int value) { return atomicMin(where, value); }
__device__ __forceinline__ unsigned atomic_max(unsigned* where, unsigned value) { return atomicMax(where, value); }
/// Past the first cache level: for what other blocks write or read.
template <class T>
__device__ __forceinline__ T load_cg(const T* from) {
  return __ldcg(from);
}
template <class T>
__device__ __forceinline__ void store_cg(T* to, T value) {
  __stcg(to, value);
}
/// Through the read-only cache: for what no kernel that may run at the same time writes.
template <class T>
__device__ __forceinline__ T load_read_only(const T* from) {
  return __ldg(from);
}

#endif

__device__ __forceinline__ float warp_sum(float x) {
#pragma unroll
  for (int o = 16; o > 0; o >>= 1) x += shfl_xor(x, o);
  return x;
}
__device__ __forceinline__ float warp_max(float x) {
#pragma unroll
  for (int o = 16; o > 0; o >>= 1) x = fmaxf(x, shfl_xor(x, o));
  return x;
}
/// Whether a number is neither infinite nor NaN.
__device__ __forceinline__ bool finite(float x) { return (bits_of(x) & 0x7f800000u) != 0x7f800000u; }

}  // namespace tyche::engine::TYCHE_CUDA_NS
