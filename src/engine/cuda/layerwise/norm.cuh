#pragma once
/// Rows normalised, as kernels: weight · (x - mean) · scale + bias, by column over all rows of the batch, or by row.
/// Sums over rows are taken slice by slice and put together in order: the same bits every time.
#include "engine/cuda/layerwise/links.cuh"

namespace tyche::engine::TYCHE_CUDA_NS {

/// What a batch without rows says of their mean and variance.
inline constexpr float kNoRows = -INFINITY;

/// A running mean or variance after a batch.
__device__ __forceinline__ float moved(float old, float seen) {
  return seen == kNoRows ? old : 0.9f * old + 0.1f * seen;
}

template <class P>
struct NormArguments {
  uint32_t rows, columns;
  bool by_row;
  Rows<const typename P::Element> in;
  const float *weight, *bias;
  float *mean, *scale;  ///< one per column, or per row
  float* slots;         ///< slices × two rows of numbers: of a mean and squares around it, or of gradients
  uint32_t slices;
  // by column: the running ones, and what these rows have to say to them (kNoRows: nothing); `moves`: mean and scale
  // are those of these rows
  const float *old_mean, *old_variance;
  float *seen_mean, *seen_variance;
  bool moves;
  // forwards
  bool activates;
  nn::Activation activation;
  // back
  Rows<const typename P::Element> d;
  float *sums, *products;  ///< over what shares a mean: of d · weight, and of that times the normalised number
  Slope slope;             ///< of the input
  bool accumulate;

