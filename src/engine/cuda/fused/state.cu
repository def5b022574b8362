#include <algorithm>

#include "engine/cuda/fused/state.hpp"

namespace tyche::engine::TYCHE_CUDA_NS::fused {

struct Flat {
  float* values;  ///< [trial][kind][parameter]
  const unsigned* places;
  const unsigned* copies;
  float* parts[3];
  Half* forward_w;
  Half* backward_w;
  unsigned trials, count, stride, weights;
};

namespace {

constexpr unsigned kCopyThreads = 256;

__global__ void scatter_kernel(Flat flat) {
  const std::size_t all = static_cast<std::size_t>(flat.trials) * flat.count;
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < all;
       i += static_cast<std::size_t>(gridDim.x) * blockDim.x) {
    const std::size_t trial = i / flat.count, parameter = i % flat.count;
    const unsigned place = flat.places[parameter], copy = flat.copies[parameter];
#pragma unroll
    for (int kind = 0; kind < 3; ++kind) {
      const float value = flat.values[(trial * 3 + kind) * flat.count + parameter];
      flat.parts[kind][trial * flat.stride + place] = value;
      if (kind == 0 && copy != kNone) {
        const Half half = to_half(value);
        flat.forward_w[trial * flat.weights + copy] = half;
        flat.backward_w[trial * flat.weights + place] = half;
      }
    }
  }
}

__global__ void gather_kernel(Flat flat) {
  const std::size_t all = static_cast<std::size_t>(flat.trials) * flat.count;
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < all;
       i += static_cast<std::size_t>(gridDim.x) * blockDim.x) {
    const std::size_t trial = i / flat.count, parameter = i % flat.count;
    const unsigned place = flat.places[parameter];
#pragma unroll
    for (int kind = 0; kind < 3; ++kind) {
      flat.values[(trial * 3 + kind) * flat.count + parameter] = flat.parts[kind][trial * flat.stride + place];
    }
  }
}

std::size_t copy_blocks(std::size_t count) {
  return std::min<std::size_t>((count + kCopyThreads - 1) / kCopyThreads,
                               static_cast<std::size_t>(multiprocessors()) * 8);
}

// Round to nearest, as the device does; features come from the host once.
__global__ void halve_kernel(const float* from, Half* to, std::size_t count) {
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += static_cast<std::size_t>(gridDim.x) * blockDim.x) {
    to[i] = to_half(from[i]);
  }
}

}  // namespace

Tables::Tables(const Job& job, const Shape& shape, Stream& stream) {
  std::vector<GraphEntry> graphs;
  std::vector<unsigned short> offsets = {}, neighbours;
  std::vector<float> features;
  for (std::size_t g = 0; g < job.data.graphs.size(); ++g) {
    const tyche::Graph& graph = job.data.graphs[g];
    bool wide = false;
    for (Node v = 0; v < graph.num_nodes(); ++v) wide = wide || graph.degree(v) > kNear;
    graphs.push_back({static_cast<int>(graph.num_nodes()), static_cast<int>(offsets.size()),
                      static_cast<int>(neighbours.size()), wide ? 1 : 0});
    for (const std::uint64_t offset : graph.offsets()) offsets.push_back(static_cast<unsigned short>(offset));
    for (const Node u : graph.adjacency()) neighbours.push_back(static_cast<unsigned short>(u));
    if (shape.model.pre > 0) {
      const std::vector<float> own = job.data.features[g];
      features.insert(features.end(), own.begin(), own.end());
    }
  }
  if (offsets.size() > 0x7fffffffu || neighbours.size() > 0x7fffffffu) {
    throw InputError("the fused path takes at most 2^31 nodes and directed edges in all");
  }
  graphs_ = DeviceArray<GraphEntry>::from(graphs, "graphs", stream);
  targets_ = DeviceTargets(job.data.targets, stream);
  loss_ = job.loss;
  offsets_ = DeviceArray<unsigned short>::from(offsets, "row offsets", stream);
  neighbours_ = DeviceArray<unsigned short>::from(neighbours, "neighbours", stream);
  pairs_ = DeviceArray<unsigned>::from(shape.factor_pairs, "gradient factors", stream);
  features_ = DeviceArray<Half>(features.size(), "node features");
  const auto wide = DeviceArray<float>::from(features, "node features", stream);
  launch(halve_kernel, copy_blocks(features.size()), kCopyThreads, 0, stream, wide.data(), features_.data(),
         features.size());
  stream.sync();  // before the vectors and `wide` go
}

void Tables::place(Args& args) const {
  args.graphs = graphs_.data();
  args.targets = targets_.view();
  args.loss = loss_;
  args.row_offsets = offsets_.data();
  args.neighbours = neighbours_.data();
  args.features = features_.data();
  args.factor_pairs = pairs_.data();
}

States::States(const Shape& shape, std::size_t trials, Stream& stream)
    : trials_(trials),
      count_(shape.places.size()),
      model_(shape.model),
      places_(DeviceArray<unsigned>::from(shape.places, "places of parameters", stream)),
      copies_(DeviceArray<unsigned>::from(shape.copies, "places of parameters", stream)),
      w_(trials * static_cast<std::size_t>(model_.stride), "parameters"),
      m_(w_.size(), "moments"),
      v_(w_.size(), "moments"),
      flat_(trials * 3 * count_, "parameters"),
      forward_(trials * static_cast<std::size_t>(model_.weights), "weights in half precision"),
      backward_(forward_.size(), "weights in half precision"),
      staging_(flat_.size(), "host memory for parameters") {}

Flat States::flat() {
  return {flat_.data(),
          places_.data(),
          copies_.data(),
          {w_.data(), m_.data(), v_.data()},
          forward_.data(),
          backward_.data(),
          static_cast<unsigned>(trials_),
          static_cast<unsigned>(count_),
          static_cast<unsigned>(model_.stride),
          static_cast<unsigned>(model_.weights)};
}

void States::load(Stream& stream) {
  for (DeviceArray<float>* array : {&w_, &m_, &v_}) array->zero(stream);
  forward_.zero(stream);
  backward_.zero(stream);
  flat_.upload(staging_.span(), stream);
  launch(scatter_kernel, copy_blocks(trials_ * count_), kCopyThreads, 0, stream, flat());
}

void States::save(std::span<float> to, Stream& stream) {
  launch(gather_kernel, copy_blocks(trials_ * count_), kCopyThreads, 0, stream, flat());
  flat_.download(to, stream);
}

void States::place(Args& args) {
  args.w = w_.data();
  args.m = m_.data();
  args.v = v_.data();
  args.forward_w = forward_.data();
  args.backward_w = backward_.data();
}

}  // namespace tyche::engine::TYCHE_CUDA_NS::fused
