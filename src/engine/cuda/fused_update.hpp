#pragma once
/// Sums the gradients of a batch's units in the order of the units and takes Adam's step; writes the half copies of the
/// weights in both orientations. A warp's piece of work is 256 weights of the layers, or 32 small parameters.
#include "engine/adam.hpp"
#include "engine/cuda/fused_args.hpp"

namespace tyche::engine::TYCHE_CUDA_NS::fused {

struct StepConstants {
  float gradient_scale;  ///< 1 / graphs of the batch
  float step_size;
  float correction;  ///< 1 / sqrt(1 - beta2^step)
  bool gradient_alone;
};

__device__ __forceinline__ void adam(float& w, float& m, float& v, float g, const StepConstants& by) {
  g *= by.gradient_scale;
  if (by.gradient_alone) {
    m += g;
    return;
  }
  m += (g - m) * AdamStep::kOneMinusBeta1;
  v = AdamStep::kBeta2 * v + AdamStep::kOneMinusBeta2 * g * g;
  w -= by.step_size * fast_div(m, sqrtf(v) * by.correction + AdamStep::kEps);
}

/// Eight weights of a lane.
struct Eight {
  float4 w[2], m[2], v[2];
};
__device__ __forceinline__ void load_eight(Eight& to, const Args& a, std::size_t first) {
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    to.w[h] = reinterpret_cast<const float4*>(a.w + first)[h];
    to.m[h] = reinterpret_cast<const float4*>(a.m + first)[h];
    to.v[h] = reinterpret_cast<const float4*>(a.v + first)[h];
  }
}

__device__ __forceinline__ void add_halves(float (&sum)[8], uint4 x, float scale) {
  const float2 a = unpack2(x.x), b = unpack2(x.y), c = unpack2(x.z), d = unpack2(x.w);
  sum[0] += scale * a.x, sum[1] += scale * a.y, sum[2] += scale * b.x, sum[3] += scale * b.y;
  sum[4] += scale * c.x, sum[5] += scale * c.y, sum[6] += scale * d.x, sum[7] += scale * d.y;
}

