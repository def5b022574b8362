#pragma once
/// The random numbers of engine/core/inputs.hpp on the device: the same words, the same values to rounding.
#include "engine/cuda/runtime/intrinsics.cuh"

namespace tyche::engine::TYCHE_CUDA_NS {

/// Philox4x32-10, equal to tyche::philox().
__device__ __forceinline__ uint4 philox(uint2 key, uint4 counter) {
#pragma unroll
  for (int round = 0; round < 10; ++round) {
    const unsigned high0 = mul_high(0xD2511F53u, counter.x), low0 = 0xD2511F53u * counter.x;
    const unsigned high1 = mul_high(0xCD9E8D57u, counter.z), low1 = 0xCD9E8D57u * counter.z;
    counter = make_uint4(high1 ^ counter.y ^ key.x, low1, high0 ^ counter.w ^ key.y, low0);
    key.x += 0x9E3779B9u;
    key.y += 0xBB67AE85u;
  }
  return counter;
}

/// Two normal variates from two words. The radius' logarithm near 1 and the angle are taken from exact reductions, so
/// values agree with engine::box_muller to a few units in 1e-6. Fast: for half precision.
template <bool Fast>
__device__ __forceinline__ float2 normal_pair(unsigned radius_word, unsigned angle_word) {
  // u = (word + 1/2) / 2^32. Close to 1 the logarithm loses its digits in u, not in 1 - u.
  const float u = (static_cast<float>(radius_word) + 0.5f) * 0x1p-32f;
  const float gap = (static_cast<float>(~radius_word) + 0.5f) * 0x1p-32f;  // 1 - u
  const float log_u = radius_word >= 0xF0000000u
                          ? (Fast ? -gap * (1.0f + gap * (0.5f + gap * 0.33333333f)) : log1pf(-gap))
                          : (Fast ? fast_log(u) : logf(u));
  const float radius = sqrtf(-2.0f * log_u);
  // The angle 2π w/2^32 as a signed turn around zero: word read as a signed number.
  const float angle = static_cast<float>(static_cast<int>(angle_word)) * (6.2831853071795865f * 0x1p-32f);
  float sine, cosine;
  if (Fast) {
    fast_sincos(angle, &sine, &cosine);
  } else {
    sincosf(angle, &sine, &cosine);
  }
  return make_float2(radius * cosine, radius * sine);
}

/// Columns 4 * block … 4 * block + 3 of a node's random features.
template <bool Fast>
__device__ __forceinline__ float4 feature_block(uint2 key, unsigned block, unsigned node, unsigned graph, bool normal,
                                                float scale) {
  const uint4 words = philox(key, make_uint4(block, node, graph, 0));
  if (normal) {
    const float2 a = normal_pair<Fast>(words.x, words.y), b = normal_pair<Fast>(words.z, words.w);
    return make_float4(a.x * scale, a.y * scale, b.x * scale, b.y * scale);
  }
  const float unit = scale * 0x1p-31f;
  return make_float4(
      static_cast<float>(static_cast<int>(words.x)) * unit, static_cast<float>(static_cast<int>(words.y)) * unit,
      static_cast<float>(static_cast<int>(words.z)) * unit, static_cast<float>(static_cast<int>(words.w)) * unit);
}

/// What dropout multiplies hidden value i of a graph with: 0 where its word is below `threshold` (the rate times 2^32,
/// rounded up), else `keep`.
__device__ __forceinline__ float dropout_factor(uint2 key, unsigned i, unsigned graph, std::uint64_t threshold,
                                                float keep) {
  const uint4 words = philox(key, make_uint4(i / 4, graph, 0, 0));
  const unsigned word = i % 4 == 0 ? words.x : i % 4 == 1 ? words.y : i % 4 == 2 ? words.z : words.w;
  return word < threshold ? 0.0f : keep;
}

}  // namespace tyche::engine::TYCHE_CUDA_NS
