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

}  // namespace tyche::engine::TYCHE_CUDA_NS
