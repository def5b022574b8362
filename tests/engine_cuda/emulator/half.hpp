#pragma once
/// The twins of runtime/half.cuh.
#include <cmath>

#include "engine/cuda/runtime/device.hpp"

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
inline unsigned hpositive2(unsigned a) {
  const float2 x = unpack2(a);
  return (x.x > 0 ? 0x3C00u : 0u) | (x.y > 0 ? 0x3C000000u : 0u);
}
inline unsigned both_low(unsigned a) { return (a & 0xffffu) | a << 16; }
inline unsigned both_high(unsigned a) { return a >> 16 | (a & 0xffff0000u); }

}  // namespace tyche::engine::TYCHE_CUDA_NS
