#pragma once
/// Numbers in half precision as bits, one in a Half or two in a word (the first in the low bits).
#include "engine/cuda/runtime/device.hpp"

#ifdef TYCHE_CUDA_EMULATED
#include "engine_cuda/emulator/half.hpp"
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
/// 1 where a half is above zero, else 0; one half in both places.
__device__ __forceinline__ unsigned hpositive2(unsigned a) {
  return detail::as_word(__hgt2(detail::as_half2(a), detail::as_half2(0u)));
}
__device__ __forceinline__ unsigned both_low(unsigned a) { return detail::as_word(__low2half2(detail::as_half2(a))); }
__device__ __forceinline__ unsigned both_high(unsigned a) { return detail::as_word(__high2half2(detail::as_half2(a))); }

}  // namespace tyche::engine::TYCHE_CUDA_NS

#endif
