#pragma once
/// What PPGN does beside products: its input, the maxima that vote, the loss, and Adam.
#include "engine/adam.hpp"
#include "engine/cuda/intrinsics.hpp"
#include "engine/cuda/ppgn_tasks.hpp"

namespace tyche::engine::TYCHE_CUDA_NS {

__device__ __forceinline__ float ppgn_real(float x) { return x; }
__device__ __forceinline__ float ppgn_real(Half x) { return to_float(x); }
__device__ __forceinline__ void ppgn_set(float& to, float x) { to = x; }
__device__ __forceinline__ void ppgn_set(Half& to, float x) { to = to_half(x); }

inline constexpr unsigned kPpgnInputBlocks = 8;  ///< a graph

/// The input tensor of a batch: adjacency, then features on the diagonal. kPpgnInputBlocks blocks a graph.
template <class T>
__global__ void ppgn_input_kernel(const PpgnData data, const PpgnGraph* graphs, unsigned channels, T* out) {
  const PpgnGraph graph = graphs[blockIdx.x / kPpgnInputBlocks];
  const unsigned n = graph.nodes;
  const std::uint64_t node0 = data.first_node[graph.graph];
  for (unsigned v = blockIdx.x % kPpgnInputBlocks; v < n; v += kPpgnInputBlocks) {
    T* const rows = out + (static_cast<std::size_t>(graph.first_row) + static_cast<std::size_t>(v) * n) * channels;
    for (unsigned i = threadIdx.x; i < n * channels; i += blockDim.x) ppgn_set(rows[i], 0);
    __syncthreads();
    const std::uint64_t begin = data.first_edge[node0 + v], end = data.first_edge[node0 + v + 1];
    for (std::uint64_t e = begin + threadIdx.x; e < end; e += blockDim.x) {
      ppgn_set(rows[static_cast<std::size_t>(data.neighbours[e]) * channels], 1);
    }
    for (unsigned c = threadIdx.x; c < data.feature_count; c += blockDim.x) {
      ppgn_set(rows[static_cast<std::size_t>(v) * channels + 1 + c],
               data.features[(node0 + v) * data.feature_count + c]);
    }
  }
}

/// Maxima of every channel over a graph's diagonal and over the rest, and their rows; the first of equal ones. Half
/// precision is completed by the residual (see PpgnProduct). One block a graph and kPpgnPoolChannels channels; pooled
/// and winners are graphs × 2 · channels. Where there is nothing: 0, -1.
inline constexpr unsigned kPpgnPoolChannels = 32, kPpgnPoolThreads = 256;
template <class T>
__global__ void __launch_bounds__(kPpgnPoolThreads)
    ppgn_pool_kernel(const T* from, const T* residual, const PpgnGraph* graphs, unsigned channels, float* pooled,
                     int* winners) {
  constexpr unsigned kLanes = kPpgnPoolChannels / 4, kStrips = kPpgnPoolThreads / kLanes;
  const unsigned groups = (channels + kPpgnPoolChannels - 1) / kPpgnPoolChannels;
  const unsigned graph_index = blockIdx.x / groups;
  const PpgnGraph graph = graphs[graph_index];
  const unsigned n = graph.nodes, rows = n * n;
  const unsigned own = threadIdx.x % kLanes * 4, channel = blockIdx.x % groups * kPpgnPoolChannels + own;
  const unsigned strip = threadIdx.x / kLanes;
  float best[2][4];
  int row[2][4];
#pragma unroll
  for (int part = 0; part < 2; ++part) {
#pragma unroll
    for (int c = 0; c < 4; ++c) {
      best[part][c] = -INFINITY;
      row[part][c] = -1;
    }
  }
  if (channel < channels) {
    const std::size_t base = static_cast<std::size_t>(graph.first_row) * channels + channel;
    for (unsigned r = strip; r < rows; r += kStrips) {
      float value[4];
      if constexpr (sizeof(T) == 2) {
        const uint2 raw = *reinterpret_cast<const uint2*>(from + base + static_cast<std::size_t>(r) * channels);
        const uint2 rest = *reinterpret_cast<const uint2*>(residual + base + static_cast<std::size_t>(r) * channels);
        const float2 low = unpack2(raw.x), high = unpack2(raw.y), low_rest = unpack2(rest.x),
                     high_rest = unpack2(rest.y);
        constexpr float kBack = 1 / kPpgnResidualScale;
        value[0] = low.x + low_rest.x * kBack, value[1] = low.y + low_rest.y * kBack;
        value[2] = high.x + high_rest.x * kBack, value[3] = high.y + high_rest.y * kBack;
      } else {
        const float4 raw = *reinterpret_cast<const float4*>(from + base + static_cast<std::size_t>(r) * channels);
        value[0] = raw.x, value[1] = raw.y, value[2] = raw.z, value[3] = raw.w;
      }
      const int part = r % (n + 1) == 0 ? 0 : 1;  // entry (i, i) is row i · n + i
#pragma unroll
      for (int c = 0; c < 4; ++c) {
#pragma unroll
        for (int p = 0; p < 2; ++p) {
          if (p == part && value[c] > best[p][c]) {
            best[p][c] = value[c];
            row[p][c] = static_cast<int>(r);
          }
        }
      }
    }
  }
  float* const values = reinterpret_cast<float*>(dynamic_shared());  // strips × 2 × channels of the block
  int* const places = reinterpret_cast<int*>(values + kStrips * 2 * kPpgnPoolChannels);
#pragma unroll
  for (int part = 0; part < 2; ++part) {
#pragma unroll
    for (int c = 0; c < 4; ++c) {
      values[(strip * 2 + part) * kPpgnPoolChannels + own + c] = best[part][c];
      places[(strip * 2 + part) * kPpgnPoolChannels + own + c] = row[part][c];
    }
  }
  __syncthreads();
  if (threadIdx.x >= 2 * kPpgnPoolChannels) return;
  const unsigned part = threadIdx.x / kPpgnPoolChannels, c = threadIdx.x % kPpgnPoolChannels;
  const unsigned to = blockIdx.x % groups * kPpgnPoolChannels + c;
  if (to >= channels) return;
  float top = -INFINITY;
  int place = -1;
  for (unsigned s = 0; s < kStrips; ++s) {
    const float value = values[(s * 2 + part) * kPpgnPoolChannels + c];
    const int at = places[(s * 2 + part) * kPpgnPoolChannels + c];
    if (at >= 0 && (place < 0 || value > top || (value == top && at < place))) {
      top = value;
      place = at;
    }
  }
  const std::size_t at = static_cast<std::size_t>(graph_index) * 2 * channels + part * channels + to;
  pooled[at] = place < 0 ? 0 : top;
  winners[at] = place;
}
inline constexpr std::size_t kPpgnPoolShared =
    std::size_t{kPpgnPoolThreads} / (kPpgnPoolChannels / 4) * 2 * kPpgnPoolChannels * 8;

/// The votes of all blocks. Weights of block b are classes × inputs at weight + b · (classes · inputs) of the
/// parameters, biases at bias + b · classes; pooled is blocks × batch × inputs.
struct PpgnVotes {
  const float* parameters;
  std::size_t weight, bias;
  std::size_t bias_stride;
  const float* pooled;
  const int* winners;
  unsigned blocks, classes, inputs, batch;
};

/// Logits, losses, whether right, and the gradient of scale · loss by the logits. One block a graph.
inline constexpr unsigned kPpgnVoteThreads = 256;
static __global__ void __launch_bounds__(kPpgnVoteThreads)
    ppgn_vote_kernel(const PpgnVotes votes, const PpgnData data, const PpgnGraph* graphs, float scale, float* logits,
                     float* losses, unsigned* right, float* d_logits, unsigned* flag) {
  float* const partial = reinterpret_cast<float*>(dynamic_shared());  // one a warp
  const unsigned g = blockIdx.x;
  float* const z = logits + static_cast<std::size_t>(g) * votes.classes;
  for (unsigned c = 0; c < votes.classes; ++c) {
    float sum = 0;
    for (unsigned b = 0; b < votes.blocks; ++b) {
      const float* const weight =
          votes.parameters + votes.weight + (static_cast<std::size_t>(b) * votes.classes + c) * votes.inputs;
      const float* const x = votes.pooled + (static_cast<std::size_t>(b) * votes.batch + g) * votes.inputs;
      for (unsigned i = threadIdx.x; i < votes.inputs; i += kPpgnVoteThreads) sum += weight[i] * x[i];
    }
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
      float total = 0;
      for (unsigned b = 0; b < votes.blocks; ++b) total += votes.parameters[votes.bias + b * votes.bias_stride + c];
      for (unsigned w = 0; w < kPpgnVoteThreads / 32; ++w) total += partial[w];
      z[c] = total;
    }
    __syncthreads();
  }
  if (threadIdx.x != 0) return;
  const unsigned label = data.labels[graphs[g].graph];
  unsigned first = 0;
  float sum = 0;
  bool bad = false;
  for (unsigned c = 0; c < votes.classes; ++c) {
    bad = bad || !finite(z[c]);
    if (z[c] > z[first]) first = c;
  }
  for (unsigned c = 0; c < votes.classes; ++c) sum += expf(z[c] - z[first]);
  for (unsigned c = 0; c < votes.classes; ++c) {
    d_logits[static_cast<std::size_t>(g) * votes.classes + c] =
        (expf(z[c] - z[first]) / sum - (c == label ? 1.0f : 0.0f)) * scale;
  }
  losses[g] = logf(sum) + z[first] - z[label];
  right[g] = first == label ? 1 : 0;
  if (bad) *flag = 1;
}

