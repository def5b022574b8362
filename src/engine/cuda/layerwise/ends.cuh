#pragma once
/// The kernels around the layers: readout, the steps over graphs with the loss and its gradient, the loss of rows, and
/// Adam. Like the layers', they give the same bits every time.
#include "engine/core/loss.hpp"
#include "engine/cuda/layerwise/inputs.cuh"
#include "engine/cuda/layerwise/norm.cuh"
#include "engine/cuda/layerwise/weights.cuh"
#include "engine/cuda/runtime/adam.cuh"

namespace tyche::engine::TYCHE_CUDA_NS {

// ---- readout

/// The rows that a readout takes, and its parts: kPart rows of a graph together, graph after graph.
struct PoolSource {
  const LevelEnds* ends;                         ///< or null: every row counts `copies` times
  nn::Link which;                                ///< see is_pooled()
  const uint32_t *base, *part_base, *node_base;  ///< graphs + 1
  float* values;                                 ///< parts × width
  uint32_t* rows;                                ///< parts × width: for max, the first row of the graph that has it
  float copies;
};

struct ReadoutArguments {
  BatchRows rows;
  PoolSource to;
  uint32_t width;
  bool max;
  int* bad;  ///< counts values that are not finite
};

/// Maxima or sums over a part of a graph's rows. A thread has 16 bytes of every so manieth row.
template <class P, class T>
__global__ void __launch_bounds__(kThreads) readout_kernel(ReadoutArguments a, Rows<const T> from_rows) {
  constexpr unsigned kVector = Of<T>::kVector;
  __shared__ float values[kThreads * kVector];
  __shared__ uint32_t places[kThreads * kVector];
  __shared__ uint32_t graph[1];
  find_graphs({a.rows.ids, a.to.part_base, a.rows.graphs, gridDim.x}, {blockIdx.x, 1}, graph);
  const uint32_t b = graph[0], first = (blockIdx.x - a.to.part_base[b]) * kPart;
  const uint32_t all = a.rows.base[b + 1] - a.rows.base[b], last = all - first < kPart ? all : first + kPart;
  const float* weights = a.to.ends == nullptr || a.max ? nullptr : a.to.ends[a.rows.ids[b]].multiplicity;
  const uint32_t vectors = (a.width + kVector - 1) / kVector;
  for (uint32_t vector0 = 0; vector0 < vectors; vector0 += kThreads) {
    const uint32_t own = vectors - vector0 < kThreads ? vectors - vector0 : kThreads;
    const uint32_t groups = kThreads / own < 32 ? kThreads / own : 32, group = threadIdx.x / own;
    const uint32_t column = (vector0 + threadIdx.x % own) * kVector;
    const T* from = from_rows.data + size_t{a.rows.base[b]} * from_rows.stride + column;
    float best[kVector];
    uint32_t place[kVector];
    unrolled<kVector>([&](unsigned c) { best[c] = a.max ? -INFINITY : 0.0f, place[c] = first + group; });
    bool finite_all = true;
    for (uint32_t r0 = first + group; group < groups && r0 < last; r0 += kFlight * groups) {
      uint4 words[kFlight];
      float weight[kFlight];
      unrolled<kFlight>([&](unsigned i) {
        const uint32_t r = r0 + i * groups;
        const bool there = r < last;
        weight[i] = there && weights != nullptr ? weights[r] : 1.0f;
        words[i] = make_uint4(0, 0, 0, 0);
        if (there) words[i] = load_read_only(reinterpret_cast<const uint4*>(from + size_t{r} * from_rows.stride));
        if (!there || !is_pooled(a.to.which, a.to.node_base, b, r)) weight[i] = -1;
      });
      unrolled<kFlight>([&](unsigned i) {
        float value[kVector];
        Of<T>::unpack(words[i], value);
        unrolled<kVector>([&](unsigned c) {
          finite_all = finite_all && finite(value[c]);
          if (weight[i] < 0) return;
          if (!a.max) {
            best[c] += weight[i] * value[c];
          } else if (value[c] > best[c]) {
            best[c] = value[c];
            place[c] = r0 + i * groups;
          }
        });
      });
    }
    if (!finite_all) atomic_add(a.bad, 1);
    __syncthreads();
    unrolled<kVector>([&](unsigned c) {
      values[c * kThreads + threadIdx.x] = best[c];
      places[c * kThreads + threadIdx.x] = place[c];
    });
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < own * kVector; i += kThreads) {
      const uint32_t c = i / own, v = i % own, to = (vector0 + v) * kVector + c;
      if (to >= a.width) continue;
      float whole = values[c * kThreads + v];
      uint32_t where = places[c * kThreads + v];
      for (uint32_t other = 1; other < groups; ++other) {
        const float value = values[c * kThreads + other * own + v];
        const uint32_t row = places[c * kThreads + other * own + v];
        if (!a.max) {
          whole += value;
        } else if (value > whole || (value == whole && row < where)) {
          whole = value;
          where = row;
        }
      }
      a.to.values[size_t{blockIdx.x} * a.width + to] = whole;
      a.to.rows[size_t{blockIdx.x} * a.width + to] = where;
    }
  }
}

