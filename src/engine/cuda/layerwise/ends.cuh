#pragma once
/// The kernels around the layers: readout, MLP head with loss and its gradient, the gradient's way back onto rows, and
/// Adam. Like the layers', they give the same bits every time.
#include "engine/core/loss.hpp"
#include "engine/cuda/layerwise/backward.cuh"
#include "engine/cuda/layerwise/gin.cuh"
#include "engine/cuda/layerwise/inputs.cuh"

namespace tyche::engine::TYCHE_CUDA_NS {

// ---- readout

/// Rows a readout's first stage takes together.
inline constexpr unsigned kPart = 256;

struct ReadoutArguments {
  BatchRows rows;             ///< of the level's last round
  const uint32_t* part_base;  ///< graphs + 1: parts of kPart rows, graph after graph
  const LevelEnds* ends;
  const float* values;
  uint32_t stride, width;
  nn::Readout readout;
  float* out_values;   ///< parts × width
  uint32_t* out_rows;  ///< parts × width: for max, the first row of the graph that has it
  int* bad;            ///< counts values that are not finite
};

/// Maxima or sums over a part of a graph's rows. 4 × 64 threads: every fourth row of 64 columns.
template <class P>
__global__ void __launch_bounds__(kThreads) readout_kernel(ReadoutArguments a) {
  __shared__ float values[kThreads];
  __shared__ uint32_t places[kThreads];
  const uint32_t b = graph_of(a.part_base, a.rows.graphs, blockIdx.x);
  const uint32_t first = (blockIdx.x - a.part_base[b]) * kPart;
  const uint32_t all = a.rows.base[b + 1] - a.rows.base[b];
  const uint32_t last = all - first < kPart ? all : first + kPart;
  const float* weights = a.ends[a.rows.ids[b]].multiplicity;
  const unsigned lane = threadIdx.x % kTile, group = threadIdx.x / kTile;
  for (uint32_t column0 = 0; column0 < a.width; column0 += kTile) {
    const uint32_t column = column0 + lane;
    const bool max = a.readout == nn::Readout::max;
    float best = max ? -INFINITY : 0.0f;
    uint32_t place = first + group;
    bool finite_all = true;
    if (column < a.width) {
      const float* from = a.values + size_t{a.rows.base[b]} * a.stride + column;
#pragma unroll 8
      for (uint32_t r = first + group; r < last; r += 4) {
        const float value = from[size_t{r} * a.stride];
        finite_all = finite_all && finite(value);
        if (!max) {
          best += (weights == nullptr ? 1.0f : weights[r]) * value;
        } else if (value > best) {
          best = value;
          place = r;
        }
      }
    }
    if (!finite_all) atomic_add(a.bad, 1);
    __syncthreads();
    values[threadIdx.x] = best;
    places[threadIdx.x] = place;
    __syncthreads();
    if (group == 0 && column < a.width) {
      for (unsigned other = lane + kTile; other < kThreads; other += kTile) {
        if (!max) {
          best += values[other];
        } else if (values[other] > best || (values[other] == best && places[other] < place)) {
          best = values[other];
          place = places[other];
        }
      }
      a.out_values[size_t{blockIdx.x} * a.width + column] = best;
      a.out_rows[size_t{blockIdx.x} * a.width + column] = place;
    }
  }
}

// ---- head

inline constexpr unsigned kMostLevels = 3;

struct LinearPlaces {
  uint32_t in, out;
  uint32_t weight, bias;  ///< into the parameters
};

/// What the head keeps of a graph for its parameters' gradients: inputs and gradients of its three layers.
struct FactorPlaces {
  uint32_t in[3], d[3];
  uint32_t size;
};

struct HeadArguments {
  const uint32_t* ids;
  const uint32_t* graph_numbers;
  Targets targets;
  Loss loss;
  uint32_t levels, width;
  const LevelEnds* ends[kMostLevels];
  const uint32_t* part_base[kMostLevels];
  const float* part_values[kMostLevels];
  const uint32_t* part_rows[kMostLevels];
  nn::Readout readout;
  nn::Activation activation;  ///< of the convolutions
  const float* parameters;
  LinearPlaces fc[3];
  FactorPlaces factors;
  float* factor_values;  ///< graphs × factors.size
  bool dropping;
  uint2 dropout_key;
  uint64_t threshold;
  float keep;
  float* logits;    ///< graphs × classes
  float* losses;    ///< one per graph, or none: forward only
  uint32_t* right;  ///< 1 where the class was right
  float scale;      ///< of the loss' gradient
  float* d_pooled;  ///< graphs × levels × width: for max, before the activation; for mean and sum, of a row of weight 1
  uint32_t* winners;  ///< graphs × levels × width: the row of the graph that was the maximum
};

__device__ __forceinline__ void linear(const float* parameters, const LinearPlaces& at, const float* in, float* out) {
  const unsigned lane = threadIdx.x & 31;
  for (uint32_t j = threadIdx.x >> 5; j < at.out; j += blockDim.x / 32) {
    float sum = 0;
    for (uint32_t k = lane; k < at.in; k += 32) sum += parameters[at.weight + size_t{j} * at.in + k] * in[k];
    sum = warp_sum(sum);
    if (lane == 0) out[j] = sum + parameters[at.bias + j];
  }
}
__device__ __forceinline__ float linear_back(const float* parameters, const LinearPlaces& at, const float* d,
                                             uint32_t k) {
  float sum = 0;
#pragma unroll 16
  for (uint32_t j = 0; j < at.out; ++j) sum += parameters[at.weight + size_t{j} * at.in + k] * d[j];
  return sum;
}

/// Floats of shared memory the head needs.
inline size_t head_shared(const LinearPlaces (&fc)[3]) {
  return 2 * size_t{fc[0].in} + 3 * size_t{fc[0].out} + 2 * size_t{fc[1].out} + 2 * size_t{fc[2].out};
}

/// A head's values of one graph, in shared memory.
struct HeadValues {
  uint32_t pooled_size, hidden1_size, hidden2_size, classes;
  float* pooled;
  float* shares;  ///< what d_pooled is multiplied with
  float* hidden1;
  float* drops;
  float* d_hidden1;  ///< on the way forward the second layer's input
  float* hidden2;
  float* d_hidden2;
  float* logits;
  float* d_logits;