/// Adds what the logits give to a block's output: the gradient of its maxima at their rows. A thread a graph and input.
template <class T>
__global__ void ppgn_scatter_kernel(const PpgnVotes votes, unsigned block, const PpgnGraph* graphs,
                                    unsigned graph_count, const float* d_logits, T* d_out, unsigned* flag) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= graph_count * votes.inputs) return;
  const unsigned g = i / votes.inputs, input = i % votes.inputs, channels = votes.inputs / 2;
  const int row = votes.winners[(static_cast<std::size_t>(block) * votes.batch + g) * votes.inputs + input];
  if (row < 0) return;
  float sum = 0;
  for (unsigned c = 0; c < votes.classes; ++c) {
    sum +=
        d_logits[static_cast<std::size_t>(g) * votes.classes + c] *
        votes.parameters[votes.weight + (static_cast<std::size_t>(block) * votes.classes + c) * votes.inputs + input];
  }
  T& to = d_out[(static_cast<std::size_t>(graphs[g].first_row) + static_cast<std::size_t>(row)) * channels +
                input % channels];
  ppgn_set(to, ppgn_real(to) + sum);
  if (!finite(ppgn_real(to))) *flag = 1;
}

/// The gradient of the votes' weights and biases, summed over the graphs, into a slot. A thread a weight; the first
/// ones do the biases too.
static __global__ void ppgn_vote_gradient_kernel(const PpgnVotes votes, unsigned graph_count, const float* d_logits,
                                                 float* slot) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const std::size_t weights = static_cast<std::size_t>(votes.blocks) * votes.classes * votes.inputs;
  if (i < weights) {
    const unsigned input = i % votes.inputs, c = i / votes.inputs % votes.classes;
    const std::size_t block = i / votes.inputs / votes.classes;
    float sum = 0;
    for (unsigned g = 0; g < graph_count; ++g) {
      sum += d_logits[static_cast<std::size_t>(g) * votes.classes + c] *
             votes.pooled[(block * votes.batch + g) * votes.inputs + input];
    }
    slot[votes.weight + i] = sum;
  }
  if (i < static_cast<std::size_t>(votes.blocks) * votes.bias_stride) {
    const unsigned c = i % votes.bias_stride;
    float sum = 0;
    for (unsigned g = 0; g < graph_count && c < votes.classes; ++g) {
      sum += d_logits[static_cast<std::size_t>(g) * votes.classes + c];
    }
    slot[votes.bias + i] = sum;
  }
}