// ---- steps over graphs

enum class GraphKind : uint32_t { pool, copy, linear, activate, dropout };

/// Makes some numbers of a graph out of others, which stand in one array: `out` and `in` are places in it.
inline constexpr uint32_t kNoBias = ~0u;
struct GraphStep {
  GraphKind kind = GraphKind::copy;
  uint32_t in = 0, in_columns = 0, out = 0, columns = 0;
  bool add = false;                     ///< to what is there: copy, linear
  uint32_t weight = 0, bias = kNoBias;  ///< linear: into the parameters; kNoBias: none
  nn::Activation activation = {};       ///< activate
  uint64_t threshold = 0;               ///< dropout
  float keep = 0;
  nn::Reduce reduce = {};           ///< pool
  uint32_t pooled = 0, source = 0;  ///< pool: the first of its columns among all that are pooled; which of the readouts
};

inline constexpr uint32_t kMostReadouts = 16;

struct HeadArguments {
  const uint32_t* ids;
  const uint32_t* graph_numbers;
  PassInputs pass;
  Loss loss;
  PoolSource sources[kMostReadouts];
  const float* parameters;
  const GraphStep* steps;
  uint32_t count, size;  ///< of steps; of the numbers of a graph
  uint32_t logits_at, classes, pooled_size;
  float* kept;        ///< graphs × 2 size: the numbers and their gradients, for the parameters' gradients
  float scale;        ///< of the loss' gradient
  float* d_pooled;    ///< graphs × pooled_size: for mean and sum, of a row of weight 1
  uint32_t* winners;  ///< graphs × pooled_size: for max, the row of the graph that it was
};

/// A graph has a multiprocessor to itself where a batch has few of them: what it waits for are weights, so many threads
/// ask for some each.
inline constexpr unsigned kHeadThreads = 1024;

