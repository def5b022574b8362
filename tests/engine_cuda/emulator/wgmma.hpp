#pragma once
/// The twins of runtime/wgmma.cuh. They read operands through the descriptor's bits alone, once when a product is
/// issued and again when it is waited for: an operand that was not there yet, or was overwritten too early, is seen.
#include <cstdio>
#include <vector>

#include "engine/cuda/runtime/wgmma.cuh"

namespace tyche::engine::TYCHE_CUDA_NS {

namespace emulation {

/// Where dynamic shared memory begins: on a GPU it is not at zero either.
inline constexpr unsigned kSharedBase = 1024;

/// The half at (outer, k) of an operand, by its descriptor.
inline float wgmma_element(std::uint64_t descriptor, bool by_depth, unsigned outer, unsigned k) {
  const auto field = [&](unsigned bit) { return static_cast<unsigned>(descriptor >> bit & 0x3fff) << 4; };
  const unsigned start = field(0), leading = field(16), stride = field(32);
  const unsigned swizzle = static_cast<unsigned>(descriptor >> 62);
  const unsigned width = swizzle == 1 ? 128 : 64;
  unsigned at = start;
  if (by_depth) {
    const unsigned wide = width / 2;
    at += outer / wide * leading + k / 8 * stride + k % 8 * width + outer % wide * 2;
  } else {
    at += outer / 8 * stride + outer % 8 * width + k * 2;
  }
  at ^= (at >> 7 & (width / 16 - 1)) << 4;
  Half bits;
  std::memcpy(&bits, shared_memory() + (at - kSharedBase), sizeof bits);
  return half_value(bits);
}

struct WgmmaDescriptors {
  std::uint64_t a, b;
};

}  // namespace emulation

__forceinline__ std::uint64_t wgmma_start(const char* shared) {
  return (static_cast<unsigned>(shared - emulation::shared_memory()) + emulation::kSharedBase) >> 4;
}
inline void fence_async_proxy() {}

template <int N>
struct Wgmma {
  float value[N / 2] = {};

  void fence() {}
  template <bool AByDepth, bool BByDepth>
  void issue(std::uint64_t a, std::uint64_t b) {
    const emulation::Exchange<emulation::WgmmaDescriptors> all({a, b});
    for (unsigned lane = 0; lane < 32; ++lane) {
      if (all.read(lane).a != a || all.read(lane).b != b) fail("a warp's lanes give different descriptors");
    }
    for (const std::uint64_t descriptor : {a, b}) {
      if (descriptor >> 62 != 1 && descriptor >> 62 != 2) fail("a swizzle that is not emulated");
    }
    pending_.push_back({a, b, AByDepth, BByDepth, group_, {}});
    multiply(pending_.back(), pending_.back().sums);
  }
  void commit() { ++group_; }
  template <int GroupsLeft>
  void wait() {
    std::size_t done = 0;
    for (; done < pending_.size() && pending_[done].group + GroupsLeft < group_; ++done) {
      float again[N / 2];
      multiply(pending_[done], again);
      // NOLINTNEXTLINE(bugprone-suspicious-memory-comparison): the bits are meant
      if (std::memcmp(again, pending_[done].sums, sizeof again) != 0) fail("an operand changed while it was read");
      for (int i = 0; i < N / 2; ++i) value[i] += again[i];
    }
    pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(done));
  }

 private:
  struct Pending {
    std::uint64_t a, b;
    bool a_by_depth, b_by_depth;
    std::size_t group;
    float sums[N / 2];
  };

  [[noreturn]] static void fail(const char* what) {
    std::fprintf(stderr, "emulated wgmma: %s\n", what);
    std::abort();
  }
  static void multiply(const Pending& product, float (&sums)[N / 2]) {
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
    float a[2][16];
    for (unsigned h = 0; h < 2; ++h) {
      for (unsigned k = 0; k < 16; ++k) {
        a[h][k] = emulation::wgmma_element(product.a, product.a_by_depth, warp * 16 + h * 8 + lane / 4, k);
      }
    }
    for (unsigned n = 0; n < N / 8; ++n) {
      for (unsigned j = 0; j < 2; ++j) {
        float low = 0, high = 0;
        for (unsigned k = 0; k < 16; ++k) {
          const float b = emulation::wgmma_element(product.b, product.b_by_depth, n * 8 + lane % 4 * 2 + j, k);
          low += a[0][k] * b;
          high += a[1][k] * b;
        }
        sums[4 * n + j] = low;
        sums[4 * n + 2 + j] = high;
      }
    }
  }

  std::vector<Pending> pending_;
  std::size_t group_ = 0;
};

}  // namespace tyche::engine::TYCHE_CUDA_NS
