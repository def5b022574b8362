#include "engine/cuda/fused/kernels.cuh"

namespace tyche::engine::TYCHE_CUDA_NS::fused {

const Kernels& kernels64() {
  static const Kernels kernels = kernels_of<64>();
  return kernels;
}

}  // namespace tyche::engine::TYCHE_CUDA_NS::fused