static __global__ void ppgn_clear_kernel(uint4* memory, std::size_t count) {
  const std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < count) memory[i] = uint4{0, 0, 0, 0};
}

/// The gradient of a parameter: its slots in order, without the loss scale. Parameters from `single` on have one slot.
struct PpgnSlots {
  const float* slots;
  std::size_t size;  ///< of a slot: all parameters
  std::size_t single;
  unsigned count;
  float unscale;

  __device__ __forceinline__ float4 sum(std::size_t i) const {
    float4 total = *reinterpret_cast<const float4*>(slots + i);
    const unsigned last = i < single ? count : 1;
    for (unsigned s = 1; s < last; ++s) {
      const float4 next = *reinterpret_cast<const float4*>(slots + s * size + i);
      total.x += next.x;
      total.y += next.y;
      total.z += next.z;
      total.w += next.w;
    }
    return float4{total.x * unscale, total.y * unscale, total.z * unscale, total.w * unscale};
  }
};

__device__ __forceinline__ void ppgn_adam(float g, float step_size, float correction, float& p, float& m, float& v) {
  m += (g - m) * AdamStep::kOneMinusBeta1;
  v = AdamStep::kBeta2 * v + AdamStep::kOneMinusBeta2 * g * g;
  p -= step_size * (m / (sqrtf(v) / correction + AdamStep::kEps));
}

