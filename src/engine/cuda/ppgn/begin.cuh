#pragma once
/// The first words of every kernel of PPGN (see PpgnQueue).
#include "engine/cuda/runtime/intrinsics.cuh"

namespace tyche::engine::TYCHE_CUDA_NS {

/// Waits for what was queued before, then lets what comes next be placed.
__device__ __forceinline__ void ppgn_begin() {
  pdl_wait();
  pdl_trigger();
}

}  // namespace tyche::engine::TYCHE_CUDA_NS
