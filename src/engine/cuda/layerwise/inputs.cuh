#pragma once
/// What a level starts from, as kernels: features, types, nodes' outputs, random columns.
#include "engine/cuda/layerwise/rows.cuh"
#include "engine/cuda/runtime/drawn.cuh"
#include "engine/cuda/runtime/philox.cuh"

namespace tyche::engine::TYCHE_CUDA_NS {

struct InputArguments {
  BatchRows rows;
  const LevelEnds* ends;
  uint32_t features;       ///< columns copied from the data
  DrawnColumns drawn;      ///< columns behind them
  const uint32_t* places;  ///< of a graph's drawn row; one per graph of the batch
  uint32_t below;          ///< nodes of a set, whose outputs' mean comes first; 0: none
  const float* node_outputs;
  uint32_t node_stride;
  const uint32_t* node_base;
  uint32_t width;  ///< of those outputs
};

/// What a level starts from: features, or the mean of nodes' outputs and the one-hot type. A block takes kTile rows.
template <class P>
__global__ void __launch_bounds__(kThreads) input_kernel(InputArguments a, Rows<typename P::Element> out) {
  __shared__ const LevelEnds* ends_of[kTile];
  __shared__ uint32_t local_of[kTile], node_of[kTile];  // node_of: first of the nodes below, or the drawn row
  const uint32_t row0 = blockIdx.x * kTile, rows = a.rows.rows - row0 < kTile ? a.rows.rows - row0 : kTile;
  if (threadIdx.x < rows) {
    const uint32_t b = graph_of(a.rows.base, a.rows.graphs, row0 + threadIdx.x);
    local_of[threadIdx.x] = row0 + threadIdx.x - a.rows.base[b];
    ends_of[threadIdx.x] = a.ends + a.rows.ids[b];
    node_of[threadIdx.x] = a.below > 0 ? a.node_base[b] : a.drawn.columns > 0 ? a.places[b] : 0;
  }
  __syncthreads();
  for (uint32_t q = threadIdx.x; q < rows * out.stride; q += kThreads) {
    const uint32_t r = q / out.stride, column = q % out.stride, local = local_of[r];
    const LevelEnds& ends = *ends_of[r];
    float value = 0;
    if (ends.features != nullptr) {
      if (column < a.features) {
        value = ends.features[size_t{local} * a.features + column];
      } else if (column < a.features + a.drawn.columns) {
        value = drawn_value(a.drawn, node_of[r], local, column - a.features);
      }
    } else if (a.below > 0 && column < a.width) {
      for (uint32_t j = 0; j < a.below; ++j) {
        const size_t node = node_of[r] + ends.nodes[size_t{local} * a.below + j];
        value += a.node_outputs[node * a.node_stride + column];
      }
      value *= 1 / static_cast<float>(a.below);
    } else {
      value = ends.types[local] + (a.below > 0 ? a.width : 0) == column ? 1.0f : 0.0f;
    }
    out.data[size_t{row0 + r} * out.stride + column] = P::element(value);
  }
}

/// The features of edges, or their sums: a block takes kTile rows.
struct EdgeInputArguments {
  BatchRows rows;
  const LevelEnds* ends;
  uint32_t columns;
};
template <class P>
__global__ void __launch_bounds__(kThreads) edge_input_kernel(EdgeInputArguments a, Rows<typename P::Element> out) {
  __shared__ const float* from[kTile];
  const uint32_t row0 = blockIdx.x * kTile, rows = a.rows.rows - row0 < kTile ? a.rows.rows - row0 : kTile;
  if (threadIdx.x < rows) {
    const uint32_t b = graph_of(a.rows.base, a.rows.graphs, row0 + threadIdx.x);
    const uint32_t local = row0 + threadIdx.x - a.rows.base[b];
    from[threadIdx.x] = a.ends[a.rows.ids[b]].edge_features + size_t{local} * a.columns;
  }
  __syncthreads();
  for (uint32_t q = threadIdx.x; q < rows * a.columns; q += kThreads) {
    const uint32_t r = q / a.columns, column = q % a.columns;
    out.data[size_t{row0 + r} * out.stride + column] = P::element(from[r][column]);
  }
}

struct RandomArguments {
  BatchRows rows;
  const uint32_t* graph_numbers;  ///< of the data set, by id
  uint32_t first, count;          ///< columns
  uint2 key;
  bool normal;
  float scale;
  const float* pinned;  ///< rows × count, or none
};

/// Random columns first … first + count - 1. A block takes kTile rows, a thread four columns at a time.
template <class P>
__global__ void __launch_bounds__(kThreads) random_kernel(RandomArguments a, Rows<typename P::Element> out) {
  __shared__ uint32_t number_of[kTile], local_of[kTile];
  const uint32_t row0 = blockIdx.x * kTile, rows = a.rows.rows - row0 < kTile ? a.rows.rows - row0 : kTile;
  if (threadIdx.x < rows) {
    const uint32_t b = graph_of(a.rows.base, a.rows.graphs, row0 + threadIdx.x);
    local_of[threadIdx.x] = row0 + threadIdx.x - a.rows.base[b];
    number_of[threadIdx.x] = a.graph_numbers[a.rows.ids[b]];
  }
  __syncthreads();
  const uint32_t blocks = (a.count + 3) / 4;
  for (uint32_t q = threadIdx.x; q < rows * blocks; q += kThreads) {
    const uint32_t r = q / blocks, column = q % blocks * 4;
    const uint32_t columns = a.count - column < 4 ? a.count - column : 4;
    float v[4] = {};
    if (a.pinned != nullptr) {
      for (uint32_t i = 0; i < columns; ++i) v[i] = a.pinned[size_t{row0 + r} * a.count + column + i];
    } else {
      const float4 drawn = feature_block<P::kFast>(a.key, column / 4, local_of[r], number_of[r], a.normal, a.scale);
      v[0] = drawn.x, v[1] = drawn.y, v[2] = drawn.z, v[3] = drawn.w;
    }
    typename P::Element* to = out.data + size_t{row0 + r} * out.stride + a.first + column;
#pragma unroll
    for (uint32_t i = 0; i < 4; ++i) {
      if (i < columns) to[i] = P::element(v[i]);
    }
  }
}

}  // namespace tyche::engine::TYCHE_CUDA_NS
