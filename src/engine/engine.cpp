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

namespace {

/// "auto": a fast engine, and the plain one for networks that it does not know.
class AutoEngine final : public Engine {
 public:
  AutoEngine(std::unique_ptr<Engine> fast, unsigned threads)
      : fast_(std::move(fast)), plain_(reference::make_reference_engine(threads)) {}

  [[nodiscard]] std::string description() const override { return fast_->description(); }
  [[nodiscard]] std::string description(const Job& job) const override { return of(job).description(job); }
  void train(const Job& job, std::span<Trial> trials, Observer& observer) override {
    const std::string why = cpu::unsupported(job);
    if (!why.empty() && !trials.empty()) observer.on_note(0, why + ": reference runs the network");
    of(job).train(job, trials, observer);
  }
  [[nodiscard]] Logits predict(const Job& job, std::span<const float> parameters, std::span<const std::uint32_t> which,
                               const Draw& draw) override {
    return of(job).predict(job, parameters, which, draw);
  }
  double gradient(const Job& job, std::span<const float> parameters, std::span<const std::uint32_t> which,
                  const Draw& draw, std::vector<float>& gradient_out, Logits& logits_out) override {
    return of(job).gradient(job, parameters, which, draw, gradient_out, logits_out);
  }

 private:
  [[nodiscard]] Engine& of(const Job& job) const { return cpu::unsupported(job).empty() ? *fast_ : *plain_; }

  std::unique_ptr<Engine> fast_, plain_;
};

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
    throw InputError(
        fmt::format("no engine '{}' in this build on this machine; there are {}", name, fmt::join(names, ", ")));
  }
  if (choice.device == Device::reference) return reference::make_reference_engine(threads);
#ifdef TYCHE_HAVE_CUDA
  if (choice.on_gpu()) {
    return cuda::make_cuda_engine({choice.precision, choice.path, threads, choice.device == Device::automatic});
  }
#endif
  auto fast = cpu::make_cpu_engine(cpu::kernels_for(choice.kernels.empty() ? "auto" : choice.kernels), threads);
  return choice.device == Device::automatic ? std::make_unique<AutoEngine>(std::move(fast), threads) : std::move(fast);
}

std::unique_ptr<Engine> make_engine(const std::string& name, unsigned threads) {
  return make_engine(EngineChoice(name), threads);
}

}  // namespace tyche::engine
