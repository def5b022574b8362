#include <algorithm>

#include "engine/core/draw_tables.hpp"
#include "engine/core/edge_features.hpp"
#include "engine/core/head.hpp"
#include "engine/cpu/linear_rows.hpp"
#include "engine/cpu/models.hpp"
#include "engine/cpu/packed_model.hpp"
#include "engine/cpu/set_layer.hpp"
#include "engine/cpu/trainer.hpp"

namespace tyche::engine::cpu {

namespace {

// What all trials of a job look at.
struct Shared {
  Shared(const Job& job, std::uint64_t passes, unsigned threads) : drawn(job, passes, threads) {
    for (const Graph& graph : job.data.graphs) messages.push_back(node_messages(graph, nn::Aggregation::sum));
    for (std::uint32_t g = 0; g < messages.size() && job.model.edge_features > 0; ++g)
      edges.push_back(edge_rows(job, g));
  }
  std::vector<MessageGraph> messages;
  std::vector<EdgeRows> edges;  ///< where edges have features
  DrawTables drawn;
};

// One graph's forward pass, kept for the backward pass: a row per node.
struct GinTrace {
  const MessageGraph* messages = nullptr;
  Rows input_memory;
  View input;                       ///< of the linear map
  const EdgeRows* edges = nullptr;  ///< of the graph, where edges have features
  Rows edge_memory;
  View edge_input;  ///< their rows
  struct Step {
    Rows memory[4];
    View in, sums, hidden;  ///< of a layer: its input, (1 + ε) h + Σ messages, and the MLP's hidden layer
    View edges;             ///< what the layer makes of each row of edge features
  };
  std::vector<Step> steps;  ///< one more than there are layers: the last one's `in` is the output
  std::vector<std::uint32_t> winner;
  Head<float>::Pass head;
  AlignedFloats gradient;   ///< packed: of the linear layers
  std::vector<float> flat;  ///< of the head and of ε
  [[nodiscard]] std::size_t nodes() const { return messages->rows_in; }
  [[nodiscard]] std::size_t edge_rows(std::size_t columns) const {
    return edges == nullptr ? 0 : edges->count(columns);
  }
};

class GinModel final : public BatchModel {
 public:
  GinModel(const Job& job, const Kernels& kernels, std::shared_ptr<const Shared> shared)
      : job_(job),
        config_(job.model),
        kernels_(kernels),
        shared_(std::move(shared)),
        model_(job.model, kernels),
        layout_(nn::layout(job.model)),
        head_(layout_),
        columns_(model_.padded(config_.width)),
        first_(config_.deterministic_dims() > 0 ? 1 : 0),
        per_layer_(config_.edge_features > 0 ? 3 : 2),
        packed_(model_.packed_size()),
        derived_(model_.derived_size()) {
    for (std::uint32_t l = 0; l < config_.layers; ++l) {
      eps_.push_back(layout_.at("convs." + std::to_string(l) + ".eps").offset);
    }
  }

  void forward(std::span<const float> parameters, std::span<const std::uint32_t> graphs, const Inputs& inputs,
               const Crew& crew, std::span<float> logits) override {
    model_.pack(parameters, packed_.data());
    for (const PackedLayer& layer : model_.layers()) model_.make_copies(layer, packed_.data(), derived_.data());
    count_ = graphs.size();
    if (traces_.size() < count_) traces_.resize(count_);
    std::vector<std::size_t> before(count_, 0);  // nodes
    for (std::size_t g = 1; g < count_; ++g) before[g] = before[g - 1] + shared_->messages[graphs[g - 1]].rows_in;
    crew(count_, [&](std::size_t g) {
      const FlushDenormals flush;
      GinTrace& trace = traces_[g];
      trace.messages = &shared_->messages[graphs[g]];
      fill_inputs(graphs[g], inputs, before[g], trace);
      if (config_.edge_features > 0) fill_edges(graphs[g], trace);
      for (std::size_t l = 0; l < config_.layers; ++l) layer_forward(l, parameters[eps_[l]], trace);
      readout(trace);
      trace.head.factors.clear();
      if (inputs.dropout) {
        trace.head.factors.resize(config_.width);
        dropout_columns(config_, inputs, graphs[g], trace.head.factors);
      }
      head_.forward(parameters, trace.head);
      std::copy(trace.head.logits.begin(), trace.head.logits.end(),
                logits.begin() + static_cast<std::ptrdiff_t>(g * config_.classes));
    });
  }

