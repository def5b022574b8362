#include "engine/cuda/fused/kernels.cuh"

namespace tyche::engine::TYCHE_CUDA_NS::fused {

const Kernels& kernels128() {
  static const Kernels kernels = kernels_of<128>();
  return kernels;
}

}  // namespace tyche::engine::TYCHE_CUDA_NS::fused
