#include "engine/cuda/runtime/device.hpp"

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string>

namespace tyche::engine::TYCHE_CUDA_NS {

void check(cudaError_t status, const char* what) {
  if (status != cudaSuccess) throw IoError(std::string("GPU (emulated): ") + what + ": failed");
}

void* allocate(std::size_t bytes, const char* what) {
  void* memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  if (memory == nullptr) throw IoError(std::string("GPU (emulated) memory: ") + what);
  std::memset(memory, 0xff, bytes);
  return memory;
}
void release(void* memory) noexcept { std::free(memory); }

void enter_device() {}
uint64_t device_identity() { return 0; }
int multiprocessors() { return 3; }
int compute_capability() { return 90; }  // so that tests see the kernels
std::size_t shared_limit() { return 227 * 1024; }
std::size_t free_memory() { return std::size_t{1} << 34; }
DeviceState device_state() { return {true, "emulated"}; }

Stream::Stream() = default;
Stream::~Stream() = default;
void Stream::sync() {}

namespace {
using Clock = std::chrono::steady_clock;
}  // namespace
Event::Event() : handle_(new Clock::time_point()) {}
Event::~Event() { delete static_cast<Clock::time_point*>(handle_); }
void Event::record(Stream&) { *static_cast<Clock::time_point*>(handle_) = Clock::now(); }
void Event::wait() {}
float Event::ms(const Event& from, const Event& to) {
  return std::chrono::duration<float, std::milli>(*static_cast<Clock::time_point*>(to.handle_) -
                                                  *static_cast<Clock::time_point*>(from.handle_))
      .count();
}

}  // namespace tyche::engine::TYCHE_CUDA_NS
