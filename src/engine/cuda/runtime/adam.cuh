#pragma once
/// Adam's step of one parameter, on the device (engine/core/adam.hpp has the formula and its constants).
///
///   adam_move(g, by, p, m, v, [&](float mean, float root) { return mean / (root / by.correction2_sqrt + by.epsilon);
///   });
#include "engine/core/adam.hpp"
#include "engine/cuda/runtime/intrinsics.cuh"

namespace tyche::engine::TYCHE_CUDA_NS {

/// `g`: the gradient, clipped already; `ratio` divides the mean by what the root of the squares is made of, each path
/// in its own precision.
template <class Constants, class Ratio>
__device__ __forceinline__ void adam_move(float g, const Constants& by, float& p, float& m, float& v,
                                          const Ratio& ratio) {
  m += (g - m) * AdamStep::kOneMinusBeta1;
  v = by.beta2 * v + by.one_minus_beta2 * g * g;
  if (by.keep != 1.0f) p *= by.keep;  // apart: the compiler may round a sum of two products either way
  p -= by.step_size * ratio(m, sqrtf(v));
}
/// With divisions that are rounded as PyTorch's are.
__device__ __forceinline__ void adam_move(float g, const AdamStep& by, float& p, float& m, float& v) {
  adam_move(g, by, p, m, v, [&](float mean, float root) { return mean / (root / by.correction2_sqrt + by.epsilon); });
}

// ---- clipping gradients by norm: squares added up block by block and then over the blocks, in one order, so that the
// norm has the same bits every time

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