  void backward(std::span<const float> parameters, std::span<const float> d_logits, const Crew& crew,
                std::span<float> gradient) override {
    crew(count_, [&](std::size_t g) {
      const FlushDenormals flush;
      const auto own = d_logits.subspan(g * config_.classes, config_.classes);
      graph_backward(parameters, {own.begin(), own.end()}, traces_[g]);
    });
    // Graph after graph, so that sums do not depend on threads.
    std::vector<float> linear(layout_.size);
    for (std::size_t g = 0; g < count_; ++g) {
      model_.unpack(traces_[g].gradient.data(), linear);
      for (std::size_t p = 0; p < linear.size(); ++p) gradient[p] += linear[p] + traces_[g].flat[p];
    }
  }

  [[nodiscard]] std::size_t group() const override { return job_.batch; }

 private:
  [[nodiscard]] LinearRows linear(std::size_t layer) const {
    return {kernels_, model_.layers()[layer], config_.activation, packed_.data(), derived_.data()};
  }

  // A matrix of a row per node: what the nodes' rows hold beyond `width` is zero.
  [[nodiscard]] View node_rows(Rows& memory, const GinTrace& trace) const {
    return memory.reserve(trace.nodes(), columns_);
  }

  void fill_inputs(std::uint32_t graph, const Inputs& inputs, std::size_t before, GinTrace& trace) const {
    trace.steps.resize(config_.layers + 1);
    const View h = trace.steps[0].in = node_rows(trace.steps[0].memory[0], trace);
    std::fill_n(h.data, trace.nodes() * columns_, 0.0f);
    if (first_ > 0) {
      const std::size_t stride = model_.padded(config_.pre_inputs());
      const View x = trace.input = trace.input_memory.reserve(trace.nodes(), stride);
      std::fill_n(x.data, trace.nodes() * stride, 0.0f);
      fixed_columns(job_, graph, x.data, stride);
      if (shared_->drawn.columns() > 0) fill_drawn(graph, inputs, x);
      linear(0).forward(trace.nodes(), x, h, Finish::add_bias);
    }
    random_columns(config_, inputs, graph, trace.nodes(), before, h.data + config_.deterministic_dims(), columns_);
  }

  void fill_edges(std::uint32_t graph, GinTrace& trace) const {
    trace.edges = &shared_->edges[graph];
    const std::size_t columns = config_.edge_features, rows = trace.edge_rows(columns);
    trace.edge_input = trace.edge_memory.reserve(rows, model_.padded(columns));
    for (std::size_t r = 0; r < rows; ++r) {
      std::copy_n(trace.edges->rows.data() + r * columns, columns, trace.edge_input.row(r));
    }
  }

  void fill_drawn(std::uint32_t graph, const Inputs& inputs, View x) const {
    std::vector<std::uint32_t> scratch;
    const std::uint32_t* numbers = shared_->drawn.numbers(inputs.key, graph, scratch);
    for (std::size_t v = 0; v < shared_->messages[graph].rows_in; ++v) {
      std::copy_n(shared_->drawn.code(numbers[v]), shared_->drawn.columns(), x.row(v) + config_.input_features);
    }
  }

