#pragma once
/// The twins of runtime/intrinsics.cuh.
#include <bit>
#include <cmath>

#include "engine/cuda/runtime/device.hpp"

namespace tyche::engine::TYCHE_CUDA_NS {

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
inline unsigned ballot(bool value) {
  const emulation::Exchange<bool> all(value);
  unsigned bits = 0;
  for (unsigned lane = 0; lane < 32; ++lane) bits |= all.read(lane) ? 1u << lane : 0u;
  return bits;
}

inline unsigned popcount(unsigned bits) { return static_cast<unsigned>(std::popcount(bits)); }

inline void cp_async16(void* shared, const void* global) { emulation::copy_later(shared, global, 16); }
inline void cp_async16_or_zero(void* shared, const void* global, bool there) {
  static constexpr char kZeros[16] = {};
  emulation::copy_later(shared, there ? global : kZeros, 16);
}
inline void cp_async_commit() { emulation::copy_commit(); }
template <int GroupsLeft>
void cp_async_wait() {
  emulation::copy_wait(GroupsLeft);
}
inline void pdl_wait() {}
inline void pdl_trigger() {}

inline float fast_exp(float x) { return std::exp(x); }
inline float fast_log(float x) { return std::log(x); }
inline void fast_sincos(float x, float* sine, float* cosine) {
  *sine = std::sin(x);
  *cosine = std::cos(x);
}
inline float fast_div(float a, float b) { return a / b; }
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

}  // namespace tyche::engine::TYCHE_CUDA_NS
