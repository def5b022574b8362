#include <algorithm>

#include "engine/cuda/fused/trainer.hpp"

namespace tyche::engine::TYCHE_CUDA_NS::fused {

namespace {

constexpr unsigned kCopyThreads = 256;

// From `flat`, [trial][kind][parameter], to the device's order (there with the half copies), or the other way round.
template <bool kScatter>
__global__ void copy_kernel(const __grid_constant__ Args a, float* flat, const unsigned* places, const unsigned* copies,
                            unsigned count) {
  float* const parts[3] = {a.w, a.m, a.v};
  const std::size_t all = static_cast<std::size_t>(a.trials) * count;
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < all;
       i += static_cast<std::size_t>(gridDim.x) * blockDim.x) {
    const std::size_t trial = i / count, parameter = i % count;
    const unsigned place = places[parameter], copy = copies[parameter];
#pragma unroll
    for (int kind = 0; kind < 3; ++kind) {
      float& value = flat[(trial * 3 + kind) * count + parameter];
      float& part = parts[kind][trial * a.model.stride + place];
      (kScatter ? part : value) = kScatter ? value : part;
      if (kScatter && kind == 0 && copy != kNone) {
        const Half half = to_half(value);
        a.forward_w[trial * a.model.weights + copy] = half;
        a.backward_w[trial * a.model.weights + place] = half;
      }
    }
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
  features_ = DeviceArray<float>::from(features, "node features", stream);
  stream.sync();  // before the vectors go
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

template <class Kernel>
void States::copy(Kernel kernel, Stream& stream) {
  Args args{};
  args.model = model_;
  args.trials = static_cast<int>(trials_);
  place(args);
  const std::size_t blocks = std::min<std::size_t>((trials_ * count_ + kCopyThreads - 1) / kCopyThreads,
                                                   static_cast<std::size_t>(multiprocessors()) * 8);
  launch(kernel, blocks, kCopyThreads, 0, stream, args, flat_.data(), places_.data(), copies_.data(),
         static_cast<unsigned>(count_));
}

void States::load(Stream& stream) {
  for (DeviceArray<float>* array : {&w_, &m_, &v_}) array->zero(stream);
  forward_.zero(stream);
  backward_.zero(stream);
  flat_.upload(staging_.span(), stream);
  copy(copy_kernel<true>, stream);
}

void States::save(std::span<float> to, Stream& stream) {
  copy(copy_kernel<false>, stream);
  flat_.download(to, stream);
}

void States::place(Args& args) {
  args.w = w_.data();
  args.m = m_.data();
  args.v = v_.data();
  args.forward_w = forward_.data();
  args.backward_w = backward_.data();
}

void Workspace::reserve(const Shape& shape, Args& args, Stream& stream) {
  const auto grow = [](auto& array, std::size_t count, const char* what) {
    using Array = std::decay_t<decltype(array)>;
    if (array.size() >= count) return;
    array = Array();  // before the larger one is there
    array = Array(count, what);
  };
  const auto size = [](int value) { return static_cast<std::size_t>(value); };
  const std::size_t trials = size(args.trials), units = size(args.units_most), graphs = size(args.batch);
  grow(slots_, trials * units * size(shape.model.weights), "gradients");
  grow(bias_slots_, trials * units * size(shape.model.layers * shape.width), "gradients of biases");
  grow(factors_, trials * graphs * size(shape.model.factors), "gradients of the head");
  grow(scales_, trials * units, "gradients");
  factors_.zero(stream);  // what pads a row is copied with it
  args.staged_slots = std::min(kMostStaged, args.units_most);
  args.slots = slots_.data();
  args.bias_slots = bias_slots_.data();
  args.slot_scales = scales_.data();
  args.factor_slots = factors_.data();
}

Args args_of(const Shape& shape, std::size_t trials, std::size_t batch) {
  Args args{};
  args.model = shape.model;
  args.shared = shape.shared;
  args.dropout_keep = 1;
  args.trials = static_cast<int>(trials);
  args.steps = args.draws = args.units_stride = 1;
  args.batch = static_cast<int>(batch);
  args.staged_graphs = static_cast<int>(std::min<std::size_t>(batch, 24));
  return args;
}

std::size_t update_blocks(const Args& args) {
  return static_cast<std::size_t>(args.trials) * static_cast<std::size_t>(update_parts(args.model));
}
std::size_t update_shared(const Args& args) {
  const int weights = kUpdateWarps * (args.staged_slots + 1) * 512;  // slots, and the pieces in the other orientation
  return static_cast<std::size_t>(std::max(weights, args.staged_graphs * args.model.factors * 4));
}

std::size_t bytes_per_trial(const Job& job, const Shape& shape) {
  const auto weights = static_cast<std::size_t>(shape.model.weights),
             stride = static_cast<std::size_t>(shape.model.stride);
  return weights * (4 + 2 * std::size_t{job.batch}) + stride * 24 +
         std::size_t{job.batch} * static_cast<std::size_t>(shape.model.factors) * 4;
}

}  // namespace tyche::engine::TYCHE_CUDA_NS::fused
