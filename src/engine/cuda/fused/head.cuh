#pragma once
/// Readout and head of a unit's graphs, forward and (in training) backward, in fp32 between the values in shared
/// memory. The head's weights come straight from the parameters, a few per thread, asked for before the readout needs
/// the time.
#include "engine/cuda/fused/layer.cuh"
#include "engine/cuda/runtime/philox.cuh"

namespace tyche::engine::TYCHE_CUDA_NS::fused {

/// The graphs of a block.
struct Members {
  int graphs;  ///< 1 or 2
  bool wide;   ///< some row has more than kNear neighbours
  int second;  ///< first row of the second
  int rows;    ///< of both
  int padded;  ///< to a multiple of 16, and not zero
};
__device__ __forceinline__ const Names& names_of(const Args& a, const char* sm) {
  return *reinterpret_cast<const Names*>(sm + a.shared.names);
}

/// The sums over a warp of N values per lane (N a power of two), in few exchanges: lane l is left with that of value
/// l / (32 / N).
template <int N>
__device__ __forceinline__ float sum_each(float (&values)[N], int lane) {
  int distance = 16;
#pragma unroll
  for (int half = N / 2; half > 0; half /= 2) {
    const bool upper = (lane & distance) != 0;
#pragma unroll
    for (int i = 0; i < half; ++i) {
      const float given = upper ? values[i] : values[i + half], kept = upper ? values[i + half] : values[i];
      values[i] = kept + shfl_xor(given, distance);
    }
    distance /= 2;
  }
#pragma unroll
  for (int o = 16 / N; o > 0; o /= 2) values[0] += shfl_xor(values[0], o);
  return values[0];
}

/// The outputs of a graph as a loss sees them (core/loss.hpp): that of class c is lane c's, and so is its gradient.
class WarpOutputs {
 public:
  using Value = float;
  struct Top {
    float value;
  };
  /// Requires z to be -infinity in the lanes from `count` on; there `d` becomes 0.
  __device__ __forceinline__ WarpOutputs(float z, int count, int lane, float& d)
      : z_(z), count_(count), lane_(lane), d_(d) {}

  __device__ __forceinline__ unsigned count() const { return static_cast<unsigned>(count_); }
  __device__ __forceinline__ float operator[](unsigned c) const { return shfl(z_, static_cast<int>(c)); }
  __device__ __forceinline__ Top top() const { return {warp_max(z_)}; }
  __device__ __forceinline__ bool is(unsigned c, const Top& top) const {
    const unsigned best = ballot(lane_ < count_ && z_ == top.value);
    return (best & (0u - best)) == 1u << c;
  }
  template <class Term>
  __device__ __forceinline__ float sum(const Term& term) const {
    return warp_sum(lane_ < count_ ? term(z_, static_cast<unsigned>(lane_)) : 0.0f);
  }
  template <class Term>
  __device__ __forceinline__ void derive(const Term& term) const {
    d_ = lane_ < count_ ? term(z_, static_cast<unsigned>(lane_)) : 0.0f;
  }

 private:
  float z_;
  int count_, lane_;
  float& d_;
};

/// Where a block's head works, and what a thread is in it.
template <int W>
struct HeadWork {
  static constexpr int kParts = kThreads / W, kSide = kParts / 2;  // threads of a column, and those of one graph
  static constexpr int kOwn = W / kWarps;                          // inputs of a hidden layer that are a warp's
  static constexpr int kWide = W / 32;

  const Args& a;
  const Model& model;
  const Names& names;
  const Members& members;
  char* sm;
  unsigned last;       ///< where the last layer's output is
  const float* small;  ///< the trial's small parameters
  float* factors;      ///< in training: of the block's first graph
  HeadPlaces at;
  float* values;  ///< the head's values; partial sums stand at the beginning
  int tid, warp, lane;
  int column, part;  ///< of the readout and of the first hidden layer
  int mine;          ///< for the first 2 · W threads: the graph they work for