/// A warp per four numbers.
__device__ __forceinline__ void graph_linear(const float* parameters, const GraphStep& step, const float* in,
                                             float* out) {
  constexpr uint32_t kOwn = 4;
  const unsigned lane = threadIdx.x & 31;
  for (uint32_t j0 = (threadIdx.x >> 5) * kOwn; j0 < step.columns; j0 += kHeadThreads / 32 * kOwn) {
    const float* weight[kOwn];  // beyond the last: that one's, for nobody
    unrolled<kOwn>([&](unsigned j) {
      const uint32_t row = j0 + j < step.columns ? j0 + j : step.columns - 1;
      weight[j] = parameters + step.weight + size_t{row} * step.in_columns + lane;
    });
    float sum[kOwn] = {};
    for (uint32_t k0 = 0; k0 < step.in_columns; k0 += 32 * kOwn) {
      float w[kOwn][kOwn] = {}, x[kOwn] = {};
      unrolled<kOwn>([&](unsigned i) {
        if (k0 + i * 32 + lane >= step.in_columns) return;
        unrolled<kOwn>([&](unsigned j) { w[j][i] = load_read_only(weight[j] + i * 32); });
        x[i] = in[k0 + i * 32 + lane];
      });
      unrolled<kOwn * kOwn>([&](unsigned i) { sum[i / kOwn] += w[i / kOwn][i % kOwn] * x[i % kOwn]; });
      unrolled<kOwn>([&](unsigned j) { weight[j] += 32 * kOwn; });
    }
    float own = column_sum(sum);  // of number lane / 8, over lanes that differ in the upper bits
    own += shfl_xor(own, 2);
    own += shfl_xor(own, 1);
    const uint32_t j = j0 + lane / 8;
    if (lane % 8 != 0 || j >= step.columns) continue;
    if (step.bias != kNoBias) own += parameters[step.bias + j];
    out[j] = step.add ? out[j] + own : own;
  }
}
/// Some rows of the weights in turn per thread; `parts`: a float per thread.
__device__ __forceinline__ void graph_linear_back(const float* parameters, const GraphStep& step, const float* d_out,
                                                  float* d_in, float* parts) {
  constexpr uint32_t kRows = 16;
  for (uint32_t column0 = 0; column0 < step.in_columns; column0 += kHeadThreads) {
    const uint32_t own = step.in_columns - column0 < kHeadThreads ? step.in_columns - column0 : kHeadThreads;
    const uint32_t groups = kHeadThreads / own < 16 ? kHeadThreads / own : 16, group = threadIdx.x / own;
    const uint32_t share = (step.columns + groups - 1) / groups, begin = group * share;
    const uint32_t end = group >= groups ? 0 : begin + share < step.columns ? begin + share : step.columns;
    const float* weight = parameters + step.weight + column0 + threadIdx.x % own + size_t{begin} * step.in_columns;
    float sum = 0;
    for (uint32_t j0 = begin; j0 < end; j0 += kRows, weight += size_t{kRows} * step.in_columns) {
      float w[kRows] = {}, x[kRows] = {};
      unrolled<kRows>([&](unsigned i) {
        if (j0 + i >= end) return;
        w[i] = load_read_only(weight + i * step.in_columns);
        x[i] = d_out[j0 + i];
      });
      unrolled<kRows>([&](unsigned i) { sum += w[i] * x[i]; });
    }
    parts[threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.x < own) {
      for (uint32_t g = 1; g < groups; ++g) sum += parts[g * own + threadIdx.x];
      d_in[column0 + threadIdx.x] += sum;
    }
    __syncthreads();
  }
}

/// What the sum of a graph's rows is multiplied with.
__device__ __forceinline__ float pool_share(const GraphStep& step, const PoolSource& from, uint32_t graph,
                                            uint32_t id) {
  if (step.reduce == nn::Reduce::max) return 1;
  if (step.reduce == nn::Reduce::sum) return from.copies;
  if (from.ends != nullptr) return 1 / from.ends[id].total;
  uint32_t count = from.base[graph + 1] - from.base[graph];
  if (from.which != nn::Link::whole) {
    const uint32_t nodes = from.node_base[graph + 1] - from.node_base[graph];
    count = from.which == nn::Link::diagonal ? nodes : count - nodes;
  }
  return count == 0 ? 0.0f : 1 / static_cast<float>(count);
}

/// The parts of a readout put together.
__device__ __forceinline__ void pool(const HeadArguments& a, const GraphStep& step, uint32_t graph, uint32_t id,
                                     float* out) {
  const PoolSource& from = a.sources[step.source];
  const uint32_t begin = from.part_base[graph], end = from.part_base[graph + 1];
  for (uint32_t c = threadIdx.x; c < step.columns; c += kHeadThreads) {
    float value = 0;
    uint32_t winner = ~0u;
    if (begin < end) {
      const float* values = from.values + c;
      value = values[size_t{begin} * step.columns];
      uint32_t best = begin;
      for (uint32_t part = begin + 1; part < end; ++part) {
        const float other = values[size_t{part} * step.columns];
        if (step.reduce != nn::Reduce::max) {
          value += other;
        } else if (other > value) {
          value = other;
          best = part;
        }
      }
      if (step.reduce == nn::Reduce::max) winner = from.rows[size_t{best} * step.columns + c];
      value *= pool_share(step, from, graph, id);
      if (value == -INFINITY) {  // all were left out
        value = 0;
        winner = ~0u;
      }
    }
    out[c] = value;
    if (a.winners != nullptr) a.winners[size_t{graph} * a.pooled_size + step.pooled + c] = winner;
  }
}

/// Bytes of shared memory that a graph takes.
inline size_t head_shared(size_t steps, size_t numbers) {
  return steps * sizeof(GraphStep) + (2 * numbers + kHeadThreads) * sizeof(float);
}