/// One step of Adam, four parameters a thread; `half` (where not null) gets the parameters in half precision.
static __global__ void ppgn_adam_kernel(const PpgnSlots gradient, float step_size, float correction, float* p, float* m,
                                        float* v, Half* half, unsigned* flag) {
  const std::size_t i = (static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x) * 4;
  if (i >= gradient.size) return;
  const float4 g = gradient.sum(i);
  float4 own_p = *reinterpret_cast<float4*>(p + i), own_m = *reinterpret_cast<float4*>(m + i),
         own_v = *reinterpret_cast<float4*>(v + i);
  ppgn_adam(g.x, step_size, correction, own_p.x, own_m.x, own_v.x);
  ppgn_adam(g.y, step_size, correction, own_p.y, own_m.y, own_v.y);
  ppgn_adam(g.z, step_size, correction, own_p.z, own_m.z, own_v.z);
  ppgn_adam(g.w, step_size, correction, own_p.w, own_m.w, own_v.w);
  *reinterpret_cast<float4*>(p + i) = own_p;
  *reinterpret_cast<float4*>(m + i) = own_m;
  *reinterpret_cast<float4*>(v + i) = own_v;
  if (half != nullptr) {
    *reinterpret_cast<uint2*>(half + i) = uint2{pack2(own_p.x, own_p.y), pack2(own_p.z, own_p.w)};
  }
  if (!finite(own_p.x + own_p.y + own_p.z + own_p.w)) *flag = 1;
}

/// out += the gradient.
static __global__ void ppgn_gradient_kernel(const PpgnSlots gradient, float* out) {
  const std::size_t i = (static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x) * 4;
  if (i >= gradient.size) return;
  const float4 g = gradient.sum(i);
  out[i] += g.x;
  out[i + 1] += g.y;
  out[i + 2] += g.z;
  out[i + 3] += g.w;
}

static __global__ void ppgn_narrow_kernel(const float* from, Half* to, std::size_t count) {
  const std::size_t i = (static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x) * 2;
  if (i < count) *reinterpret_cast<unsigned*>(to + i) = pack2(from[i], from[i + 1]);
}

}  // namespace tyche::engine::TYCHE_CUDA_NS
