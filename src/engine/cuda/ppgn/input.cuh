#pragma once
/// PPGN's input tensor: adjacency, then on the diagonal the nodes' features and their random ones.
#include "engine/cuda/ppgn/places.cuh"
#include "engine/cuda/runtime/half.cuh"
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

}  // namespace tyche::engine::TYCHE_CUDA_NS