/// The rest of every readout, all steps over graphs, the loss, and back to what was pooled: one block of threads per
/// graph, its numbers and their gradients in shared memory.
template <class P>
__global__ void __launch_bounds__(kHeadThreads, 1) head_kernel(HeadArguments a) {
  const uint32_t graph = blockIdx.x, id = a.ids[graph];
  GraphStep* steps = reinterpret_cast<GraphStep*>(dynamic_shared());
  float* values = reinterpret_cast<float*>(steps + a.count);
  float *d = values + a.size, *parts = d + a.size;
  for (uint32_t i = threadIdx.x; i < a.count * (sizeof(GraphStep) / 4); i += kHeadThreads) {
    reinterpret_cast<uint32_t*>(steps)[i] = reinterpret_cast<const uint32_t*>(a.steps)[i];
  }
  __syncthreads();
  const auto dropped = [&](const GraphStep& step, uint32_t c) {
    if (!a.pass.dropout) return 1.0f;
    return dropout_factor(words_of(a.pass.dropout_key), c, a.graph_numbers[id], step.threshold, step.keep);
  };
  for (uint32_t s = 0; s < a.count; ++s) {
    const GraphStep step = steps[s];
    const float* in = values + step.in;
    float* out = values + step.out;
    if (step.kind == GraphKind::pool) {
      pool(a, step, graph, id, out);
    } else if (step.kind == GraphKind::linear) {
      graph_linear(a.parameters, step, in, out);
    } else {
      for (uint32_t c = threadIdx.x; c < step.columns; c += kHeadThreads) {
        if (step.kind == GraphKind::copy) out[c] = step.add ? out[c] + in[c] : in[c];
        if (step.kind == GraphKind::activate) out[c] = activated<false>(step.activation, in[c]);
        if (step.kind == GraphKind::dropout) out[c] = in[c] * dropped(step, c);
      }
    }
    __syncthreads();
  }
  for (uint32_t c = threadIdx.x; c < a.classes; c += kHeadThreads) {
    a.pass.logits[size_t{graph} * a.classes + c] = values[a.logits_at + c];
  }
  if (a.pass.losses == nullptr) return;
  for (uint32_t c = threadIdx.x; c < a.size; c += kHeadThreads) d[c] = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    const SerialOutputs<float> outputs(values + a.logits_at, a.classes, d + a.logits_at);
    const LossValue<float> seen = loss_of(a.loss, outputs, a.pass.targets[id], a.scale);
    a.pass.losses[graph] = seen.value;
    a.pass.right[graph] = seen.right ? 1 : 0;
  }
  __syncthreads();
  for (uint32_t s = a.count; s-- > 0;) {
    const GraphStep step = steps[s];
    const float* d_out = d + step.out;
    float* d_in = d + step.in;
    if (step.kind == GraphKind::linear) {
      graph_linear_back(a.parameters, step, d_out, d_in, parts);
      continue;
    }
    for (uint32_t c = threadIdx.x; c < step.columns; c += kHeadThreads) {
      if (step.kind == GraphKind::pool) {
        const PoolSource& from = a.sources[step.source];
        const bool rows = from.part_base[graph] < from.part_base[graph + 1];
        a.d_pooled[size_t{graph} * a.pooled_size + step.pooled + c] =
            rows ? d_out[c] * pool_share(step, from, graph, id) : 0.0f;
      } else if (step.kind == GraphKind::copy) {
        d_in[c] += d_out[c];
      } else if (step.kind == GraphKind::activate) {
        d_in[c] += d_out[c] * derivative(step.activation, values[step.out + c]);
      } else {
        d_in[c] += d_out[c] * dropped(step, c);
      }
    }
    __syncthreads();
  }
  float* kept = a.kept + size_t{graph} * 2 * a.size;
  for (uint32_t c = threadIdx.x; c < 2 * a.size; c += kHeadThreads) kept[c] = values[c];
}

// ---- the loss of rows

struct LossArguments {
  BatchRows rows;
  const uint32_t* first;  ///< by id: where a graph's targets begin
  PassInputs pass;
  AnyRows z;
  uint32_t classes;
  Loss loss;
  float* d_logits;  ///< rows × classes, for their gradients
  float scale;      ///< of the loss' gradient
  Slope slope;
  int* bad;  ///< counts values that are not finite
};

