#pragma once
/// Every file of this room is compiled twice: by nvcc for the GPU, and with TYCHE_CUDA_EMULATED by the C++ compiler for
/// tests on the CPU (tests/engine_cuda/emulator). The two live in namespaces of their own, so that one program can hold
/// both.
#ifdef TYCHE_CUDA_EMULATED
#define TYCHE_CUDA_NS cuda_emulated
#else
#define TYCHE_CUDA_NS cuda
#endif
#include <string>

namespace tyche::engine::TYCHE_CUDA_NS {

/// "NVIDIA H200", or why there is no GPU to use.
struct DeviceState {
  bool usable = false;
  std::string text;
};
[[nodiscard]] DeviceState device_state();

}  // namespace tyche::engine::TYCHE_CUDA_NS
