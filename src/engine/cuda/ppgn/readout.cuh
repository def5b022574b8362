#pragma once
/// What PPGN does before its products and behind them: the input tensor (adjacency, then on the diagonal the nodes'
/// features and their random ones), the readouts that vote, the loss, and Adam.
#include "engine/core/loss.hpp"
#include "engine/cuda/ppgn/tile.cuh"
#include "engine/cuda/runtime/adam.cuh"
#include "engine/cuda/runtime/philox.cuh"

namespace tyche::engine::TYCHE_CUDA_NS {

__device__ __forceinline__ float ppgn_real(float x) { return x; }
__device__ __forceinline__ float ppgn_real(Half x) { return to_float(x); }
__device__ __forceinline__ void ppgn_set(float& to, float x) { to = x; }
__device__ __forceinline__ void ppgn_set(Half& to, float x) { to = to_half(x); }

/// The random features of a pass, as in engine/core/inputs.hpp.
struct PpgnRandom {
  unsigned count;  ///< channels
  uint2 key;
  bool normal;
  float scale;
  const float* pinned;  ///< instead of drawing: the pass's nodes × count; or null
};

/// Random feature `c` of node v of a graph.
template <bool Fast>
__device__ __forceinline__ float ppgn_random(const PpgnRandom& random, const PpgnGraph& graph, unsigned v, unsigned c) {
  if (random.pinned != nullptr) {
    return random.pinned[(static_cast<std::size_t>(graph.first_node) + v) * random.count + c];
  }
  const float4 four = feature_block<Fast>(random.key, c / 4, v, graph.graph, random.normal, random.scale);
  return c % 4 == 0 ? four.x : c % 4 == 1 ? four.y : c % 4 == 2 ? four.z : four.w;
}

inline constexpr unsigned kPpgnInputBlocks = 8;  ///< per graph

/// The input tensor of a batch; and the sizes of its rows' classes, and one over them. kPpgnInputBlocks blocks per
/// graph.
template <class T>
__global__ void ppgn_input_kernel(const PpgnData data, const PpgnGraph* graphs, const PpgnRandom random,
                                  unsigned channels, T* out, float* sizes, float* inverse_sizes) {
  ppgn_begin();
  const PpgnGraph graph = graphs[blockIdx.x / kPpgnInputBlocks];
  const PpgnClass* const classes = data.classes + graph.first_class;
  const float* const features = data.features + data.nodes[graph.graph] * data.feature_count;
  const std::size_t count = static_cast<std::size_t>(graph.rows) * channels;
  for (std::size_t i = blockIdx.x % kPpgnInputBlocks * blockDim.x + threadIdx.x; i < count;
       i += kPpgnInputBlocks * blockDim.x) {
    const unsigned row = static_cast<unsigned>(i / channels), c = static_cast<unsigned>(i % channels);
    const PpgnClass own = classes[row];
    float value = 0;
    if (c == 0) {
      value = static_cast<float>(own.adjacent);
      sizes[graph.first_row + row] = own.size;
      inverse_sizes[graph.first_row + row] = 1 / own.size;
    } else if (own.x == own.y && c <= data.feature_count) {
      value = features[static_cast<std::size_t>(own.x) * data.feature_count + c - 1];
    } else if (own.x == own.y && c <= data.feature_count + random.count) {
      value = ppgn_random<sizeof(T) == 2>(random, graph, own.x, c - 1 - data.feature_count);
    }
    ppgn_set(out[static_cast<std::size_t>(graph.first_row) * channels + i], value);
  }
}

/// Keeps the larger of two maxima; where they are equal, the first row's. Row -1: none.
__device__ __forceinline__ void ppgn_take_larger(float& value, int& row, float other, int other_row) {
  if (other_row >= 0 && (row < 0 || other > value || (other == value && other_row < row))) {
    value = other;
    row = other_row;
  }
}

/// Eight channels of a row; half precision is completed by the residual (see PpgnProduct).
__device__ __forceinline__ void ppgn_eight(const Half* from, const Half* residual, std::size_t at, float (&out)[8]) {
  const uint4 raw = *reinterpret_cast<const uint4*>(from + at), rest = *reinterpret_cast<const uint4*>(residual + at);
  const unsigned high[4] = {raw.x, raw.y, raw.z, raw.w}, low[4] = {rest.x, rest.y, rest.z, rest.w};
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const float2 a = unpack2(high[i]), b = unpack2(low[i]);
    out[2 * i] = a.x + b.x * (1 / kPpgnResidualScale);
    out[2 * i + 1] = a.y + b.y * (1 / kPpgnResidualScale);
  }
}
__device__ __forceinline__ void ppgn_eight(const float* from, const float*, std::size_t at, float (&out)[8]) {
  const float4 a = *reinterpret_cast<const float4*>(from + at), b = *reinterpret_cast<const float4*>(from + at + 4);
  out[0] = a.x, out[1] = a.y, out[2] = a.z, out[3] = a.w;
  out[4] = b.x, out[5] = b.y, out[6] = b.z, out[7] = b.w;
}