/// A thread per row.
template <class P>
__global__ void __launch_bounds__(kThreads) loss_kernel(LossArguments a, Rows<typename P::Element> d) {
  const uint32_t row = blockIdx.x * kThreads + threadIdx.x;
  if (row >= a.rows.rows) return;
  float* z = a.pass.logits + size_t{row} * a.classes;
  bool all_finite = true;
  for (uint32_t c = 0; c < a.classes; ++c) {
    z[c] = read<P>(a.z, row, c);
    all_finite = all_finite && finite(z[c]);
  }
  if (!all_finite) atomic_add(a.bad, 1);
  if (a.pass.losses == nullptr) return;
  const uint32_t b = graph_of(a.rows.base, a.rows.graphs, row);
  const size_t target = size_t{a.first[a.rows.ids[b]]} + row - a.rows.base[b];
  const bool counts = a.pass.counts == nullptr || a.pass.counts[target] != 0;
  float* d_z = a.d_logits + size_t{row} * a.classes;
  LossValue<float> seen;
  if (counts) seen = loss_of(a.loss, SerialOutputs<float>(z, a.classes, d_z), a.pass.targets[target], a.scale);
  for (uint32_t c = 0; d.data != nullptr && c < (a.classes + 15) / 16 * 16; ++c) {
    const bool there = counts && c < a.classes;
    d.data[size_t{row} * d.stride + c] = P::element(there ? d_z[c] * slope_at(a.slope, z[c]) : 0.0f);
  }
  a.pass.losses[row] = seen.value;
  a.pass.right[row] = seen.right ? 1 : 0;
}

// ---- Adam

/// weight, bias: of an operand of a linear step over rows; graph_weight, graph_bias: of one over graphs; parts: every
/// slice has a row of numbers, `units` apart; running: not learned, but moved by what passes left for it; unused: the
/// gradient is 0.
enum class SegmentKind : uint32_t { weight, bias, graph_weight, graph_bias, parts, running, unused };

/// A tensor of the parameters, or some columns of a weight, and where its gradient comes from.
inline constexpr uint32_t kNoSegment = ~0u;
struct Segment {
  SegmentKind kind = SegmentKind::unused;
  uint32_t offset = 0, size = 0;  ///< in the parameters
  uint32_t in = 0;                ///< columns of a weight
  uint32_t stride = 0;            ///< and of the tensor
  uint32_t matrix = 0;            ///< 0: roots', 1: neighbours'
  uint32_t counter = 0;           ///< which word of a plan says how many slices there are
  uint32_t out_blocks = 0, units = 0;
  uint64_t slots = 0;                                  ///< where the operand's begin
  uint64_t weights = 0;                                ///< where its blocks begin in both copies
  bool dense_forward = false, dense_backward = false;  ///< whose copy is for dense products
  uint32_t factor_in = 0, factor_d = 0;
  uint32_t next = kNoSegment;  ///< one more segment that uses the same parameters
};

/// Parameters are taken four at a time: numbers side by side in a row of a weight, or in a vector.
inline constexpr uint32_t kQuads = 64;  ///< of a block of threads
struct AdamBlock {
  uint32_t segment, first;  ///< quad
};
inline uint32_t quads_of(const Segment& segment) {
  return segment.in > 0 ? segment.size / segment.in * ((segment.in + 3) / 4) : (segment.size + 3) / 4;
}

enum class Update : int {
  step,      ///< gradient, Adam, copies
  clipped,   ///< the gradient there is, times the factor of its clipping; Adam, copies
  gradient,  ///< gradient, and what the pass left for what is running
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
  const uint32_t* slices;  ///< of each counter in this batch
  const float* factors;
  const float* running;  ///< what the last pass left for segments of that kind
  float* seen;           ///< gradient: where to keep that; clipped: what `batches` passes have left, pass after pass
  uint32_t seen_size, batches;
  uint32_t factor_size, graphs;
  float unscale;  ///< 1 / loss scale
  bool adds;      ///< gradient: to what is there
  AdamStep step = AdamStep(1, 0);
  uint64_t frozen;    ///< so many parameters stay as they are
  const float* clip;  ///< clipped: the factor
  int* bad;
};

