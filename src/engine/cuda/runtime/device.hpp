#pragma once
/// The host's side of a GPU: memory, streams, launches, graphs, all with errors that say what was asked for.
///
///   Stream stream;
///   auto x = DeviceArray<float>::from(values, "features", stream);
///   launch(scale_kernel, blocks, 256, 0, stream, x.data(), x.size(), 2.0f);
///   x.download(values, stream);
///   stream.sync();
///
/// In the tests' emulator (names.hpp) kernels run on the CPU, one fibre per thread.
#ifdef TYCHE_CUDA_EMULATED
#include "engine_cuda/emulator/emulate.hpp"
#else
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#endif

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/cuda/runtime/names.hpp"
#include "support/error.hpp"

namespace tyche::engine::TYCHE_CUDA_NS {

/// The bits of a number in half precision.
using Half = unsigned short;

/// Throws IoError that names the call where it failed.
void check(cudaError_t status, const char* what);

/// Device memory; throws IoError that names `what`, how much was asked for and how much is free.
[[nodiscard]] void* allocate(std::size_t bytes, const char* what);
void release(void* memory) noexcept;

/// The rank of this process among those of its machine, as the launcher says it (Open MPI, MPICH and Intel MPI,
/// MVAPICH, Slurm); 0 where none does.
[[nodiscard]] unsigned rank_in_machine();
/// From here on this thread works on this process' GPU: that of its rank within the machine, round and round where
/// there are fewer. Every thread that calls the device says so first.
void enter_device();
/// A number of that GPU, which no other has.
[[nodiscard]] uint64_t device_identity();

[[nodiscard]] int multiprocessors();
/// 90 for 9.0.
[[nodiscard]] int compute_capability();
/// Dynamic shared memory a block can have, bytes.
[[nodiscard]] std::size_t shared_limit();
[[nodiscard]] std::size_t free_memory();

class Stream {
 public:
  Stream();
  ~Stream();  // NOLINT(performance-trivially-destructible): only the emulator's is
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  /// Waits for all that was queued; throws where some of it failed.
  void sync();
  [[nodiscard]] cudaStream_t handle() const { return handle_; }

 private:
  cudaStream_t handle_ = nullptr;
};

class Event {
 public:
  Event();
  ~Event();
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  void record(Stream& stream);
  void wait();  ///< until the work before it is done
  /// Milliseconds between two events that have happened.
  [[nodiscard]] static float ms(const Event& from, const Event& to);

 private:
  cudaEvent_t handle_ = nullptr;
};

/// Queues a copy; memory of the host that is not pinned has been read when the call returns.
inline void copy_bytes(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, const char* what,
                       Stream& stream) {
  if (bytes > 0) check(cudaMemcpyAsync(to, from, bytes, kind, stream.handle()), what);
}

template <class T>
class DeviceArray {
 public:
  DeviceArray() = default;
  DeviceArray(std::size_t count, const char* what) : size_(count) {
    if (count > 0) data_.reset(static_cast<T*>(allocate(count * sizeof(T), what)));
  }

  static DeviceArray from(std::span<const T> values, const char* what, Stream& stream) {
    DeviceArray array(values.size(), what);
    array.upload(values, stream);
    return array;
  }

  [[nodiscard]] T* data() { return data_.get(); }
  [[nodiscard]] const T* data() const { return data_.get(); }
  [[nodiscard]] std::size_t size() const { return size_; }

  void zero(Stream& stream) {
    if (size_ == 0) return;
    check(cudaMemsetAsync(data(), 0, size_ * sizeof(T), stream.handle()), "clearing device memory");
  }
  void upload(std::span<const T> values, Stream& stream) {
    if (values.size() > size_) throw Error("an upload larger than its array");
    copy_bytes(data(), values.data(), values.size_bytes(), cudaMemcpyHostToDevice, "copying to the device", stream);
  }
  void download(std::span<T> values, Stream& stream) const {
    if (values.size() > size_) throw Error("a download larger than its array");
    copy_bytes(values.data(), data(), values.size_bytes(), cudaMemcpyDeviceToHost, "copying from the device", stream);
  }
  /// Copies all of another array of the same size.
  void copy_from(const DeviceArray& other, Stream& stream) {
    if (other.size_ != size_) throw Error("a copy between arrays of two sizes");
    copy_bytes(data(), other.data(), size_ * sizeof(T), cudaMemcpyDeviceToDevice, "copying on the device", stream);
  }

