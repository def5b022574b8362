#pragma once
/// What every kernel of PPGN begins with: PpgnQueue lets a kernel be placed while the one before still runs, so it has
/// to wait for its inputs itself.
#include "engine/cuda/runtime/intrinsics.cuh"

namespace tyche::engine::TYCHE_CUDA_NS {

/// Waits for what was queued before, then lets what comes next be placed.
__device__ __forceinline__ void ppgn_begin() {
  pdl_wait();
  pdl_trigger();
}

}  // namespace tyche::engine::TYCHE_CUDA_NS