/// The sum of every `stride`-th four numbers of some, as many on their way at a time as slices often are.
template <class Numbers>
__device__ __forceinline__ float4 sum_of(uint32_t first, uint32_t stride, uint32_t count, const Numbers& numbers) {
  constexpr uint32_t kAtOnce = 8;
  float4 sum = make_float4(0, 0, 0, 0);
  const auto add = [&](uint32_t i0, auto whole) {
    float4 own[kAtOnce] = {};
    unrolled<kAtOnce>([&](unsigned i) {
      if (whole() || i0 + i * stride < count) own[i] = numbers(i0 + i * stride);
    });
    unrolled<kAtOnce>([&](unsigned i) { sum.x += own[i].x, sum.y += own[i].y, sum.z += own[i].z, sum.w += own[i].w; });
  };
  uint32_t i0 = first;
  for (; i0 + (kAtOnce - 1) * stride < count; i0 += kAtOnce * stride) add(i0, std::true_type());
  if (i0 < count) add(i0, std::false_type());
  return sum;
}
__device__ __forceinline__ float4 load_some(const float* from, uint32_t count) {
  const auto at = [&](unsigned i) { return i < count ? load_read_only(from + i) : 0.0f; };
  return make_float4(at(0), at(1), at(2), at(3));
}

/// What a segment has of the gradient of four of its parameters, (j, k …) or j …: every `groups`-th part of it, from
/// `group` on.
template <class P>
__device__ __forceinline__ float4 gradient_part(const AdamArguments<P>& a, const Segment& segment, uint32_t j,
                                                uint32_t k, unsigned group, unsigned groups) {
  // By value: loads of the numbers must not wait for others.
  const float* from = a.slots + segment.slots;
  if (segment.kind == SegmentKind::weight || segment.kind == SegmentKind::bias) {
    const uint32_t unit = k / kTile * segment.out_blocks + j / kTile, apart = segment.units * kSlot;
    from += size_t{unit} * kSlot + (segment.kind == SegmentKind::weight
                                        ? segment.matrix * kBlock + j % kTile * kTile + k % kTile
                                        : 2 * kBlock + j % kTile);
    return sum_of(group, groups, a.slices[segment.counter], [=](uint32_t s) {
      return load_read_only(reinterpret_cast<const float4*>(from + size_t{s} * apart));
    });
  }
  const uint32_t there = segment.size - j;  // of a vector, from j on
  if (segment.kind == SegmentKind::parts) {
    return sum_of(group, groups, a.slices[segment.counter],
                  [from = from + j, apart = segment.units, there](uint32_t s) {
                    return load_some(from + size_t{s} * apart, there);
                  });
  }
  const float* const d = a.factors + a.factor_size / 2 + segment.factor_d + j;
  const uint32_t apart = a.factor_size;
  if (segment.kind == SegmentKind::graph_weight) {  // beyond its columns a graph has others
    return sum_of(group, groups, a.graphs, [=, in = a.factors + segment.factor_in + k](uint32_t g) {
      const float own = load_read_only(d + size_t{g} * apart);
      const float4 four = load_some(in + size_t{g} * apart, 4);
      return make_float4(own * four.x, own * four.y, own * four.z, own * four.w);
    });
  }
  if (segment.kind != SegmentKind::graph_bias) return make_float4(0, 0, 0, 0);
  return sum_of(group, groups, a.graphs, [=](uint32_t g) { return load_some(d + size_t{g} * apart, there); });
}