  __device__ __forceinline__ HeadWork(const Args& args, char* shared, unsigned output, const Members& graphs, int w,
                                      int l, bool training)
      : a(args),
        model(args.model),
        names(names_of(args, shared)),
        members(graphs),
        sm(shared),
        last(output),
        small(args.w + static_cast<std::size_t>(names.trial) * args.model.stride + args.model.weights),
        factors(training ? args.factor_slots + (static_cast<std::size_t>(names.trial) * args.batch + names.place[0]) *
                                                   args.model.factors
                         : nullptr),
        at(W, args.model.hidden, args.model.classes),
        values(reinterpret_cast<float*>(shared + args.shared.scratch)),
        tid(static_cast<int>(threadIdx.x)),
        warp(w),
        lane(l),
        column(tid % W),
        part(tid / W),
        mine(tid / W) {}

  /// Rows of the graph.
  __device__ __forceinline__ int rows_of(int graph) const {
    return graph == 0 ? members.second : members.rows - members.second;
  }
  __device__ __forceinline__ int* winners() const { return reinterpret_cast<int*>(values + at.winner); }
  __device__ __forceinline__ unsigned* peak() const { return reinterpret_cast<unsigned*>(values + at.peak); }
};

/// The hidden layers' weights that a thread needs, asked for before the readout needs the time.
template <int W, bool kTrain>
struct HeadWeights {
  using Work = HeadWork<W>;
  float w1[W / Work::kParts], w2[Work::kOwn], back1[Work::kOwn][Work::kWide], bias1, first_tail;

  __device__ __forceinline__ explicit HeadWeights(const Work& h) {
    const Model& model = h.model;
#pragma unroll
    for (int i = 0; i < W / Work::kParts; ++i) {
      w1[i] = h.small[model.w1 + (h.part * (W / Work::kParts) + i) * W + h.column];
    }
#pragma unroll
    for (int i = 0; i < Work::kOwn; ++i) {
      w2[i] = h.small[model.w2 + (h.warp * Work::kOwn + i) * model.hidden + h.lane];
      if (kTrain && W <= 64) {
#pragma unroll
        for (int k = 0; k < Work::kWide; ++k) {
          back1[i][k] = h.small[model.w1 + (h.warp * Work::kOwn + i) * W + k * 32 + h.lane];
        }
      }
    }
    bias1 = h.small[model.b1 + h.column];
    first_tail = h.tid < tail(model) ? h.small[model.b2 + h.tid] : 0.0f;
  }

  /// Bias of the second hidden layer, weights and biases of the last one: into shared memory.
  __device__ __forceinline__ void store_tail(const Work& h) const {
    const int count = tail(h.model);
    if (h.tid < count) h.values[h.at.tail + h.tid] = first_tail;
#pragma unroll 1
    for (int i = h.tid + kThreads; i < count; i += kThreads) h.values[h.at.tail + i] = h.small[h.model.b2 + i];
  }
  __device__ __forceinline__ static int tail(const Model& model) {
    return model.hidden + model.hidden * model.classes + model.classes;
  }
};

/// Every thread's part of the readout of its column: the maximum and its row, or a sum.
template <int W>
__device__ __forceinline__ void read_parts(const HeadWork<W>& h) {
  constexpr int kSide = HeadWork<W>::kSide;
  float* partial = h.values;
  const int side = h.part / kSide;
  const int first = side == 0 ? 0 : h.members.second, end = side == 0 ? h.members.second : h.members.rows;
  if (h.model.readout == nn::Readout::max) {
    float best = -INFINITY;
    int row = first;
#pragma unroll 1
    for (int v = first + h.part % kSide; v < end; v += 4 * kSide) {
      float x[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const int u = v + i * kSide;
        x[i] = u < end ? *reinterpret_cast<const float*>(h.sm + h.last + 4 * (u * W + (h.column ^ ((u & 3) << 3))))
                       : -INFINITY;
      }
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        if (x[i] > best) best = x[i], row = v + i * kSide;
      }
    }
    partial[h.tid] = best;
    reinterpret_cast<int*>(partial)[kThreads + h.tid] = row;
  } else {
    float sum = 0;
    for (int v = first + h.part % kSide; v < end; v += kSide) {
      sum += to_float(*reinterpret_cast<const Half*>(
          h.sm + h.last + chunk_place<W>(static_cast<unsigned>(v), static_cast<unsigned>(h.column >> 3)) +
          (h.column & 7) * 2));
    }
    partial[h.tid] = sum;
  }
}

