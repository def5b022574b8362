#pragma once
/// Rows normalised, as kernels: weight · (x - mean) · scale + bias, by column over all rows of the batch, or by row.
/// Sums over rows are taken slice by slice and put together in order: the same bits every time.
#include "engine/cuda/layerwise/dense.cuh"

namespace tyche::engine::TYCHE_CUDA_NS {

/// What a batch without rows says of their mean and variance.
inline constexpr float kNoRows = -INFINITY;

/// A running mean or variance after a batch.
__device__ __forceinline__ float moved(float old, float seen) {
  return seen == kNoRows ? old : 0.9f * old + 0.1f * seen;
}

/// Of a norm: one per column, or per row. By column what is made is x · of_x + d · of_d + fixed; by row, back, of_x and
/// of_d are the sums of d · weight and of that times the normalised number.
struct NormNumbers {
  float *mean, *scale, *of_x, *of_d, *fixed;
};

template <class P>
struct NormArguments : NormNumbers {
  uint32_t rows, columns;
  bool by_row;
  Rows<const typename P::Element> in;
  const float *weight, *bias;
  float* slots;    ///< slices × two rows of numbers: sums of gaps to old_mean and of their squares, or of gradients
  uint32_t chunk;  ///< rows of a slice
  uint32_t slices;
  // by column: the running ones, and what these rows have to say to them (kNoRows: nothing); `moves`: mean and scale
  // are those of these rows
  const float *old_mean, *old_variance;
  float *seen_mean, *seen_variance;
  bool moves;
  Slope slope;  ///< forwards: what becomes of the numbers
  // back
  Rows<const typename P::Element> d;
  Leaving<P> d_in;

