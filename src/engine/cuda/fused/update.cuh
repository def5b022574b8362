#pragma once
/// Sums the gradients of a batch's units in the order of the units and takes Adam's step; writes the half copies of the
/// weights in both orientations. Some blocks of a trial have the layers' weights, 256 per warp, the others the small
/// parameters.
#include "engine/cuda/fused/args.cuh"
#include "engine/cuda/runtime/adam.cuh"

namespace tyche::engine::TYCHE_CUDA_NS::fused {

struct StepConstants {
  float gradient_scale;  ///< 1 / graphs of the batch, or what they count as; less where the gradient is clipped
  float step_size;
  float correction;  ///< 1 / sqrt(1 - beta2^step)
  float keep, beta2, one_minus_beta2, epsilon;
  bool gradient_alone;
};

/// From the squares that the blocks of the measuring kernel left. All lanes of a warp must ask.
__device__ __forceinline__ float clip_of_trial(const Args& a, int trial, float gradient_scale) {
  const int blocks = update_parts(a.model), lane = static_cast<int>(threadIdx.x) & 31;
  const float* squares = a.squares + static_cast<std::size_t>(trial) * blocks;
  float sum = 0;
  for (int b = lane; b < blocks; b += 32) sum += load_cg(squares + b);
  return clip_factor(gradient_scale * sqrtf(warp_sum(sum)), a.clip);
}

__device__ __forceinline__ StepConstants constants_of(const Args& a, const StepEntry& entry, int trial) {
  float scale = 1.0f / (a.gradient_alone ? 1.0f : entry.divisor);
  if (a.squares != nullptr) scale *= clip_of_trial(a, trial, scale);
  return {scale,     entry.step_size, 1.0f / entry.correction2_sqrt, entry.keep, a.beta2, a.one_minus_beta2,
          a.epsilon, a.gradient_alone};
}

__device__ __forceinline__ void adam(float& w, float& m, float& v, float g, const StepConstants& by) {
  g *= by.gradient_scale;
  if (by.gradient_alone) {
    m += g;
    return;
  }
  adam_move(g, by, w, m, v, [&](float mean, float root) { return fast_div(mean, root * by.correction + by.epsilon); });
}

/// Eight weights of a lane.
struct Eight {
  float4 w[2], m[2], v[2];
};
__device__ __forceinline__ void load_eight(Eight& to, const Args& a, std::size_t first) {
  const auto *w = reinterpret_cast<const float4*>(a.w + first), *m = reinterpret_cast<const float4*>(a.m + first),
             *v = reinterpret_cast<const float4*>(a.v + first);
#pragma unroll
  for (int h = 0; h < 2; ++h) to.w[h] = w[h], to.m[h] = m[h], to.v[h] = v[h];
}
__device__ __forceinline__ void store_eight(const Eight& from, const Args& a, std::size_t first) {
  auto *w = reinterpret_cast<float4*>(a.w + first), *m = reinterpret_cast<float4*>(a.m + first),
       *v = reinterpret_cast<float4*>(a.v + first);
#pragma unroll
  for (int h = 0; h < 2; ++h) w[h] = from.w[h], m[h] = from.m[h], v[h] = from.v[h];
}

__device__ __forceinline__ void add_halves(float (&sum)[8], uint4 x, float scale) {
  const float2 a = unpack2(x.x), b = unpack2(x.y), c = unpack2(x.z), d = unpack2(x.w);
  sum[0] += scale * a.x, sum[1] += scale * a.y, sum[2] += scale * b.x, sum[3] += scale * b.y;
  sum[4] += scale * c.x, sum[5] += scale * c.y, sum[6] += scale * d.x, sum[7] += scale * d.y;
}

/// What a block has to know of its step. The pass before this kernel has waited for the epoch's number; plans do not
/// change within a chunk.
struct Now {
  int epoch;
  StepEntry entry;
};
__device__ __forceinline__ Now now_of(const Args& a, int trial, int step) {
  const int epoch = load_cg(a.epoch);
  return {epoch, a.plan[(static_cast<std::size_t>(epoch) * a.trials + trial) * a.steps + step]};
}
__device__ __forceinline__ void report(const Args& a, int trial, int epoch, bool bad) {
  if (bad && a.bad_epoch[trial] == 0) a.bad_epoch[trial] = epoch + 1;
}

/// Weights of the layers. A warp's piece is 8 inputs by 32 outputs. In the other orientation its four 8 × 8 blocks fall
/// into four pieces, and those of the next three pieces below it stand beside them: four warps change them in shared
/// memory, and write whole words.
template <int W, bool kMeasure>
__device__ __forceinline__ void update_weights(const Args& a, char* sm, int step, int trial, int rank) {
  constexpr int kPiece = 256, kWide = W / 32;
  const Model& model = a.model;
  const int tid = static_cast<int>(threadIdx.x), lane = tid & 31;
  const int warp = shfl(tid >> 5, 0), below = warp % 4;
  const int four = rank * (kUpdateWarps / 4) + warp / 4;  // of four pieces
  const int out_group = four % kWide, in_group = four / kWide % kWide, matrix = four / (kWide * kWide);
  const int piece = matrix * (W * W / kPiece) + (in_group * 4 + below) * kWide + out_group;
  const bool mine = four * (4 * kPiece) < model.weights;
  const int place = piece * kPiece + lane * 8;
  const std::size_t at = static_cast<std::size_t>(trial) * model.stride + static_cast<std::size_t>(place);
  Eight eight;
  if (mine && !kMeasure) load_eight(eight, a, at);
  const Now now = now_of(a, trial, step);
  pdl_wait();
  pdl_trigger();
  if (now.entry.units == 0) return;
  auto* turned = reinterpret_cast<unsigned*>(sm + kUpdateWarps * a.staged_slots * 512);
  const std::size_t copies = static_cast<std::size_t>(trial) * model.weights;
  bool bad = false;
  [[maybe_unused]] float squares = 0;
  if (mine) {
    char* area = sm + warp * a.staged_slots * 512 + lane * 16;
    const Half* slots = a.slots + static_cast<std::size_t>(trial) * a.units_most * model.weights + place;
    const float* scales = a.slot_scales + static_cast<std::size_t>(trial) * a.units_most;
    float g[8] = {0, 0, 0, 0, 0, 0, 0, 0};
#pragma unroll 1
    for (int from = 0; from < now.entry.units; from += a.staged_slots) {
      const int count = least(a.staged_slots, now.entry.units - from);
      const Half* next = slots + static_cast<std::size_t>(from) * model.weights;
#pragma unroll
      for (int s = 0; s < kMostStaged; ++s) {
        if (s < count) cp_async16(area + s * 512, next);
        next += model.weights;
      }
      const float scale = lane < count ? load_cg(scales + from + lane) : 0.0f;  // of slot `lane`
      cp_async_commit();
      cp_async_wait<0>();
#pragma unroll
      for (int s = 0; s < kMostStaged; ++s) {
        const float by = shfl(scale, s);
        if (s < count) add_halves(g, *reinterpret_cast<const uint4*>(area + s * 512), by);
      }
    }
#pragma unroll
    for (int i = 0; i < 8; ++i) bad = bad || !finite(g[i]);
    if constexpr (kMeasure) {
#pragma unroll
      for (int i = 0; i < 8; ++i) squares += g[i] * g[i];
    } else {
      const StepConstants constants = constants_of(a, now.entry, trial);
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        float4 &w = eight.w[h], &m = eight.m[h], &v = eight.v[h];
        adam(w.x, m.x, v.x, g[h * 4], constants);
        adam(w.y, m.y, v.y, g[h * 4 + 1], constants);
        adam(w.z, m.z, v.z, g[h * 4 + 2], constants);
        adam(w.w, m.w, v.w, g[h * 4 + 3], constants);
      }
      store_eight(eight, a, at);
      const unsigned halves[4] = {pack2(eight.w[0].x, eight.w[0].y), pack2(eight.w[0].z, eight.w[0].w),
                                  pack2(eight.w[1].x, eight.w[1].y), pack2(eight.w[1].z, eight.w[1].w)};
      *reinterpret_cast<uint4*>(a.backward_w + copies + place) = make_uint4(halves[0], halves[1], halves[2], halves[3]);
#pragma unroll
      for (int c = 0; c < 4; ++c) turned[((warp / 4 * 4 + c) * 32 + lane) * 4 + below] = movmatrix(halves[c]);
    }
  }
  if constexpr (kMeasure) {
    const float sum = block_sum(squares, reinterpret_cast<float*>(sm));
    if (tid == 0) a.squares[static_cast<std::size_t>(trial) * update_parts(model) + rank] = sum;
    return;
  }
  __syncthreads();
  if (mine) {
    auto* to = reinterpret_cast<uint4*>(a.forward_w + copies) + matrix * (W * W / 8);
    to[((out_group * 4 + below) * kWide + in_group) * 32 + lane] =
        reinterpret_cast<const uint4*>(turned)[warp * 32 + lane];
  }
  report(a, trial, now.epoch, bad);
}

