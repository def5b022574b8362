#pragma once
/// Hopper's matrix products of a warpgroup (128 threads), wgmma.mma_async, with both operands in shared memory: an
/// accumulator object whose products run on while the threads do something else.
///
///   Wgmma<200> sums;                                         // 64 × 200, zero
///   fence_async_proxy(); __syncthreads();                    // what threads wrote to shared memory is there for wgmma
///   sums.fence();
///   sums.issue<false, true>(a, b);                           // sums += A (64 × 16) · B (16 × 200)
///   sums.commit();
///   sums.wait<0>();                                          // sums.value may be read, the operands overwritten
///
/// value[4 · n + 2 · h + j] is the entry of row 16 · (warp of the warpgroup) + 8 · h + lane / 4 and column 8 · n + 2 ·
/// (lane % 4) + j.
///
/// Operands are told by 64-bit descriptors (PTX ISA, "Matrix descriptor format"): bits 0–13 the address, 16–29 the
/// leading, 32–45 the stride offset, all in units of 16 bytes, bits 62–63 the swizzle. What the offsets mean was taken
/// from its tables of "strides" and of "canonical layouts" (T = 8 halves are 16 bytes):
///  - K-major (depth contiguous), swizzle of W = 64 or 128 bytes: ((8, m), (T, 2k)) : ((W, SBO), (1, T)). Rows of W
///    bytes; SBO is the distance between groups of eight rows; LBO is not used (1). The next 16 of depth are 32 bytes
///    further on in the row: the swizzle is a function of address bits, so the start may be moved inside the atom.
///  - MN-major (rows of A or columns of B contiguous), swizzle of 128 bytes: ((T, 8, m), (8, k)) : ((1, T, LBO), (8T,
///    SBO)). An atom is eight steps of depth, 128 bytes (64 rows or columns) each; LBO is the distance between atoms
///    side by side along rows or columns, SBO between atoms one after another in depth. (Without swizzle the two
///    change their places; that layout is not used here.) The next 16 of depth are two atoms away: 2 · SBO.
///  - The swizzle: bits 4–6 of the address are XORed with bits 7–9 (128 bytes), bits 4–5 with bits 7–8 (64 bytes).
///    Atoms begin at multiples of 1024 (512) bytes, so that the base offset in bits 49–51 is zero.
#include "engine/cuda/runtime/mma.cuh"

namespace tyche::engine::TYCHE_CUDA_NS {

enum class WgmmaSwizzle : unsigned { bytes128 = 1, bytes64 = 2 };

/// A descriptor without the address.
constexpr std::uint64_t wgmma_strides(unsigned leading, unsigned stride, WgmmaSwizzle swizzle) {
  return static_cast<std::uint64_t>((leading & 0x3ffffu) >> 4) << 16 |
         static_cast<std::uint64_t>((stride & 0x3ffffu) >> 4) << 32 | static_cast<std::uint64_t>(swizzle) << 62;
}

}  // namespace tyche::engine::TYCHE_CUDA_NS

#ifdef TYCHE_CUDA_EMULATED
#include "engine_cuda/emulator/wgmma.hpp"
#else