template <int W>
__device__ __forceinline__ void update(const Args& a, char* sm, int step) {
  constexpr int kPiece = 256, kPieces = W * W / kPiece;  // of a matrix
  const Model& model = a.model;
  const int tid = static_cast<int>(threadIdx.x), lane = tid & 31;
  const int warp = shfl(tid >> 5, 0);
  const int blocks = a.update_blocks;
  const int trial = static_cast<int>(blockIdx.x) / blocks, rank = static_cast<int>(blockIdx.x) % blocks;
  const int own = warp * blocks + rank, workers = blocks * kWarps;
  const int pieces = model.weights / kPiece;
  const std::size_t first = static_cast<std::size_t>(trial) * model.stride;
  Eight eight;
  if (own < pieces) load_eight(eight, a, first + static_cast<std::size_t>(own * kPiece + lane * 8));
  // The pass before this has waited for the epoch's number; plans do not change within a chunk.
  const int epoch = load_cg(a.epoch);
  const StepEntry entry = a.plan[(static_cast<std::size_t>(epoch) * a.trials + trial) * a.steps + step];
  pdl_wait();
  pdl_trigger();
  if (entry.units == 0) return;
  const StepConstants constants = {1.0f / (a.gradient_alone ? 1.0f : static_cast<float>(entry.graphs)), entry.step_size,
                                   1.0f / entry.correction2_sqrt, a.gradient_alone};
  char* area = sm + warp * a.staged_slots * 512 + lane * 16;
  float* staged = reinterpret_cast<float*>(sm + kWarps * a.staged_slots * 512);
  const float* all_factors = a.factor_slots + static_cast<std::size_t>(trial) * a.batch * model.factors;
  const auto stage_factors = [&](int from) {
    const int count = least(a.staged_graphs, entry.graphs - from) * model.factors;
    for (int i = tid * 4; i < count; i += kThreads * 4) {
      cp_async16(staged + i, all_factors + static_cast<std::size_t>(from) * model.factors + i);
    }
  };
  stage_factors(0);
  bool bad = false;

  // Weights of the layers.
  const Half* slots = a.slots + static_cast<std::size_t>(trial) * a.units_most * model.weights;
  const float* scales = a.slot_scales + static_cast<std::size_t>(trial) * a.units_most;
  for (int piece = own; piece < pieces; piece += workers) {
    const int place = piece * kPiece + lane * 8;
    if (piece != own) load_eight(eight, a, first + static_cast<std::size_t>(place));
    float g[8] = {0, 0, 0, 0, 0, 0, 0, 0};
#pragma unroll 1
    for (int from = 0; from < entry.units; from += a.staged_slots) {
      const int count = least(a.staged_slots, entry.units - from);
#pragma unroll
      for (int s = 0; s < kMostStaged; ++s) {
        if (s < count) cp_async16(area + s * 512, slots + static_cast<std::size_t>(from + s) * model.weights + place);
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
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      float4 &w = eight.w[h], &m = eight.m[h], &v = eight.v[h];
      adam(w.x, m.x, v.x, g[h * 4], constants);
      adam(w.y, m.y, v.y, g[h * 4 + 1], constants);
      adam(w.z, m.z, v.z, g[h * 4 + 2], constants);
      adam(w.w, m.w, v.w, g[h * 4 + 3], constants);
      const std::size_t at = first + static_cast<std::size_t>(place);
      reinterpret_cast<float4*>(a.w + at)[h] = w;
      reinterpret_cast<float4*>(a.m + at)[h] = m;
      reinterpret_cast<float4*>(a.v + at)[h] = v;
    }
    const unsigned halves[4] = {pack2(eight.w[0].x, eight.w[0].y), pack2(eight.w[0].z, eight.w[0].w),
                                pack2(eight.w[1].x, eight.w[1].y), pack2(eight.w[1].z, eight.w[1].w)};
    const std::size_t copies = static_cast<std::size_t>(trial) * model.weights;
    *reinterpret_cast<uint4*>(a.backward_w + copies + place) = make_uint4(halves[0], halves[1], halves[2], halves[3]);
    // The piece is 8 inputs by 32 outputs; transposed, its four 8 × 8 blocks fall into four pieces.
    const int matrix = piece / kPieces, in_block = piece % kPieces / (W / 32), out_group = piece % (W / 32);
    auto* to = reinterpret_cast<unsigned*>(a.forward_w + copies) + matrix * (W * W / 2);
#pragma unroll
    for (int c = 0; c < 4; ++c) {
      to[(((out_group * 4 + c) * (W / 32) + (in_block >> 2)) * 32 + lane) * 4 + (in_block & 3)] = movmatrix(halves[c]);
    }
  }
  cp_async_commit();
  cp_async_wait<0>();
  __syncthreads();

  // Small parameters: biases of the layers from slots, the head from products of factors. One piece a warp at most.
  const int biases = model.layers * W;
  const int i = (workers - 1 - own) * 32 + lane;
  const bool mine = i < model.small;
  float w = 0, m = 0, v = 0, g = 0;
  const std::size_t at = first + static_cast<std::size_t>(model.weights + i);
  if (mine) w = a.w[at], m = a.m[at], v = a.v[at];
  if (mine && i < biases) {
    const float* from = a.bias_slots + static_cast<std::size_t>(trial) * a.units_most * biases + i;
#pragma unroll 1
    for (int s = 0; s < entry.units; s += 10) {
      float x[10];
#pragma unroll
      for (int k = 0; k < 10; ++k) {
        x[k] = s + k < entry.units ? load_cg(from + (s + k) * biases) * load_cg(scales + s + k) : 0.0f;
      }
#pragma unroll
      for (int k = 0; k < 10; ++k) g += x[k];
    }
  }
  const unsigned factors = mine && i >= biases ? a.factor_pairs[i - biases] : 0;
#pragma unroll 1
  for (int from = 0; from < entry.graphs; from += a.staged_graphs) {
    if (from > 0) {
      __syncthreads();
      stage_factors(from);
      cp_async_commit();
      cp_async_wait<0>();
      __syncthreads();
    }
    if (mine && i >= biases) {
      const int count = least(a.staged_graphs, entry.graphs - from);
      const float *x = staged + (factors & 0xffffu), *y = staged + (factors >> 16);
#pragma unroll 4
      for (int s = 0; s < count; ++s) g += x[s * model.factors] * y[s * model.factors];
    }
  }
  if (mine) {
    bad = bad || !finite(g);
    adam(w, m, v, g, constants);
    a.w[at] = w, a.m[at] = m, a.v[at] = v;
  }
  if (bad && a.bad_epoch[trial] == 0) a.bad_epoch[trial] = epoch + 1;
}

}  // namespace tyche::engine::TYCHE_CUDA_NS::fused
