#pragma once
/// Readout and head of a unit's graphs, forward and (in training) backward, in fp32 between the values in shared
/// memory. The head's weights come straight from the parameters, a few a thread, asked for before the readout needs the
/// time.
#include "engine/cuda/fused/products.cuh"
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

/// The sums over a warp of N values a lane (N a power of two), in few exchanges: lane l is left with that of value
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

/// Reads the last layer's output at `last` (fp32 rows for max readout, half rows else) and, in training, leaves its
/// gradient (before the activation, half rows) there.
template <int W, bool kTrain>
__device__ __forceinline__ void head(const Args& a, char* sm, unsigned last, const Members& members, int warp,
                                     int lane) {
  constexpr int kParts = kThreads / W, kSide = kParts / 2;  // threads of a column, and those of one graph
  constexpr int kOwn = W / kWarps;                          // inputs of a hidden layer that are a warp's
  constexpr int kWide = W / 32;
  const Model& model = a.model;
  const Names& names = names_of(a, sm);
  const float* small = a.w + static_cast<std::size_t>(names.trial) * model.stride + model.weights;
  float* factors =
      kTrain ? a.factor_slots + (static_cast<std::size_t>(names.trial) * a.batch + names.place[0]) * model.factors
             : nullptr;
  const int tid = static_cast<int>(threadIdx.x), column = tid % W, part = tid / W;
  const int hidden = model.hidden, classes = model.classes;
  const HeadPlaces<W> at(hidden, classes);
  float* values = reinterpret_cast<float*>(sm + a.shared.scratch);
  int* winners = reinterpret_cast<int*>(values + at.winner);
  float* partial = values;

  // Weights that are needed later.
  float w1[W / kParts], w2[kOwn], back1[kOwn][kWide];
#pragma unroll
  for (int i = 0; i < W / kParts; ++i) w1[i] = small[model.w1 + (part * (W / kParts) + i) * W + column];
#pragma unroll
  for (int i = 0; i < kOwn; ++i) {
    w2[i] = small[model.w2 + (warp * kOwn + i) * hidden + lane];
    if (kTrain && W <= 64) {
#pragma unroll
      for (int k = 0; k < kWide; ++k) back1[i][k] = small[model.w1 + (warp * kOwn + i) * W + k * 32 + lane];
    }
  }
  const float bias1 = small[model.b1 + column];
  const int tail = hidden + hidden * classes + classes;
  const float first_tail = tid < tail ? small[model.b2 + tid] : 0.0f;
  const float* bias2 = values + at.tail;
  const float* w3 = bias2 + hidden;
  const float* bias3 = w3 + hidden * classes;

  auto* peak = reinterpret_cast<unsigned*>(values + at.peak);
  if (kTrain && tid == 0) *peak = 0;

  // 1. Readout, in parts.
  {
    const int side = part / kSide;
    const int first = side == 0 ? 0 : members.second, end = side == 0 ? members.second : members.rows;
    if (model.readout == nn::Readout::max) {
      float best = -INFINITY;
      int row = first;
#pragma unroll 1
      for (int v = first + part % kSide; v < end; v += 4 * kSide) {
        float x[4];
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          const int u = v + i * kSide;
          x[i] = u < end ? *reinterpret_cast<const float*>(sm + last + 4 * (u * W + (column ^ ((u & 3) << 3))))
                         : -INFINITY;
        }
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          if (x[i] > best) best = x[i], row = v + i * kSide;
        }
      }
      partial[tid] = best;
      reinterpret_cast<int*>(partial)[kThreads + tid] = row;
    } else {
      float sum = 0;
      for (int v = first + part % kSide; v < end; v += kSide) {
        sum += to_float(*reinterpret_cast<const Half*>(
            sm + last + chunk_place<W>(static_cast<unsigned>(v), static_cast<unsigned>(column >> 3)) +
            (column & 7) * 2));
      }
      partial[tid] = sum;
    }
  }
  float keep = 1;
  const int mine = tid / W;  // for the first 2 · W threads: the graph they work for
  if (kTrain && tid < W * members.graphs) {
    keep = dropout_factor(names.dropout, static_cast<unsigned>(column), names.graph[mine], a.dropout_threshold,
                          a.dropout_keep);
  }
  // Not sooner, so that nothing waits for it.
  if (tid < tail) values[at.tail + tid] = first_tail;