/// The number of pairs on a graph's diagonal, or off it.
__device__ __forceinline__ float ppgn_pairs(const PpgnGraph& graph, unsigned part) {
  const float n = static_cast<float>(graph.nodes);
  return part == 0 ? n : n * n - n;
}

/// Every channel over a graph's diagonal and over the rest: maxima and their rows, the first of equal ones, or (not
/// `kMax`) sums or means, to which a row counts as often as its class has pairs. One block a graph and
/// kPpgnPoolChannels channels: of any number of warps to 32, but of sums kPpgnSumThreads, so that those of a graph do
/// not depend on what else is in its batch. Pooled and winners are graphs × 2 · channels. Where there is nothing: 0,
/// -1. A quarter warp reads a row's 32 channels; there are few blocks, so each reads far ahead.
inline constexpr unsigned kPpgnPoolChannels = 32, kPpgnSumThreads = 256;
inline constexpr std::size_t kPpgnPoolShared = std::size_t{32} * 2 * kPpgnPoolChannels * 8;
inline constexpr std::size_t kPpgnSumShared = std::size_t{kPpgnSumThreads} / 32 * 2 * kPpgnPoolChannels * 4;
template <class T, bool kMax>
__global__ void __launch_bounds__(kMax ? 1024 : kPpgnSumThreads)
    ppgn_pool_kernel(const T* from, const T* residual, const PpgnGraph* graphs, const float* sizes, unsigned channels,
                     bool mean, float* pooled, int* winners) {
  ppgn_begin();
  const unsigned groups = (channels + kPpgnPoolChannels - 1) / kPpgnPoolChannels;
  const unsigned graph_index = blockIdx.x / groups;
  const PpgnGraph graph = graphs[graph_index];
  const unsigned own = threadIdx.x % 4 * 8, channel = blockIdx.x % groups * kPpgnPoolChannels + own;
  const unsigned strip = threadIdx.x / 4, strips = (kMax ? blockDim.x : kPpgnSumThreads) / 4, warp = threadIdx.x / 32;
  const std::size_t base = static_cast<std::size_t>(graph.first_row) * channels + channel;
  float* const values = reinterpret_cast<float*>(dynamic_shared());  // warps × 2 × channels of the block
  int* const places = reinterpret_cast<int*>(values + 32 * 2 * kPpgnPoolChannels);  // of maxima
#pragma unroll
  for (unsigned part = 0; part < 2; ++part) {
    float best[8];  // or the sum
    int row[8];
#pragma unroll
    for (int c = 0; c < 8; ++c) {
      best[c] = 0;
      row[c] = -1;
    }
    if (channel < channels) {
      const unsigned begin = part == 0 ? 0 : graph.diagonal, end = part == 0 ? graph.diagonal : graph.rows;
#pragma unroll 4
      for (unsigned i = begin + strip; i < end; i += strips) {
        float value[8];
        ppgn_eight(from, residual, base + static_cast<std::size_t>(i) * channels, value);
        [[maybe_unused]] const float size = kMax ? 1.0f : sizes[graph.first_row + i];
#pragma unroll
        for (int c = 0; c < 8; ++c) {
          if constexpr (!kMax) {
            best[c] += size * value[c];
          } else if (row[c] < 0 || value[c] > best[c]) {
            best[c] = value[c];
            row[c] = static_cast<int>(i);
          }
        }
      }
    }
#pragma unroll
    for (int c = 0; c < 8; ++c) {
#pragma unroll
      for (int o = 4; o < 32; o *= 2) {
        const float other = shfl_xor(best[c], o);
        if constexpr (kMax) {
          ppgn_take_larger(best[c], row[c], other, shfl_xor(row[c], o));
        } else {
          best[c] += other;
        }
      }
      if (threadIdx.x % 32 < 4) {
        values[(warp * 2 + part) * kPpgnPoolChannels + own + c] = best[c];
        if constexpr (kMax) places[(warp * 2 + part) * kPpgnPoolChannels + own + c] = row[c];
      }
    }
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < 2 * kPpgnPoolChannels; i += blockDim.x) {
    const unsigned part = i / kPpgnPoolChannels, c = i % kPpgnPoolChannels;
    const unsigned to = blockIdx.x % groups * kPpgnPoolChannels + c;
    float top = 0;
    [[maybe_unused]] int place = -1;
    for (unsigned w = 0; w < blockDim.x / 32; ++w) {
      const unsigned at = (w * 2 + part) * kPpgnPoolChannels + c;
      if constexpr (kMax) {
        ppgn_take_larger(top, place, values[at], places[at]);
      } else {
        top += values[at];
      }
    }
    if (to >= channels) continue;
    const std::size_t at = static_cast<std::size_t>(graph_index) * 2 * channels + part * channels + to;
    const float pairs = ppgn_pairs(graph, part);
    if (!kMax && mean && pairs > 0) top /= pairs;
    pooled[at] = top;
    if constexpr (kMax) winners[at] = place;
  }
}

