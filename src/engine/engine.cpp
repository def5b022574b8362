#include "engine/engine.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "engine/choice.hpp"
#include "engine/cpu/cpu_engine.hpp"
#ifdef TYCHE_HAVE_CUDA
#include "engine/cuda/cuda_engine.hpp"
#endif
#include "engine/reference/reference_engine.hpp"
#include "support/error.hpp"
#include "support/remedy.hpp"

namespace tyche::engine {

std::vector<std::string> cpu_engine_names() {
  std::vector<std::string> names = {"reference", "cpu"};
  for (const std::string& kernels : cpu::kernel_names()) {
    if (kernels != "auto") names.push_back("cpu-" + kernels);
  }
  return names;
}

std::vector<std::string> engine_names() {
  std::vector<std::string> names = cpu_engine_names();
  names.insert(names.begin(), "auto");
  if (gpu_state().usable) {
    for (const char* name : {"cuda", "cuda-fp32", "cuda-fused", "cuda-layerwise", "cuda-layerwise-fp32"}) {
      names.emplace_back(name);
    }
  }
  return names;
}

GpuState gpu_state() {
#ifdef TYCHE_HAVE_CUDA
  // Asked once: waking the driver takes longer than all else that choosing an engine does.
  static const cuda::DeviceState device = cuda::device_state();
  return {device.usable, device.text};
#else
  return {false, "this build has no GPU engine (nvcc was not found)"};
#endif
}

std::unique_ptr<Engine> make_engine(const EngineChoice& choice, unsigned threads) {
  using Device = EngineChoice::Device;
  const std::string name = choice.name();
  const auto names = engine_names();
  if (choice.device == Device::cuda && !gpu_state().usable) {
    throw Remedied(InputError("no GPU to use: " + gpu_state().text), Remedy::use_cpu);
  }
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    throw InputError("no engine '{}' in this build on this machine; there are {}", name, fmt::join(names, ", "));
  }
  if (choice.device == Device::reference) return reference::make_reference_engine(threads);
#ifdef TYCHE_HAVE_CUDA
  if (choice.on_gpu()) {
    return cuda::make_cuda_engine({choice.precision, choice.path, threads, choice.device == Device::automatic});
  }
#endif
  return cpu::make_cpu_engine(cpu::kernels_for(choice.kernels.empty() ? "auto" : choice.kernels), threads);
}

std::unique_ptr<Engine> make_engine(const std::string& name, unsigned threads) {
  return make_engine(EngineChoice(name), threads);
}

}  // namespace tyche::engine