#pragma unroll 1
  for (int i = tid + kThreads; i < tail; i += kThreads) values[at.tail + i] = small[model.b2 + i];
  __syncthreads();
  if (tid < 2 * W) {
    const int count = mine == 0 ? members.second : members.rows - members.second;
    float best = partial[mine * kSide * W + column];
    if (model.readout == nn::Readout::max) {
      const int* rows = reinterpret_cast<const int*>(partial) + kThreads;
      int row = rows[mine * kSide * W + column];
#pragma unroll
      for (int q = 1; q < kSide; ++q) {
        const float x = partial[(mine * kSide + q) * W + column];
        const int r = rows[(mine * kSide + q) * W + column];
        if (x > best || (x == best && r < row)) best = x, row = r;
      }
      winners[tid] = row;
    } else {
#pragma unroll
      for (int q = 1; q < kSide; ++q) best += partial[(mine * kSide + q) * W + column];
      if (model.readout == nn::Readout::mean) best = best / static_cast<float>(count);
    }
    if (count == 0) best = 0;  // a graph without nodes
    values[at.pooled + tid] = best;
    if (kTrain && mine < members.graphs) store_cg(factors + mine * model.factors + column, best);
  }
  if (kTrain && model.readout == nn::Readout::max) {
    for (int q = tid; q < members.padded * (W / 8); q += kThreads) {
      *reinterpret_cast<uint4*>(sm + last + q * 16) = make_uint4(0, 0, 0, 0);
    }
  }
  __syncthreads();

  // 2. First hidden layer.
#pragma unroll
  for (int g = 0; g < 2; ++g) {
    float sum = 0;
#pragma unroll
    for (int i = 0; i < W / kParts; ++i) sum += w1[i] * values[at.pooled + g * W + part * (W / kParts) + i];
    partial[(part * 2 + g) * W + column] = sum;
  }
  __syncthreads();
  if (tid < 2 * W) {
    float sum = bias1;
#pragma unroll
    for (int q = 0; q < kParts; ++q) sum += partial[(q * 2 + mine) * W + column];
    const float y = elu(sum);
    values[at.hidden1 + tid] = y * keep;
    values[at.slope1 + tid] = elu_slope(y) * keep;
    if (kTrain && mine < members.graphs) store_cg(factors + mine * model.factors + 2 * W + column, y * keep);
  }
  __syncthreads();

  // 3. Second hidden layer.