/// Small parameters: biases of the layers from slots, the head from products of factors.
template <bool kMeasure>
__device__ __forceinline__ void update_small(const Args& a, char* sm, int step, int trial, int rank, int biases) {
  const Model& model = a.model;
  const int tid = static_cast<int>(threadIdx.x), first = rank * (kSmallEach * kUpdateThreads) + tid;
  const std::size_t at = static_cast<std::size_t>(trial) * model.stride + static_cast<std::size_t>(model.weights);
  float w[kSmallEach], m[kSmallEach], v[kSmallEach], g[kSmallEach];
  unsigned pairs[kSmallEach];
#pragma unroll
  for (int p = 0; p < kSmallEach; ++p) {
    const int i = first + p * kUpdateThreads;
    w[p] = m[p] = v[p] = g[p] = 0;
    pairs[p] = 0;
    if (i < model.small) w[p] = a.w[at + i], m[p] = a.m[at + i], v[p] = a.v[at + i];
    if (i >= biases && i < model.small) pairs[p] = a.factor_pairs[i - biases];
  }
  const Now now = now_of(a, trial, step);
  pdl_wait();
  pdl_trigger();
  if (now.entry.units == 0) return;
  const float* all_factors = a.factor_slots + static_cast<std::size_t>(trial) * a.batch * model.factors;
  auto* staged = reinterpret_cast<float*>(sm);
  const auto stage_factors = [&](int from) {
    const int count = least(a.staged_graphs, now.entry.graphs - from) * model.factors;
#pragma unroll 4
    for (int i = tid * 4; i < count; i += kUpdateThreads * 4) {
      cp_async16(staged + i, all_factors + static_cast<std::size_t>(from) * model.factors + i);
    }
    cp_async_commit();
  };
  stage_factors(0);
  const float* scales = a.slot_scales + static_cast<std::size_t>(trial) * a.units_most;
#pragma unroll
  for (int p = 0; p < kSmallEach; ++p) {
    const int i = first + p * kUpdateThreads;
    if (i >= biases) continue;
    const float* from = a.bias_slots + static_cast<std::size_t>(trial) * a.units_most * biases + i;
#pragma unroll 1
    for (int s = 0; s < now.entry.units; s += 10) {
      float x[10];
#pragma unroll
      for (int k = 0; k < 10; ++k) {
        x[k] = s + k < now.entry.units ? load_cg(from + (s + k) * biases) * load_cg(scales + s + k) : 0.0f;
      }
#pragma unroll
      for (int k = 0; k < 10; ++k) g[p] += x[k];
    }
  }
#pragma unroll 1
  for (int from = 0; from < now.entry.graphs; from += a.staged_graphs) {
    if (from > 0) {
      __syncthreads();
      stage_factors(from);
    }
    cp_async_wait<0>();
    __syncthreads();
    const int count = least(a.staged_graphs, now.entry.graphs - from);
#pragma unroll
    for (int p = 0; p < kSmallEach; ++p) {
      if (first + p * kUpdateThreads < biases) continue;
      const float *x = staged + (pairs[p] & 0xffffu), *y = staged + (pairs[p] >> 16);
#pragma unroll 4
      for (int s = 0; s < count; ++s) g[p] += x[s * model.factors] * y[s * model.factors];
    }
  }
  if constexpr (kMeasure) {
    float squares = 0;
#pragma unroll
    for (int p = 0; p < kSmallEach; ++p) squares += first + p * kUpdateThreads < model.small ? g[p] * g[p] : 0.0f;
    const float sum = block_sum(squares, reinterpret_cast<float*>(sm));
    if (tid == 0) a.squares[static_cast<std::size_t>(trial) * update_parts(model) + weight_blocks(model) + rank] = sum;
    return;
  }
  const StepConstants constants = constants_of(a, now.entry, trial);
  bool bad = false;
#pragma unroll
  for (int p = 0; p < kSmallEach; ++p) {
    const int i = first + p * kUpdateThreads;
    if (i >= model.small) continue;
    bad = bad || !finite(g[p]);
    adam(w[p], m[p], v[p], g[p], constants);
    a.w[at + i] = w[p], a.m[at + i] = m[p], a.v[at + i] = v[p];
  }
  report(a, trial, now.epoch, bad);
}

}  // namespace tyche::engine::TYCHE_CUDA_NS::fused
