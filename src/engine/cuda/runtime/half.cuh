#pragma once
/// Numbers in half precision as bits, one in a Half or two in a word (the first in the low bits); each function has its
/// twin in the emulator.
#include <cmath>

#include "engine/cuda/runtime/device.hpp"

namespace tyche::engine::TYCHE_CUDA_NS {

/// The bits of a half-precision number.
using Half = unsigned short;

#ifdef TYCHE_CUDA_EMULATED

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
/// 1 where a half is above zero, else 0; one half in both places.
inline unsigned hpositive2(unsigned a) {
  const float2 x = unpack2(a);
  return (x.x > 0 ? 0x3C00u : 0u) | (x.y > 0 ? 0x3C000000u : 0u);
}
inline unsigned both_low(unsigned a) { return (a & 0xffffu) | a << 16; }
inline unsigned both_high(unsigned a) { return a >> 16 | (a & 0xffff0000u); }

#else

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
__device__ __forceinline__ unsigned hpositive2(unsigned a) {
  return detail::as_word(__hgt2(detail::as_half2(a), detail::as_half2(0u)));
}
__device__ __forceinline__ unsigned both_low(unsigned a) { return detail::as_word(__low2half2(detail::as_half2(a))); }
__device__ __forceinline__ unsigned both_high(unsigned a) { return detail::as_word(__high2half2(detail::as_half2(a))); }

#endif

}  // namespace tyche::engine::TYCHE_CUDA_NS