/// The parts put together: pooled values, and for max readout the winners. In training max readout's rows become zeros,
/// for the gradient.
template <int W, bool kTrain>
__device__ __forceinline__ void join_parts(const HeadWork<W>& h) {
  constexpr int kSide = HeadWork<W>::kSide;
  const float* partial = h.values;
  if (h.tid < 2 * W) {
    const int count = h.rows_of(h.mine);
    float best = partial[h.mine * kSide * W + h.column];
    if (h.model.readout == nn::Readout::max) {
      const int* rows = reinterpret_cast<const int*>(partial) + kThreads;
      int row = rows[h.mine * kSide * W + h.column];
#pragma unroll
      for (int q = 1; q < kSide; ++q) {
        const float x = partial[(h.mine * kSide + q) * W + h.column];
        const int r = rows[(h.mine * kSide + q) * W + h.column];
        if (x > best || (x == best && r < row)) best = x, row = r;
      }
      h.winners()[h.tid] = row;
    } else {
#pragma unroll
      for (int q = 1; q < kSide; ++q) best += partial[(h.mine * kSide + q) * W + h.column];
      if (h.model.readout == nn::Readout::mean) best = best / static_cast<float>(count);
    }
    if (count == 0) best = 0;  // a graph without nodes
    h.values[h.at.pooled + h.tid] = best;
    if (kTrain && h.mine < h.members.graphs) store_cg(h.factors + h.mine * h.model.factors + h.column, best);
  }
  if (kTrain && h.model.readout == nn::Readout::max) {
    for (int q = h.tid; q < h.members.padded * (W / 8); q += kThreads) {
      *reinterpret_cast<uint4*>(h.sm + h.last + q * 16) = make_uint4(0, 0, 0, 0);
    }
  }
}

/// Both hidden layers forward; of the second one the partial sums. `keep`: the thread's factor of dropout.
template <int W, bool kTrain>
__device__ __forceinline__ void hidden_forward(const HeadWork<W>& h, const HeadWeights<W, kTrain>& weights,
                                               float keep) {
  using Work = HeadWork<W>;
  float* partial = h.values;
#pragma unroll
  for (int g = 0; g < 2; ++g) {
    float sum = 0;
#pragma unroll
    for (int i = 0; i < W / Work::kParts; ++i) {
      sum += weights.w1[i] * h.values[h.at.pooled + g * W + h.part * (W / Work::kParts) + i];
    }
    partial[(h.part * 2 + g) * W + h.column] = sum;
  }
  __syncthreads();
  if (h.tid < 2 * W) {
    float sum = weights.bias1;
#pragma unroll
    for (int q = 0; q < Work::kParts; ++q) sum += partial[(q * 2 + h.mine) * W + h.column];
    const float y = elu(sum);
    h.values[h.at.hidden1 + h.tid] = y * keep;
    h.values[h.at.slope1 + h.tid] = elu_slope(y) * keep;
    if (kTrain && h.mine < h.members.graphs) {
      store_cg(h.factors + h.mine * h.model.factors + 2 * W + h.column, y * keep);
    }
  }
  __syncthreads();
  const int hidden = h.model.hidden;
#pragma unroll 1
  for (int j = h.lane; j < hidden; j += 32) {
#pragma unroll
    for (int g = 0; g < 2; ++g) {
      float sum = 0;
#pragma unroll
      for (int i = 0; i < Work::kOwn; ++i) {
        const float w = j < 32 ? weights.w2[i] : h.small[h.model.w2 + (h.warp * Work::kOwn + i) * hidden + j];
        sum += w * h.values[h.at.hidden1 + g * W + h.warp * Work::kOwn + i];
      }
      partial[(h.warp * 2 + g) * hidden + j] = sum;
    }
  }
}

