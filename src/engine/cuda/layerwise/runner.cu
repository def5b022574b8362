#include <algorithm>
#include <cmath>

#include "engine/core/inputs.hpp"
#include "engine/cuda/layerwise/runner.hpp"

namespace tyche::engine::TYCHE_CUDA_NS {

namespace {

constexpr float kLossScale = 256;  // of mixed precision
constexpr std::size_t kClipParts = 128;

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

std::size_t buffer_size(const Capacity& capacity, std::size_t space, uint32_t columns) {
  return std::size_t{capacity.rows[space]} * padded16(columns);
}
std::size_t slot_size(const Capacity& capacity, const SlotSpec& slot) {
  std::size_t most = 0;
  for (const SlotSpec::User& user : slot.users) most = std::max(most, buffer_size(capacity, user.space, user.columns));
  return most;
}
std::size_t winners_size(const Network& network, const Capacity& capacity, std::size_t v) {
  return buffer_size(capacity, network.values[v].space, network.values[v].columns);
}

// Of a norm's numbers by column there are seven, by row four.
std::size_t norm_size(const Network& network, const Capacity& capacity, const Network::NormSpec& norm) {
  const ValueSpec& value = network.values[norm.value];
  return norm.by_row ? 4 * std::size_t{capacity.rows[value.space]} : 7 * std::size_t{padded16(value.columns)};
}

// How many blocks of threads it takes where a thread has 16 bytes of a number of rows.
template <class P>
std::size_t vector_blocks(uint32_t rows, uint32_t columns) {
  return (std::size_t{rows} * (columns / P::kVector) + kThreads - 1) / kThreads;
}

// How many rows a block of threads takes: 16 bytes for each of its threads, or more where there are many rows.
template <class P>
uint32_t tile_rows_of(uint32_t rows, uint32_t columns) {
  uint32_t tile = std::clamp(kThreads * P::kVector / padded16(std::max(1u, columns)), 1u, kTile);
  while (2 * tile <= kTile && tiles_of(rows, tile) > 2048) tile *= 2;
  return tile;
}

// Half precision has few small numbers: a mean over many rows leaves each a small gradient, so the scale grows with
// them. A constant of the data set, so that a trial's bits do not depend on others.
float loss_scale_of(const Job& job, const Network& network) {
  if (!network.mean_readout || job.data.graphs.empty()) return kLossScale;
  double nodes = 0;
  for (const tyche::Graph& graph : job.data.graphs) nodes += graph.num_nodes();
  const double mean = std::max(1.0, nodes / static_cast<double>(job.data.graphs.size()));
  return kLossScale * static_cast<float>(std::exp2(std::min(6.0, std::floor(std::log2(mean)))));
}

// Calls body with the kind of messages as a constant.
template <class Body>
void with_gathered(const GatherOp& op, const Body& body) {
  if (op.reduce == nn::Reduce::max) return body(std::integral_constant<Gathered, Gathered::max>());
  const bool mean = op.reduce == nn::Reduce::mean;
  if (op.arcs.value == nn::kNone && mean) return body(std::integral_constant<Gathered, Gathered::mean>());
  if (op.arcs.value == nn::kNone) return body(std::integral_constant<Gathered, Gathered::sum>());
  if (op.activation == nn::Activation::relu && !mean) return body(std::integral_constant<Gathered, Gathered::relu>());
  body(std::integral_constant<Gathered, Gathered::both>());
}

// The columns of some rows from `first` on.
template <class T>
Rows<T> columns_from(T* data, uint32_t columns, uint32_t first) {
  return {data == nullptr ? nullptr : data + first, padded16(columns)};
}

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
std::size_t runner_bytes(const Network& network, const Capacity& capacity) {
  std::size_t bytes = 3 * network.parameters * sizeof(float) + 2 * network.weights * sizeof(typename P::Element) +
                      network.slots * sizeof(float);
  for (const BufferSpec& buffer : network.buffers) {
    bytes += buffer_size(capacity, buffer.space, buffer.columns) *
             (buffer.floats ? sizeof(float) : sizeof(typename P::Element));
  }
  for (const SlotSpec& slot : network.gradients) bytes += slot_size(capacity, slot) * sizeof(typename P::Element);
  for (const std::size_t v : network.winners) bytes += winners_size(network, capacity, v) * sizeof(uint32_t);
  for (const auto& norm : network.norms) bytes += norm_size(network, capacity, norm) * sizeof(float);
  return bytes;
}

template <class P>
Runner<P>::Runner(const Job& job, const DeviceGraphs& graphs, const Network& network, const Capacity& capacity,
                  Stream& stream, bool trains)
    : job_(job),
      graphs_(graphs),
      network_(network),
      stream_(stream),
      loss_scale_(P::kFast ? loss_scale_of(job, network) : 1.0f),
      parameters_(network.parameters, "the parameters"),
      m_(network.parameters, "Adam's moments"),
      v_(network.parameters, "Adam's moments"),
      forward_weights_(network.weights, "the weights"),
      backward_weights_(network.weights, "the weights"),
      running_(network.running, "the means and variances of batches"),
      d_logits_(
          network.rows_of_loss == nn::kNone ? 0 : std::size_t{capacity.rows[network.rows_of_loss]} * network.classes,
          "the outputs' gradients"),
      steps_(DeviceArray<GraphStep>::from(network.steps, "the steps over graphs", stream)),
      kept_(std::size_t{capacity.graphs} * 2 * network.graph_numbers, "the head's gradients"),
      d_pooled_(std::size_t{capacity.graphs} * network.pooled, "the head's gradients"),
      slots_(network.slots, "the gradients"),
      winners_(std::size_t{capacity.graphs} * network.pooled, "the readout"),
      segments_(DeviceArray<Segment>::from(network.segments, "the parameters' table", stream)),
      blocks_(DeviceArray<AdamBlock>::from(network.blocks, "the parameters' table", stream)),
      bad_(1, "a counter") {
  for (const BufferSpec& spec : network.buffers) {
    const std::size_t size = buffer_size(capacity, spec.space, spec.columns);
    constexpr const char* kWhat = "the embeddings of a batch";
    // What is padding is never written again.
    buffers_.emplace_back(spec.floats ? 0 : size, kWhat).zero(stream);
    floats_.emplace_back(spec.floats ? size : 0, kWhat).zero(stream);
  }
  for (const SlotSpec& slot : network.gradients) {
    gradients_.emplace_back(slot_size(capacity, slot), "the gradients of a batch");
  }
  for (const std::size_t v : network.winners) {
    maxima_.emplace_back(winners_size(network, capacity, v), "the maxima of a batch");
  }
  for (const auto& norm : network.norms) {
    norms_.emplace_back(norm_size(network, capacity, norm), "the means and variances of a batch");
  }
  for (const std::size_t at : network.readouts) {
    const ValueSpec& from = value(std::get<ReadoutOp>(network.ops[at]).in.value);
    const std::size_t size = std::size_t{capacity.parts[from.space]} * from.columns;
    part_values_.emplace_back(size, "the readout");
    part_rows_.emplace_back(size, "the readout");
  }
  if (trains && (job.accumulate > 1 || job.optimiser.clip_norm > 0)) {
    gradient_ = DeviceArray<float>(network.parameters, "the gradient");
    seen_ = DeviceArray<float>(std::size_t{job.accumulate} * network.running, "the means and variances of batches");
    squares_ = DeviceArray<float>(kClipParts, "the gradient's norm");
    clip_ = DeviceArray<float>::from(std::vector<float>{1}, "the gradient's norm", stream);
  }
  if (trains && job.accumulate > 1 && job.peers != nullptr) {
    owned_ = DeviceArray<float>(job.peers->share(job.accumulate, 0).size() * network.parameters, "the gradients");
    sum_ = make_step_sum(*job.peers, network.parameters, job.accumulate, stream);
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
Rows<typename P::Element> Runner<P>::at(std::size_t v) {
  const ValueSpec& spec = value(v);
  return columns_from(buffers_[spec.buffer].data(), network_.buffers[spec.buffer].columns, spec.first);
}

template <class P>
Rows<const typename P::Element> Runner<P>::read(std::size_t v) {
  const Rows<Element> rows = at(v);
  return {rows.data, rows.stride};
}

template <class P>
AnyRows Runner<P>::any(std::size_t v) {
  const Rows<Element> rows = at(v);
  const bool floats = network_.buffers[value(v).buffer].floats;
  return {floats ? static_cast<const void*>(floats_[value(v).buffer].data()) : rows.data, rows.stride, floats};
}

template <class P>
Rows<typename P::Element> Runner<P>::gradient_at(std::size_t v) {
  const ValueSpec& from = network_.gradient_of(v);
  return columns_from(gradients_[from.slot].data(), from.columns, value(v).gradient_first);
}

template <class P>
Rows<const typename P::Element> Runner<P>::gradient_of(std::size_t v) {
  const Rows<Element> rows = gradient_at(v);
  return {rows.data, rows.stride};
}

template <class P>
uint32_t Runner<P>::slices(const Plan& plan, const LinearOp& op, const LinearOp::Operand& operand) const {
  if (operand.link == nn::kNone) {  // of two tiles or more: every slice leaves a gradient, which is as large as ever
    const std::size_t tiles = (tiles_of(plan.rows[value(op.out).space]) + 1) / 2;
    return static_cast<uint32_t>(std::min<std::size_t>(tiles, operand.most_slices));
  }
  const uint32_t rows = plan.rows[value(wanted(operand.in) ? operand.in.value : op.out).space];
  return static_cast<uint32_t>(
      std::min<std::size_t>(tiles_of(rows, tile_rows_for(rows, operand.most_slices)), operand.most_slices));
}

template <class P>
uint32_t Runner<P>::slices(const Plan& plan, const GatherOp& op) const {
  const ValueSpec& begins = value(op.onto.value == nn::kNone ? op.in.value : op.onto.value);
  const std::size_t tiles = tiles_of(plan.rows[begins.space], tile_rows_of<P>(plan.rows[begins.space], begins.columns));
  return static_cast<uint32_t>(op.eps == nn::kNone ? tiles : std::min<std::size_t>(tiles, op.most_slices));
}

template <class P>
uint32_t Runner<P>::chunk(const Plan& plan, const NormOp& op) const {
  return static_cast<uint32_t>(std::max<std::size_t>(32, tiles_of(plan.rows[value(op.out).space], op.most_slices)));
}
template <class P>
uint32_t Runner<P>::slices(const Plan& plan, const NormOp& op, bool measured) const {
  if (measured) return dense_shape(plan.rows[value(op.out).space], value(op.out).columns).slices;
  return static_cast<uint32_t>(tiles_of(plan.rows[value(op.out).space], chunk(plan, op)));
}

template <class P>
void Runner<P>::complete(const Plan& plan, std::vector<uint32_t>& words) const {
  for (const Op& op : network_.ops) {
    if (const auto* linear = std::get_if<LinearOp>(&op)) {
      for (const LinearOp::Operand& o : linear->operands) words[plan.slices() + o.counter] = slices(plan, *linear, o);
    } else if (const auto* gather = std::get_if<GatherOp>(&op)) {
      words[plan.slices() + gather->counter] = slices(plan, *gather);
    } else if (const auto* norm = std::get_if<NormOp>(&op)) {
      words[plan.slices() + norm->counter] = slices(plan, *norm, norm->measured_back);
    }
  }
}

// ---- forwards

template <class P>
void Runner<P>::forward(const uint32_t* words, const Plan& plan, const PassInputs& inputs) {
  const Batch batch{words, plan};
  inputs_ = inputs;
  for (const Op& op : network_.ops) std::visit([&](const auto& own) { forward(batch, own); }, op);
  if (network_.rows_of_loss == nn::kNone) head(batch);
}

template <class P>
Ground Runner<P>::ground(const Batch& batch, std::size_t link) const {
  const std::size_t roots = network_.shape.roots;
  return {batch.words + batch.plan.at,
          batch.base(0),
          graphs_.links(link),
          graphs_.ends(0),
          roots == blocks::Shape::kNoSpace ? nullptr : batch.base(roots),
          inputs_.roots,
          network_.shape.wanted.directed};
}

template <class P>
Dropping Runner<P>::dropping(const RowsOp& op) const {
  return {op.drops && inputs_.dropout, words_of(inputs_.dropout_key), graphs_.numbers(), op.threshold, op.keep};
}

template <class P>
void Runner<P>::forward(const Batch& batch, const RowsOp& op) {
  const ValueSpec& out = value(op.out);
  RowsArguments a{};
  a.rows = batch.rows(out.space);
  a.tile_rows = tile_rows_of<P>(a.rows.rows, out.columns);
  a.ground = ground(batch);
  a.ends = graphs_.ends(op.level);
  a.drawn = inputs_.drawn;
  a.places = inputs_.places;
  a.dropping = dropping(op);
  a.add = op.add;
  a.activates = op.activates;
  a.activation = out.slope.activation;
  const bool all = std::all_of(op.parts.begin(), op.parts.end(),
                               [](const RowsOp::Part& part) { return part.kind == PartKind::copy; });
  const auto run = [&] {
    if (a.parts > 0) launch(rows_kernel<P>, tiles_of(a.rows.rows, a.tile_rows), kThreads, 0, stream_, a, at(op.out));
    a.keep = op.add;
    a.parts = 0;
  };
  for (const RowsOp::Part& part : op.parts) {
    if (part.there) continue;
    // 16 bytes of it are its own, but for padding.
    const bool apart = part.first % 16 == 0 && (part.columns % 16 == 0 || part.first + part.columns == out.columns);
    const bool vectors = part.kind == PartKind::copy && apart && (all || !op.add);
    RowsPart& own = a.part[a.parts++];
    own = {part.kind, part.first, part.columns, vectors, {}, nullptr, part.nodes, part.reduce};
    if (part.in.value != nn::kNone) {
      own.from = any(part.in.value);
      own.from_base = batch.base(value(part.in.value).space);
    }
    if (a.parts == kMostParts) run();
  }
  run();
}

template <class P>
void Runner<P>::forward(const Batch& batch, const RandomOp& op) {
  RandomArguments a{};
  a.rows = batch.rows(value(op.out).space);
  a.graph_numbers = graphs_.numbers();
  a.count = value(op.out).columns;
  a.key = words_of(inputs_.features);
  a.normal =
      job_.model.distribution == nn::Distribution::normal || job_.model.distribution == nn::Distribution::xavier_normal;
  a.scale = feature_scale(job_.model);
  a.pinned = inputs_.pinned;
  launch(random_kernel<P>, tiles_of(a.rows.rows), kThreads, 0, stream_, a, at(op.out));
}

template <class P>
LinearOperand<P> Runner<P>::operand(const Batch& batch, const LinearOp::Operand& from) {
  LinearOperand<P> out{};
  out.in_base = batch.base(value(from.in.value).space);
  out.links = from.link == nn::kNone ? nullptr : graphs_.links(from.link);
  out.mean = from.mean;
  out.in = read(from.in.value);
  out.in_columns = from.in_columns;
  out.weights = forward_weights_.data() + from.weights;
  return out;
}

template <class P>
void Runner<P>::forward(const Batch& batch, const LinearOp& op) {
  const ValueSpec& out = value(op.out);
  if (op.dense()) {
    DenseArguments<P> a{};
    for (const LinearOp::Operand& from : op.operands) {
      a.operands[a.count++] = {read(from.in.value), from.in_columns, forward_weights_.data() + from.weights};
    }
    a.rows = batch.plan.rows[out.space];
    a.columns = a.kept = out.columns;
    a.in_stride = op.out_blocks;
    a.out_stride = 1;
    a.bias = op.bias == kNoBias ? nullptr : parameters_.data() + op.bias;
    a.activation = out.slope.activation;
    a.activates = out.slope.activated;
    measure(batch, op.measured, false, a);
    if (network_.buffers[out.buffer].floats) {
      dense<float, false>(a, columns_from(floats_[out.buffer].data(), out.columns, 0));
    } else {
      dense<Element, false>(a, at(op.out));
    }
    return;
  }
  const auto run = [&](auto a) {
    constexpr bool kMore = std::size(decltype(a.operands){}) > 1;
    a.out_rows = batch.rows(out.space);
    a.count = static_cast<uint32_t>(op.operands.size());
    for (std::size_t o = 0; o < op.operands.size(); ++o) a.operands[o] = operand(batch, op.operands[o]);
    a.out_columns = out.columns;
    a.out_blocks = op.out_blocks;
    a.bias = op.bias == kNoBias ? nullptr : parameters_.data() + op.bias;
    a.activation = out.slope.activation;
    a.activates = out.slope.activated;
    a.tile_rows = tile_rows_for(a.out_rows.rows, op.operands[0].most_slices);
    const std::size_t count = tiles_of(a.out_rows.rows, a.tile_rows) * op.out_blocks;
    if (network_.buffers[out.buffer].floats) {
      launch(forward_kernel<P, float, kMore>, count, kThreads, kForwardShared<P>, stream_, a,
             columns_from(floats_[out.buffer].data(), out.columns, 0));
    } else {
      launch(forward_kernel<P, Element, kMore>, count, kThreads, kForwardShared<P>, stream_, a, at(op.out));
    }
  };
  if (op.operands.size() == 1) return run(ForwardArguments<P, false>{});
  run(ForwardArguments<P, true>{});
}

template <class P>
DenseShape Runner<P>::dense_shape(uint32_t rows, uint32_t columns) const {
  DenseShape shape{};
  shape.chunks = static_cast<uint32_t>(tiles_of(columns, kWide * kTile));
  // Every block of threads reads all weights: no more of them than multiprocessors where rows are few.
  shape.tile_rows = tile_rows_for(rows, network_.blocks_at_once / 2 / shape.chunks);
  shape.wide =
      static_cast<uint32_t>(tiles_of(std::min(columns, kWide * kTile), shape.tile_rows > 32 ? kTile : 2 * kTile));
  shape.slices = static_cast<uint32_t>(
      std::min<std::size_t>(tiles_of(rows, shape.tile_rows), std::max(1u, network_.blocks_at_once / shape.chunks)));
  return shape;
}

template <class P>
template <class Out, bool kBack>
void Runner<P>::dense(DenseArguments<P>& a, const Rows<Out>& out) {
  const DenseShape shape = dense_shape(a.rows, a.columns);
  a.chunks = shape.chunks;
  a.tile_rows = shape.tile_rows;
  a.keeps = true;
  if (dense_shared(a) > shared_limit()) a.keeps = false;
  const auto kernel = shape.wide == 1   ? dense_kernel<P, Out, kBack, 1>
                      : shape.wide == 2 ? dense_kernel<P, Out, kBack, 2>
                                        : dense_kernel<P, Out, kBack, 3>;
  launch(kernel, std::size_t{shape.slices} * a.chunks, kThreads, dense_shared(a), stream_, a, out);
}

// Sums that a norm wants of what is made.
template <class P>
void Runner<P>::measure(const Batch& batch, std::size_t at, bool back, DenseArguments<P>& a) {
  if (at == nn::kNone) return;
  const NormArguments<P> norm = this->norm(batch, std::get<NormOp>(network_.ops[at]));
  if (!back && !norm.moves) return;
  a.sums = norm.slots;
  a.mean = back ? norm.mean : norm.old_mean;
  a.scale = norm.scale;
  a.x = norm.in;
}

template <class P>
GatherArguments<P> Runner<P>::gather(const Batch& batch, const GatherOp& op) {
  GatherArguments<P> a{};
  a.ground = ground(batch, op.link);
  a.rows = batch.rows(value(op.out).space);
  a.hop = op.hop;
  a.times = op.times;
  a.mean = op.reduce == nn::Reduce::mean;
  a.in = read(op.in.value);
  a.in_base = batch.base(value(op.in.value).space);
  if (op.arcs.value != nn::kNone) {
    a.arcs = read(op.arcs.value);
    a.arc_base = batch.base(value(op.arcs.value).space);
  }
  if (op.onto.value != nn::kNone) a.onto = read(op.onto.value);
  a.columns = padded16(value(op.out).columns);
  a.tile_rows = tile_rows_of<P>(a.rows.rows, a.columns);
  a.activation = op.activation;
  a.eps = op.eps == nn::kNone ? nullptr : parameters_.data() + op.eps;
  a.winners = op.winners == nn::kNone ? nullptr : maxima_[op.winners].data();
  return a;
}

template <class P>
void Runner<P>::forward(const Batch& batch, const GatherOp& op) {
  const GatherArguments<P> a = gather(batch, op);
  with_gathered(op, [&](auto kind) {
    launch(gather_kernel<P, kind()>, tiles_of(a.rows.rows, a.tile_rows), kThreads, 0, stream_, a, at(op.out));
  });
}

template <class P>
NormArguments<P> Runner<P>::norm(const Batch& batch, const NormOp& op) {
  const ValueSpec& out = value(op.out);
  NormArguments<P> a{};
  a.rows = batch.plan.rows[out.space];
  a.columns = out.columns;
  a.by_row = op.by_row;
  a.in = read(op.in.value);
  a.weight = parameters_.data() + op.weight;
  a.bias = parameters_.data() + op.bias;
  float* numbers = norms_[op.which].data();
  const std::size_t each = norms_[op.which].size() / (op.by_row ? 4 : 7);
  a.mean = numbers;
  a.scale = numbers + each;
  a.sums = a.of_x = numbers + 2 * each;
  a.products = a.of_d = numbers + 3 * each;
  a.fixed = numbers + 4 * each;
  a.chunk = chunk(batch.plan, op);
  a.slots = slots_.data() + op.slots;
  a.slices = slices(batch.plan, op, op.measured);
  a.moves = op.by_row || (inputs_.by_batch && a.rows > 0);
  a.activates = out.slope.activated;
  a.activation = out.slope.activation;
  if (op.by_row) return a;
  a.old_mean = parameters_.data() + op.mean;
  a.old_variance = parameters_.data() + op.variance;
  a.seen_mean = running_.data() + op.running;
  a.seen_variance = a.seen_mean + out.columns;
  return a;
}

template <class P>
void Runner<P>::forward(const Batch& batch, const NormOp& op) {
  const NormArguments<P> a = norm(batch, op);
  if (op.by_row) {
    launch(norm_row_kernel<P, false>, tiles_of(a.rows, kThreads / 32), kThreads, 0, stream_, a);
  } else {
    if (a.moves && !op.measured) launch(norm_parts_kernel<P, false>, a.slices, kThreads, 0, stream_, a);
    launch(norm_whole_kernel<P, false>, tiles_of(a.columns, 32), kWholeThreads, 0, stream_, a);
  }
  launch(norm_kernel<P, false>, vector_blocks<P>(a.rows, padded16(a.columns)), kThreads, 0, stream_, a, at(op.out));
}

template <class P>
void Runner<P>::forward(const Batch& batch, const ProductOp& op) {
  ProductArguments<P> a{};
  a.rows = batch.rows(value(op.out).space);
  a.node_base = batch.base(0);
  a.x = read(op.left.value);
  a.y = read(op.right.value);
  a.y_down = true;
  a.columns = padded16(value(op.out).columns);
  launch(product_kernel<P>, vector_blocks<P>(a.rows.rows, a.columns), kThreads, 0, stream_, a, at(op.out));
}

template <class P>
void Runner<P>::forward(const Batch& batch, const LossOp& op) {
  const ValueSpec& in = value(op.in.value);
  LossArguments<P> a{};
  a.rows = batch.rows(in.space);
  a.first = graphs_.first_targets();
  a.counts = inputs_.counts;
  a.z = any(op.in.value);
  a.classes = in.columns;
  a.logits = inputs_.logits;
  a.bad = bad_.data();
  if (inputs_.training) {
    a.targets = inputs_.targets;
    a.loss = job_.loss;
    a.d_logits = d_logits_.data();
    a.losses = inputs_.losses;
    a.right = inputs_.right;
    a.scale = loss_scale_ / static_cast<float>(inputs_.divisor);
    a.slope = in.slope;
  }
  launch(loss_kernel<P>, tiles_of(a.rows.rows, kThreads), kThreads, 0, stream_, a,
         wanted(op.in) ? gradient_at(op.in.value) : Rows<Element>{nullptr, 0});
}

template <class P>
void Runner<P>::forward(const Batch& batch, const ReadoutOp& op) {
  const ValueSpec& from = value(op.in.value);
  const AnyRows rows = any(op.in.value);
  std::size_t source = 0;
  while (std::get_if<ReadoutOp>(&network_.ops[network_.readouts[source]]) != &op) ++source;
  ReadoutArguments a{};
  a.rows = batch.rows(from.space);
  a.part_base = batch.words + batch.plan.part_base(from.space);
  a.ends = op.level == nn::kNone ? nullptr : graphs_.ends(op.level);
  a.which = op.which;
  a.node_base = batch.base(0);
  a.width = from.columns;
  a.max = op.reduce == nn::Reduce::max;
  a.out_values = part_values_[source].data();
  a.out_rows = part_rows_[source].data();
  a.bad = bad_.data();
  const std::size_t parts = batch.plan.parts[from.space];
  if (rows.floats) {
    launch(readout_kernel<P, float>, parts, kThreads, 0, stream_, a,
           Rows<const float>{static_cast<const float*>(rows.data), rows.stride});
  } else {
    launch(readout_kernel<P, Element>, parts, kThreads, 0, stream_, a, read(op.in.value));
  }
}

template <class P>
void Runner<P>::head(const Batch& batch) {
  const PassInputs& inputs = inputs_;
  HeadArguments a{};
  a.ids = batch.words + batch.plan.at;
  a.graph_numbers = graphs_.numbers();
  a.targets = inputs.targets;
  a.loss = job_.loss;
  for (std::size_t i = 0; i < network_.readouts.size(); ++i) {
    const auto& op = std::get<ReadoutOp>(network_.ops[network_.readouts[i]]);
    const std::size_t space = value(op.in.value).space;
    a.sources[i] = {op.level == nn::kNone ? nullptr : graphs_.ends(op.level),
                    op.which,
                    batch.base(space),
                    batch.words + batch.plan.part_base(space),
                    batch.base(0),
                    part_values_[i].data(),
                    part_rows_[i].data(),
                    op.copies};
  }
  a.parameters = parameters_.data();
  a.steps = steps_.data();
  a.count = static_cast<uint32_t>(network_.steps.size());
  a.size = network_.graph_numbers;
  a.logits_at = network_.logits;
  a.classes = network_.classes;
  a.pooled_size = network_.pooled;
  a.dropping = inputs.dropout;
  a.dropout_key = words_of(inputs.dropout_key);
  a.kept = kept_.data();
  a.logits = inputs.logits;
  if (inputs.training) {
    a.losses = inputs.losses;
    a.right = inputs.right;
    a.scale = loss_scale_ / static_cast<float>(inputs.divisor);
    a.d_pooled = d_pooled_.data();
    a.winners = winners_.data();
  }
  launch(head_kernel<P>, batch.plan.graphs, kHeadThreads, head_shared(network_.steps.size(), network_.graph_numbers),
         stream_, a);
}

// ---- backwards

template <class P>
void Runner<P>::backward(const uint32_t* words, const Plan& plan) {
  const Batch batch{words, plan};
  for (std::size_t i = network_.ops.size(); i-- > 0;) {
    std::visit([&](const auto& own) { backward(batch, own); }, network_.ops[i]);
  }
}

// What an operation gives back to a value, but for where from.
template <class P>
SpreadArguments<P> Runner<P>::spread(const Batch& batch, const Reading& reading) {
  const ValueSpec& to = value(reading.value);
  SpreadArguments<P> a{};
  a.rows = batch.rows(to.space);
  a.tile_rows = tile_rows_of<P>(a.rows.rows, to.columns);
  a.values = any(reading.value);
  a.columns = to.columns;
  a.slope = to.slope;
  a.accumulate = reading.accumulate;
  return a;
}

template <class P>
void Runner<P>::backward(const Batch& batch, const ReadoutOp& op) {
  if (!wanted(op.in)) return;
  SpreadArguments<P> a = spread(batch, op.in);
  a.ends = op.level == nn::kNone ? nullptr : graphs_.ends(op.level);
  a.reduce = op.reduce;
  a.which = op.which;
  a.node_base = batch.base(0);
  a.d_pooled = d_pooled_.data() + op.pooled;
  a.winners = winners_.data() + op.pooled;
  a.pooled_size = network_.pooled;
  launch(spread_kernel<P, From::whole>, tiles_of(a.rows.rows, a.tile_rows), kThreads, 0, stream_, a,
         gradient_at(op.in.value));
}

template <class P>
void Runner<P>::backward(const Batch& batch, const RowsOp& op) {
  if (!value(op.out).learned) return;
  for (const RowsOp::Part& part : op.parts) {
    if (part.passed || !wanted(part.in)) continue;
    SpreadArguments<P> a = spread(batch, part.in);
    a.ends = graphs_.ends(op.level);
    a.d = gradient_of(op.out);
    a.d.data += part.first;
    a.vectors = part.first % 16 == 0;
    a.out_base = batch.base(value(op.out).space);
    a.nodes = part.nodes;
    a.reduce = part.reduce;
    a.dropping = dropping(op);
    const auto kernel = part.kind == PartKind::members ? spread_kernel<P, From::members> : spread_kernel<P, From::copy>;
    launch(kernel, tiles_of(a.rows.rows, a.tile_rows), kThreads, 0, stream_, a, gradient_at(part.in.value));
  }
}

template <class P>
void Runner<P>::backward(const Batch& batch, const LinearOp& op) {
  const ValueSpec& out = value(op.out);
  for (const LinearOp::Operand& from : op.operands) {
    const uint32_t count = slices(batch.plan, op, from);
    const std::size_t blocks = std::size_t{count} * from.units;
    if (from.link == nn::kNone) {
      WeightsArguments<P> weights{};
      weights.rows = batch.plan.rows[out.space];
      weights.in = read(from.in.value);
      weights.d = gradient_of(op.out);
      weights.in_columns = from.in_columns;
      weights.out_columns = padded16(out.columns);
      weights.slots = slots_.data() + from.slots;
      weights.slices = count;
      launch(weights_kernel<P>, std::size_t{count} * weight_parts(from.in_blocks, op.out_blocks), kThreads,
             kWeightsShared<P>, stream_, weights);
      if (!wanted(from.in)) continue;
      DenseArguments<P> a{};
      a.operands[a.count++] = {weights.d, weights.out_columns, backward_weights_.data() + from.weights};
      a.rows = weights.rows;
      a.columns = from.in_columns;
      a.kept = value(from.in.value).gradient_columns;
      a.in_stride = 1;
      a.out_stride = op.out_blocks;
      a.values = weights.in;
      a.slope = value(from.in.value).slope;
      a.accumulate = from.in.accumulate;
      measure(batch, from.measured, true, a);
      dense<Element, true>(a, gradient_at(from.in.value));
      continue;
    }
    if (!wanted(from.in)) {
      FirstBackwardArguments<P> a{};
      a.out_rows = batch.rows(out.space);
      a.from = operand(batch, from);
      a.d_out = gradient_of(op.out);
      a.out_columns = padded16(out.columns);
      a.slots = slots_.data() + from.slots;
      a.slices = count;
      a.tile_rows = tile_rows_for(a.out_rows.rows, from.most_slices);
      launch(first_backward_kernel<P>, blocks, kThreads, kFirstBackwardShared<P>, stream_, a);
      continue;
    }
    const ValueSpec& in = value(from.in.value);
    BackwardArguments<P> a{};
    a.in_rows = batch.rows(in.space);
    a.out_base = batch.base(out.space);
    a.links = graphs_.links(from.link);
    a.mean = from.mean;
    a.in = read(from.in.value);
    a.in_columns = from.in_columns;
    a.d_out = gradient_of(op.out);
    a.out_columns = padded16(out.columns);
    a.d_in = gradient_at(from.in.value);
    a.d_in_columns = in.gradient_columns;
    a.accumulate = from.in.accumulate;
    a.slope = in.slope;
    a.weights = backward_weights_.data() + from.weights;
    a.slots = slots_.data() + from.slots;
    a.slices = count;
    a.tile_rows = tile_rows_for(a.in_rows.rows, from.most_slices);
    launch(backward_kernel<P>, blocks, kThreads, kBackwardShared<P>, stream_, a);
  }
}

template <class P>
void Runner<P>::backward(const Batch& batch, const GatherOp& op) {
  if (!value(op.out).learned) return;
  const auto to_rows = [&](const Reading& reading, Hop hop, bool begins) {
    const bool eps = begins && op.eps != nn::kNone;
    if (reading.value == nn::kNone || (!wanted(reading) && !eps)) return;
    const ValueSpec& to = value(reading.value);
    GatherBackArguments<P> a{};
    a.forward = gather(batch, op);
    a.hop = hop;
    a.begins = begins;
    a.rows = batch.rows(to.space);
    a.forward.tile_rows = tile_rows_of<P>(a.rows.rows, a.forward.columns);
    a.values = read(reading.value);
    a.d = gradient_of(op.out);
    a.wanted = wanted(reading);
    a.columns = to.gradient_columns;
    a.slope = to.slope;
    a.accumulate = reading.accumulate;
    a.slots = slots_.data() + op.slots;
    a.slices = begins ? slices(batch.plan, op) : static_cast<uint32_t>(tiles_of(a.rows.rows, a.forward.tile_rows));
    with_gathered(op, [&](auto kind) {
      launch(gather_back_kernel<P, kind()>, a.slices, kThreads, 0, stream_, a,
             a.wanted ? gradient_at(reading.value) : Rows<Element>{nullptr, 0});
    });
  };
  const bool same = op.in.value == op.onto.value;
  to_rows(op.in, op.back, same);
  if (wanted(op.arcs)) {
    const ValueSpec& arcs = value(op.arcs.value);
    ArcBackArguments<P> a{};
    a.forward = gather(batch, op);
    a.rows = batch.rows(arcs.space);
    a.forward.tile_rows = tile_rows_of<P>(a.rows.rows, a.forward.columns);
    a.d = gradient_of(op.out);
    a.columns = arcs.gradient_columns;
    a.slope = arcs.slope;
    a.accumulate = op.arcs.accumulate;
    const std::size_t blocks = tiles_of(a.rows.rows, a.forward.tile_rows);
    const bool relu = op.activation == nn::Activation::relu && op.reduce != nn::Reduce::mean;
    const auto kernel = relu ? arc_back_kernel<P, Gathered::relu> : arc_back_kernel<P, Gathered::both>;
    launch(kernel, blocks, kThreads, 0, stream_, a, gradient_at(op.arcs.value));
  }
  if (!same) to_rows(op.onto, Hop::none, true);
}

template <class P>
void Runner<P>::backward(const Batch& batch, const NormOp& op) {
  NormArguments<P> a = norm(batch, op);
  a.d = gradient_of(op.out);
  a.slices = slices(batch.plan, op, op.measured_back);
  if (!op.measured_back) launch(norm_parts_kernel<P, true>, a.slices, kThreads, 0, stream_, a);
  if (!wanted(op.in)) return;
  if (op.by_row) {
    launch(norm_row_kernel<P, true>, tiles_of(a.rows, kThreads / 32), kThreads, 0, stream_, a);
  } else {
    launch(norm_whole_kernel<P, true>, tiles_of(a.columns, 32), kWholeThreads, 0, stream_, a);
  }
  a.slope = value(op.in.value).slope;
  a.accumulate = op.in.accumulate;
  launch(norm_kernel<P, true>, vector_blocks<P>(a.rows, padded16(a.columns)), kThreads, 0, stream_, a,
         gradient_at(op.in.value));
}

template <class P>
void Runner<P>::backward(const Batch& batch, const ProductOp& op) {
  if (!value(op.out).learned) return;
  for (const bool right : {false, true}) {
    const Reading& reading = right ? op.right : op.left;
    if (!wanted(reading)) continue;
    const ValueSpec& to = value(reading.value);
    ProductArguments<P> a{};
    a.rows = batch.rows(to.space);
    a.node_base = batch.base(0);
    a.x = gradient_of(op.out);
    a.y = read((right ? op.left : op.right).value);
    a.x_down = a.y_down = right;
    a.columns = padded16(to.columns);
    a.values = read(reading.value);
    a.d_columns = to.gradient_columns;
    a.slope = to.slope;
    a.accumulate = reading.accumulate;
    launch(product_kernel<P>, vector_blocks<P>(a.rows.rows, a.columns), kThreads, 0, stream_, a,
           gradient_at(reading.value));
  }
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
  a.factors = kept_.data();
  a.running = running_.data();
  a.seen_size = network_.running;
  a.frozen = job_.optimiser.frozen;
  a.factor_size = 2 * network_.graph_numbers;
  a.unscale = 1 / loss_scale_;
  a.bad = bad_.data();
  return a;
}

template <class P>
void Runner<P>::update(const uint32_t* words, const Plan& plan, const AdamStep& step, std::size_t batches) {
  const bool clips = job_.optimiser.clip_norm > 0, sums = job_.accumulate > 1;
  if (clips && !sums) add(words, plan, 0);
  if (sums && sum_ != nullptr) {
    sum_->sum(owned_.data(), batches, gradient_.data());
    if (network_.running > 0) sum_->gather(seen_.data(), batches, network_.running);
  }
  if (clips) clip();
  AdamArguments<P> a = adam(clips || sums ? Update::clipped : Update::step);
  a.slices = words + plan.slices();
  a.graphs = plan.graphs;
  a.gradient = gradient_.data();
  a.seen = seen_.data();
  a.batches = static_cast<uint32_t>(batches);
  a.clip = clip_.data();
  a.step = step;
  launch(adam_kernel<P>, network_.blocks.size(), kThreads, 0, stream_, a);
}

template <class P>
void Runner<P>::add(const uint32_t* words, const Plan& plan, std::size_t batch, std::size_t own) {
  float* const seen = seen_.data() + batch * network_.running;
  if (sum_ != nullptr) return gradient(words, plan, owned_.data() + own * network_.parameters, false, seen);
  gradient(words, plan, gradient_.data(), batch > 0, seen);
}

// What clipping multiplies the gradient by.
template <class P>
void Runner<P>::clip() {
  const std::size_t frozen = job_.optimiser.frozen;
  launch(squares_kernel, kClipParts, kClipThreads, 0, stream_, gradient_.data() + frozen, gradient_.size() - frozen,
         squares_.data());
  launch(clip_kernel, 1, kClipThreads, 0, stream_, squares_.data(), kClipParts,
         static_cast<float>(job_.optimiser.clip_norm), clip_.data());
}

template <class P>
void Runner<P>::gradient(const uint32_t* words, const Plan& plan, float* out, bool adds, float* seen) {
  AdamArguments<P> a = adam(Update::gradient);
  a.slices = words + plan.slices();
  a.graphs = plan.graphs;
  a.gradient = out;
  a.adds = adds;
  a.seen = seen;
  launch(adam_kernel<P>, network_.blocks.size(), kThreads, 0, stream_, a);
}

template class Runner<Mixed>;
template class Runner<Full>;
template std::size_t runner_bytes<Mixed>(const Network&, const Capacity&);
template std::size_t runner_bytes<Full>(const Network&, const Capacity&);

}  // namespace tyche::engine::TYCHE_CUDA_NS