  [[nodiscard]] __device__ __forceinline__ uint32_t first_row(uint32_t slice) const {
    return static_cast<uint32_t>(uint64_t{rows} * slice / slices);
  }
  [[nodiscard]] __device__ __forceinline__ float x(uint32_t row, uint32_t column) const {
    return P::value(in.data[size_t{row} * in.stride + column]);
  }
  [[nodiscard]] __device__ __forceinline__ float hat(uint32_t row, uint32_t column) const {
    const uint32_t i = by_row ? row : column;
    return (x(row, column) - mean[i]) * scale[i];
  }
  [[nodiscard]] __device__ __forceinline__ float d_at(uint32_t row, uint32_t column) const {
    return P::value(d.data[size_t{row} * d.stride + column]);
  }
};

/// The sum of what four groups of 64 threads have, at the first of them.
__device__ __forceinline__ float sum_of_groups(float value, float* shared) {
  __syncthreads();
  shared[threadIdx.x] = value;
  __syncthreads();
  const unsigned lane = threadIdx.x % kTile;
  return (shared[lane] + shared[lane + kTile]) + (shared[lane + 2 * kTile] + shared[lane + 3 * kTile]);
}

/// Back or not, a slice of rows: mean and squares around it, or the sums of gradients that bias and weight get.
template <class P, bool kBack>
__global__ void __launch_bounds__(kThreads) norm_parts_kernel(NormArguments<P> a) {
  __shared__ float shared[kThreads];
  const uint32_t first = a.first_row(blockIdx.x), last = a.first_row(blockIdx.x + 1);
  const unsigned lane = threadIdx.x % kTile, group = threadIdx.x / kTile;
  float* slot = a.slots + size_t{blockIdx.x} * 2 * a.columns;
  for (uint32_t column0 = 0; column0 < a.columns; column0 += kTile) {
    const uint32_t column = column0 + lane;
    const uint32_t end = column < a.columns ? last : first;
    float one = 0, two = 0;
    if constexpr (kBack) {
#pragma unroll 4
      for (uint32_t r = first + group; r < end; r += 4) {
        const float d = a.d_at(r, column);
        one += d;
        two += d * a.hat(r, column);
      }
      one = sum_of_groups(one, shared);
    } else {
#pragma unroll 4
      for (uint32_t r = first + group; r < end; r += 4) one += a.x(r, column);
      one = sum_of_groups(one, shared) / static_cast<float>(last - first);
#pragma unroll 4
      for (uint32_t r = first + group; r < end; r += 4) two += (a.x(r, column) - one) * (a.x(r, column) - one);
    }
    two = sum_of_groups(two, shared);
    if (group != 0 || column >= a.columns) continue;
    slot[column] = one;
    slot[a.columns + column] = two;
  }
}

/// By column: the slices put together, a thread per column.
template <class P, bool kBack>
__global__ void __launch_bounds__(kThreads) norm_whole_kernel(NormArguments<P> a) {
  const uint32_t column = blockIdx.x * kThreads + threadIdx.x;
  if (column >= a.columns) return;
  const float* slot = a.slots + column;
  if constexpr (kBack) {
    float sum = 0, products = 0;
    for (uint32_t s = 0; s < a.slices; ++s, slot += 2 * size_t{a.columns}) {
      sum += slot[0];
      products += slot[a.columns];
    }
    a.sums[column] = sum * a.weight[column];
    a.products[column] = products * a.weight[column];
    return;
  }
  float mean = a.old_mean[column], variance = a.old_variance[column];
  if (a.moves) {
    float squares = 0, count = 0;
    mean = 0;
    for (uint32_t s = 0; s < a.slices; ++s, slot += 2 * size_t{a.columns}) {
      const float own = static_cast<float>(a.first_row(s + 1) - a.first_row(s)), gap = slot[0] - mean;
      count += own;
      mean += gap * (own / count);
      squares += slot[a.columns] + gap * gap * (own * ((count - own) / count));
    }
    variance = squares / count;
    a.seen_mean[column] = mean;
    a.seen_variance[column] = squares / (count > 1 ? count - 1 : 1.0f);
  } else {
    a.seen_mean[column] = a.seen_variance[column] = kNoRows;
  }
  a.mean[column] = mean;
  a.scale[column] = 1 / sqrtf(variance + static_cast<float>(nn::kNormEpsilon));
}

/// By row: a warp per row.
template <class P, bool kBack>
__global__ void __launch_bounds__(kThreads) norm_row_kernel(NormArguments<P> a) {
  const uint32_t row = blockIdx.x * (kThreads / 32) + threadIdx.x / 32;
  const unsigned lane = threadIdx.x % 32;
  const uint32_t end = row < a.rows ? a.columns : 0;
  float one = 0, two = 0;
  if constexpr (kBack) {
    for (uint32_t c = lane; c < end; c += 32) {
      const float own = a.d_at(row, c) * a.weight[c];
      one += own;
      two += own * a.hat(row, c);
    }
    one = warp_sum(one);
  } else {
    for (uint32_t c = lane; c < end; c += 32) one += a.x(row, c);
    one = warp_sum(one) / static_cast<float>(a.columns);
    for (uint32_t c = lane; c < end; c += 32) two += (a.x(row, c) - one) * (a.x(row, c) - one);
  }
  two = warp_sum(two);
  if (lane != 0 || row >= a.rows) return;
  (kBack ? a.sums : a.mean)[row] = one;
  (kBack ? a.products : a.scale)[row] =
      kBack ? two : 1 / sqrtf(two / static_cast<float>(a.columns) + static_cast<float>(nn::kNormEpsilon));
}

/// The numbers themselves, or (back) the gradient of the input; a thread per vector.
template <class P, bool kBack>
__global__ void __launch_bounds__(kThreads) norm_kernel(NormArguments<P> a, Rows<typename P::Element> out) {
  const uint32_t vectors = (a.columns + 15) / 16 * 16 / P::kVector;
  const size_t q = size_t{blockIdx.x} * kThreads + threadIdx.x;
  if (q >= size_t{a.rows} * vectors) return;
  const uint32_t row = static_cast<uint32_t>(q / vectors), column = static_cast<uint32_t>(q % vectors) * P::kVector;
  typename P::Element* to = out.data + size_t{row} * out.stride + column;
  const float count = static_cast<float>(a.by_row ? a.columns : a.rows);
  float x[P::kVector], d[P::kVector] = {}, made[P::kVector];
  load_vector<P>(a.in, row, column, x);
  if constexpr (kBack) load_vector<P>(a.d, row, column, d);
#pragma unroll
  for (unsigned c = 0; c < P::kVector; ++c) {
    made[c] = 0;
    if (column + c >= a.columns) continue;
    const uint32_t i = a.by_row ? row : column + c;
    const float hat = (x[c] - a.mean[i]) * a.scale[i], weight = a.weight[column + c];
    if constexpr (kBack) {
      made[c] = d[c] * weight;
      if (a.moves) made[c] -= a.sums[i] / count + hat * (a.products[i] / count);
      made[c] *= a.scale[i];
    } else {
      made[c] = weight * hat + a.bias[column + c];
      if (a.activates) made[c] = activated<P::kFast>(a.activation, made[c]);
    }
  }
  if constexpr (kBack) {
    leave_vector<P>(made, column, a.columns, a.slope, x, a.accumulate, to);
  } else {
    *reinterpret_cast<uint4*>(to) = P::pack(made);
  }
}

}  // namespace tyche::engine::TYCHE_CUDA_NS
