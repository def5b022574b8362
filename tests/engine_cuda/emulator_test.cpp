// The emulator itself, and the device functions that have a twin in it. On a GPU machine the same sums are checked
// there.
#ifdef TYCHE_CUDA_EMULATED
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "engine/core/inputs.hpp"
#include "engine/cuda/runtime/mma.cuh"
#include "engine/cuda/runtime/philox.cuh"
#include "support/random.hpp"

namespace tyche::engine::TYCHE_CUDA_NS {
namespace {

__global__ void reverse_kernel(const float* in, float* out) {
  float* shared = reinterpret_cast<float*>(dynamic_shared());
  shared[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = shared[blockDim.x - 1 - threadIdx.x];
}

TEST(Emulator, BarriersMakeSharedMemoryVisible) {
  Stream stream;
  std::vector<float> values(3 * 96);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  const auto in = DeviceArray<float>::from(values, "values", stream);
  DeviceArray<float> out(values.size(), "values");
  launch(reverse_kernel, 3, 96, 96 * sizeof(float), stream, in.data(), out.data());
  std::vector<float> got(values.size());
  out.download(got, stream);
  stream.sync();
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_EQ(got[i], values[i / 96 * 96 + 95 - i % 96]);
}

// One warp: C (16×8) = A (16×16) · B (16×8), operands by ldmatrix from rows of 8 halves.
__global__ void product_kernel(const Half* a, const Half* b, float* c) {
  Half* shared = reinterpret_cast<Half*>(dynamic_shared());
  for (unsigned i = threadIdx.x; i < 256; i += 32) shared[i] = a[i];
  for (unsigned i = threadIdx.x; i < 128; i += 32) shared[256 + i] = b[i];
  __syncthreads();
  const unsigned lane = threadIdx.x;
  unsigned fa[4], fb[2];
  ldmatrix_x4(fa, shared + (lane % 16) * 16 + lane / 16 * 8);
  ldmatrix_x2_trans(fb, shared + 256 + (lane % 16) * 8);
  float sums[4] = {0, 0, 0, 0};
  mma_16816(sums, fa, fb[0], fb[1]);
  for (unsigned q = 0; q < 4; ++q) c[(lane / 4 + q / 2 * 8) * 8 + 2 * (lane % 4) + q % 2] = sums[q];
}

TEST(Emulator, MatrixInstructionsMultiply) {
  Stream stream;
  std::vector<Half> a(256), b(128);
  for (unsigned i = 0; i < 256; ++i) a[i] = to_half(static_cast<float>(i % 7) - 3);
  for (unsigned i = 0; i < 128; ++i) b[i] = to_half(static_cast<float>(i % 5) * 0.5f);
  const auto da = DeviceArray<Half>::from(a, "a", stream), db = DeviceArray<Half>::from(b, "b", stream);
  DeviceArray<float> dc(128, "c");
  launch(product_kernel, 1, 32, 1024, stream, da.data(), db.data(), dc.data());
  std::vector<float> c(128);
  dc.download(c, stream);
  for (unsigned i = 0; i < 16; ++i) {
    for (unsigned j = 0; j < 8; ++j) {
      float sum = 0;
      for (unsigned k = 0; k < 16; ++k) sum += to_float(a[i * 16 + k]) * to_float(b[k * 8 + j]);
      EXPECT_EQ(c[i * 8 + j], sum) << i << " " << j;
    }
  }
}

TEST(Emulator, HalfPrecisionRoundsToNearestEven) {
  EXPECT_EQ(to_half(1.0f), 0x3c00);
  EXPECT_EQ(to_half(-2.0f), 0xc000);
  EXPECT_EQ(to_half(65504.0f), 0x7bff);
  EXPECT_EQ(to_half(65520.0f), 0x7c00);
  EXPECT_EQ(to_half(0x1p-24f), 1);
  EXPECT_EQ(to_half(0x1p-25f), 0);
  EXPECT_EQ(to_half(1.0f + 0x1p-11f), 0x3c00);      // a tie, to even
  EXPECT_EQ(to_half(1.0f + 3 * 0x1p-11f), 0x3c02);  // a tie, to even
  for (unsigned bits = 0; bits < 0x7c00; ++bits) {
    ASSERT_EQ(to_half(to_float(static_cast<Half>(bits))), bits);
  }
}

TEST(DevicePhilox, GivesTheWordsAndFeaturesOfTheCpu) {
  const Key key{0x12345678u, 0x9abcdef0u};
  const Block words = tyche::philox(key, {3, 7, 11, 0});
  const uint4 device = philox(make_uint2(key.lo, key.hi), make_uint4(3, 7, 11, 0));
  EXPECT_EQ(words, (Block{device.x, device.y, device.z, device.w}));
  for (const std::uint32_t radius : {0u, 1u, 0x7fffffffu, 0xefffffffu, 0xf0000000u, 0xfffffffeu, 0xffffffffu}) {
    for (const std::uint32_t angle : {0u, 5u, 0x40000000u, 0x7fffffffu, 0x80000000u, 0xffffffffu}) {
      const NormalPair expected = box_muller(radius, angle);
      const float2 exact = normal_pair<false>(radius, angle), fast = normal_pair<true>(radius, angle);
      EXPECT_NEAR(exact.x, expected.cosine, 4e-6);
      EXPECT_NEAR(exact.y, expected.sine, 4e-6);
      EXPECT_NEAR(fast.x, expected.cosine, 1e-4);
      EXPECT_NEAR(fast.y, expected.sine, 1e-4);
    }
  }
}

TEST(DevicePhilox, DropsWhatTheCpuDrops) {
  std::vector<float> expected(64);
  dropout_factors(0.3, 5, 2, 9, 17, expected);
  const Key key = derive_key(5, Purpose::dropout, 2, 9);
  for (unsigned i = 0; i < 64; ++i) {
    EXPECT_EQ(dropout_factor(make_uint2(key.lo, key.hi), i, 17, static_cast<std::uint64_t>(std::ceil(0.3 * 0x1p32)),
                             static_cast<float>(1 / 0.7)),
              expected[i]);
  }
}

}  // namespace
}  // namespace tyche::engine::TYCHE_CUDA_NS
#endif
