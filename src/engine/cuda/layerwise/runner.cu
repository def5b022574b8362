#include <algorithm>
#include <cmath>

#include "engine/core/randomness.hpp"
#include "engine/cuda/layerwise/runner.hpp"
#include "engine/cuda/runtime/clip.cuh"

namespace tyche::engine::TYCHE_CUDA_NS {

namespace {

constexpr float kLossScale = 256;  // of mixed precision

uint2 words_of(Key key) { return make_uint2(key.lo, key.hi); }

std::size_t tiles_of(uint32_t rows, uint32_t tile_rows = kTile) {
  return static_cast<std::size_t>((uint64_t{rows} + tile_rows - 1) / tile_rows);
}

// Few rows are cut into smaller tiles, so that more of the chip works on them.
uint32_t tile_rows_for(uint32_t rows, std::size_t most_tiles) {
  for (const uint32_t tile : {16u, 32u}) {
    if (tiles_of(rows, tile) <= most_tiles) return tile;
  }
  return kTile;
}

uint32_t most_rows(const Network& network, const Capacity& capacity, std::size_t level) {
  uint32_t most = 0;
  const LevelSpec& spec = network.levels[level];
  for (std::size_t m = spec.first_matrix; m <= spec.last_matrix; ++m) {
    most = std::max(most, capacity.rows[network.matrices[m].space]);
  }
  return most;
}

// Elements of the gradient of what a gin's layer makes of edges.
std::size_t edge_gradient_size(const Network& network, const Capacity& capacity) {
  if (network.sums.empty() || !network.edge_matrix) return 0;
  return std::size_t{capacity.rows[network.matrices[*network.edge_matrix].space]} * network.levels[0].gradient_stride;
}

// How many blocks of threads it takes where a thread has 16 bytes of a number of rows.
template <class P>
std::size_t vector_blocks(uint32_t rows, uint32_t columns) {
  return (std::size_t{rows} * (columns / P::kVector) + kThreads - 1) / kThreads;
}

// Half precision has few small numbers: a mean over many rows leaves each a small gradient, so the scale grows with
// them. A constant of the data set, so that a trial's bits do not depend on others.
float loss_scale_of(const Job& job) {
  if (job.model.readout != nn::Readout::mean || job.data.graphs.empty()) return kLossScale;
  double nodes = 0;
  for (const tyche::Graph& graph : job.data.graphs) nodes += graph.num_nodes();
  const double mean = std::max(1.0, nodes / static_cast<double>(job.data.graphs.size()));
  return kLossScale * static_cast<float>(std::exp2(std::min(6.0, std::floor(std::log2(mean)))));
}

}  // namespace

template <class P>
std::size_t runner_bytes(const Network& network, const Capacity& capacity) {
  std::size_t bytes = 3 * network.parameters * sizeof(float) + 2 * network.weights * sizeof(typename P::Element) +
                      network.slots * sizeof(float) +
                      edge_gradient_size(network, capacity) * sizeof(typename P::Element);
  for (const MatrixSpec& matrix : network.matrices) {
    bytes += std::size_t{capacity.rows[matrix.space]} * matrix.stride *
             (matrix.last ? sizeof(float) : sizeof(typename P::Element));
  }
  for (std::size_t l = 0; l < network.levels.size(); ++l) {
    bytes += 2 * std::size_t{most_rows(network, capacity, l)} * network.levels[l].gradient_stride *
             sizeof(typename P::Element);
  }
  return bytes;
}

template <class P>
Runner<P>::Runner(const Job& job, const DeviceGraphs& graphs, const Network& network, const Capacity& capacity,
                  Stream& stream)
    : job_(job),
      graphs_(graphs),
      network_(network),
      stream_(stream),
      loss_scale_(P::kFast ? loss_scale_of(job) : 1.0f),
      parameters_(network.parameters, "the parameters"),
      m_(network.parameters, "Adam's moments"),
      v_(network.parameters, "Adam's moments"),
      forward_weights_(network.weights, "the weights"),
      backward_weights_(network.weights, "the weights"),
      edge_gradient_(edge_gradient_size(network, capacity), "the gradients of a batch"),
      at_(network.levels.size(), 0),
      factors_(std::size_t{capacity.graphs} * network.factors.size, "the head's gradients"),
      d_pooled_(std::size_t{capacity.graphs} * network.fc[0].in, "the head's gradients"),
      slots_(network.slots, "the gradients"),
      winners_(std::size_t{capacity.graphs} * network.fc[0].in, "the readout"),
      segments_(DeviceArray<Segment>::from(network.segments, "the parameters' table", stream)),
      blocks_(DeviceArray<AdamBlock>::from(network.blocks, "the parameters' table", stream)),
      bad_(1, "a counter") {
  for (const MatrixSpec& spec : network.matrices) {
    const std::size_t size = std::size_t{capacity.rows[spec.space]} * spec.stride;
    constexpr const char* kWhat = "the embeddings of a batch";
    // Their padding is never written again.
    matrices_.emplace_back(spec.last ? 0 : size, kWhat).zero(stream);
    if (spec.last) lasts_.emplace_back(size, kWhat).zero(stream);
  }
  const uint32_t width = job.model.width;
  for (std::size_t l = 0; l < network.levels.size(); ++l) {
    const std::size_t size = std::size_t{most_rows(network, capacity, l)} * network.levels[l].gradient_stride;
    for (auto& side : gradients_) side.emplace_back(size, "the gradients of a batch");
    part_values_.emplace_back(std::size_t{capacity.parts[l]} * width, "the readout");
    part_rows_.emplace_back(std::size_t{capacity.parts[l]} * width, "the readout");
  }
  forward_weights_.zero(stream);
  backward_weights_.zero(stream);
  reset_bad();
}

template <class P>
void Runner<P>::load(std::span<const float> parameters) {
  parameters_.upload(parameters, stream_);
  launch(adam_kernel<P>, network_.blocks.size(), kThreads, 0, stream_, adam(Update::copies));
}

template <class P>
void Runner<P>::load(std::span<const float> parameters, std::span<const float> m, std::span<const float> v) {
  m_.upload(m, stream_);
  v_.upload(v, stream_);
  load(parameters);
}

template <class P>
void Runner<P>::save(std::span<float> parameters, std::span<float> m, std::span<float> v) {
  parameters_.download(parameters, stream_);
  m_.download(m, stream_);
  v_.download(v, stream_);
}

template <class P>
BatchRows Runner<P>::rows(const uint32_t* words, const Plan& plan, std::size_t space) const {
  return {words + plan.at, words + plan.base(space), plan.graphs, plan.rows[space]};
}

template <class P>
Rows<typename P::Element> Runner<P>::matrix(std::size_t m) {
  return {matrices_[m].data(), network_.matrices[m].stride};
}

template <class P>
std::size_t Runner<P>::last_matrix(std::size_t level) const {
  return network_.levels[level].last_matrix;
}

template <class P>
uint32_t Runner<P>::slices(const Plan& plan, const ConvSpec& conv) const {
  const uint32_t rows = plan.rows[network_.matrices[conv.wants_input_gradient ? conv.in : conv.out].space];
  return static_cast<uint32_t>(
      std::min<std::size_t>(tiles_of(rows, tile_rows_for(rows, conv.most_slices)), conv.most_slices));
}

template <class P>
uint32_t Runner<P>::slices(const Plan& plan, const SumSpec& sum) const {
  const MatrixSpec& in = network_.matrices[sum.in];
  return static_cast<uint32_t>(
      std::min<std::size_t>(vector_blocks<P>(plan.rows[in.space], in.stride), sum.most_slices));
}

template <class P>
void Runner<P>::complete(const Plan& plan, std::vector<uint32_t>& words) const {
  const std::size_t convs = network_.convs.size();
  for (std::size_t c = 0; c < convs; ++c) words[plan.slices() + c] = slices(plan, network_.convs[c]);
  for (std::size_t s = 0; s < network_.sums.size(); ++s) {
    words[plan.slices() + convs + s] = slices(plan, network_.sums[s]);
  }
}

// ---- forwards

template <class P>
void Runner<P>::fill_inputs(const uint32_t* words, const Plan& plan, const PassInputs& inputs, std::size_t level) {
  const LevelSpec& spec = network_.levels[level];
  const MatrixSpec& first = network_.matrices[spec.first_matrix];
  const bool random = level == 0 && network_.random_count > 0 && network_.random_matrix == 0;
  // A gcn without deterministic columns starts from random ones alone.
  if (random && network_.random_first == 0) return fill_random(words, plan, inputs);
  InputArguments a{};
  a.rows = rows(words, plan, first.space);
  a.ends = graphs_.ends(level);
  a.features = job_.model.input_features;
  a.drawn = inputs.drawn;
  a.places = inputs.places;
  a.below = spec.below;
  if (spec.below > 0) {
    const MatrixSpec& nodes = network_.matrices[last_matrix(0)];
    a.node_outputs = lasts_[0].data();
    a.node_stride = nodes.stride;
    a.node_base = words + plan.base(nodes.space);
    a.width = nodes.columns;
  }
  launch(input_kernel<P>, tiles_of(a.rows.rows), kThreads, 0, stream_, a, matrix(spec.first_matrix));
  if (random) fill_random(words, plan, inputs);
}

template <class P>
void Runner<P>::fill_random(const uint32_t* words, const Plan& plan, const PassInputs& inputs) {
  RandomArguments a{};
  a.rows = rows(words, plan, network_.matrices[network_.random_matrix].space);
  a.graph_numbers = graphs_.numbers();
  a.first = network_.random_first;
  a.count = network_.random_count;
  a.key = words_of(inputs.features);
  a.normal =
      job_.model.distribution == nn::Distribution::normal || job_.model.distribution == nn::Distribution::xavier_normal;
  a.scale = feature_scale(job_.model);
  a.pinned = inputs.pinned;
  launch(random_kernel<P>, tiles_of(a.rows.rows), kThreads, 0, stream_, a, matrix(network_.random_matrix));
}

template <class P>
void Runner<P>::fill_edges(const uint32_t* words, const Plan& plan) {
  EdgeInputArguments a{};
  a.rows = rows(words, plan, network_.matrices[*network_.edge_matrix].space);
  a.ends = graphs_.ends(0);
  a.columns = job_.model.edge_features;
  launch(edge_input_kernel<P>, tiles_of(a.rows.rows), kThreads, 0, stream_, a, matrix(*network_.edge_matrix));
}

template <class P>
SumArguments<P> Runner<P>::sum_arguments(const uint32_t* words, const Plan& plan, const SumSpec& sum) {
  const MatrixSpec& in = network_.matrices[sum.in];
  SumArguments<P> a{};
  a.rows = rows(words, plan, in.space);
  a.links = graphs_.links(0);
  a.in = {matrices_[sum.in].data(), in.stride};
  a.columns = in.stride;
  a.eps = parameters_.data() + sum.eps;
  if (!sum.lin) return a;
  const std::size_t edges = network_.convs[*sum.lin].out;
  a.edges = {matrices_[edges].data(), network_.matrices[edges].stride};
  a.edge_base = words + plan.base(network_.matrices[edges].space);
  return a;
}

template <class P>
void Runner<P>::sum_up(const uint32_t* words, const Plan& plan, const SumSpec& sum) {
  if (sum.lin) convolve(words, plan, network_.convs[*sum.lin]);
  const SumArguments<P> a = sum_arguments(words, plan, sum);
  launch(sum_kernel<P>, vector_blocks<P>(a.rows.rows, a.columns), kThreads, 0, stream_, a, matrix(sum.out));
}

template <class P>
void Runner<P>::convolve(const uint32_t* words, const Plan& plan, const ConvSpec& conv) {
  const MatrixSpec& in = network_.matrices[conv.in];
  const MatrixSpec& out = network_.matrices[conv.out];
  ForwardArguments<P> a{};
  a.out_rows = rows(words, plan, out.space);
  a.in_base = words + plan.base(in.space);
  a.links = conv.linear ? nullptr : graphs_.links(conv.link);
  a.in = {matrices_[conv.in].data(), in.stride};
  a.in_columns = conv.in_columns;
  a.out_columns = conv.out_columns;
  a.out_blocks = conv.out_blocks;
  a.weights = forward_weights_.data() + conv.weights;
  a.bias = parameters_.data() + conv.bias;
  a.activation = network_.activation;
  a.activates = conv.activates;
  a.tile_rows = tile_rows_for(a.out_rows.rows, conv.most_slices);
  if (conv.edges) {
    const ConvSpec& edges = network_.convs[*conv.edges];
    a.edges = {matrices_[edges.in].data(), network_.matrices[edges.in].stride};
    a.edge_columns = edges.in_columns;
    a.edge_weights = forward_weights_.data() + edges.weights;
  }
  const std::size_t count = tiles_of(a.out_rows.rows, a.tile_rows) * conv.out_blocks;
  if (out.last) {
    std::size_t level = 0;
    while (last_matrix(level) != conv.out) ++level;
    launch(conv.edges ? forward_kernel<P, float, true> : forward_kernel<P, float, false>, count, kThreads,
           kForwardShared<P>, stream_, a, Rows<float>{lasts_[level].data(), out.stride});
  } else {
    launch(conv.edges ? forward_kernel<P, Element, true> : forward_kernel<P, Element, false>, count, kThreads,
           kForwardShared<P>, stream_, a, matrix(conv.out));
  }
}

template <class P>
void Runner<P>::forward(const uint32_t* words, const Plan& plan, const PassInputs& inputs) {
  for (std::size_t l = 0; l < network_.levels.size(); ++l) {
    const LevelSpec& level = network_.levels[l];
    fill_inputs(words, plan, inputs, l);
    if (l == 0 && network_.edge_matrix) fill_edges(words, plan);
    for (std::size_t c = 0; c < level.convs; ++c) {
      const ConvSpec& conv = network_.convs[level.first_conv + c];
      const std::size_t from = conv.sum ? network_.sums[*conv.sum].in : conv.in;
      if (network_.random_count > 0 && network_.random_matrix > 0 && from == network_.random_matrix) {
        fill_random(words, plan, inputs);
      }
      if (conv.sum) sum_up(words, plan, network_.sums[*conv.sum]);
      convolve(words, plan, conv);
    }
    const MatrixSpec& last = network_.matrices[last_matrix(l)];
    ReadoutArguments a{};
    a.rows = rows(words, plan, last.space);
    a.part_base = words + plan.part_base(l);
    a.ends = graphs_.ends(l);
    a.values = lasts_[l].data();
    a.stride = last.stride;
    a.width = last.columns;
    a.readout = network_.readout;
    a.out_values = part_values_[l].data();
    a.out_rows = part_rows_[l].data();
    a.bad = bad_.data();
    launch(readout_kernel<P>, plan.parts[l], kThreads, 0, stream_, a);
  }
  head(words, plan, inputs);
}

template <class P>
void Runner<P>::head(const uint32_t* words, const Plan& plan, const PassInputs& inputs) {
  HeadArguments a{};
  a.ids = words + plan.at;
  a.graph_numbers = graphs_.numbers();
  a.targets = inputs.targets;
  a.loss = job_.loss;
  a.levels = static_cast<uint32_t>(network_.levels.size());
  a.width = job_.model.width;
  for (std::size_t l = 0; l < network_.levels.size(); ++l) {
    a.ends[l] = graphs_.ends(l);
    a.part_base[l] = words + plan.part_base(l);
    a.part_values[l] = part_values_[l].data();
    a.part_rows[l] = part_rows_[l].data();
  }
  a.readout = network_.readout;
  a.activation = network_.activation;
  a.parameters = parameters_.data();
  for (std::size_t l = 0; l < 3; ++l) a.fc[l] = network_.fc[l];
  a.factors = network_.factors;
  a.factor_values = factors_.data();
  const double rate = job_.model.dropout;
  a.dropping = inputs.dropout && rate > 0;
  a.dropout_key = words_of(inputs.dropout_key);
  a.threshold = static_cast<uint64_t>(std::ceil(rate * 0x1p32));
  a.keep = static_cast<float>(1 / (1 - rate));
  a.logits = inputs.logits;
  if (inputs.training) {
    a.losses = inputs.losses;
    a.right = inputs.right;
    a.scale = loss_scale_ / static_cast<float>(inputs.divisor);
    a.d_pooled = d_pooled_.data();
    a.winners = winners_.data();
  }
  launch(head_kernel<P>, plan.graphs, kThreads, head_shared(network_.fc) * sizeof(float), stream_, a);
}

// ---- backwards

template <class P>
void Runner<P>::spread(const uint32_t* words, const Plan& plan, std::size_t level) {
  const MatrixSpec& last = network_.matrices[last_matrix(level)];
  SpreadArguments<P> a{};
  a.rows = rows(words, plan, last.space);
  a.ends = graphs_.ends(level);
  a.values = lasts_[level].data();
  a.stride = last.stride;
  a.width = last.columns;
  a.readout = network_.readout;
  a.activation = network_.activation;
  a.pooled_size = network_.fc[0].in;
  a.d_pooled = d_pooled_.data() + level * last.columns;
  a.winners = winners_.data() + level * last.columns;
  std::size_t found = 0;
  for (std::size_t l = level + 1; l < network_.levels.size(); ++l) {
    const LevelSpec& above = network_.levels[l];
    if (level > 0 || above.below == 0) continue;
    a.above[found++] = {graphs_.ends(l),
                        words + plan.base(network_.matrices[above.first_matrix].space),
                        {gradients_[at_[l]][l].data(), above.gradient_stride},
                        1 / static_cast<float>(above.below)};
  }
  launch(spread_kernel<P>, tiles_of(a.rows.rows), kThreads, 0, stream_, a,
         Rows<Element>{gradients_[0][level].data(), network_.levels[level].gradient_stride});
  at_[level] = 0;
}

template <class P>
void Runner<P>::backward(const uint32_t* words, const Plan& plan) {
  // Levels above nodes first: their inputs' gradients belong to the nodes' outputs.
  for (std::size_t l = network_.levels.size(); l-- > 0;) {
    const LevelSpec& level = network_.levels[l];
    spread(words, plan, l);
    for (std::size_t c = level.convs; c-- > 0;) {
      const ConvSpec& conv = network_.convs[level.first_conv + c];
      const Rows<const Element> d_out{gradients_[at_[l]][l].data(), level.gradient_stride};
      if (conv.edges) weights_back(words, plan, network_.convs[*conv.edges], d_out);
      convolve_back(words, plan, conv, l);
      if (conv.sum) sum_back(words, plan, network_.sums[*conv.sum], l);
    }
  }
}

template <class P>
void Runner<P>::convolve_back(const uint32_t* words, const Plan& plan, const ConvSpec& conv, std::size_t level) {
  const MatrixSpec& in = network_.matrices[conv.in];
  const MatrixSpec& out = network_.matrices[conv.out];
  const uint32_t stride = network_.levels[level].gradient_stride, count = slices(plan, conv);
  if (!conv.wants_input_gradient) {
    return weights_back(words, plan, conv, {gradients_[at_[level]][level].data(), stride});
  }
  BackwardArguments<P> a{};
  a.in_rows = rows(words, plan, in.space);
  a.out_base = words + plan.base(out.space);
  a.links = conv.linear ? nullptr : graphs_.links(conv.link);
  a.in = {matrices_[conv.in].data(), in.stride};
  a.in_columns = conv.in_columns;
  a.d_out = {gradients_[at_[level]][level].data(), stride};
  a.out_columns = padded16(conv.out_columns);
  a.d_in = {gradients_[1 - at_[level]][level].data(), stride};
  a.d_in_columns = conv.gradient_columns;
  a.activation = network_.activation;
  a.activated_input = conv.activated_input;
  a.weights = backward_weights_.data() + conv.weights;
  a.slots = slots_.data() + conv.slots;
  a.slices = count;
  a.tile_rows = tile_rows_for(a.in_rows.rows, conv.most_slices);
  launch(backward_kernel<P>, std::size_t{count} * conv.units(), kThreads, kBackwardShared<P>, stream_, a);
  at_[level] = 1 - at_[level];
}

namespace {

// Squares of a gradient, block by block.
__global__ void __launch_bounds__(kClipThreads) squares_kernel(const float* gradient, size_t count, float* parts) {
  __shared__ float sums[kClipThreads / 32];
  float sum = 0;
  const size_t all = size_t{gridDim.x} * kClipThreads;
  for (size_t i = size_t{blockIdx.x} * kClipThreads + threadIdx.x; i < count; i += all)
    sum += gradient[i] * gradient[i];
  sum = block_sum(sum, sums);
  if (threadIdx.x == 0) parts[blockIdx.x] = sum;
}
__global__ void __launch_bounds__(kClipThreads)
    clip_kernel(const float* parts, size_t count, float clip, float* factor) {
  clip_of_parts(parts, count, clip, factor);
}

}  // namespace

template <class P>
void Runner<P>::weights_back(const uint32_t* words, const Plan& plan, const ConvSpec& conv, Rows<const Element> d_out) {
  const MatrixSpec& in = network_.matrices[conv.in];
  const uint32_t count = slices(plan, conv);
  FirstBackwardArguments<P> a{};
  a.out_rows = rows(words, plan, network_.matrices[conv.out].space);
  a.in_base = words + plan.base(in.space);
  a.links = conv.linear ? nullptr : graphs_.links(conv.link);
  a.in = {matrices_[conv.in].data(), in.stride};
  a.in_columns = conv.in_columns;
  a.d_out = d_out;
  a.out_columns = padded16(conv.out_columns);
  a.slots = slots_.data() + conv.slots;
  a.slices = count;
  a.tile_rows = tile_rows_for(a.out_rows.rows, conv.most_slices);
  launch(first_backward_kernel<P>, std::size_t{count} * conv.units(), kThreads, kFirstBackwardShared<P>, stream_, a);
}

// From the gradient of the sums to that of their input, of ε, and of what was made of edges.
template <class P>
void Runner<P>::sum_back(const uint32_t* words, const Plan& plan, const SumSpec& sum, std::size_t level) {
  const uint32_t stride = network_.levels[level].gradient_stride;
  SumBackArguments<P> a{};
  a.forward = sum_arguments(words, plan, sum);
  a.d = {gradients_[at_[level]][level].data(), stride};
  a.wanted = sum.wants_input_gradient;
  a.d_in_columns = sum.gradient_columns;
  a.activation = network_.activation;
  a.activated_input = sum.activated_input;
  a.slots = slots_.data() + sum.slots;
  a.slices = slices(plan, sum);
  launch(sum_back_kernel<P>, a.slices, kThreads, 0, stream_, a,
         Rows<Element>{gradients_[1 - at_[level]][level].data(), stride});
  if (sum.lin) {
    const ConvSpec& lin = network_.convs[*sum.lin];
    EdgeBackArguments<P> e{};
    e.rows = rows(words, plan, network_.matrices[lin.out].space);
    e.ends = graphs_.ends(level);
    e.node_base = words + plan.base(network_.matrices[sum.in].space);
    e.in = a.forward.in;
    e.edges = a.forward.edges;
    e.d = a.d;
    e.columns = a.forward.columns;
    launch(edge_back_kernel<P>, vector_blocks<P>(e.rows.rows, e.columns), kThreads, 0, stream_, e,
           Rows<Element>{edge_gradient_.data(), stride});
    weights_back(words, plan, lin, {edge_gradient_.data(), stride});
  }
  at_[level] = 1 - at_[level];
}

template <class P>
AdamArguments<P> Runner<P>::adam(Update update) {
  AdamArguments<P> a{};
  a.update = update;
  a.segments = segments_.data();
  a.blocks = blocks_.data();
  a.parameters = parameters_.data();
  a.m = m_.data();
  a.v = v_.data();
  a.forward = forward_weights_.data();
  a.backward = backward_weights_.data();
  a.slots = slots_.data();
  a.factors = factors_.data();
  a.factor_size = network_.factors.size;
  a.unscale = 1 / loss_scale_;
  a.bad = bad_.data();
  return a;
}

template <class P>
void Runner<P>::update(const uint32_t* words, const Plan& plan, const AdamStep& step) {
  const bool clips = job_.optimiser.clip_norm > 0;
  if (clips) clip(words, plan);
  AdamArguments<P> a = adam(clips ? Update::clipped : Update::step);
  a.slices = words + plan.slices();
  a.graphs = plan.graphs;
  a.gradient = gradient_.data();
  a.clip = clip_.data();
  a.step_size = step.step_size;
  a.correction = step.correction2_sqrt;
  a.keep = step.keep;
  a.keep2 = step.beta2;
  a.one_minus1 = AdamStep::kOneMinusBeta1;
  a.one_minus2 = step.one_minus_beta2;
  a.eps = step.epsilon;
  launch(adam_kernel<P>, network_.blocks.size(), kThreads, 0, stream_, a);
}

// The gradient, and what clipping multiplies it by.
template <class P>
void Runner<P>::clip(const uint32_t* words, const Plan& plan) {
  constexpr std::size_t kParts = 128;
  if (gradient_.size() == 0) {
    gradient_ = DeviceArray<float>(network_.parameters, "the gradient");
    squares_ = DeviceArray<float>(kParts, "the gradient's norm");
    clip_ = DeviceArray<float>(1, "the gradient's norm");
  }
  gradient(words, plan, gradient_.data());
  launch(squares_kernel, kParts, kClipThreads, 0, stream_, gradient_.data(), gradient_.size(), squares_.data());
  launch(clip_kernel, 1, kClipThreads, 0, stream_, squares_.data(), kParts,
         static_cast<float>(job_.optimiser.clip_norm), clip_.data());
}

template <class P>
void Runner<P>::gradient(const uint32_t* words, const Plan& plan, float* out) {
  AdamArguments<P> a = adam(Update::gradient);
  a.slices = words + plan.slices();
  a.graphs = plan.graphs;
  a.gradient = out;
  launch(adam_kernel<P>, network_.blocks.size(), kThreads, 0, stream_, a);
}

template class Runner<Mixed>;
template class Runner<Full>;
template std::size_t runner_bytes<Mixed>(const Network&, const Capacity&);
template std::size_t runner_bytes<Full>(const Network&, const Capacity&);

}  // namespace tyche::engine::TYCHE_CUDA_NS
