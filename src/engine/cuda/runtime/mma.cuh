#pragma once
/// Small matrix products by a warp and the loads that feed them. Fragment layouts are PTX's (mma.m16n8k16, mma.m16n8k8,
/// ldmatrix, movmatrix). All 32 lanes of a warp must take part.
#include "engine/cuda/runtime/half.cuh"
#include "engine/cuda/runtime/intrinsics.cuh"

#ifdef TYCHE_CUDA_EMULATED
#include "engine_cuda/emulator/mma.hpp"
#else

namespace tyche::engine::TYCHE_CUDA_NS {

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