namespace tyche::engine::TYCHE_CUDA_NS {

__device__ __forceinline__ std::uint64_t wgmma_start(const char* shared) {
  return static_cast<std::uint64_t>((shared_address(shared) & 0x3ffffu) >> 4);
}
/// What the thread wrote to shared memory, also by cp.async it has waited for, comes before later reads of wgmma (once
/// a barrier has come after it).
__device__ __forceinline__ void fence_async_proxy() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

namespace detail {

// clang-format off
#define TYCHE_SUMS_4(i) "+f"(d[i]), "+f"(d[(i) + 1]), "+f"(d[(i) + 2]), "+f"(d[(i) + 3])
#define TYCHE_SUMS_20(i) TYCHE_SUMS_4(i), TYCHE_SUMS_4((i) + 4), TYCHE_SUMS_4((i) + 8), TYCHE_SUMS_4((i) + 12), \
                         TYCHE_SUMS_4((i) + 16)
#define TYCHE_SUMS_32(i) TYCHE_SUMS_20(i), TYCHE_SUMS_4((i) + 20), TYCHE_SUMS_4((i) + 24), TYCHE_SUMS_4((i) + 28)
#define TYCHE_NAMES_32 "%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,"  \
                       "%25,%26,%27,%28,%29,%30,%31"
#define TYCHE_NAMES_64 TYCHE_NAMES_32 ",%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50," \
                       "%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63"
#define TYCHE_NAMES_100 TYCHE_NAMES_64 ",%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,%78,%79,%80,%81,"   \
                       "%82,%83,%84,%85,%86,%87,%88,%89,%90,%91,%92,%93,%94,%95,%96,%97,%98,%99"
// clang-format on

/// d += A · B: the factors of d, A and B are 1, the last two constants say which operands are MN-major.
template <int AByDepth, int BByDepth>
__device__ __forceinline__ void wgmma(float (&d)[32], std::uint64_t a, std::uint64_t b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {" TYCHE_NAMES_32 "},%32,%33,1,1,1,%34,%35;"
               : TYCHE_SUMS_32(0)
               : "l"(a), "l"(b), "n"(AByDepth), "n"(BByDepth));
}
template <int AByDepth, int BByDepth>
__device__ __forceinline__ void wgmma(float (&d)[64], std::uint64_t a, std::uint64_t b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {" TYCHE_NAMES_64 "},%64,%65,1,1,1,%66,%67;"
               : TYCHE_SUMS_32(0), TYCHE_SUMS_32(32)
               : "l"(a), "l"(b), "n"(AByDepth), "n"(BByDepth));
}
template <int AByDepth, int BByDepth>
__device__ __forceinline__ void wgmma(float (&d)[100], std::uint64_t a, std::uint64_t b) {
  asm volatile("wgmma.mma_async.sync.aligned.m64n200k16.f32.f16.f16 {" TYCHE_NAMES_100 "},%100,%101,1,1,1,%102,%103;"
               : TYCHE_SUMS_20(0), TYCHE_SUMS_20(20), TYCHE_SUMS_20(40), TYCHE_SUMS_20(60), TYCHE_SUMS_20(80)
               : "l"(a), "l"(b), "n"(AByDepth), "n"(BByDepth));
}
#undef TYCHE_NAMES_100
#undef TYCHE_NAMES_64
#undef TYCHE_NAMES_32
#undef TYCHE_SUMS_32
#undef TYCHE_SUMS_20
#undef TYCHE_SUMS_4

}  // namespace detail

/// The 64 × N sums of a warpgroup, all of whose threads call alike; N is 64, 128 or 200.
template <int N>
struct Wgmma {
  float value[N / 2];

  __device__ __forceinline__ Wgmma() {
#pragma unroll
    for (int i = 0; i < N / 2; ++i) value[i] = 0;
    hold();
  }
  /// Before the products of a stage.
  __device__ __forceinline__ void fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
  /// AByDepth, BByDepth: whether the operand is MN-major.
  template <bool AByDepth, bool BByDepth>
  __device__ __forceinline__ void issue(std::uint64_t a, std::uint64_t b) {
    detail::wgmma<AByDepth ? 1 : 0, BByDepth ? 1 : 0>(value, a, b);
  }
  /// Products issued since the last call are a group.
  __device__ __forceinline__ void commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
  /// Until all groups but the last GroupsLeft are done.
  template <int GroupsLeft>
  __device__ __forceinline__ void wait() {
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(GroupsLeft) : "memory");
    if (GroupsLeft == 0) hold();
  }

 private:
  /// Keeps the compiler from moving reads and writes of the values over this point.
  __device__ __forceinline__ void hold() {
#pragma unroll
    for (int i = 0; i < N / 2; ++i) asm volatile("" : "+f"(value[i])::"memory");
  }
};

}  // namespace tyche::engine::TYCHE_CUDA_NS

#endif