#pragma unroll 1
  for (int j = lane; j < hidden; j += 32) {
#pragma unroll
    for (int g = 0; g < 2; ++g) {
      float sum = 0;
#pragma unroll
      for (int i = 0; i < kOwn; ++i) {
        const float w = j < 32 ? w2[i] : small[model.w2 + (warp * kOwn + i) * hidden + j];
        sum += w * values[at.hidden1 + g * W + warp * kOwn + i];
      }
      partial[(warp * 2 + g) * hidden + j] = sum;
    }
  }
  __syncthreads();

  // 4. Logits and loss: a warp a graph.
  if (warp < members.graphs) {
    const int g = warp;
    float* hidden2 = values + at.hidden2 + g * hidden;
    float* own_factors = factors + g * model.factors + 3 * W;
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
    const unsigned place = names.place[g];
    if (!kTrain && lane < classes) a.logits[(names.row * a.tests_most + place) * classes + lane] = z;
    if (kTrain && a.train_logits != nullptr && lane < classes) a.train_logits[place * classes + lane] = z;
    if (kTrain) {
      const int label = names.label[g];
      const float top = warp_max(z);
      const float e = lane < classes ? expf(z - top) : 0.0f;
      const float total = warp_sum(e);
      const float loss = logf(total) + top - shfl(z, label);
      const unsigned best = ballot(lane < classes && z == top);
      float* d_logits = values + at.d_logits + g * kMostClasses;
      if (lane < kMostClasses) {
        const float d = lane < classes ? e / total - (lane == label ? 1.0f : 0.0f) : 0.0f;
        d_logits[lane] = d;
        store_cg(own_factors + 2 * hidden + lane, d);
      }
      if (lane == 0) {
        store_cg(own_factors + 2 * hidden + kMostClasses, 1.0f);
        const Outcome outcome = {loss, (best & (0u - best)) == 1u << label ? 1.0f : 0.0f};
        a.outcomes[names.row * a.batch + place] = outcome;
      }
      __syncwarp();
#pragma unroll 1
      for (int j = lane; j < hidden; j += 32) {
        float sum = 0;
#pragma unroll 2
        for (int c = 0; c < classes; ++c) sum += w3[j * classes + c] * d_logits[c];
        const float y = hidden2[j], d = sum * elu_slope(y);
        values[at.d_hidden2 + g * hidden + j] = d;
        store_cg(own_factors + j, d);
        store_cg(own_factors + hidden + j, y);
      }
    }
  }
  if (!kTrain) return;
  __syncthreads();

  // 5. Backward through the hidden layers: every warp has its inputs of both graphs.
  constexpr int kSums = 2 * kOwn, kLanes = 32 / kSums;
  const int summed = warp * kOwn + lane / kLanes / 2, of_graph = lane / kLanes % 2;
  const bool writes = lane % kLanes == 0 && of_graph < members.graphs;
  {
    float sums[kSums];
#pragma unroll
    for (int i = 0; i < kSums; ++i) sums[i] = w2[i / 2] * values[at.d_hidden2 + i % 2 * hidden + lane];
#pragma unroll 1
    for (int j = lane + 32; j < hidden; j += 32) {
#pragma unroll
      for (int i = 0; i < kSums; ++i) {
        sums[i] += small[model.w2 + (warp * kOwn + i / 2) * hidden + j] * values[at.d_hidden2 + i % 2 * hidden + j];
      }
    }
    const float d = sum_each(sums, lane) * values[at.slope1 + of_graph * W + summed];
    if (writes) {
      values[at.d_hidden1 + of_graph * W + summed] = d;
      store_cg(factors + of_graph * model.factors + W + summed, d);
    }
  }
  __syncthreads();
  {
    float sums[kSums];
#pragma unroll
    for (int i = 0; i < kSums; ++i) {
      sums[i] = 0;
#pragma unroll
      for (int k = 0; k < kWide; ++k) {
        const float w = W <= 64 ? back1[i / 2][k] : small[model.w1 + (warp * kOwn + i / 2) * W + k * 32 + lane];
        sums[i] += w * values[at.d_hidden1 + i % 2 * W + k * 32 + lane];
      }
    }
    float d = sum_each(sums, lane);
    if (writes) {
      if (model.readout == nn::Readout::max)
        d *= slope<false>(model.activation, values[at.pooled + of_graph * W + summed]);
      const int count = of_graph == 0 ? members.second : members.rows - members.second;
      if (model.readout == nn::Readout::mean) d /= static_cast<float>(count);
      values[at.d_pooled + of_graph * W + summed] = d;
      if (count > 0) atomic_max(peak, bits_of(fabsf(d)));
    }
  }
  __syncthreads();
  // From here on gradients are in half precision. They are linear in what comes now, so it is brought to between 1 and
  // 2 by a power of two, which the update takes back: small gradients do not vanish, large ones have room to grow.
  unsigned exponent = *peak >> 23;
  exponent = exponent < 27 ? 27 : exponent > 227 ? 227 : exponent;
  const float to_half_range = float_of((254 - exponent) << 23);
  if (tid == 0) {
    store_cg(a.slot_scales + static_cast<std::size_t>(names.trial) * a.units_most + names.unit,
             float_of(exponent << 23));
  }

  // 6. Backward through the readout and the last activation.
  if (model.readout == nn::Readout::max) {
    if (tid < W * members.graphs && (mine == 0 ? members.second : members.rows - members.second) > 0) {
      const auto row = static_cast<unsigned>(winners[tid]);
      *reinterpret_cast<Half*>(sm + last + chunk_place<W>(row, static_cast<unsigned>(column >> 3)) + (column & 7) * 2) =
          to_half(values[at.d_pooled + tid] * to_half_range);
    }
  } else {
    for (int q = tid; q < members.padded * (W / 8); q += kThreads) {
      const int row = q / (W / 8), chunk = q % (W / 8);
      const float* d = values + at.d_pooled + (row < members.second ? 0 : W) + chunk * 8;
      uint4* to = reinterpret_cast<uint4*>(sm + last +
                                           chunk_place<W>(static_cast<unsigned>(row), static_cast<unsigned>(chunk)));
      uint4 x = *to;
      unsigned* pairs[4] = {&x.x, &x.y, &x.z, &x.w};
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const float2 h = unpack2(*pairs[i]);
        *pairs[i] = row < members.rows ? pack2(d[2 * i] * to_half_range * slope<false>(model.activation, h.x),
                                               d[2 * i + 1] * to_half_range * slope<false>(model.activation, h.y))
                                       : 0u;
      }
      *to = x;
    }
  }
  __syncthreads();
}

}  // namespace tyche::engine::TYCHE_CUDA_NS::fused