 private:
  struct Deleter {
    void operator()(T* memory) const noexcept { release(memory); }
  };
  std::unique_ptr<T, Deleter> data_;
  std::size_t size_ = 0;
};

/// Host memory that copies run beside kernels from and to.
template <class T>
class PinnedArray {
 public:
  PinnedArray() = default;
  PinnedArray(std::size_t count, const char* what) : size_(count) {
    void* memory = nullptr;
    if (count > 0) check(cudaMallocHost(&memory, count * sizeof(T)), what);
    data_.reset(static_cast<T*>(memory));
  }
  [[nodiscard]] std::span<T> span() { return {data_.get(), size_}; }
  [[nodiscard]] T* data() { return data_.get(); }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  struct Deleter {
    void operator()(T* memory) const noexcept { (void)cudaFreeHost(memory); }
  };
  std::unique_ptr<T, Deleter> data_;
  std::size_t size_ = 0;
};

}  // namespace tyche::engine::TYCHE_CUDA_NS

#ifdef TYCHE_CUDA_EMULATED
#include "engine_cuda/emulator/launch.hpp"
#else

namespace tyche::engine::TYCHE_CUDA_NS {

namespace detail {
/// Lets a kernel have all shared memory there is; asked of the driver once per thread.
void allow_shared(const void* kernel);
}  // namespace detail

/// Queues a kernel; `shared` is its dynamic shared memory in bytes. A dependent one may begin while the one before it
/// in the stream still runs: it must call pdl_wait() before it touches what that one writes (and what any one before
/// that wrote, unless that one waited too).
template <class... Parameters, class... Arguments>
void launch_with(bool dependent, void (*kernel)(Parameters...), std::size_t blocks, unsigned threads,
                 std::size_t shared, Stream& stream, const Arguments&... arguments) {
  if (blocks == 0) return;
  if (shared > 48 * 1024) detail::allow_shared(reinterpret_cast<const void*>(kernel));
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(static_cast<unsigned>(blocks));
  config.blockDim = dim3(threads);
  config.dynamicSmemBytes = shared;
  config.stream = stream.handle();
  cudaLaunchAttribute attribute[1];
  attribute[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute[0].val.programmaticStreamSerializationAllowed = 1;
  config.attrs = attribute;
  config.numAttrs = dependent ? 1 : 0;
  check(cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...), "launching a kernel");
}

/// Work that is queued again and again, at the cost of one launch.
class Graph {
 public:
  /// In place of other work: best of the same kind, kernels with other arguments.
  template <class Work>
  void record(Stream& stream, const Work& work) {
    check(cudaStreamBeginCapture(stream.handle(), cudaStreamCaptureModeThreadLocal), "recording a graph");
    work();
    cudaGraph_t captured = nullptr;
    check(cudaStreamEndCapture(stream.handle(), &captured), "recording a graph");
    cudaGraphExecUpdateResultInfo info;
    if (exec_ != nullptr && cudaGraphExecUpdate(exec_.get(), captured, &info) != cudaSuccess) {
      (void)cudaGetLastError();
      exec_.reset();
    }
    cudaError_t status = cudaSuccess;
    if (exec_ == nullptr) {
      cudaGraphExec_t made = nullptr;
      status = cudaGraphInstantiate(&made, captured, 0);
      exec_.reset(made);
    }
    cudaGraphDestroy(captured);
    check(status, "preparing a graph");
  }
  void launch(Stream& stream) const { check(cudaGraphLaunch(exec_.get(), stream.handle()), "launching a graph"); }
  /// Records and launches, which costs less than to queue kernels of the same kind.
  template <class Work>
  void launch(Stream& stream, Work work) {
    record(stream, work);
    launch(stream);
  }

 private:
  struct Deleter {
    void operator()(cudaGraphExec_t graph) const noexcept { (void)cudaGraphExecDestroy(graph); }
  };
  std::unique_ptr<std::remove_pointer_t<cudaGraphExec_t>, Deleter> exec_;
};

}  // namespace tyche::engine::TYCHE_CUDA_NS

#endif

namespace tyche::engine::TYCHE_CUDA_NS {

/// Queues a kernel; `shared` is its dynamic shared memory in bytes.
template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...), std::size_t blocks, unsigned threads, std::size_t shared, Stream& stream,
            const Arguments&... arguments) {
  launch_with(false, kernel, blocks, threads, shared, stream, arguments...);
}

}  // namespace tyche::engine::TYCHE_CUDA_NS
