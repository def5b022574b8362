#pragma once
/// What kernels of this room ask of a GPU beyond plain C++: exchanges in a warp, shared memory, the order of kernels,
/// fast functions, atomics, caches. Half precision and products of matrices are in mma.cuh; each function has
/// its twin in the tests' emulator. All 32 lanes of a warp must take part in collective calls.
#include <cmath>

#include "engine/cuda/runtime/device.hpp"

#ifdef TYCHE_CUDA_EMULATED
#include "engine_cuda/emulator/intrinsics.hpp"
#endif

namespace tyche::engine::TYCHE_CUDA_NS {

#ifndef TYCHE_CUDA_EMULATED

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
__device__ __forceinline__ unsigned ballot(bool value) { return __ballot_sync(~0u, value); }
__device__ __forceinline__ unsigned popcount(unsigned bits) { return static_cast<unsigned>(__popc(bits)); }

__device__ __forceinline__ unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}
__device__ __forceinline__ void cp_async16(void* shared, const void* global) {
  asm volatile("cp.async.cg.shared.global [%0],[%1],16;" ::"r"(shared_address(shared)), "l"(global) : "memory");
}
/// Zeros where there is nothing to copy.
__device__ __forceinline__ void cp_async16_or_zero(void* shared, const void* global, bool there) {
  asm volatile("cp.async.cg.shared.global [%0],[%1],16,%2;" ::"r"(shared_address(shared)), "l"(global),
               "r"(there ? 16 : 0)
               : "memory");
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
__device__ __forceinline__ float fast_log(float x) { return __logf(x); }
__device__ __forceinline__ void fast_sincos(float x, float* sine, float* cosine) { __sincosf(x, sine, cosine); }
__device__ __forceinline__ float fast_div(float a, float b) { return __fdividef(a, b); }
__device__ __forceinline__ unsigned mul_high(unsigned a, unsigned b) { return __umulhi(a, b); }
__device__ __forceinline__ unsigned bits_of(float value) { return __float_as_uint(value); }
__device__ __forceinline__ float float_of(unsigned bits) { return __uint_as_float(bits); }
__device__ __forceinline__ int atomic_add(int* where, int value) { return atomicAdd(where, value); }
__device__ __forceinline__ unsigned atomic_add(unsigned* where, unsigned value) { return atomicAdd(where, value); }
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