  __device__ __forceinline__ HeadValues(const LinearPlaces (&fc)[3], float* memory)
      : pooled_size(fc[0].in), hidden1_size(fc[0].out), hidden2_size(fc[1].out), classes(fc[2].out), pooled(memory) {
    shares = pooled + pooled_size;
    hidden1 = shares + pooled_size;
    drops = hidden1 + hidden1_size;
    d_hidden1 = drops + hidden1_size;
    hidden2 = d_hidden1 + hidden1_size;
    d_hidden2 = hidden2 + hidden2_size;
    logits = d_hidden2 + hidden2_size;
    d_logits = logits + classes;
  }
};

/// The parts of a readout put together.
__device__ __forceinline__ void pool_parts(const HeadArguments& a, const HeadValues& v, uint32_t graph, uint32_t id) {
  for (uint32_t c = threadIdx.x; c < v.pooled_size; c += kThreads) {
    const uint32_t level = c / a.width, column = c % a.width;
    const uint32_t begin = a.part_base[level][graph], end = a.part_base[level][graph + 1];
    float value = 0, share = 0;
    uint32_t winner = ~0u;
    if (begin < end) {
      const float* values = a.part_values[level] + column;
      value = values[size_t{begin} * a.width];
      uint32_t best = begin;
      for (uint32_t part = begin + 1; part < end; ++part) {
        const float other = values[size_t{part} * a.width];
        if (a.readout != nn::Readout::max) {
          value += other;
        } else if (other > value) {
          value = other;
          best = part;
        }
      }
      share = a.readout == nn::Readout::mean ? 1 / a.ends[level][id].total : 1.0f;
      if (a.readout == nn::Readout::mean) value *= share;
      if (a.readout == nn::Readout::max) {
        winner = a.part_rows[level][size_t{best} * a.width + column];
        share = derivative(a.activation, value);
      }
    }
    v.pooled[c] = value;
    v.shares[c] = share;
    if (a.winners != nullptr) a.winners[size_t{graph} * v.pooled_size + c] = winner;
  }
}

/// From the pooled values to the logits.
__device__ __forceinline__ void head_forward(const HeadArguments& a, const HeadValues& v, uint32_t id) {
  linear(a.parameters, a.fc[0], v.pooled, v.hidden1);
  __syncthreads();
  for (uint32_t j = threadIdx.x; j < v.hidden1_size; j += kThreads) {
    v.hidden1[j] = activated<false>(nn::Activation::elu, v.hidden1[j]);
    v.drops[j] = a.dropping ? dropout_factor(a.dropout_key, j, a.graph_numbers[id], a.threshold, a.keep) : 1.0f;
    v.d_hidden1[j] = v.hidden1[j] * v.drops[j];
  }
  __syncthreads();
  linear(a.parameters, a.fc[1], v.d_hidden1, v.hidden2);
  __syncthreads();
  for (uint32_t j = threadIdx.x; j < v.hidden2_size; j += kThreads) {
    v.hidden2[j] = activated<false>(nn::Activation::elu, v.hidden2[j]);
  }
  __syncthreads();
  linear(a.parameters, a.fc[2], v.hidden2, v.logits);
}

/// From the logits' gradient to that of the pooled values; keeps what the parameters' gradients need.
__device__ __forceinline__ void head_backward(const HeadArguments& a, const HeadValues& v, uint32_t graph) {
  float* kept = a.factor_values + size_t{graph} * a.factors.size;
  for (uint32_t c = threadIdx.x; c < v.classes; c += kThreads) kept[a.factors.d[2] + c] = v.d_logits[c];
  for (uint32_t k = threadIdx.x; k < v.hidden2_size; k += kThreads) {
    v.d_hidden2[k] = linear_back(a.parameters, a.fc[2], v.d_logits, k) * derivative(nn::Activation::elu, v.hidden2[k]);
    kept[a.factors.in[2] + k] = v.hidden2[k];
    kept[a.factors.d[1] + k] = v.d_hidden2[k];
  }
  __syncthreads();
  for (uint32_t k = threadIdx.x; k < v.hidden1_size; k += kThreads) {
    kept[a.factors.in[1] + k] = v.d_hidden1[k];
    v.d_hidden1[k] =
        linear_back(a.parameters, a.fc[1], v.d_hidden2, k) * v.drops[k] * derivative(nn::Activation::elu, v.hidden1[k]);
    kept[a.factors.d[0] + k] = v.d_hidden1[k];
  }
  __syncthreads();
  for (uint32_t k = threadIdx.x; k < v.pooled_size; k += kThreads) {
    a.d_pooled[size_t{graph} * v.pooled_size + k] = linear_back(a.parameters, a.fc[0], v.d_hidden1, k) * v.shares[k];
    kept[a.factors.in[0] + k] = v.pooled[k];
  }
}

/// The rest of a readout, the MLP, the loss, and back to the pooled values: one block of threads per graph.
template <class P>
__global__ void __launch_bounds__(kThreads) head_kernel(HeadArguments a) {
  const uint32_t graph = blockIdx.x, id = a.ids[graph];
  const HeadValues v(a.fc, reinterpret_cast<float*>(dynamic_shared()));
  pool_parts(a, v, graph, id);
  __syncthreads();
  head_forward(a, v, id);
  __syncthreads();
  for (uint32_t c = threadIdx.x; c < v.classes; c += kThreads) a.logits[size_t{graph} * v.classes + c] = v.logits[c];
  if (a.losses == nullptr) return;
  if (threadIdx.x == 0) {
    const SerialOutputs<float> outputs(v.logits, v.classes, v.d_logits);
    const LossValue<float> seen = loss_of(a.loss, outputs, a.targets[id], a.scale);
    a.losses[graph] = seen.value;
    a.right[graph] = seen.right ? 1 : 0;
  }
  __syncthreads();
  head_backward(a, v, graph);
}

// ---- back onto rows

/// A level whose sets start from this one's outputs: the gradient of its inputs comes back here.
template <class P>
struct Above {
  const LevelEnds* ends;  ///< null: none
  const uint32_t* base;   ///< of its round 0
  Rows<const typename P::Element> d_in;
  float share;  ///< 1 / nodes of a set
};

template <class P>
struct SpreadArguments {
  BatchRows rows;
  const LevelEnds* ends;
  const float* values;
  uint32_t stride, width;
  nn::Readout readout;
  nn::Activation activation;
  const float* d_pooled;  ///< of this level; graphs × pooled_size
  const uint32_t* winners;
  uint32_t pooled_size;
  Above<P> above[2];
};

/// The gradient of a level's outputs before their activation, padding included. A block takes kTile rows, a thread two
/// columns at a time.
template <class P>
__global__ void __launch_bounds__(kThreads) spread_kernel(SpreadArguments<P> a, Rows<typename P::Element> out) {
  __shared__ uint32_t graph[kTile], local_of[kTile];
  const uint32_t row0 = blockIdx.x * kTile, rows = a.rows.rows - row0 < kTile ? a.rows.rows - row0 : kTile;
  if (threadIdx.x < rows) {
    const uint32_t b = graph_of(a.rows.base, a.rows.graphs, row0 + threadIdx.x);
    graph[threadIdx.x] = b;
    local_of[threadIdx.x] = row0 + threadIdx.x - a.rows.base[b];
  }
  __syncthreads();
  const uint32_t pairs = (a.width + 15) / 16 * 8;
  for (uint32_t q = threadIdx.x; q < rows * pairs; q += kThreads) {
    const uint32_t r = q / pairs, row = row0 + r, b = graph[r], local = local_of[r];
    float d[2] = {0, 0};
#pragma unroll
    for (uint32_t i = 0; i < 2; ++i) {
      const uint32_t column = q % pairs * 2 + i;
      if (column >= a.width) continue;
      const size_t at = size_t{b} * a.pooled_size + column;
      if (a.readout != nn::Readout::max || a.above[0].ends != nullptr) {
        float sum = 0;
        for (const Above<P>& above : a.above) {
          if (above.ends == nullptr) continue;
          const LevelEnds& its = above.ends[a.rows.ids[b]];
          float part = 0;
          for (uint32_t e = its.up_offsets[local]; e < its.up_offsets[local + 1]; ++e) {
            part += P::value(above.d_in.data[size_t{above.base[b] + its.up_rows[e]} * above.d_in.stride + column]);
          }
          sum += part * above.share;
        }
        if (a.readout != nn::Readout::max) {
          const float* multiplicity = a.ends[a.rows.ids[b]].multiplicity;
          sum += (multiplicity == nullptr ? 1.0f : multiplicity[local]) * a.d_pooled[at];
        }
        d[i] = sum * derivative(a.activation, a.values[size_t{row} * a.stride + column]);
      }
      // The maximum's gradient has its slope already.
      if (a.readout == nn::Readout::max && a.winners[at] == local) d[i] += a.d_pooled[at];
    }
    typename P::Element* to = out.data + size_t{row} * out.stride + q % pairs * 2;
    to[0] = P::element(d[0]);
    to[1] = P::element(d[1]);
  }
}

// ---- Adam

/// scalar: gin's ε, whose parts of the gradient stand one behind the other.
enum class SegmentKind : uint32_t { conv_weight, conv_bias, linear_weight, linear_bias, scalar };

/// A tensor of the parameters, and where its gradient comes from.
struct Segment {
  SegmentKind kind;
  uint32_t offset, size;  ///< in the parameters
  uint32_t in;            ///< columns of a weight
  uint32_t matrix;        ///< 0: roots', 1: neighbours'
  uint32_t conv;          ///< which; of a scalar, which of the slices' words
  uint32_t out_blocks, units;
  uint64_t slots;    ///< where the conv's begin
  uint64_t weights;  ///< where its blocks begin in both copies
  uint32_t factor_in, factor_d;
};

struct AdamBlock {
  uint32_t segment, first;
};

enum class Update : int {
  step,      ///< gradient, Adam, copies
  clipped,   ///< the gradient there is, times the factor of its clipping; Adam, copies
  gradient,  ///< gradient only
  copies     ///< copies only
};

template <class P>
struct AdamArguments {
  Update update;
  const Segment* segments;
  const AdamBlock* blocks;
  float *parameters, *m, *v, *gradient;
  typename P::Element *forward, *backward;  ///< copies of the weights in the kernels' order
  const float* slots;
  const uint32_t* slices;  ///< of each conv in this batch
  const float* factors;
  uint32_t factor_size, graphs;
  float unscale;  ///< 1 / loss scale
  float step_size, correction;
  float keep, keep2, one_minus1, one_minus2, eps;  ///< Adam's constants
  const float* clip;                               ///< clipped: the factor
  int* bad;
};

/// 64 parameters per block; four threads each add up every fourth part of the gradient.
template <class P>
__global__ void __launch_bounds__(kThreads) adam_kernel(AdamArguments<P> a) {
  __shared__ float parts[kThreads];
  const AdamBlock block = a.blocks[blockIdx.x];
  const Segment segment = a.segments[block.segment];
  const unsigned lane = threadIdx.x % kTile, group = threadIdx.x / kTile;
  const uint32_t index = block.first + lane;
  const bool valid = index < segment.size;
  const bool conv = segment.kind == SegmentKind::conv_weight;
  const bool linear = segment.kind == SegmentKind::linear_weight;
  const uint32_t j = conv || linear ? index / segment.in : index, k = conv || linear ? index % segment.in : 0;
  float sum = 0;
  if (valid && (a.update == Update::step || a.update == Update::gradient)) {
    if (segment.kind == SegmentKind::conv_weight || segment.kind == SegmentKind::conv_bias) {
      const uint32_t unit = k / kTile * segment.out_blocks + j / kTile;
      const uint32_t in_slot = conv ? segment.matrix * kBlock + j % kTile * kTile + k % kTile : 2 * kBlock + j % kTile;
      const float* from = a.slots + segment.slots + size_t{unit} * kSlot + in_slot;
      const uint32_t slices = a.slices[segment.conv];
#pragma unroll 8
      for (uint32_t s = group; s < slices; s += 4) sum += from[size_t{s} * segment.units * kSlot];
    } else if (segment.kind == SegmentKind::scalar) {
      for (uint32_t s = group; s < a.slices[segment.conv]; s += 4) sum += a.slots[segment.slots + s];
    } else {
#pragma unroll 4
      for (uint32_t g = group; g < a.graphs; g += 4) {
        const float* factors = a.factors + size_t{g} * a.factor_size;
        sum += factors[segment.factor_d + j] * (linear ? factors[segment.factor_in + k] : 1.0f);
      }
    }
  }
  parts[threadIdx.x] = sum;
  __syncthreads();
  if (group != 0 || !valid) return;
  const uint32_t at = segment.offset + index;
  if (a.update != Update::copies) {
    const float g =
        a.update == Update::clipped
            ? a.gradient[at] * *a.clip
            : ((parts[lane] + parts[lane + kTile]) + (parts[lane + 2 * kTile] + parts[lane + 3 * kTile])) * a.unscale;
    if (!finite(g)) atomic_add(a.bad, 1);
    if (a.update == Update::gradient) {
      a.gradient[at] = g;
      return;
    }
    float m = a.m[at];
    m += (g - m) * a.one_minus1;
    const float v = a.keep2 * a.v[at] + a.one_minus2 * g * g;
    a.m[at] = m;
    a.v[at] = v;
    float p = a.parameters[at];
    if (a.keep != 1.0f) p *= a.keep;  // apart: the compiler may round a sum of two products either way
    a.parameters[at] = p - a.step_size * (m / (sqrtf(v) / a.correction + a.eps));
  }
  if (!conv) return;
  const float value = a.parameters[at];
  const size_t from =
      segment.weights + size_t{(k / kTile * segment.out_blocks + j / kTile) * 2 + segment.matrix} * kBlock;
  a.forward[from + P::weight_index(k % kTile, j % kTile)] = P::element(value);
  a.backward[from + P::weight_index(j % kTile, k % kTile)] = P::element(value);
}

}  // namespace tyche::engine::TYCHE_CUDA_NS