/// Logits and, in training, the loss and back through the last layer: a warp for graph g.
template <int W, bool kTrain>
__device__ __forceinline__ void outputs_and_loss(const HeadWork<W>& h, int g) {
  const Args& a = h.a;
  const int hidden = h.model.hidden, classes = h.model.classes, lane = h.lane;
  const float* partial = h.values;
  const float* bias2 = h.values + h.at.tail;
  const float* w3 = bias2 + hidden;
  const float* bias3 = w3 + hidden * classes;
  float* hidden2 = h.values + h.at.hidden2 + g * hidden;
#pragma unroll 1
  for (int j = lane; j < hidden; j += 32) {
    float sum = bias2[j];
#pragma unroll
    for (int q = 0; q < kWarps; ++q) sum += partial[(q * 2 + g) * hidden + j];
    hidden2[j] = elu(sum);
  }
  float z = -INFINITY;  // of class `lane`
#pragma unroll 2
  for (int c = 0; c < classes; ++c) {
    float sum = 0;
#pragma unroll 1
    for (int j = lane; j < hidden; j += 32) sum += hidden2[j] * w3[j * classes + c];
    sum = warp_sum(sum) + bias3[c];
    if (lane == c) z = sum;
  }
  const unsigned place = h.names.place[g];
  if (!kTrain && lane < classes) a.logits[(h.names.row * a.tests_most + place) * classes + lane] = z;
  if (kTrain && a.train_logits != nullptr && lane < classes) a.train_logits[place * classes + lane] = z;
  if (!kTrain) return;

  float* own_factors = h.factors + g * h.model.factors + 3 * W;
  float own_d = 0;
  const LossValue<float> seen = loss_of(a.loss, WarpOutputs(z, classes, lane, own_d), h.names.target[g], 1.0f);
  float* d_logits = h.values + h.at.d_logits + g * kMostClasses;
  if (lane < kMostClasses) {
    d_logits[lane] = own_d;
    store_cg(own_factors + 2 * hidden + lane, own_d);
  }
  if (lane == 0) {
    store_cg(own_factors + 2 * hidden + kMostClasses, 1.0f);
    const Outcome outcome = {seen.value, seen.right ? 1.0f : 0.0f};
    a.outcomes[h.names.row * a.batch + place] = outcome;
  }
  __syncwarp();
#pragma unroll 1
  for (int j = lane; j < hidden; j += 32) {
    float sum = 0;
#pragma unroll 2
    for (int c = 0; c < classes; ++c) sum += w3[j * classes + c] * d_logits[c];
    const float y = hidden2[j], d = sum * elu_slope(y);
    h.values[h.at.d_hidden2 + g * hidden + j] = d;
    store_cg(own_factors + j, d);
    store_cg(own_factors + hidden + j, y);
  }
}

/// Back through the hidden layers to the pooled values: every warp has its inputs of both graphs.
template <int W>
__device__ __forceinline__ void hidden_backward(const HeadWork<W>& h, const HeadWeights<W, true>& weights) {
  using Work = HeadWork<W>;
  constexpr int kOwn = Work::kOwn, kSums = 2 * kOwn, kLanes = 32 / kSums;
  const Model& model = h.model;
  const int hidden = model.hidden, lane = h.lane;
  const int summed = h.warp * kOwn + lane / kLanes / 2, of_graph = lane / kLanes % 2;
  const bool writes = lane % kLanes == 0 && of_graph < h.members.graphs;
  float* values = h.values;
  {
    float sums[kSums];
#pragma unroll
    for (int i = 0; i < kSums; ++i) sums[i] = weights.w2[i / 2] * values[h.at.d_hidden2 + i % 2 * hidden + lane];
#pragma unroll 1
    for (int j = lane + 32; j < hidden; j += 32) {
#pragma unroll
      for (int i = 0; i < kSums; ++i) {
        sums[i] +=
            h.small[model.w2 + (h.warp * kOwn + i / 2) * hidden + j] * values[h.at.d_hidden2 + i % 2 * hidden + j];
      }
    }
    const float d = sum_each(sums, lane) * values[h.at.slope1 + of_graph * W + summed];
    if (writes) {
      values[h.at.d_hidden1 + of_graph * W + summed] = d;
      store_cg(h.factors + of_graph * model.factors + W + summed, d);
    }
  }
  __syncthreads();
  float sums[kSums];
#pragma unroll
  for (int i = 0; i < kSums; ++i) {
    sums[i] = 0;
#pragma unroll
    for (int k = 0; k < Work::kWide; ++k) {
      const float w =
          W <= 64 ? weights.back1[i / 2][k] : h.small[model.w1 + (h.warp * kOwn + i / 2) * W + k * 32 + lane];
      sums[i] += w * values[h.at.d_hidden1 + i % 2 * W + k * 32 + lane];
    }
  }
  float d = sum_each(sums, lane);
  if (writes) {
    if (model.readout == nn::Readout::max)
      d *= slope<false>(model.activation, values[h.at.pooled + of_graph * W + summed]);
    const int count = h.rows_of(of_graph);
    if (model.readout == nn::Readout::mean) d /= static_cast<float>(count);
    values[h.at.d_pooled + of_graph * W + summed] = d;
    if (count > 0) atomic_max(h.peak(), bits_of(fabsf(d)));
  }
}