/// kQuads times four parameters per block; four threads for each four of them add up every fourth part of the gradient,
/// and one thread has each parameter then. A parameter alone has all.
template <class P>
__global__ void __launch_bounds__(kThreads, 4) adam_kernel(AdamArguments<P> a) {
  constexpr unsigned kGroups = kThreads / kQuads;
  __shared__ float4 parts[kThreads];
  const float* const sums = reinterpret_cast<const float*>(parts);
  const AdamBlock block = a.blocks[blockIdx.x];
  const Segment segment = a.segments[block.segment];
  const bool alone = segment.size == 1 && segment.kind == SegmentKind::parts, matrix = segment.in > 0;
  const uint32_t across = (segment.in + 3) / 4;
  // The first of a quad: row and column, or number and 0.
  const auto first_of = [&](uint32_t quad) {
    return matrix ? make_uint2(quad / across, quad % across * 4) : make_uint2(quad * 4, 0);
  };
  const uint2 near = first_of(block.first + threadIdx.x / 4);
  const uint32_t j = near.x + (matrix ? 0 : threadIdx.x % 4), k = matrix ? near.y + threadIdx.x % 4 : 0;
  const bool valid = matrix ? j < segment.size / segment.in && k < segment.in : j < segment.size;
  if (segment.kind == SegmentKind::running && a.update != Update::copies) {
    if (!valid) return;
    const size_t at = segment.slots + j;
    float& own = a.parameters[segment.offset + j];
    if (a.update == Update::gradient) {
      a.gradient[segment.offset + j] = 0;
      if (a.seen != nullptr) a.seen[at] = a.running[at];
    } else if (a.update == Update::step) {
      own = moved(own, a.running[at]);
    } else {
      for (uint32_t b = 0; b < a.batches; ++b) own = moved(own, a.seen[size_t{b} * a.seen_size + at]);
    }
    return;
  }
  // What Adam moves comes while the gradient is added up.
  const uint32_t at = segment.offset + (matrix ? j * segment.stride + k : j);
  const bool moves = valid && at >= a.frozen && (a.update == Update::step || a.update == Update::clipped);
  float p = moves ? a.parameters[at] : 0.0f, m = moves ? a.m[at] : 0.0f, v = moves ? a.v[at] : 0.0f;
  float sum = 0;
  if (a.update == Update::step || a.update == Update::gradient) {
    const unsigned group = alone ? threadIdx.x : threadIdx.x / kQuads, groups = alone ? kThreads : kGroups;
    const uint2 first = first_of(alone ? 0 : block.first + threadIdx.x % kQuads);
    float4 part = make_float4(0, 0, 0, 0);
    const bool there = (matrix ? first.x * segment.in : first.x) < segment.size;
    for (Segment own = segment; there; own = a.segments[own.next]) {
      const float4 more = gradient_part(a, own, first.x, first.y, group, groups);
      part.x += more.x, part.y += more.y, part.z += more.z, part.w += more.w;
      if (own.next == kNoSegment) break;
    }
    if (alone) {
      sum = block_sum(part.x, reinterpret_cast<float*>(parts));
    } else {
      parts[threadIdx.x] = part;
      __syncthreads();
      unrolled<kGroups>([&](unsigned g) { sum += sums[g * kThreads + threadIdx.x]; });
    }
  }
  if (!valid) return;
  if (a.update != Update::copies) {
    const float g = a.update == Update::clipped ? a.gradient[at] * *a.clip : sum * a.unscale;
    if (!finite(g)) atomic_add(a.bad, 1);
    if (a.update == Update::gradient) {
      a.gradient[at] = a.adds ? a.gradient[at] + g : g;
      return;
    }
    if (!moves) return;
    adam_move(g, a.step, p, m, v);
    a.parameters[at] = p, a.m[at] = m, a.v[at] = v;
  }
  for (uint32_t s = block.segment; s != kNoSegment; s = a.segments[s].next) {
    const Segment& own = a.segments[s];
    if (own.kind != SegmentKind::weight) continue;
    const float value = a.update == Update::copies ? a.parameters[at] : p;
    const size_t from = own.weights + size_t{(k / kTile * own.out_blocks + j / kTile) * 2 + own.matrix} * kBlock;
    const auto place = [&](bool dense, uint32_t read, uint32_t made, uint32_t all_made) {
      if (!dense) return from + P::weight_index(read % kTile, made % kTile);
      const uint32_t units = (all_made + 15) / 16 * 16 / P::kStep;
      const size_t unit = own.weights + (size_t{read / P::kStep} * units + made / P::kStep) * P::kStep * P::kStep;
      return unit + P::dense_index(read % P::kStep, made % P::kStep);
    };
    a.forward[place(own.dense_forward, k, j, own.size / own.in)] = P::element(value);
    a.backward[place(own.dense_backward, j, k, own.in)] = P::element(value);
  }
}

}  // namespace tyche::engine::TYCHE_CUDA_NS
