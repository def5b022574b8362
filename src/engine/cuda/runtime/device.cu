#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <unordered_set>

#include "engine/cuda/runtime/device.hpp"
#include "support/remedy.hpp"

namespace tyche::engine::TYCHE_CUDA_NS {

unsigned rank_in_machine() {
  for (const char* name :
       {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "MV2_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID"}) {
    if (const char* value = std::getenv(name)) return static_cast<unsigned>(std::max(0, std::atoi(value)));
  }
  return 0;
}

#ifndef TYCHE_CUDA_EMULATED

void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  (void)cudaGetLastError();
  throw IoError(std::string("GPU: ") + what + ": " + cudaGetErrorString(status));
}

void* allocate(std::size_t bytes, const char* what) {
  void* memory = nullptr;
  const cudaError_t status = cudaMalloc(&memory, bytes);
  if (status == cudaSuccess) return memory;
  (void)cudaGetLastError();
  constexpr std::size_t kMega = std::size_t{1} << 20;
  if (status == cudaErrorMemoryAllocation) {
    throw Remedied(IoError("GPU memory: " + std::string(what) + " need " + std::to_string((bytes + kMega - 1) / kMega) +
                           " MB, but only " + std::to_string(free_memory() / kMega) + " MB are free"),
                   Remedy::smaller_job);
  }
  throw IoError("GPU memory: " + std::string(what) + ": " + cudaGetErrorString(status));
}
void release(void* memory) noexcept {
  if (memory != nullptr) (void)cudaFree(memory);
}

namespace {
int current_device() {
  int device = 0;
  check(cudaGetDevice(&device), "asking for the device");
  return device;
}
int attribute(cudaDeviceAttr which) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, which, current_device()), "asking what the device can do");
  return value;
}
cudaDeviceProp properties_of_device() {
  cudaDeviceProp properties;
  check(cudaGetDeviceProperties(&properties, current_device()), "asking for the device's name");
  return properties;
}
}  // namespace

void enter_device() {
  int count = 0;
  check(cudaGetDeviceCount(&count), "counting devices");
  check(cudaSetDevice(static_cast<int>(rank_in_machine() % static_cast<unsigned>(count))), "choosing a device");
}
uint64_t device_identity() {
  const cudaDeviceProp properties = properties_of_device();
  uint64_t halves[2];
  static_assert(sizeof halves == sizeof properties.uuid);
  std::memcpy(halves, &properties.uuid, sizeof halves);
  return halves[0] ^ halves[1];
}
int multiprocessors() { return attribute(cudaDevAttrMultiProcessorCount); }
int compute_capability() {
  return 10 * attribute(cudaDevAttrComputeCapabilityMajor) + attribute(cudaDevAttrComputeCapabilityMinor);
}
std::size_t shared_limit() {
  static const auto limit = static_cast<std::size_t>(attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin));
  return limit;
}
void detail::allow_shared(const void* kernel) {
  thread_local std::unordered_set<const void*> allowed;
  if (!allowed.insert(kernel).second) return;
  cudaFuncAttributes own;
  check(cudaFuncGetAttributes(&own, kernel), "asking what a kernel takes");
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(shared_limit() - own.sharedSizeBytes)),
        "asking for shared memory");
}
std::size_t free_memory() {
  std::size_t free = 0, all = 0;
  return cudaMemGetInfo(&free, &all) == cudaSuccess ? free : 0;
}

DeviceState device_state() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess) {
    (void)cudaGetLastError();
    if (status == cudaErrorInsufficientDriver) {
      return {false, "there is no NVIDIA driver, or one older than CUDA " + std::to_string(CUDART_VERSION / 1000) +
                         "." + std::to_string(CUDART_VERSION % 1000 / 10)};
    }
    return {false, cudaGetErrorString(status)};
  }
  if (count == 0) return {false, "no GPU"};
  enter_device();
  const cudaDeviceProp properties = properties_of_device();
  // The code is built for one generation of chips and those after it.
  if (properties.major < TYCHE_CUDA_LEAST_MAJOR) {
    return {false, std::string(properties.name) + " is older than this build's kernels (compute capability " +
                       std::to_string(TYCHE_CUDA_LEAST_MAJOR) + ".0)"};
  }
  return {true, properties.name};
}

Stream::Stream() { check(cudaStreamCreateWithFlags(&handle_, cudaStreamNonBlocking), "making a stream"); }
Stream::~Stream() {
  if (handle_ != nullptr) cudaStreamDestroy(handle_);
}
void Stream::sync() { check(cudaStreamSynchronize(handle_), "running kernels"); }

Event::Event() { check(cudaEventCreate(&handle_), "making an event"); }
Event::~Event() {
  if (handle_ != nullptr) cudaEventDestroy(handle_);
}
void Event::record(Stream& stream) { check(cudaEventRecord(handle_, stream.handle()), "recording an event"); }
void Event::wait() { check(cudaEventSynchronize(handle_), "running kernels"); }
float Event::ms(const Event& from, const Event& to) {
  float value = 0;
  check(cudaEventElapsedTime(&value, from.handle_, to.handle_), "timing kernels");
  return value;
}

#endif

}  // namespace tyche::engine::TYCHE_CUDA_NS