  [[nodiscard]] __device__ __forceinline__ float hat(float x, uint32_t row, uint32_t column) const {
    const uint32_t i = by_row ? row : column;
    return (x - mean[i]) * scale[i];
  }
};

/// Back or not, sums over a slice of rows, where no linear step has taken them (dense.cuh). A thread has a vector of
/// columns, threads of a group those of a row.
template <class P, bool kBack>
__global__ void __launch_bounds__(kThreads) norm_parts_kernel(NormArguments<P> a) {
  __shared__ float parts[2][kThreads * P::kVector];
  const uint32_t first = blockIdx.x * a.chunk, count = a.rows - first < a.chunk ? a.rows - first : a.chunk;
  const uint32_t all = (a.columns + P::kVector - 1) / P::kVector;
  float* slot = a.slots + size_t{blockIdx.x} * 2 * a.columns;
  for (uint32_t vector0 = 0; vector0 < all; vector0 += kThreads) {
    const uint32_t vectors = all - vector0 < kThreads ? all - vector0 : kThreads;
    const uint32_t groups = kThreads / vectors, group = threadIdx.x / vectors;
    const uint32_t column = (vector0 + threadIdx.x % vectors) * P::kVector;
    float one[P::kVector] = {}, two[P::kVector] = {}, around[P::kVector] = {}, factor[P::kVector] = {};
    unrolled<P::kVector>([&](unsigned c) {
      if (a.by_row || column + c >= a.columns) return;
      around[c] = (kBack ? a.mean : a.old_mean)[column + c];
      if (kBack) factor[c] = a.scale[column + c];
    });
#pragma unroll 4
    for (uint32_t r = group < groups ? group : count; r < count; r += groups) {
      float x[P::kVector], d[P::kVector];
      load_vector<P>(a.in, first + r, column, x);
      if constexpr (kBack) {
        load_vector<P>(a.d, first + r, column, d);
        const float mean = a.by_row ? a.mean[first + r] : 0.0f, scale = a.by_row ? a.scale[first + r] : 0.0f;
        unrolled<P::kVector>([&](unsigned c) {
          one[c] += d[c];
          two[c] += d[c] * ((x[c] - (a.by_row ? mean : around[c])) * (a.by_row ? scale : factor[c]));
        });
      } else {
        unrolled<P::kVector>([&](unsigned c) {
          const float gap = x[c] - around[c];
          one[c] += gap;
          two[c] += gap * gap;
        });
      }
    }
    __syncthreads();
    unrolled<P::kVector>([&](unsigned c) {
      parts[0][threadIdx.x * P::kVector + c] = one[c];
      parts[1][threadIdx.x * P::kVector + c] = two[c];
    });
    __syncthreads();
    const uint32_t width = vectors * P::kVector, begin = vector0 * P::kVector;
    for (uint32_t c = threadIdx.x; c < width && begin + c < a.columns; c += kThreads) {
      float sum = 0, other_sum = 0;
      for (uint32_t other = 0; other < groups; ++other) {
        sum += parts[0][other * width + c];
        other_sum += parts[1][other * width + c];
      }
      slot[begin + c] = sum;
      slot[a.columns + begin + c] = other_sum;
    }
  }
}

/// By column: the slices put together, 128 threads per column.
inline constexpr unsigned kWholeThreads = 1024, kWholeColumns = 8;
template <class P, bool kBack>
__global__ void __launch_bounds__(kWholeThreads) norm_whole_kernel(NormArguments<P> a) {
  __shared__ float parts[2][kWholeThreads / 32][kWholeColumns];
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const uint32_t column = blockIdx.x * kWholeColumns + lane % kWholeColumns;
  pdl_wait();
  pdl_trigger();
  const uint32_t slices = column < a.columns && a.moves ? a.slices : 0;
  const float* slot = a.slots + column;
  const size_t apart = 2 * size_t{a.columns};
  float sums[2] = {};
#pragma unroll 4
  for (uint32_t s = threadIdx.x / kWholeColumns; s < slices; s += kWholeThreads / kWholeColumns) {
    sums[0] += slot[s * apart];
    sums[1] += slot[s * apart + a.columns];
  }
  const auto over_lanes = [&] {
    unrolled<2>([&](unsigned which) {
      for (unsigned other = kWholeColumns; other < 32; other *= 2) {
        sums[which] += shfl_xor(sums[which], static_cast<int>(other));
      }
    });
  };
  over_lanes();
  unrolled<2>([&](unsigned which) {
    if (lane < kWholeColumns) parts[which][warp][lane] = sums[which];
  });
  __syncthreads();
  if (warp != 0) return;
  unrolled<2>([&](unsigned which) {
    sums[which] = 0;
#pragma unroll
    for (unsigned other = lane / kWholeColumns; other < kWholeThreads / 32; other += 32 / kWholeColumns) {
      sums[which] += parts[which][other][lane % kWholeColumns];
    }
  });
  over_lanes();
  if (lane >= kWholeColumns || column >= a.columns) return;
  const float one = sums[0], two = sums[1];
  const float count = static_cast<float>(a.rows);
  if constexpr (kBack) {
    const float scale = a.scale[column], own = a.weight[column] * scale;
    const float x = a.moves ? -own * scale * two / count : 0.0f;
    a.of_d[column] = own;
    a.of_x[column] = x;
    a.fixed[column] = a.moves ? -own * one / count - a.mean[column] * x : 0.0f;
  } else {
    float mean = a.old_mean[column], variance = a.old_variance[column];
    if (a.moves) {
      const float squares = fmaxf(two - one * (one / count), 0.0f);
      mean += one / count;
      variance = squares / count;
      a.seen_mean[column] = mean;
      a.seen_variance[column] = squares / (count > 1 ? count - 1 : 1.0f);
    } else {
      a.seen_mean[column] = a.seen_variance[column] = kNoRows;
    }
    const float scale = 1 / sqrtf(variance + static_cast<float>(nn::kNormEpsilon)), x = scale * a.weight[column];
    a.mean[column] = mean;
    a.scale[column] = scale;
    a.of_x[column] = x;
    a.fixed[column] = a.bias[column] - mean * x;
  }
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
      const float own = number<P>(a.d, row, c) * a.weight[c];
      one += own;
      two += own * a.hat(number<P>(a.in, row, c), row, c);
    }
    one = warp_sum(one);
  } else {
    for (uint32_t c = lane; c < end; c += 32) one += number<P>(a.in, row, c);
    one = warp_sum(one) / static_cast<float>(a.columns);
    for (uint32_t c = lane; c < end; c += 32) two += (number<P>(a.in, row, c) - one) * (number<P>(a.in, row, c) - one);
  }
  two = warp_sum(two);
  if (lane != 0 || row >= a.rows) return;
  (kBack ? a.of_x : a.mean)[row] = one;
  (kBack ? a.of_d : a.scale)[row] =
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
  float x[P::kVector], d[P::kVector] = {}, made[P::kVector] = {};
  load_vector<P>(a.in, row, column, x);
  if constexpr (kBack) load_vector<P>(a.d, row, column, d);
  if (!a.by_row) {
    float of_x[P::kVector], of_d[P::kVector] = {}, fixed[P::kVector];
    load_floats(a.of_x + column, of_x);
    load_floats(a.fixed + column, fixed);
    if constexpr (kBack) load_floats(a.of_d + column, of_d);
    unrolled<P::kVector>([&](unsigned c) { made[c] = x[c] * of_x[c] + (kBack ? d[c] * of_d[c] : 0.0f) + fixed[c]; });
  } else {
    unrolled<P::kVector>([&](unsigned c) {
      if (column + c >= a.columns) return;
      const float hat = a.hat(x[c], row, column + c), weight = a.weight[column + c];
      const float count = static_cast<float>(a.columns);
      made[c] = kBack ? (d[c] * weight - a.of_x[row] / count - hat * (a.of_d[row] / count)) * a.scale[row]
                      : weight * hat + a.bias[column + c];
    });
  }
  unrolled<P::kVector>([&](unsigned c) {
    if (column + c >= a.columns) {
      made[c] = 0;
    } else if (!kBack && a.slope.activated) {
      made[c] = activated<P::kFast>(a.slope.activation, made[c]);
    }
  });
  if constexpr (kBack) {
    leave_vector<P>(a.d_in, row, column, made, x);
  } else {
    *reinterpret_cast<uint4*>(to) = P::pack(made);
  }
}

}  // namespace tyche::engine::TYCHE_CUDA_NS
