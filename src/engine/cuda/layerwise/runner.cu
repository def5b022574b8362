#include <algorithm>
#include <cmath>

#include "engine/core/inputs.hpp"
#include "engine/cuda/layerwise/runner.hpp"
#include "engine/cuda/runtime/step_sum.hpp"

namespace tyche::engine::TYCHE_CUDA_NS {

namespace {

using nn::kNone;

constexpr float kLossScale = 256;  // of mixed precision
constexpr std::size_t kClipParts = 128;

uint32_t tiles_of(uint32_t rows, uint32_t tile_rows = kTile) {
  return static_cast<uint32_t>((uint64_t{rows} + tile_rows - 1) / tile_rows);
}

// Few rows of a step over links are cut into smaller tiles, so that more of the chip works on them.
uint32_t tile_rows_for(uint32_t rows, std::size_t most_tiles) {
  for (const uint32_t tile : {16u, 32u}) {
    if (tiles_of(rows, tile) <= most_tiles) return tile;
  }
  return kTile;
}

std::size_t buffer_size(const Capacity& capacity, std::size_t space, uint32_t columns) {
  return std::size_t{capacity.rows[space]} * padded16(columns);
}
template <class P>
std::size_t buffer_bytes(const Capacity& capacity, const BufferSpec& spec) {
  return buffer_size(capacity, spec.space, spec.columns) * (spec.floats ? sizeof(float) : sizeof(typename P::Element));
}
std::size_t value_size(const Network& network, const Capacity& capacity, std::size_t v) {
  return buffer_size(capacity, network.values[v].space, network.values[v].columns);
}
std::size_t slot_size(const Network& network, const Capacity& capacity, std::span<const std::size_t> values) {
  std::size_t most = 0;
  for (const std::size_t v : values) most = std::max(most, value_size(network, capacity, v));
  return most;
}

// Of the five numbers of a norm, by column or row.
std::size_t norm_size(const Network& network, const Capacity& capacity, std::size_t at) {
  const auto& norm = std::get<NormOp>(network.ops[at]);
  const ValueSpec& value = network.values[norm.out];
  return 5 * std::size_t{norm.by_row ? capacity.rows[value.space] : padded16(value.columns)};
}

// How many blocks of threads it takes where a thread has 16 bytes of a number of rows.
template <class P>
std::size_t vector_blocks(uint32_t rows, uint32_t columns) {
  return (std::size_t{rows} * (columns / P::kVector) + kThreads - 1) / kThreads;
}

// How many rows a block of threads takes: 16 bytes for each of its threads, or more where there are many rows: where a
// row's numbers are is found in a chain of loads.
template <class P>
uint32_t tile_rows_of(uint32_t rows, uint32_t columns) {
  uint32_t tile = std::clamp(kThreads * P::kVector / padded16(std::max(1u, columns)), 1u, kTile);
  while (tile < kTile && tiles_of(rows, tile) > 1024) tile = std::min(2 * tile, kTile);
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
void with_gathered(const GatherOp& op, Hop hop, const Body& body) {
  if (op.winners != kNone) return body(std::integral_constant<Gathered, Gathered::max>());
  if (op.arcs.value == kNone && op.how.mean) return body(std::integral_constant<Gathered, Gathered::mean>());
  if (op.arcs.value == kNone && is_many(hop)) return body(std::integral_constant<Gathered, Gathered::pool>());
  if (op.arcs.value == kNone) return body(std::integral_constant<Gathered, Gathered::sum>());
  if (op.how.activation == nn::Activation::relu && !op.how.mean)
    return body(std::integral_constant<Gathered, Gathered::relu>());
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

template <class P>
class RunnerOf final : public Runner {
 public:
  using Element = typename P::Element;

  RunnerOf(const Job& job, const DeviceGraphs& graphs, const Network& network, const Capacity& capacity, Stream& stream,
           bool trains)
      : job_(job), graphs_(graphs), network_(network), capacity_(capacity), stream_(stream) {
    for (const BufferSpec& spec : network.buffers) {  // what is padding is never written again
      buffers_.emplace_back(buffer_bytes<P>(capacity, spec), "the embeddings of a batch").zero(stream);
    }
    for (const auto& values : network.gradients) {
      gradients_.emplace_back(slot_size(network, capacity, values), "the gradients of a batch");
    }
    for (const std::size_t v : network.winners) {
      maxima_.emplace_back(value_size(network, capacity, v), "the maxima of a batch");
    }
    for (const std::size_t at : network.norms) {
      norms_.emplace_back(norm_size(network, capacity, at), "the means and variances of a batch").zero(stream);
    }
    for (const std::size_t at : network.readouts) {
      const ValueSpec& from = value(std::get<ReadoutOp>(network.ops[at]).in.value);
      const std::size_t size = std::size_t{capacity.parts(from.space)} * from.columns;
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
    bad_.zero(stream);
  }

  void load(std::span<const float> parameters, std::span<const float> m, std::span<const float> v) override {
    m_.upload(m, stream_);
    v_.upload(v, stream_);
    parameters_.upload(parameters, stream_);
    run(adam_kernel<P>, network_.blocks.size(), adam(Update::copies));
  }
  void save(std::span<float> parameters, std::span<float> m, std::span<float> v, int& bad) override {
    parameters_.download(parameters, stream_);
    m_.download(m, stream_);
    v_.download(v, stream_);
    bad_.download({&bad, 1}, stream_);
    bad_.zero(stream_);
  }

  void complete(const Plan& plan, std::vector<uint32_t>& words) const override {
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

  void forward(const Batch& batch, const PassInputs& inputs) override {
    inputs_ = inputs;
    for (const Op& op : network_.ops) std::visit([&](const auto& own) { forward(batch, own); }, op);
    if (network_.rows_of_loss == kNone) head(batch);
  }
  void backward(const Batch& batch) override {
    for (std::size_t i = network_.ops.size(); i-- > 0;) {
      std::visit([&](const auto& own) { backward(batch, own); }, network_.ops[i]);
    }
  }

  void add(const Batch& batch, std::size_t which, std::size_t own) override {
    float* const seen = seen_.data() + which * network_.running;
    if (sum_ != nullptr) return gradient(batch, owned_.data() + own * network_.parameters, false, seen);
    gradient(batch, gradient_.data(), which > 0, seen);
  }
  void update(const Batch& batch, const AdamStep& step, std::size_t batches) override {
    const bool clips = job_.optimiser.clip_norm > 0, sums = job_.accumulate > 1;
    if (clips && !sums) add(batch, 0, 0);
    if (sums && sum_ != nullptr) {
      sum_->sum(owned_.data(), batches, gradient_.data());
      if (network_.running > 0) sum_->gather(seen_.data(), batches, network_.running);
    }
    if (clips) clip();
    AdamArguments<P> a = adam(clips || sums ? Update::clipped : Update::step, &batch);
    a.batches = static_cast<uint32_t>(batches);
    a.step = step;
    run(adam_kernel<P>, network_.blocks.size(), a);
    updated_ = true;
  }
  void gradient(const Batch& batch, float* out) override { gradient(batch, out, false, nullptr); }

  [[nodiscard]] const DeviceArray<uint32_t>& winners() const override { return winners_; }

 private:
  template <class... Parameters, class... Arguments>
  void run(void (*kernel)(Parameters...), std::size_t blocks, const Arguments&... arguments) {
    launch(kernel, blocks, kThreads, 0, stream_, arguments...);
    updated_ = false;
  }
  // A kernel that may begin while the one before it still runs, but not while parameters change. It waits before it
  // looks at what that one writes, and never reads such numbers through the read-only cache.
  template <class... Parameters, class... Arguments>
  void follow(void (*kernel)(Parameters...), std::size_t blocks, unsigned threads, std::size_t shared,
              const Arguments&... arguments) {
    launch_with(!updated_, kernel, blocks, threads, shared, stream_, arguments...);
    updated_ = false;
  }

  // ---- where things are

  [[nodiscard]] const ValueSpec& value(std::size_t v) const { return network_.values[v]; }
  // The numbers of a value, and their gradients.
  [[nodiscard]] Rows<Element> at(std::size_t v) {
    const ValueSpec& spec = value(v);
    return columns_from(reinterpret_cast<Element*>(buffers_[spec.buffer].data()), network_.buffers[spec.buffer].columns,
                        spec.first);
  }
  [[nodiscard]] Rows<const Element> read(std::size_t v) { return {at(v).data, at(v).stride}; }
  [[nodiscard]] AnyRows any(std::size_t v) {
    return {at(v).data, at(v).stride, network_.buffers[value(v).buffer].floats};
  }
  // Calls body with where a value is, halves or floats.
  template <class Body>
  void with_rows(std::size_t v, const Body& body) {
    const Rows<Element> rows = at(v);
    if (network_.buffers[value(v).buffer].floats)
      return body(Rows<float>{reinterpret_cast<float*>(rows.data), rows.stride});
    body(rows);
  }
  [[nodiscard]] Rows<Element> gradient_at(std::size_t v) {
    const ValueSpec& from = network_.gradient_of(v);
    return columns_from(gradients_[from.slot].data(), from.columns, value(v).gradient_first);
  }
  [[nodiscard]] Leaving<P> leaving(const Reading& reading) {
    const ValueSpec& to = value(reading.value);
    return {wanted(reading) ? gradient_at(reading.value) : Rows<Element>{}, to.gradient_columns, to.slope,
            reading.accumulate};
  }
  [[nodiscard]] Rows<const Element> gradient_of(std::size_t v) { return {gradient_at(v).data, gradient_at(v).stride}; }
  [[nodiscard]] bool wanted(const Reading& reading) const {
    return reading.value != kNone && value(reading.value).learned;
  }
  [[nodiscard]] const float* parameter(std::size_t offset) const { return parameters_.data() + offset; }
  [[nodiscard]] const float* bias(const LinearOp::Operand& operand) const {
    return operand.bias == kNoBias ? nullptr : parameter(operand.bias);
  }
  [[nodiscard]] const LevelEnds* ends(const ReadoutOp& op) const {
    return op.level == kNone ? nullptr : graphs_.ends(op.level);
  }
  [[nodiscard]] Ground ground(const Batch& batch, std::size_t link = 0) const {
    const std::size_t roots = network_.shape.roots;
    return {batch.ids(),
            batch.base(0),
            graphs_.links(link),
            graphs_.ends(0),
            roots == blocks::Shape::kNoSpace ? nullptr : batch.base(roots),
            inputs_.roots,
            network_.shape.wanted.directed};
  }

  // ---- how sums over a batch are cut

  [[nodiscard]] uint32_t slices(const Plan& plan, const LinearOp& op, const LinearOp::Operand& operand) const {
    if (operand.link == kNone) {
      return std::min(weights_slices(plan.rows[value(op.out).space], operand.in_columns,
                                     padded16(value(op.out).columns), network_.blocks_at_once),
                      operand.most_slices);
    }
    const uint32_t rows = plan.rows[value(wanted(operand.in) ? operand.in.value : op.out).space];
    return std::min(tiles_of(rows, tile_rows_for(rows, operand.most_slices)), operand.most_slices);
  }
  [[nodiscard]] uint32_t slices(const Plan& plan, const GatherOp& op) const {
    const ValueSpec& begins = value(op.onto.value == kNone ? op.in.value : op.onto.value);
    const uint32_t rows = plan.rows[begins.space];
    const uint32_t tiles = tiles_of(rows, tile_rows_of<P>(rows, begins.columns));
    return op.eps == kNone ? tiles : std::min(tiles, op.most_slices);
  }
  // `measured`: by a linear step.
  [[nodiscard]] uint32_t slices(const Plan& plan, const NormOp& op, bool measured) const {
    const uint32_t rows = plan.rows[value(op.out).space];
    if (measured) return dense_shape(rows, units(value(op.out).columns), network_.blocks_at_once).slices;
    return tiles_of(rows, chunk(plan, op));
  }
  [[nodiscard]] uint32_t chunk(const Plan& plan, const NormOp& op) const {  // rows of a slice
    return std::max(32u, tiles_of(plan.rows[value(op.out).space], op.most_slices));
  }

  // ---- values made number by number

  [[nodiscard]] Dropping dropping(const RowsOp& op) const {
    return {op.operation == nn::Operation::dropout && inputs_.dropout, inputs_.dropout_key, graphs_.numbers(), op.drop};
  }
  void forward(const Batch& batch, const RowsOp& op) {
    const ValueSpec& out = value(op.out);
    RowsArguments a{};
    a.rows = batch.rows(out.space);
    a.tile_rows = tile_rows_of<P>(a.rows.rows, out.columns);
    a.ground = ground(batch);
    a.ends = graphs_.ends(op.level);
    a.pass = inputs_;
    a.normal = is_normal(job_.model);
    a.random_scale = feature_scale(job_.model);
    a.dropping = dropping(op);
    a.add = op.operation == nn::Operation::add;
    a.slope = {op.operation == nn::Operation::activate, out.slope.activation};
    const bool all = std::ranges::all_of(op.parts, [](const auto& part) { return part.kind == PartKind::copy; });
    const auto make = [&] {
      if (a.parts > 0) run(rows_kernel<P>, tiles_of(a.rows.rows, a.tile_rows), a, at(op.out));
      a.keep = a.add;
      a.parts = 0;
    };
    for (const RowsOp::Part& part : op.parts) {
      if (part.there) continue;
      // 16 bytes of it are its own, but for padding.
      const bool apart = part.first % 16 == 0 && (part.columns % 16 == 0 || part.first + part.columns == out.columns);
      const bool vectors = part.kind == PartKind::copy && apart && (all || !a.add);
      RowsPart& own = a.part[a.parts++];
      own = {part.kind, part.first, part.columns, vectors, {}, nullptr, part.nodes, part.reduce};
      if (part.in.value != kNone) {
        own.from = any(part.in.value);
        own.from_base = batch.base(value(part.in.value).space);
      }
      if (a.parts == kMostParts) make();
    }
    make();
  }
  // What an operation gives back to a value, but for where from.
  [[nodiscard]] SpreadArguments<P> spread(const Batch& batch, const Reading& reading) {
    const ValueSpec& to = value(reading.value);
    SpreadArguments<P> a{};
    a.rows = batch.rows(to.space);
    a.tile_rows = tile_rows_of<P>(a.rows.rows, to.columns);
    a.values = any(reading.value);
    a.d_in = leaving(reading);
    a.d_in.columns = to.columns;
    return a;
  }
  void backward(const Batch& batch, const RowsOp& op) {
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
      const bool members = part.kind == PartKind::members;
      const auto kernel = members ? spread_kernel<P, From::members> : spread_kernel<P, From::copy>;
      run(kernel, tiles_of(a.rows.rows, a.tile_rows), a);
    }
  }

  // ---- linear steps

  static uint32_t units(uint32_t columns) { return padded16(columns) / P::kStep; }
  template <bool kBack, class Out>
  void dense(DenseArguments<P>& a, const Rows<Out>& out) {
    a.units = units(a.columns);
    const DenseShape shape = dense_shape(a.rows, a.units, network_.blocks_at_once);
    a.chunks = shape.chunks;
    a.teams = shape.teams;
    a.matrices = a.operands[0].from.seen == Seen::gradient ? 2 : 1;
    a.biased = std::any_of(a.operands, a.operands + a.count, [](const auto& from) { return from.bias != nullptr; });
    a.keeps = true;
    a.keeps = dense_shared(a, shape.own, kBack) <= shared_limit();
    const std::size_t shared = dense_shared(a, shape.own, kBack);
    if (dense_blocks(kBack, shape.own) > 2 && 3 * (shared + 1024) <= shared_limit()) {
      slices_ = std::min(tiles_of(a.rows, shape.tile_rows()), network_.blocks_at_once / 2 * 3 / a.chunks);
    } else {
      slices_ = shape.slices;
    }
    const auto kernel = shape.own == 3 ? dense_kernel<P, Out, kBack, 3> : dense_kernel<P, Out, kBack, 4>;
    follow(kernel, std::size_t{slices_} * a.chunks, kThreads, shared, a, out);
  }
  // A value as a linear step reads it; and the gradient of what that makes, as a norm gives it back.
  [[nodiscard]] Source<P> source(std::size_t v) {
    if (value(v).norm == kNone) return {read(v)};
    const auto& norm = std::get<NormOp>(network_.ops[value(v).norm]);
    const NormNumbers numbers = numbers_of(norm);
    return {read(norm.in.value), {}, Seen::normalised, value(v).slope, numbers.of_x, nullptr, numbers.fixed};
  }
  [[nodiscard]] Source<P> gradient_source(const LinearOp& op) {
    const auto& norm = std::get<NormOp>(network_.ops[op.through]);
    const NormNumbers numbers = numbers_of(norm);
    return {gradient_of(norm.out), read(op.out), Seen::gradient, {}, numbers.of_d, numbers.of_x, numbers.fixed};
  }
  // Sums that the norm at `at` among the ops wants of what is made.
  void measure(const Batch& batch, std::size_t at, bool back, DenseArguments<P>& a) {
    if (at == kNone) return;
    const NormArguments<P> norm = this->norm(batch, std::get<NormOp>(network_.ops[at]));
    if (!back && !norm.moves) return;
    a.sums = norm.slots;
    a.mean = back ? norm.mean : norm.old_mean;
    a.scale = norm.scale;
    a.x = norm.in;
  }
  void forward(const Batch& batch, const LinearOp& op) {
    const ValueSpec& out = value(op.out);
    if (op.dense()) {
      DenseArguments<P> a{};
      for (const LinearOp::Operand& from : op.operands) {
        const Element* const weights = forward_weights_.data() + from.weights;
        a.operands[a.count++] = {source(from.in.value), units(from.in_columns), weights, bias(from)};
      }
      a.rows = batch.plan.rows[out.space];
      a.columns = a.kept = out.columns;
      a.slope = out.slope;
      measure(batch, op.measured, false, a);
      with_rows(op.out, [&](const auto& rows) { dense<false>(a, rows); });
      if (op.measured != kNone) measured_slices_[std::get<NormOp>(network_.ops[op.measured]).which] = slices_;
      return;
    }
    if (op.operands.size() == 1) return linked<false>(batch, op);
    linked<true>(batch, op);
  }
  template <bool kMore>
  void linked(const Batch& batch, const LinearOp& op) {
    const ValueSpec& out = value(op.out);
    ForwardArguments<P, kMore> a{};
    a.out_rows = batch.rows(out.space);
    for (const LinearOp::Operand& from : op.operands) {
      a.operands[a.count++] = operand(batch, from, forward_weights_.data() + from.weights);
    }
    a.out_columns = out.columns;
    a.out_blocks = op.out_blocks;
    a.bias = bias(op.operands[0]);
    a.slope = out.slope;
    a.tile_rows = tile_rows_for(a.out_rows.rows, op.operands[0].most_slices);
    const std::size_t blocks = std::size_t{tiles_of(a.out_rows.rows, a.tile_rows)} * op.out_blocks;
    with_rows(op.out, [&]<class Out>(const Rows<Out>& rows) {
      launch(forward_kernel<P, Out, kMore>, blocks, kThreads, kForwardShared<P>, stream_, a, rows);
    });
  }
  [[nodiscard]] LinearOperand<P> operand(const Batch& batch, const LinearOp::Operand& from, const Element* weights) {
    return {batch.base(value(from.in.value).space),
            from.link == kNone ? nullptr : graphs_.links(from.link),
            from.mean,
            read(from.in.value),
            from.in_columns,
            weights};
  }
  void backward(const Batch& batch, const LinearOp& op) {
    const ValueSpec& out = value(op.out);
    for (const LinearOp::Operand& from : op.operands) {
      const uint32_t count = slices(batch.plan, op, from), out_columns = padded16(out.columns);
      const Element* const weights = backward_weights_.data() + from.weights;
      float* const slots = slots_.data() + from.slots;
      if (from.link == kNone) {
        const uint32_t rows = batch.plan.rows[out.space];
        // Where rows are few, more and narrower parts.
        const auto shape_of = [&](uint32_t most) { return weights_shape(from.in_columns, out_columns, most); };
        const WeightsShape shape = shape_of(count * shape_of(4).parts >= network_.blocks_at_once / 4 ? 4 : 2);
        const DenseWeights<P> of{rows,
                                 source(from.in.value),
                                 gradient_of(op.out),
                                 from.in_columns,
                                 out_columns,
                                 slots,
                                 count,
                                 from.bias != kNoBias,
                                 shape};
        if (wanted(from.in)) {
          DenseArguments<P> a{};
          a.operands[a.count++] = {Source<P>{of.d_out}, units(out_columns), weights, nullptr};
          if (op.through != kNone && &from == op.operands.data()) {  // the others read what it leaves
            a.operands[0].from = gradient_source(op);
            a.left = gradient_at(op.out);
          }
          a.rows = rows;
          a.columns = from.in_columns;
          a.kept = value(from.in.value).gradient_columns;
          a.values = of.in;
          a.slope = value(from.in.value).slope;
          a.accumulate = from.in.accumulate;
          measure(batch, from.measured, true, a);
          dense<true>(a, gradient_at(from.in.value));
        }
        const auto kernel = shape.unit == 2   ? weights_kernel<P, 2>
                            : shape.unit == 3 ? weights_kernel<P, 3>
                                              : weights_kernel<P, 4>;
        follow(kernel, std::size_t{count} * shape.parts, kThreads, weights_shared<P>(shape.unit), of);
        continue;
      }
      BackwardArguments<P> a{};
      a.from = operand(batch, from, weights);
      a.rows = batch.rows(value(wanted(from.in) ? from.in.value : op.out).space);
      a.out_base = batch.base(out.space);
      a.d_out = gradient_of(op.out);
      a.out_columns = out_columns;
      a.slots = slots;
      a.slices = count;
      a.tile_rows = tile_rows_for(a.rows.rows, from.most_slices);
      a.d_in = leaving(from.in);
      const auto kernel = wanted(from.in) ? backward_kernel<P, false> : backward_kernel<P, true>;
      const std::size_t shared = wanted(from.in) ? kBackwardShared<P, false> : kBackwardShared<P, true>;
      launch(kernel, std::size_t{count} * from.units, kThreads, shared, stream_, a);
    }
  }

  // ---- aggregates

  [[nodiscard]] GatherArguments<P> gather(const Batch& batch, const GatherOp& op) {
    GatherArguments<P> a{};
    static_cast<Gathering&>(a) = op.how;
    a.ground = ground(batch, op.link);
    a.rows = batch.rows(value(op.out).space);
    a.in = read(op.in.value);
    a.in_base = batch.base(value(op.in.value).space);
    if (op.arcs.value != kNone) {
      a.arcs = read(op.arcs.value);
      a.arc_base = batch.base(value(op.arcs.value).space);
    }
    if (op.onto.value != kNone) a.onto = read(op.onto.value);
    a.columns = padded16(value(op.out).columns);
    a.tile_rows = tile_rows_of<P>(a.rows.rows, a.columns);
    a.eps = op.eps == kNone ? nullptr : parameter(op.eps);
    a.winners = op.winners == kNone ? nullptr : maxima_[op.winners].data();
    return a;
  }
  void forward(const Batch& batch, const GatherOp& op) {
    const GatherArguments<P> a = gather(batch, op);
    with_gathered(op, op.how.hop,
                  [&](auto kind) { run(gather_kernel<P, kind()>, tiles_of(a.rows.rows, a.tile_rows), a, at(op.out)); });
  }
  void backward(const Batch& batch, const GatherOp& op) {
    const auto to_rows = [&](const Reading& reading, Hop hop, bool begins, const Reading& onto = {}) {
      const bool eps = begins && op.eps != kNone;
      if (reading.value == kNone || (!wanted(reading) && !eps)) return;
      GatherBackArguments<P> a{};
      a.forward = gather(batch, op);
      a.hop = wanted(reading) ? hop : Hop::none;
      a.begins = begins;
      a.rows = batch.rows(value(reading.value).space);
      a.forward.tile_rows = tile_rows_of<P>(a.rows.rows, a.forward.columns);
      a.d = gradient_of(op.out);
      a.in = {read(reading.value), leaving(reading)};
      if (onto.value != kNone) a.onto = {read(onto.value), leaving(onto)};
      a.slots = slots_.data() + op.slots;
      a.slices = begins ? slices(batch.plan, op) : tiles_of(a.rows.rows, a.forward.tile_rows);
      with_gathered(op, a.hop, [&](auto kind) { run(gather_back_kernel<P, kind()>, a.slices, a); });
    };
    // One kernel for both where it can be: their rows are the same, and what it reads of one is not of the other.
    const bool same = op.in.value == op.onto.value;
    const bool both = !same && wanted(op.in) && op.onto.value != kNone &&
                      value(op.in.value).space == value(op.onto.value).space &&
                      leaving(op.in).to.data != leaving(op.onto).to.data;
    to_rows(op.in, op.how.back, same || both, both ? op.onto : Reading{});
    if (wanted(op.arcs)) {
      const BatchRows rows = batch.rows(value(op.arcs.value).space);
      ArcBackArguments<P> a{gather(batch, op), rows, gradient_of(op.out), leaving(op.arcs)};
      a.forward.tile_rows = tile_rows_of<P>(rows.rows, a.forward.columns);
      const bool relu = op.how.activation == nn::Activation::relu && !op.how.mean;
      const auto kernel = relu ? arc_back_kernel<P, Gathered::relu> : arc_back_kernel<P, Gathered::both>;
      run(kernel, tiles_of(rows.rows, a.forward.tile_rows), a);
    }
    if (!same && !both) to_rows(op.onto, Hop::none, true);
  }

  // ---- norms

  [[nodiscard]] NormNumbers numbers_of(const NormOp& op) {
    float* const numbers = norms_[op.which].data();
    const std::size_t each = norms_[op.which].size() / 5;
    return {numbers, numbers + each, numbers + 2 * each, numbers + 3 * each, numbers + 4 * each};
  }
  [[nodiscard]] NormArguments<P> norm(const Batch& batch, const NormOp& op) {
    const ValueSpec& out = value(op.out);
    NormArguments<P> a{};
    static_cast<NormNumbers&>(a) = numbers_of(op);
    a.rows = batch.plan.rows[out.space];
    a.columns = out.columns;
    a.by_row = op.by_row;
    a.in = read(op.in.value);
    a.weight = parameter(op.weight);
    a.bias = parameter(op.bias);
    a.chunk = chunk(batch.plan, op);
    a.slots = slots_.data() + op.slots;
    a.slices = op.measured ? measured_slices_[op.which] : slices(batch.plan, op, false);
    a.moves = op.by_row || (inputs_.by_batch && a.rows > 0);
    a.slope = out.slope;
    if (op.by_row) return a;
    a.old_mean = parameter(op.mean);
    a.old_variance = parameter(op.variance);
    a.seen_mean = running_.data() + op.running;
    a.seen_variance = a.seen_mean + out.columns;
    return a;
  }
  // The mean and scale of every row or column, or (back) what a gradient is made with; then all numbers.
  template <bool kBack>
  void normalise(const NormArguments<P>& a, bool measured, bool unmade, const Rows<Element>& out) {
    if (!measured && (kBack || (!a.by_row && a.moves))) run(norm_parts_kernel<P, kBack>, a.slices, a);
    if (a.by_row) {
      run(norm_row_kernel<P, kBack>, tiles_of(a.rows, kThreads / 32), a);
    } else {
      follow(norm_whole_kernel<P, kBack>, tiles_of(a.columns, kWholeColumns), kWholeThreads, 0, a);
    }
    if (!unmade) run(norm_kernel<P, kBack>, vector_blocks<P>(a.rows, padded16(a.columns)), a, out);
  }
  void forward(const Batch& batch, const NormOp& op) {
    normalise<false>(norm(batch, op), op.measured, op.unmade, at(op.out));
  }
  void backward(const Batch& batch, const NormOp& op) {
    NormArguments<P> a = norm(batch, op);
    a.d = gradient_of(op.out);
    a.slices = slices(batch.plan, op, op.measured_back);
    const bool unmade = op.unmade_back || !wanted(op.in);
    if (!unmade) a.d_in = leaving(op.in);
    a.d_in.columns = a.columns;
    normalise<true>(a, op.measured_back, unmade, a.d_in.to);
  }

  // ---- products over pairs

  // The product, or back to one side of it.
  void product(const Batch& batch, const ProductOp& op, const Reading* back) {
    const bool right = back == &op.right;
    const std::size_t to = back == nullptr ? op.out : back->value;
    ProductArguments<P> a{};
    a.rows = batch.rows(value(to).space);
    a.node_base = batch.base(0);
    a.x = back == nullptr ? read(op.left.value) : gradient_of(op.out);
    a.y = read(right ? op.left.value : op.right.value);
    a.x_down = right;
    a.y_down = right || back == nullptr;
    a.columns = padded16(value(to).columns);
    if (back != nullptr) {
      a.values = read(to);
      a.d_in = leaving(*back);
    }
    run(product_kernel<P>, vector_blocks<P>(a.rows.rows, a.columns), a, back == nullptr ? at(to) : a.d_in.to);
  }
  void forward(const Batch& batch, const ProductOp& op) { product(batch, op, nullptr); }
  void backward(const Batch& batch, const ProductOp& op) {
    if (wanted(op.left)) product(batch, op, &op.left);
    if (wanted(op.right)) product(batch, op, &op.right);
  }

  // ---- what ends a pass

  [[nodiscard]] float scale_of_loss() const { return loss_scale_ / static_cast<float>(inputs_.divisor); }
  void forward(const Batch& batch, const LossOp& op) {
    const ValueSpec& in = value(op.in.value);
    LossArguments a{};
    a.rows = batch.rows(in.space);
    a.first = graphs_.first_targets();
    a.pass = inputs_;
    a.z = any(op.in.value);
    a.classes = in.columns;
    a.bad = bad_.data();
    a.loss = job_.loss;
    a.d_logits = d_logits_.data();
    a.scale = scale_of_loss();
    a.slope = in.slope;
    run(loss_kernel<P>, tiles_of(a.rows.rows, kThreads), a, leaving(op.in).to);
  }
  void backward(const Batch&, const LossOp&) {}

  [[nodiscard]] PoolSource pooled(const Batch& batch, const ReadoutOp& op) {
    const std::size_t space = value(op.in.value).space;
    float* const values = part_values_[op.source].data();
    uint32_t* const rows = part_rows_[op.source].data();
    return {ends(op), op.which, batch.base(space), batch.part_base(space), batch.base(0), values, rows, op.copies};
  }
  void forward(const Batch& batch, const ReadoutOp& op) {
    const ValueSpec& from = value(op.in.value);
    const bool max = op.reduce == nn::Reduce::max;
    const ReadoutArguments a{batch.rows(from.space), pooled(batch, op), from.columns, max, bad_.data()};
    with_rows(op.in.value, [&]<class T>(const Rows<T>& rows) {
      run(readout_kernel<P, T>, batch.plan.parts(from.space), a, Rows<const T>{rows.data, rows.stride});
    });
  }
  void backward(const Batch& batch, const ReadoutOp& op) {
    if (!wanted(op.in)) return;
    SpreadArguments<P> a = spread(batch, op.in);
    a.ends = ends(op);
    a.reduce = op.reduce;
    a.which = op.which;
    a.node_base = batch.base(0);
    a.d_pooled = d_pooled_.data() + op.pooled;
    a.winners = winners_.data() + op.pooled;
    a.pooled_size = network_.pooled;
    run(spread_kernel<P, From::whole>, tiles_of(a.rows.rows, a.tile_rows), a);
  }

  void head(const Batch& batch) {
    HeadArguments a{};
    a.ids = batch.ids();
    a.graph_numbers = graphs_.numbers();
    a.pass = inputs_;
    a.loss = job_.loss;
    for (std::size_t i = 0; i < network_.readouts.size(); ++i) {
      a.sources[i] = pooled(batch, std::get<ReadoutOp>(network_.ops[network_.readouts[i]]));
    }
    a.parameters = parameters_.data();
    a.steps = steps_.data();
    a.count = static_cast<uint32_t>(network_.steps.size());
    a.size = network_.graph_numbers;
    a.logits_at = network_.logits;
    a.classes = network_.classes;
    a.pooled_size = network_.pooled;
    a.kept = kept_.data();
    a.scale = scale_of_loss();
    a.d_pooled = d_pooled_.data();
    a.winners = inputs_.losses == nullptr ? nullptr : winners_.data();
    launch(head_kernel<P>, batch.plan.graphs, kHeadThreads, head_shared(a.count, a.size), stream_, a);
  }

  // ---- parameters

  // `batch`: whose gradients are summed.
  [[nodiscard]] AdamArguments<P> adam(Update update, const Batch* batch = nullptr) {
    AdamArguments<P> a{};
    a.update = update;
    a.segments = segments_.data();
    a.blocks = blocks_.data();
    a.parameters = parameters_.data();
    a.m = m_.data();
    a.v = v_.data();
    a.forward = forward_weights_.data();
    a.backward = backward_weights_.data();
    a.gradient = gradient_.data();
    a.seen = seen_.data();
    a.clip = clip_.data();
    a.slots = slots_.data();
    a.factors = kept_.data();
    a.running = running_.data();
    a.seen_size = network_.running;
    a.frozen = job_.optimiser.frozen;
    a.factor_size = 2 * network_.graph_numbers;
    a.unscale = 1 / loss_scale_;
    a.bad = bad_.data();
    if (batch == nullptr) return a;
    a.slices = batch->words + batch->plan.slices();
    a.graphs = batch->plan.graphs;
    return a;
  }
  // `seen`: where to leave what the batch says of running means and variances.
  void gradient(const Batch& batch, float* out, bool adds, float* seen) {
    AdamArguments<P> a = adam(Update::gradient, &batch);
    a.gradient = out;
    a.adds = adds;
    a.seen = seen;
    run(adam_kernel<P>, network_.blocks.size(), a);
  }
  // What clipping multiplies the gradient by.
  void clip() {
    const std::size_t frozen = job_.optimiser.frozen;
    launch(squares_kernel, kClipParts, kClipThreads, 0, stream_, gradient_.data() + frozen, gradient_.size() - frozen,
           squares_.data());
    launch(clip_kernel, 1, kClipThreads, 0, stream_, squares_.data(), kClipParts,
           static_cast<float>(job_.optimiser.clip_norm), clip_.data());
  }

  const Job& job_;
  const DeviceGraphs& graphs_;
  const Network& network_;
  const Capacity& capacity_;
  Stream& stream_;
  const float loss_scale_ = P::kFast ? loss_scale_of(job_, network_) : 1.0f;
  PassInputs inputs_{};   // of the last pass
  bool updated_ = false;  // the last kernel has changed parameters
  uint32_t slices_ = 0;   // of the last dense step
  std::vector<uint32_t> measured_slices_ = std::vector<uint32_t>(network_.norms.size());  // of those before norms
  DeviceArray<float> parameters_{network_.parameters, "the parameters"};
  DeviceArray<float> m_{network_.parameters, "Adam's moments"}, v_{network_.parameters, "Adam's moments"};
  DeviceArray<Element> forward_weights_{network_.weights, "the weights"};
  DeviceArray<Element> backward_weights_{network_.weights, "the weights"};
  std::vector<DeviceArray<std::byte>> buffers_;  // of elements, or of floats
  std::vector<DeviceArray<Element>> gradients_;
  std::vector<DeviceArray<uint32_t>> maxima_;    // of aggregates over neighbours
  std::vector<DeviceArray<float>> part_values_;  // one per readout
  std::vector<DeviceArray<uint32_t>> part_rows_;
  std::vector<DeviceArray<float>> norms_;  // of every NormOp: means, scales, sums, products
  DeviceArray<float> running_{network_.running, "the means and variances of batches"};
  DeviceArray<float> d_logits_{
      network_.rows_of_loss == kNone ? 0 : std::size_t{capacity_.rows[network_.rows_of_loss]} * network_.classes,
      "the outputs' gradients"};
  DeviceArray<GraphStep> steps_ = DeviceArray<GraphStep>::from(network_.steps, "the steps over graphs", stream_);
  DeviceArray<float> kept_{std::size_t{capacity_.graphs} * 2 * network_.graph_numbers, "the head's gradients"};
  DeviceArray<float> d_pooled_{std::size_t{capacity_.graphs} * network_.pooled, "the head's gradients"};
  DeviceArray<float> slots_{network_.slots, "the gradients"};
  DeviceArray<uint32_t> winners_{std::size_t{capacity_.graphs} * network_.pooled, "the readout"};
  DeviceArray<Segment> segments_ = DeviceArray<Segment>::from(network_.segments, "the parameters' table", stream_);
  DeviceArray<AdamBlock> blocks_ = DeviceArray<AdamBlock>::from(network_.blocks, "the parameters' table", stream_);
  DeviceArray<int> bad_{1, "a counter"};
  DeviceArray<float> gradient_, squares_, clip_;  // where gradients are clipped or added up
  DeviceArray<float> seen_;                       // likewise: of each batch what is running_ after it
  DeviceArray<float> owned_;                      // where ranks share a step: the gradients of this one's batches
  std::unique_ptr<StepSum> sum_;                  // likewise
};

template <class P>
std::size_t bytes_of(const Network& network, const Capacity& capacity) {
  std::size_t bytes = 3 * network.parameters * sizeof(float) + 2 * network.weights * sizeof(typename P::Element) +
                      network.slots * sizeof(float);
  for (const BufferSpec& spec : network.buffers) bytes += buffer_bytes<P>(capacity, spec);
  for (const auto& values : network.gradients) {
    bytes += slot_size(network, capacity, values) * sizeof(typename P::Element);
  }
  for (const std::size_t v : network.winners) bytes += value_size(network, capacity, v) * sizeof(uint32_t);
  for (const std::size_t at : network.norms) bytes += norm_size(network, capacity, at) * sizeof(float);
  return bytes;
}

}  // namespace

std::unique_ptr<Runner> make_runner(Precision precision, const Job& job, const DeviceGraphs& graphs,
                                    const Network& network, const Capacity& capacity, Stream& stream, bool trains) {
  if (precision == Precision::fp32) {
    return std::make_unique<RunnerOf<Full>>(job, graphs, network, capacity, stream, trains);
  }
  return std::make_unique<RunnerOf<Mixed>>(job, graphs, network, capacity, stream, trains);
}

std::size_t runner_bytes(Precision precision, const Network& network, const Capacity& capacity) {
  return precision == Precision::fp32 ? bytes_of<Full>(network, capacity) : bytes_of<Mixed>(network, capacity);
}

}  // namespace tyche::engine::TYCHE_CUDA_NS
