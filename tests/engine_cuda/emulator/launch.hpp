#pragma once
/// The twins of runtime/device.hpp.
#include "engine/cuda/runtime/device.hpp"

namespace tyche::engine::TYCHE_CUDA_NS {

template <class... Parameters, class... Arguments>
void launch_with(bool, void (*kernel)(Parameters...), std::size_t blocks, unsigned threads, std::size_t shared, Stream&,
                 const Arguments&... arguments) {
  if (blocks == 0) return;
  emulation::run(static_cast<unsigned>(blocks), threads, shared,
                 [&] { kernel(static_cast<Parameters>(arguments)...); });
}

/// Work that is queued again and again.
class Graph {
 public:
  template <class Work>
  void record(Stream&, const Work& work) {
    work_ = work;
  }
  void launch(Stream&) const { work_(); }
  template <class Work>
  void launch(Stream&, Work work) {
    work();
  }

 private:
  std::function<void()> work_;
};

}  // namespace tyche::engine::TYCHE_CUDA_NS
