#include "engine/cuda/fused/kernels.cuh"

namespace tyche::engine::TYCHE_CUDA_NS::fused {

const Kernels& kernels32() {
  static const Kernels kernels = kernels_of<32>();
  return kernels;
}

}  // namespace tyche::engine::TYCHE_CUDA_NS::fused
