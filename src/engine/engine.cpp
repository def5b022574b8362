#include "engine/engine.hpp"

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

namespace {

[[noreturn]] void refuse(std::string_view name) {
  throw InputError("no engine '{}' in this build on this machine; there are {}", name, fmt::join(engine_names(), ", "));
}

}  // namespace

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
    names.insert(names.end(), {"cuda", "cuda-fp32", "cuda-fused", "cuda-layerwise", "cuda-layerwise-fp32"});
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

EngineChoice::EngineChoice(std::string_view name) {
  if (name.starts_with("cpu-")) {
    device = Device::cpu;
    kernels = name.substr(4);
    if (!kernels.empty()) return;
  }
  for (const Device own : {Device::automatic, Device::cpu, Device::reference, Device::cuda}) {
    for (const Path way : {Path::by_job, Path::fused, Path::layerwise}) {
      for (const Precision numbers : {Precision::mixed, Precision::fp32}) {
        device = own, path = way, precision = numbers;
        if (this->name() == name) return;
      }
    }
  }
  refuse(name);
}

std::string EngineChoice::name() const {
  if (device == Device::automatic) return "auto";
  if (device == Device::reference) return "reference";
  if (device == Device::cpu) return kernels.empty() ? "cpu" : "cpu-" + kernels;
  std::string text = "cuda";
  if (path == Path::fused) text += "-fused";
  if (path == Path::layerwise) text += "-layerwise";
  if (precision == Precision::fp32) text += "-fp32";
  return text;
}

std::string AskedEngine::name(const std::string& otherwise) const {
  const auto check = [](const char* what, const std::optional<std::string>& said,
                        const std::vector<std::string>& known) {
    if (!said || std::find(known.begin(), known.end(), *said) != known.end()) return;
    throw InputError("{}: expected one of {}, found '{}'", what, fmt::join(known, ", "), *said);
  };
  check("device", device, {"cpu", "cuda", "auto"});
  check("engine path", path, {"auto", "fused", "layerwise"});
  check("precision", precision, {"mixed", "fp32"});
  const bool for_gpu = path.value_or("auto") != "auto" || precision.value_or("mixed") != "mixed";
  if (!device && !for_gpu) return otherwise;
  if (device.value_or("cuda") != "cuda") {
    if (for_gpu) throw InputError("engine path and precision are for the device cuda, not {}", *device);
    return *device;
  }
  return "cuda" + (path.value_or("auto") == "auto" ? "" : "-" + *path) + (precision == "fp32" ? "-fp32" : "");
}

bool EngineChoice::on_gpu() const {
  return device == Device::cuda || (device == Device::automatic && gpu_state().usable);
}

std::unique_ptr<Engine> make_engine(const EngineChoice& choice, unsigned threads) {
  using Device = EngineChoice::Device;
  const std::string name = choice.name();
  const auto names = engine_names();
  if (choice.device == Device::cuda && !gpu_state().usable) {
    throw Remedied(InputError("no GPU to use: " + gpu_state().text), Remedy::use_cpu);
  }
  if (std::find(names.begin(), names.end(), name) == names.end()) refuse(name);
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