/// Back through the readout and the last activation, onto the rows, times `scale`.
template <int W>
__device__ __forceinline__ void spread_gradient(const HeadWork<W>& h, float scale) {
  const Model& model = h.model;
  if (model.readout == nn::Readout::max) {
    if (h.tid < W * h.members.graphs && h.rows_of(h.mine) > 0) {
      const auto row = static_cast<unsigned>(h.winners()[h.tid]);
      *reinterpret_cast<Half*>(h.sm + h.last + chunk_place<W>(row, static_cast<unsigned>(h.column >> 3)) +
                               (h.column & 7) * 2) = to_half(h.values[h.at.d_pooled + h.tid] * scale);
    }
    return;
  }
  for (int q = h.tid; q < h.members.padded * (W / 8); q += kThreads) {
    const int row = q / (W / 8), chunk = q % (W / 8);
    const float* d = h.values + h.at.d_pooled + (row < h.members.second ? 0 : W) + chunk * 8;
    uint4* to = reinterpret_cast<uint4*>(h.sm + h.last +
                                         chunk_place<W>(static_cast<unsigned>(row), static_cast<unsigned>(chunk)));
    uint4 x = *to;
    unsigned* pairs[4] = {&x.x, &x.y, &x.z, &x.w};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float2 y = unpack2(*pairs[i]);
      *pairs[i] = row < h.members.rows ? pack2(d[2 * i] * scale * slope<false>(model.activation, y.x),
                                               d[2 * i + 1] * scale * slope<false>(model.activation, y.y))
                                       : 0u;
    }
    *to = x;
  }
}

/// Reads the last layer's output at `last` (fp32 rows for max readout, half rows else) and, in training, leaves its
/// gradient (before the activation, half rows) there.
template <int W, bool kTrain>
__device__ __forceinline__ void head(const Args& a, char* sm, unsigned last, const Members& members, int warp,
                                     int lane) {
  const HeadWork<W> h(a, sm, last, members, warp, lane, kTrain);
  const HeadWeights<W, kTrain> weights(h);
  if (kTrain && h.tid == 0) *h.peak() = 0;
  read_parts(h);
  float keep = 1;
  if (kTrain && h.tid < W * members.graphs) {
    keep = dropout_factor(h.names.dropout, static_cast<unsigned>(h.column), h.names.graph[h.mine], a.dropout_threshold,
                          a.dropout_keep);
  }
  weights.store_tail(h);  // not sooner, so that nothing waits for it
  __syncthreads();
  join_parts<W, kTrain>(h);
  __syncthreads();
  hidden_forward<W, kTrain>(h, weights, keep);
  __syncthreads();
  if (warp < members.graphs) outputs_and_loss<W, kTrain>(h, warp);
  if constexpr (kTrain) {
    __syncthreads();
    hidden_backward<W>(h, weights);
    __syncthreads();
    // From here on gradients are in half precision. They are linear in what comes now, so it is brought to between 1
    // and 2 by a power of two, which the update takes back: small gradients do not vanish, large ones have room to
    // grow.
    unsigned exponent = *h.peak() >> 23;
    exponent = exponent < 27 ? 27 : exponent > 227 ? 227 : exponent;
    if (h.tid == 0) {
      store_cg(a.slot_scales + static_cast<std::size_t>(h.names.trial) * a.units_most + h.names.unit,
               float_of(exponent << 23));
    }
    spread_gradient<W>(h, float_of((254 - exponent) << 23));
    __syncthreads();
  }
}

}  // namespace tyche::engine::TYCHE_CUDA_NS::fused