  // Messages of a layer whose edges have features: each is a ReLU.
  [[nodiscard]] EdgeGather edge_messages(const GinTrace& trace, const GinTrace::Step& step, View out) const {
    EdgeGather gather;
    gather.sparse = &trace.messages->gather;
    gather.edge = trace.edges->row_of.data();
    gather.matrix = step.in.data;
    gather.edges = step.edges.data;
    gather.stride = columns_;
    gather.columns = columns_;
    gather.out = out.data;
    return gather;
  }

  void edges_backward(std::size_t l, float eps, GinTrace& trace, View d_sums, View d) const {
    const GinTrace::Step& step = trace.steps[l];
    const std::size_t rows = trace.edge_rows(config_.edge_features);
    thread_local Rows memory;
    const View d_edges = memory.reserve(rows, columns_);
    std::fill_n(d_edges.data, rows * columns_, 0.0f);
    EdgeScatter scatter;
    scatter.forward = edge_messages(trace, step, d);
    scatter.d = d_sums.data;
    scatter.d_edges = d_edges.data;
    kernels_.scatter_edges(scatter);
    kernels_.add_scaled(1 + eps, d_sums.data, d.data, trace.nodes() * columns_);
    linear(first_ + per_layer_ * l + 2)
        .backward(rows, trace.edge_input, d_edges, View{}, Finish::store, trace.gradient.data());
  }

  // out = A in + (1 + ε) in: A is symmetric, so this is its own transpose.
  void sum_up(float eps, const GinTrace& trace, View in, View out) const {
    GatherRows gather;
    gather.sparse = &trace.messages->gather;
    gather.last = trace.nodes();
    gather.matrix = in.data;
    gather.stride = columns_;
    gather.columns = columns_;
    gather.out = out.data;
    gather.out_stride = columns_;
    kernels_.gather_rows(gather);
    kernels_.add_scaled(1 + eps, in.data, out.data, trace.nodes() * columns_);
  }

  void layer_forward(std::size_t l, float eps, GinTrace& trace) const {
    GinTrace::Step& step = trace.steps[l];
    GinTrace::Step& next = trace.steps[l + 1];
    step.sums = node_rows(step.memory[1], trace);
    step.hidden = node_rows(step.memory[2], trace);
    next.in = node_rows(next.memory[0], trace);
    const std::size_t first = first_ + per_layer_ * l;
    if (trace.edges == nullptr) {
      sum_up(eps, trace, step.in, step.sums);
    } else {
      const std::size_t edges = trace.edge_rows(config_.edge_features);
      step.edges = step.memory[3].reserve(edges, columns_);
      linear(first + 2).forward(edges, trace.edge_input, step.edges, Finish::add_bias);
      kernels_.gather_edges(edge_messages(trace, step, step.sums));
      kernels_.add_scaled(1 + eps, step.in.data, step.sums.data, trace.nodes() * columns_);
    }
    linear(first).forward(trace.nodes(), step.sums, step.hidden, Finish::activate);
    linear(first + 1).forward(trace.nodes(), step.hidden, next.in, Finish::activate);
  }

  void readout(GinTrace& trace) const {
    const View h = trace.steps.back().in;
    const std::size_t width = config_.width, nodes = trace.nodes();
    std::vector<float>& pooled = trace.head.pooled;
    pooled.assign(width, 0.0f);  // of a graph without nodes
    if (nodes == 0) return;
    if (config_.readout == nn::Readout::max) {
      trace.winner.assign(width, 0);
      std::copy_n(h.row(0), width, pooled.data());
      for (std::size_t v = 1; v < nodes; ++v) {
        for (std::size_t c = 0; c < width; ++c) {
          if (h.row(v)[c] <= pooled[c]) continue;
          pooled[c] = h.row(v)[c];
          trace.winner[c] = static_cast<std::uint32_t>(v);
        }
      }
      return;
    }
    for (std::size_t v = 0; v < nodes; ++v) {
      for (std::size_t c = 0; c < width; ++c) pooled[c] += h.row(v)[c];
    }
    for (float& value : pooled) value *= share(nodes);
  }
  // What a node counts for in a sum or a mean.
  [[nodiscard]] float share(std::size_t nodes) const {
    return config_.readout == nn::Readout::mean ? 1 / static_cast<float>(nodes) : 1.0f;
  }

