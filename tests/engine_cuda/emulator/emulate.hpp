#pragma once
/// CUDA on the CPU, as far as this room uses it: kernels run as they are, block after block, a fibre per thread. For
/// tests on machines without a GPU; slow, and stricter than a GPU in some ways: memory starts as NaN patterns, copies
/// by cp.async spoil their target at once and happen when they are waited for and not before, threads of a block run in
/// an order that changes from barrier to barrier, and a barrier that not all threads reach is an error. It does not see
/// races between warps that happen to run in a good order.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>

// ---- the language
// NOLINTBEGIN(bugprone-reserved-identifier): the names are CUDA's.
#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __constant__
#define __shared__ static thread_local
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __launch_bounds__(...)
#define __grid_constant__
// NOLINTEND(bugprone-reserved-identifier)

struct uint2 {
  unsigned x, y;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
struct alignas(8) float2 {
  float x, y;
};
struct alignas(16) float4 {
  float x, y, z, w;
};
inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }
inline float2 make_float2(float x, float y) { return {x, y}; }
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }

namespace tyche::engine::cuda_emulated::emulation {

struct Index {
  unsigned x = 0;
};

/// Runs body once for every thread of every block.
void run(unsigned blocks, unsigned threads, std::size_t shared_bytes, const std::function<void()>& body);

[[nodiscard]] Index thread_index();
[[nodiscard]] Index block_index();
[[nodiscard]] Index block_size();
[[nodiscard]] Index grid_size();
[[nodiscard]] char* shared_memory();
void block_barrier();
void warp_barrier();
/// 128 bytes for each of the 32 lanes of the calling thread's warp.
[[nodiscard]] unsigned char* warp_slots();
inline constexpr std::size_t kSlot = 128;

/// Every lane gives a value and sees all 32: read(lane) until the next collective call.
template <class T>
class Exchange {
 public:
  explicit Exchange(const T& mine) {
    static_assert(sizeof(T) <= kSlot);
    std::memcpy(warp_slots() + (thread_index().x % 32) * kSlot, &mine, sizeof(T));
    warp_barrier();
  }
  ~Exchange() { warp_barrier(); }
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;
  [[nodiscard]] T read(unsigned lane) const {
    T value;
    std::memcpy(&value, warp_slots() + lane * kSlot, sizeof(T));
    return value;
  }
};

/// Half precision by table and by hand: round to nearest even, infinities kept.
using HalfBits = unsigned short;
[[nodiscard]] float half_value(HalfBits bits);
[[nodiscard]] HalfBits half_bits(float value);

/// cp.async: kept until waited for.
void copy_later(void* to, const void* from, std::size_t bytes);
void copy_commit();
void copy_wait(std::size_t groups_left);

}  // namespace tyche::engine::cuda_emulated::emulation

#define threadIdx (::tyche::engine::cuda_emulated::emulation::thread_index())
#define blockIdx (::tyche::engine::cuda_emulated::emulation::block_index())
#define blockDim (::tyche::engine::cuda_emulated::emulation::block_size())
#define gridDim (::tyche::engine::cuda_emulated::emulation::grid_size())
// NOLINTBEGIN(bugprone-reserved-identifier)
inline void __syncthreads() { tyche::engine::cuda_emulated::emulation::block_barrier(); }
inline void __syncwarp() { tyche::engine::cuda_emulated::emulation::warp_barrier(); }
// NOLINTEND(bugprone-reserved-identifier)

// ---- the runtime
enum cudaError_t { cudaSuccess = 0, cudaErrorMemoryAllocation = 2 };
using cudaStream_t = void*;
using cudaEvent_t = void*;
enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice };

inline cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind, cudaStream_t) {
  std::memcpy(to, from, bytes);  // NOLINT(clang-analyzer-core.NonNullParamChecker): nobody copies an empty array
  return cudaSuccess;
}
inline cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t) {
  std::memset(to, value, bytes);
  return cudaSuccess;
}
inline cudaError_t cudaMallocHost(void** memory, std::size_t bytes) {
  *memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  return *memory == nullptr ? cudaErrorMemoryAllocation : cudaSuccess;
}
inline cudaError_t cudaFreeHost(void* memory) {
  std::free(memory);
  return cudaSuccess;
}
