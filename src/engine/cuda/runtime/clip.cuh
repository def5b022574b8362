#pragma once
/// Clipping gradients by norm: squares added up block by block and then over the blocks, in one order, so that the
/// norm has the same bits every time.
#include "engine/cuda/runtime/intrinsics.cuh"

namespace tyche::engine::TYCHE_CUDA_NS {

inline constexpr unsigned kClipThreads = 256;

/// What all threads of a block have, added up; the same in all of them. `sums`: a float per warp, in shared memory.
__device__ __forceinline__ float block_sum(float value, float* sums) {
  const unsigned tid = threadIdx.x;
  value = warp_sum(value);
  __syncthreads();  // whatever `sums` was before has been read
  if (tid % 32 == 0) sums[tid / 32] = value;
  __syncthreads();
  float sum = 0;
  for (unsigned w = 0; w < blockDim.x / 32; ++w) sum += sums[w];
  return sum;
}

/// What a gradient of this norm is multiplied by; PyTorch's clip_grad_norm_.
__device__ __forceinline__ float clip_factor(float norm, float clip) {
  const float factor = clip / (norm + 1e-6f);
  return factor < 1 ? factor : 1.0f;
}

/// One block of kClipThreads: the factor, from the squares that other blocks left.
__device__ __forceinline__ void clip_of_parts(const float* parts, std::size_t count, float clip, float* factor) {
  __shared__ float sums[kClipThreads / 32];
  float sum = 0;
  for (std::size_t i = threadIdx.x; i < count; i += kClipThreads) sum += parts[i];
  sum = block_sum(sum, sums);
  if (threadIdx.x == 0) *factor = clip_factor(sqrtf(sum), clip);
}

}  // namespace tyche::engine::TYCHE_CUDA_NS