/// The votes of all blocks. Weights of block b are classes × inputs at weight + b · (classes · inputs) of the
/// parameters, biases at bias + b · classes; pooled is blocks × batch × inputs.
struct PpgnVotes {
  const float* parameters;
  std::size_t weight, bias;
  std::size_t bias_stride;
  const float* pooled;
  const int* winners;  ///< of maxima
  unsigned blocks, classes, inputs, batch;
};

/// Logits, losses, whether right, and the gradient of scale · loss by the logits. One block per graph.
inline constexpr unsigned kPpgnVoteThreads = 256;
static __global__ void __launch_bounds__(kPpgnVoteThreads)
    ppgn_vote_kernel(const PpgnVotes votes, const PpgnData data, const PpgnGraph* graphs, float scale, float* logits,
                     float* losses, unsigned* right, float* d_logits, unsigned* flag) {
  ppgn_begin();
  float* const partial = reinterpret_cast<float*>(dynamic_shared());  // one per warp
  const unsigned g = blockIdx.x;
  float* const z = logits + static_cast<std::size_t>(g) * votes.classes;
  for (unsigned c = 0; c < votes.classes; ++c) {
    float sum = 0;
    const float* const weight = votes.parameters + votes.weight + static_cast<std::size_t>(c) * votes.inputs;
#pragma unroll 8  // many loads on their way at once
    for (unsigned i = threadIdx.x; i < votes.blocks * votes.inputs; i += kPpgnVoteThreads) {
      const std::size_t b = i / votes.inputs, input = i % votes.inputs;
      sum +=
          weight[b * votes.classes * votes.inputs + input] * votes.pooled[(b * votes.batch + g) * votes.inputs + input];
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
  const SerialOutputs<float> outputs(z, votes.classes, d_logits + static_cast<std::size_t>(g) * votes.classes);
  const LossValue<float> seen = loss_of(data.loss, outputs, data.targets[graphs[g].graph], scale);
  losses[g] = seen.value;
  right[g] = seen.right ? 1 : 0;
  for (unsigned c = 0; c < votes.classes; ++c) {
    if (!finite(z[c])) *flag = 1;
  }
}

/// The gradient of a graph's readout, from its logits.
__device__ __forceinline__ float ppgn_d_pooled(const PpgnVotes& votes, unsigned block, unsigned g, unsigned input,
                                               const float* d_logits) {
  float sum = 0;
  for (unsigned c = 0; c < votes.classes; ++c) {
    sum +=
        d_logits[static_cast<std::size_t>(g) * votes.classes + c] *
        votes.parameters[votes.weight + (static_cast<std::size_t>(block) * votes.classes + c) * votes.inputs + input];
  }
  return sum;
}

/// Adds what the logits give to a block's output: the gradient of its sums or means, at every row as often as its class
/// has pairs. kPpgnInputBlocks blocks per graph.
template <class T>
__global__ void ppgn_spread_kernel(const PpgnVotes votes, unsigned block, const PpgnGraph* graphs, const float* sizes,
                                   bool mean, const float* d_logits, T* d_out, unsigned* flag) {
  ppgn_begin();
  const unsigned g = blockIdx.x / kPpgnInputBlocks, channels = votes.inputs / 2;
  const PpgnGraph graph = graphs[g];
  const std::size_t count = static_cast<std::size_t>(graph.rows) * channels;
  bool bad = false;
  for (std::size_t i = blockIdx.x % kPpgnInputBlocks * blockDim.x + threadIdx.x; i < count;
       i += kPpgnInputBlocks * blockDim.x) {
    const unsigned row = static_cast<unsigned>(i / channels), part = row < graph.diagonal ? 0 : 1;
    const unsigned input = part * channels + static_cast<unsigned>(i % channels);
    const float times = sizes[graph.first_row + row] / (mean ? ppgn_pairs(graph, part) : 1.0f);
    T& to = d_out[static_cast<std::size_t>(graph.first_row) * channels + i];
    ppgn_set(to, ppgn_real(to) + times * ppgn_d_pooled(votes, block, g, input, d_logits));
    bad = bad || !finite(ppgn_real(to));
  }
  if (bad) *flag = 1;
}

/// The same of maxima: their gradient at their rows. A thread per graph and input.
template <class T>
__global__ void ppgn_scatter_kernel(const PpgnVotes votes, unsigned block, const PpgnGraph* graphs,
                                    unsigned graph_count, const float* d_logits, T* d_out, unsigned* flag) {
  ppgn_begin();
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= graph_count * votes.inputs) return;
  const unsigned g = i / votes.inputs, input = i % votes.inputs, channels = votes.inputs / 2;
  const int row = votes.winners[(static_cast<std::size_t>(block) * votes.batch + g) * votes.inputs + input];
  if (row < 0) return;
  const float sum = ppgn_d_pooled(votes, block, g, input, d_logits);
  T& to = d_out[(static_cast<std::size_t>(graphs[g].first_row) + static_cast<std::size_t>(row)) * channels +
                input % channels];
  ppgn_set(to, ppgn_real(to) + sum);
  if (!finite(ppgn_real(to))) *flag = 1;
}

/// The gradient of the votes' weights and biases, summed over the graphs, into a slot. A thread per weight; the first
/// ones do the biases too.
static __global__ void ppgn_vote_gradient_kernel(const PpgnVotes votes, unsigned graph_count, const float* d_logits,
                                                 float* slot) {
  ppgn_begin();
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
  ppgn_begin();
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

/// Squares of the gradient, block by block; then what clipping multiplies it by.
static __global__ void ppgn_squares_kernel(const PpgnSlots gradient, float* parts) {
  ppgn_begin();
  __shared__ float sums[kClipThreads / 32];
  const std::size_t i = (static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x) * 4;
  float sum = 0;
  if (i < gradient.size) {
    const float4 g = gradient.sum(i);
    sum = (g.x * g.x + g.y * g.y) + (g.z * g.z + g.w * g.w);
  }
  sum = block_sum(sum, sums);
  if (threadIdx.x == 0) parts[blockIdx.x] = sum;
}
static __global__ void ppgn_clip_kernel(const float* parts, std::size_t count, float clip, float* factor) {
  ppgn_begin();
  clip_of_parts(parts, count, clip, factor);
}

/// One step of Adam, four parameters per thread; `half` (where not null) gets the parameters in half precision, and
/// `clip` (where not null) is a factor of the gradient.
static __global__ void ppgn_adam_kernel(const PpgnSlots gradient, const AdamStep by, const float* clip, float* p,
                                        float* m, float* v, Half* half, unsigned* flag) {
  ppgn_begin();
  const std::size_t i = (static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x) * 4;
  if (i >= gradient.size) return;
  float4 g = gradient.sum(i);
  if (clip != nullptr) {
    const float factor = load_cg(clip);
    g = float4{g.x * factor, g.y * factor, g.z * factor, g.w * factor};
  }
  float4 own_p = *reinterpret_cast<float4*>(p + i), own_m = *reinterpret_cast<float4*>(m + i),
         own_v = *reinterpret_cast<float4*>(v + i);
  adam_move(g.x, by, own_p.x, own_m.x, own_v.x);
  adam_move(g.y, by, own_p.y, own_m.y, own_v.y);
  adam_move(g.z, by, own_p.z, own_m.z, own_v.z);
  adam_move(g.w, by, own_p.w, own_m.w, own_v.w);
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
  ppgn_begin();
  const std::size_t i = (static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x) * 4;
  if (i >= gradient.size) return;
  const float4 g = gradient.sum(i);
  out[i] += g.x;
  out[i + 1] += g.y;
  out[i + 2] += g.z;
  out[i + 3] += g.w;
}

static __global__ void ppgn_narrow_kernel(const float* from, Half* to, std::size_t count) {
  ppgn_begin();
  const std::size_t i = (static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x) * 2;
  if (i < count) *reinterpret_cast<unsigned*>(to + i) = pack2(from[i], from[i + 1]);
}

}  // namespace tyche::engine::TYCHE_CUDA_NS
