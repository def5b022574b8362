#pragma once
/// Numbers in half precision as bits, one in a Half or two in a word (the first in the low bits); small matrix products
/// by a warp and the loads that feed them. Fragment layouts are PTX's (mma.m16n8k16, mma.m16n8k8, ldmatrix, movmatrix).
/// All 32 lanes of a warp must take part in these.
#include "engine/cuda/runtime/intrinsics.cuh"

#ifdef TYCHE_CUDA_EMULATED
#include "engine_cuda/emulator/mma.hpp"
#else

namespace tyche::engine::TYCHE_CUDA_NS {

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
__device__ __forceinline__ unsigned hmin2(unsigned a, unsigned b) {
  return detail::as_word(__hmin2(detail::as_half2(a), detail::as_half2(b)));
}
__device__ __forceinline__ unsigned hadd2(unsigned a, unsigned b) {
  return detail::as_word(__hadd2(detail::as_half2(a), detail::as_half2(b)));
}
/// The larger; a number rather than NaN.
__device__ __forceinline__ unsigned hmax2(unsigned a, unsigned b) {
  return detail::as_word(__hmax2(detail::as_half2(a), detail::as_half2(b)));
}
/// All bits where a half is above zero, else none.
__device__ __forceinline__ unsigned above_zero2(unsigned a) {
  return __hgt2_mask(detail::as_half2(a), detail::as_half2(0u));
}
/// 1 where a half is above zero, else 0; one half in both places.
__device__ __forceinline__ unsigned hpositive2(unsigned a) {
  return detail::as_word(__hgt2(detail::as_half2(a), detail::as_half2(0u)));
}
__device__ __forceinline__ unsigned both_low(unsigned a) { return detail::as_word(__low2half2(detail::as_half2(a))); }
__device__ __forceinline__ unsigned both_high(unsigned a) { return detail::as_word(__high2half2(detail::as_half2(a))); }

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

}  // namespace tyche::engine::TYCHE_CUDA_NS

#endif