  void readout_backward(const GinTrace& trace, const std::vector<float>& d_pooled, View d) const {
    const std::size_t width = config_.width, nodes = trace.nodes();
    std::fill_n(d.data, nodes * columns_, 0.0f);
    for (std::size_t v = 0; v < nodes; ++v) {
      for (std::size_t c = 0; c < width; ++c) {
        if (config_.readout != nn::Readout::max) {
          d.row(v)[c] = share(nodes) * d_pooled[c];
        } else if (trace.winner[c] == v) {
          d.row(v)[c] = d_pooled[c];
        }
      }
    }
  }

  void graph_backward(std::span<const float> parameters, const std::vector<float>& d_logits, GinTrace& trace) const {
    if (trace.gradient.size() == 0) trace.gradient = AlignedFloats(model_.packed_size());
    std::fill_n(trace.gradient.data(), trace.gradient.size(), 0.0f);
    trace.flat.assign(layout_.size, 0.0f);
    thread_local Rows memory[3];
    const View d = node_rows(memory[0], trace), d_hidden = node_rows(memory[1], trace),
               d_sums = node_rows(memory[2], trace);
    readout_backward(trace, head_.backward(parameters, trace.head, d_logits, trace.flat), d);
    const std::size_t nodes = trace.nodes();
    for (std::size_t l = config_.layers; l-- > 0;) {
      const GinTrace::Step& step = trace.steps[l];
      kernels_.derive(config_.activation, trace.steps[l + 1].in.data, columns_, d.data, columns_, nodes, columns_);
      const std::size_t first = first_ + per_layer_ * l;
      linear(first + 1).backward(nodes, step.hidden, d, d_hidden, Finish::derive, trace.gradient.data());
      linear(first).backward(nodes, step.sums, d_hidden, d_sums, Finish::store, trace.gradient.data());
      double d_eps = 0;
      for (std::size_t v = 0; v < nodes; ++v) {
        for (std::size_t c = 0; c < config_.width; ++c) d_eps += double{d_sums.row(v)[c]} * step.in.row(v)[c];
      }
      trace.flat[eps_[l]] = static_cast<float>(d_eps);
      if (trace.edges != nullptr) {
        edges_backward(l, parameters[eps_[l]], trace, d_sums, d);
      } else if (l > 0 || first_ > 0) {
        sum_up(parameters[eps_[l]], trace, d_sums, d);
      }
    }
    // Nobody asks for a gradient of the random columns: they fall into the padding of the map's.
    if (first_ > 0) linear(0).backward(nodes, trace.input, d, View{}, Finish::store, trace.gradient.data());
  }

  const Job& job_;
  const nn::ModelConfig& config_;
  const Kernels& kernels_;
  std::shared_ptr<const Shared> shared_;
  PackedModel model_;
  nn::Layout layout_;
  Head<float> head_;
  std::size_t columns_;    ///< a row of width, padded
  std::size_t first_;      ///< the place of convs.0.nn.0 among the packed layers
  std::size_t per_layer_;  ///< how many of them a layer has: nn.0, nn.2 and where edges have features lin
  AlignedFloats packed_, derived_;
  std::vector<std::size_t> eps_;  ///< offsets
  // Of the last forward pass.
  std::vector<GinTrace> traces_;
  std::size_t count_ = 0;
};

}  // namespace

MakeModel gin_maker(const Job& job, const Kernels& kernels, std::uint64_t passes, unsigned threads) {
  return [&job, &kernels, shared = std::make_shared<const Shared>(job, passes, threads)] {
    return std::make_unique<GinModel>(job, kernels, shared);
  };
}

}  // namespace tyche::engine::cpu
