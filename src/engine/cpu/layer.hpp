#pragma once
/// A forward and backward pass through a few graphs at a time, in memory of its own: what one thread does with one
/// slice of a batch while it sits in the thread's cache.
///
///   Pass pass(model);
///   pass.forward(members, inputs, parameters);
///   pass.losses(job.data.targets, 1.0f / batch, tally);   // keeps the logits' gradients
///   pass.backward(parameters, {gradient, /*add=*/false});
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "engine/core/draw_tables.hpp"
#include "engine/core/message_graph.hpp"
#include "engine/core/outcome.hpp"
#include "engine/cpu/shared.hpp"

namespace tyche::engine::cpu {

// Forward and backward of one layer over the nodes of a slice of graphs, a chunk of rows at a time: gathered messages
// live only as long as their chunk, so memory beyond the activations does not grow with the graphs.
//
// The backward pass of a GraphConv z = h W_0 + (A h) W_1 + b needs no stored messages: with S = Aᵀ dz it is
// dW_0 = hᵀ dz, dW_1 = hᵀ S and dh = dz W_0ᵀ + S W_1ᵀ. Where edges have features, their sums of every row of the slice
// (core/inputs.hpp) are one more operand, handed over as `edges`; elsewhere that is an empty View.

/// One graph of a slice.
struct Member {
  std::uint32_t graph = 0;                 ///< its index in the data, which keys its random numbers
  const MessageGraph* messages = nullptr;  ///< between its nodes (node_messages)
  const float* edges = nullptr;            ///< nodes × edge_features: edge_sums(), where edges have features
  std::size_t first = 0;                   ///< where its rows begin in every layer
  std::size_t before = 0;    ///< nodes of the graphs before it among those asked for: where its pinned ones are
  std::size_t position = 0;  ///< of its answer among those asked for
  [[nodiscard]] std::size_t nodes() const { return messages->rows_in; }
};

/// Rows of a layer in all.
[[nodiscard]] inline std::size_t rows_of(std::span<const Member> members) {
  return members.empty() ? 0 : members.back().first + members.back().nodes();
}

/// Where a gradient goes: stored, or added to what is there. Either way the slice's own sum is complete before it is
/// added, so that adding slice after slice and summing stored slices up later give the same bits.
struct GradientSink {
  float* packed = nullptr;
  bool add = false;
};

/// The gradient of a max readout: for column c of graph g, `gradient` (before the activation) arrives at row `row` of
/// the graph's outputs.
struct Winners {
  const std::uint32_t* row = nullptr;  ///< graphs × stride, counted within the graph
  const float* gradient = nullptr;     ///< graphs × stride
  std::size_t stride = 0;
};

// Rows worked on together. A product's left operands are read once per panel and should stay in the first cache. The
// sums of a gradient are begun and ended once per chunk, which only longer chunks make up for.
inline constexpr std::size_t kProductChunk = 64;
inline constexpr std::size_t kGradientChunk = 256;

// [0, rows) in nearly equal chunks; at least one, so that a layer without rows still stores a gradient of zeros.
template <class Body>
inline void for_chunks(std::size_t rows, std::size_t most, const Body& body) {
  const std::size_t chunks = std::max<std::size_t>(1, (rows + most - 1) / most);
  for (std::size_t c = 0; c < chunks; ++c) body(rows * c / chunks, rows * (c + 1) / chunks, c == 0, c + 1 == chunks);
}

class LayerRunner {
 public:
  explicit LayerRunner(const PackedModel& model) : model_(model), kernels_(model.kernels()) {
    std::size_t widest = 0, largest = 0;
    for (const PackedLayer& layer : model.layers()) {
      widest = std::max({widest, model.stride(layer.in), model.stride(layer.out)});
      if (!layer.by_rows) largest = std::max(largest, layer.forward.count * layer.forward.panel_stride);
    }
    constexpr std::size_t kMost = std::max(kProductChunk, kGradientChunk);
    chunk_memory_ = AlignedFloats(kMost * widest);
    gathered_ = {chunk_memory_.data(), widest};
    partial_ = AlignedFloats(largest);
  }
  /// out = activation(layer(in)) on all output rows of the members.
  void conv_forward(const PackedLayer& layer, const Parameters& parameters, std::span<const Member> members, View in,
                    View out, View edges = {}) {
    const std::size_t columns = model_.padded(layer.in);
    for_chunks(rows_of(members), kProductChunk, [&](std::size_t first, std::size_t last, bool, bool) {
      gather(members, &MessageGraph::gather, in, columns, first, last, gathered_);
      kernels_.rows_product({.rows = last - first,
                             .depth = layer.in,
                             .terms = 2,
                             .left = {in.from(first), gathered_},
                             .more = edges.from(first),
                             .more_depth = layer.edge,
                             .right = layer.forward.in(layer.by_rows ? parameters.derived : parameters.packed),
                             .out = out.from(first),
                             .finish = Finish::activate,
                             .activation = model_.config().activation,
                             .bias = parameters.packed + layer.bias});
    });
  }
  /// From d_out, the gradient of the layer's output before its activation. d_in, unused where the layer needs no input
  /// gradient, becomes that of the input before the activation which made it.
  void conv_backward(const PackedLayer& layer, const Parameters& parameters, std::span<const Member> members, View in,
                     View d_out, View d_in, GradientSink sink, View edges = {}) {
    const std::size_t columns = model_.padded(layer.out);
    kernels_.column_sums(d_out, rows_of(members), columns, sink.add, sink.packed + layer.bias);
    float* const whole = sink.packed + layer.forward.offset;
    const auto chunk = [&](std::size_t first, std::size_t last, bool first_chunk, bool last_chunk) {
      gather(members, &MessageGraph::scatter, d_out, columns, first, last, gathered_);
      const View right[] = {d_out.from(first), gathered_};
      weight_gradient(kernels_, layer, last - first, in.from(first), right, edges.from(first),
                      first_chunk ? nullptr : partial_.data(), last_chunk && sink.add ? whole : nullptr,
                      last_chunk ? whole : partial_.data());
      if (layer.needed == 0) return;
      for_chunks(last - first, kProductChunk, [&](std::size_t from, std::size_t to, bool, bool) {
        kernels_.rows_product({.rows = to - from,
                               .depth = layer.out,
                               .terms = 2,
                               .left = {right[0].from(from), gathered_.from(from)},
                               .right = layer.backward.in(parameters.derived),
                               .out = d_in.from(first + from),
                               .finish = Finish::derive,
                               .activation = model_.config().activation,
                               .outputs = in.from(first + from)});
      });
    };
    for_chunks(rows_of(members), kGradientChunk, chunk);
  }
  /// The same under max readout, where all but one entry per graph and column of d_out are zero. Requires
  /// layer.by_rows.
  // The backward pass of the last convolution under max readout. Of d_out only one entry per graph and column is not
  // zero, so instead of three products there are, per graph and column, a few sums over one row: 2 % of their cost.
  void conv_backward_sparse(const PackedLayer& layer, const Parameters& parameters, std::span<const Member> members,
                            View in, const Winners& winners, View d_in, GradientSink sink, View edges = {}) {
    find_winners(layer, members, winners);
    const std::size_t columns = model_.padded(layer.in), stride = model_.stride(layer.in);
    if (winner_memory_.size() < (distinct_.size() + 1) * stride) {
      winner_memory_ = AlignedFloats((distinct_.size() + 1) * stride);
    }
    const View messages{winner_memory_.data(), stride};
    for (std::size_t g = 0; g < members.size(); ++g) {
      for (std::size_t i = begin_[g]; i < begin_[g + 1]; ++i) {
        const std::size_t row = members[g].first + distinct_[i];
        gather(members, &MessageGraph::gather, in, columns, row, row + 1, {messages.row(i), stride});
      }
    }
    sparse_weight_gradient(layer, members, in, messages, winners, sink, edges);
    if (layer.needed > 0) sparse_input_gradient(layer, parameters, members, in, winners, d_in);
  }
  void linear_forward(const PackedLayer& layer, const Parameters& parameters, std::size_t rows, View in, View out,
                      Finish finish) {
    kernels_.rows_product({.rows = rows,
                           .depth = layer.in,
                           .left = {in},
                           .right = layer.forward.in(parameters.packed),
                           .out = out,
                           .finish = finish,
                           .bias = parameters.packed + layer.bias});
  }
  /// d_in = finish(d_out · Wᵀ); Finish::derive multiplies with the ELU's derivative at `activated`.
  void linear_backward(const PackedLayer& layer, const Parameters& parameters, std::size_t rows, View in, View d_out,
                       View d_in, Finish finish, View activated, GradientSink sink) {
    kernels_.column_sums(d_out, rows, model_.padded(layer.out), sink.add, sink.packed + layer.bias);
    float* const whole = sink.packed + layer.forward.offset;
    weight_gradient(kernels_, layer, rows, in, &d_out, {}, nullptr, sink.add ? whole : nullptr, whole);
    kernels_.rows_product({.rows = rows,
                           .depth = layer.out,
                           .left = {d_out},
                           .right = layer.backward.in(parameters.derived),
                           .out = d_in,
                           .finish = finish,
                           .outputs = activated});
  }

 private:
  /// Rows [first, last) of the block-diagonal matrix of all members times `from`, into `to` from its row 0.
  void gather(std::span<const Member> members, SparseRows MessageGraph::*which, View from, std::size_t columns,
              std::size_t first, std::size_t last, View to) const {
    auto member = std::upper_bound(members.begin(), members.end(), first,
                                   [](std::size_t row, const Member& m) { return row < m.first; });
    if (member != members.begin()) --member;
    for (; member != members.end() && member->first < last; ++member) {
      const SparseRows& sparse = member->messages->*which;
      const std::size_t begin = member->first;
      const std::size_t from_row = std::max(first, begin) - begin,
                        to_row = std::min(last, begin + sparse.rows()) - begin;
      if (from_row >= to_row) continue;
      kernels_.gather_rows({&sparse, from_row, to_row, from.from(begin), columns, to.from(begin + from_row - first)});
    }
  }

  const PackedModel& model_;
  const Kernels& kernels_;
  AlignedFloats chunk_memory_;
  AlignedFloats partial_;  ///< a layer's gradient while its chunks are summed
  View gathered_;          ///< a chunk of rows
  // The sparse backward pass; kept from call to call to spare allocations.
  // distinct_: the rows that won something, those of graph g from begin_[g] on; places_: for every graph and column,
  // which of them won.
  void find_winners(const PackedLayer& layer, std::span<const Member> members, const Winners& winners) {
    const std::size_t graphs = members.size();
    distinct_.clear();
    first_column_.clear();
    places_.assign(graphs * layer.out, 0);
    next_column_.resize(graphs * layer.out);
    begin_.assign(graphs + 1, 0);
    for (std::size_t g = 0; g < graphs; ++g) {
      slots_.resize(std::max(slots_.size(), members[g].nodes()), -1);
      for (std::size_t j = 0; j < layer.out && members[g].nodes() > 0; ++j) {
        const std::uint32_t row = winners.row[g * winners.stride + j];
        if (slots_[row] < 0) {
          slots_[row] = static_cast<std::int32_t>(distinct_.size());
          distinct_.push_back(row);
        }
        places_[g * layer.out + j] = static_cast<std::uint32_t>(slots_[row]);
      }
      first_column_.resize(distinct_.size(), layer.out);
      for (std::size_t j = layer.out; j-- > 0 && members[g].nodes() > 0;) {
        next_column_[g * layer.out + j] = std::exchange(first_column_[places_[g * layer.out + j]], j);
      }
      begin_[g + 1] = distinct_.size();
      for (std::size_t i = begin_[g]; i < begin_[g + 1]; ++i) slots_[distinct_[i]] = -1;
    }
  }
  // Every column's weights: from the rows that won it, from their messages (a row per winner) and their edges' sums.
  void sparse_weight_gradient(const PackedLayer& layer, std::span<const Member> members, View in, View messages,
                              const Winners& winners, GradientSink sink, View edges) {
    const std::size_t graphs = members.size(), columns = model_.padded(layer.in);
    float* bias = sink.packed + layer.bias;
    if (!sink.add) std::fill_n(bias, model_.padded(layer.out), 0.0f);
    for (std::size_t j = 0; j < layer.out; ++j) {
      float* to = sink.packed + layer.row_of(j);
      float sum = 0;
      weights_.clear();
      for (std::size_t g = 0; g < graphs; ++g) {
        if (begin_[g] == begin_[g + 1]) continue;
        weights_.push_back(winners.gradient[g * winners.stride + j]);
        sum += weights_.back();
      }
      bias[j] += sum;
      // What the rows of the winners, row_of(graph), give to some of the weights.
      const auto give = [&](std::size_t width, float* weights, const auto& row_of) {
        rows_.clear();
        for (std::size_t g = 0; g < graphs; ++g) {
          if (begin_[g] != begin_[g + 1]) rows_.push_back(row_of(g));
        }
        kernels_.weighted_rows(rows_.data(), weights_.data(), rows_.size(), width, sink.add, weights);
      };
      const auto winner = [&](std::size_t g) { return members[g].first + winners.row[g * winners.stride + j]; };
      give(columns, to, [&](std::size_t g) { return in.row(winner(g)); });
      give(columns, to + layer.row_stride, [&](std::size_t g) { return messages.row(places_[g * layer.out + j]); });
      if (layer.edge == 0) continue;
      give(model_.padded(layer.edge), to + layer.terms * layer.row_stride,
           [&](std::size_t g) { return edges.row(winner(g)); });
    }
  }
  // Back to the inputs: to the winners, to their messages, and through these to their neighbours. Columns with the
  // same winner are summed together.
  void sparse_input_gradient(const PackedLayer& layer, const Parameters& parameters, std::span<const Member> members,
                             View in, const Winners& winners, View d_in) {
    const std::size_t needed = model_.padded(layer.needed), inputs = rows_of(members);
    float* d_message = winner_memory_.data() + distinct_.size() * model_.stride(layer.in);
    for (std::size_t r = 0; r < inputs; ++r) std::fill_n(d_in.row(r), needed, 0.0f);
    for (std::size_t g = 0; g < members.size(); ++g) {
      const MessageGraph& m = *members[g].messages;
      if (begin_[g] == begin_[g + 1]) continue;
      for (std::size_t i = begin_[g]; i < begin_[g + 1]; ++i) {
        const std::uint32_t row = distinct_[i];
        weights_.clear();
        rows_.clear();
        for (std::size_t j = first_column_[i]; j < layer.out; j = next_column_[g * layer.out + j]) {
          weights_.push_back(winners.gradient[g * winners.stride + j]);
          rows_.push_back(parameters.packed + layer.row_of(j));
        }
        float* d_root = d_in.row(members[g].first + row);
        kernels_.weighted_rows(rows_.data(), weights_.data(), rows_.size(), needed, true, d_root);
        for (const float*& weight : rows_) weight += layer.row_stride;
        kernels_.weighted_rows(rows_.data(), weights_.data(), rows_.size(), needed, false, d_message);
        for (std::uint64_t e = m.gather.offsets[row]; e < m.gather.offsets[row + 1]; ++e) {
          kernels_.add_scaled(m.gather.value(row, e), d_message, d_in.row(members[g].first + m.gather.columns[e]),
                              needed);
        }
      }
    }
    kernels_.derive(model_.config().activation, in, d_in, inputs, needed);
    // Columns that are no output of the layer before stay zero, as its padding must.
    for (std::size_t r = 0; r < inputs && layer.needed < needed; ++r) {
      std::fill(d_in.row(r) + layer.needed, d_in.row(r) + needed, 0.0f);
    }
  }
  AlignedFloats winner_memory_;          ///< messages of the winners of all graphs, one after another
  std::vector<std::int32_t> slots_;      ///< row within a graph -> its place among the winners, or -1
  std::vector<std::uint32_t> distinct_;  ///< the rows that won something, graph after graph
  std::vector<std::size_t> begin_;       ///< where each graph's begin
  std::vector<std::uint32_t> places_;    ///< graphs × columns: the winner's place in distinct_
  /// The columns that a row won, ascending: its first one, one per place in distinct_, and the one after each, graphs ×
  /// columns. Behind the last stands the number of columns.
  std::vector<std::size_t> first_column_, next_column_;
  std::vector<const float*> rows_;
  std::vector<float> weights_;
};

class Pass {
 public:
  /// All must outlive it.
  Pass(const Job& job, const PackedModel& model, const DrawTables& drawn)
      : job_(job), model_(model), kernels_(model.kernels()), drawn_(drawn), layers_(model) {}
  /// The logits of graphs that are worked through together; their gradients are summed in this order. `members` must
  /// outlive losses() and backward().
  void forward(std::span<const Member> members, const Inputs& inputs, const Parameters& parameters) {
    members_ = members;
    reserve(std::max<std::size_t>(1, rows_of(members_)), std::max<std::size_t>(1, members_.size()));
    fill_edges();
    fill_inputs(inputs, parameters);
    for (std::size_t l = 0; l < model_.convs().size(); ++l) {
      layers_.conv_forward(model_.convs()[l], parameters, members_, convs_[l], convs_[l + 1], edges_);
    }
    readout();
    head_forward(inputs, parameters);
  }
  /// Each at its place among those asked for.
  void logits(std::span<float> out) const {
    const std::size_t classes = model_.config().classes;
    for (std::size_t g = 0; g < members_.size(); ++g) {
      std::copy_n(logits_.row(g), classes, out.data() + members_[g].position * classes);
    }
  }
  /// Adds every member's loss and hit to `tally`, and keeps the logits' gradients times `scale`.
  void losses(const Targets& targets, float scale, Tally& tally) {
    for (std::size_t g = 0; g < members_.size(); ++g) {
      const SerialOutputs<float> outputs(logits_.row(g), model_.config().classes, d_logits_.row(g));
      tally.add(job_loss(job_, targets, members_[g].graph, outputs, scale));
    }
  }
  /// The gradient of the slice, packed.
  void backward(const Parameters& parameters, GradientSink sink) {
    head_backward(parameters, sink);
    const auto convs = model_.convs();
    View d_out = d_a_, d_in = d_b_;
    std::size_t left = convs.size();  // layers whose backward pass is still to come
    if (convs.back().by_rows) {
      --left;
      // The pooled values are the last layer's at the rows that won.
      kernels_.derive(model_.config().activation, pooled_, d_pooled_, members_.size(),
                      model_.padded(model_.config().width));
      layers_.conv_backward_sparse(convs[left], parameters, members_, convs_[left],
                                   {winners_.data(), d_pooled_.data, pooled_.stride}, d_out, sink, edges_);
    } else {
      spread_readout(d_out);
    }
    while (left > 0) {
      --left;
      layers_.conv_backward(convs[left], parameters, members_, convs_[left], d_out, d_in, sink, edges_);
      std::swap(d_out, d_in);
    }
    if (model_.pre().empty()) return;
    layers_.conv_backward(model_.pre()[1], parameters, members_, pre_hidden_, d_out, d_in, sink, edges_);
    layers_.conv_backward(model_.pre()[0], parameters, members_, features_, d_in, d_out, sink, edges_);
  }

 private:
  struct Wanted {
    View* view;
    std::size_t stride;
  };
  // Memory for views of `rows` rows, which are put there. Starts are spread over the sets of a cache, so that the same
  // row of several matrices does not fall on the same set.
  static AlignedFloats carve(std::size_t rows, std::span<const Wanted> wanted) {
    std::vector<std::size_t> begin = {0};
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      begin.push_back(begin.back() + rows * wanted[i].stride + kAlign * (7 + 13 * (i % 8)));
    }
    AlignedFloats memory(begin.back());
    for (std::size_t i = 0; i < wanted.size(); ++i) *wanted[i].view = {memory.data() + begin[i], wanted[i].stride};
    return memory;
  }
  void reserve(std::size_t rows, std::size_t graphs) {
    const nn::ModelConfig& config = model_.config();
    const std::size_t width = model_.stride(config.width);
    if (rows > row_capacity_) {
      std::vector<Wanted> wanted;
      if (!model_.pre().empty()) {
        wanted.push_back({&features_, model_.stride(config.pre_inputs())});
        wanted.push_back({&pre_hidden_, model_.stride(config.pre_hidden)});
      }
      if (config.edge_features > 0) wanted.push_back({&edges_, model_.stride(config.edge_features)});
      convs_.resize(config.layers + 1);
      for (View& conv : convs_) wanted.push_back({&conv, width});
      const std::size_t widest = std::max(width, model_.stride(config.pre_hidden));
      for (View* d : {&d_a_, &d_b_}) wanted.push_back({d, widest});
      row_memory_ = AlignedFloats();  // before the larger one is there
      row_memory_ = carve(rows, wanted);
      row_capacity_ = rows;
    }
    if (graphs > graph_capacity_) {
      std::vector<Wanted> wanted;
      for (View* view : {&pooled_, &hidden1_, &dropped_, &dropout_, &d_pooled_, &d_hidden1_}) {
        wanted.push_back({view, width});
      }
      for (View* view : {&hidden2_, &d_hidden2_}) wanted.push_back({view, model_.stride(config.head_hidden)});
      for (View* view : {&logits_, &d_logits_}) wanted.push_back({view, model_.stride(config.classes)});
      graph_memory_ = carve(graphs, wanted);
      winners_ = AlignedBuffer<std::uint32_t>(graphs * width);
      graph_capacity_ = graphs;
    }
  }
  // Node features and, behind them, drawn columns.
  void fill_features(const Inputs& inputs) {
    const std::size_t columns = model_.config().input_features;
    for (std::size_t g = 0; g < members_.size(); ++g) {
      fixed_columns(job_, members_[g].graph, features_.row(members_[g].first), features_.stride);
      if (drawn_.columns() == 0) continue;
      drawn_.fill(inputs.key, members_[g].graph, features_.row(members_[g].first) + columns, features_.stride);
    }
  }
  void fill_edges() {
    const std::size_t columns = model_.config().edge_features;
    for (std::size_t g = 0; g < members_.size() && columns > 0; ++g) {
      for (std::size_t v = 0; v < members_[g].nodes(); ++v) {
        std::copy_n(members_[g].edges + v * columns, columns, edges_.row(members_[g].first + v));
      }
    }
  }
  void fill_inputs(const Inputs& inputs, const Parameters& parameters) {
    const nn::ModelConfig& config = model_.config();
    const std::size_t fixed = config.deterministic_dims();
    const std::size_t random = config.random_dims();
    if (fixed > 0) {
      fill_features(inputs);
      layers_.conv_forward(model_.pre()[0], parameters, members_, features_, pre_hidden_, edges_);
      layers_.conv_forward(model_.pre()[1], parameters, members_, pre_hidden_, convs_[0], edges_);
    }
    // After the deterministic columns, whose layer has written zeros into its padding.
    for (std::size_t g = 0; g < members_.size() && random > 0; ++g) {
      random_rows(kernels_, config, inputs, members_[g].graph, members_[g].nodes(), members_[g].before,
                  convs_[0].row(members_[g].first) + fixed, convs_[0].stride);
    }
  }
  void readout() {
    for (std::size_t g = 0; g < members_.size(); ++g) {
      read_out(kernels_, model_.config().readout, {members_[g].nodes()}, convs_.back().from(members_[g].first),
               model_.padded(model_.config().width), pooled_.row(g), winners_.data() + g * pooled_.stride);
    }
  }
  // The gradient of a mean or sum readout, before the last activation.
  void spread_readout(View d_out) {
    const std::size_t columns = model_.padded(model_.config().width);
    for (std::size_t g = 0; g < members_.size(); ++g) {
      spread_out(model_.config().readout, {members_[g].nodes()}, d_pooled_.row(g), nullptr, columns,
                 d_out.from(members_[g].first), false);
    }
    kernels_.derive(model_.config().activation, convs_.back(), d_out, rows_of(members_), columns);
  }
  void head_forward(const Inputs& inputs, const Parameters& parameters) {
    const std::size_t graphs = members_.size();
    const auto head = model_.head();
    layers_.linear_forward(head[0], parameters, graphs, pooled_, hidden1_, Finish::activate);
    const std::size_t columns = model_.padded(model_.config().width);
    const bool dropping = inputs.dropout && model_.config().dropout > 0;
    for (std::size_t g = 0; g < graphs; ++g) {
      float* factors = dropout_.row(g);
      std::fill_n(factors, columns, 1.0f);
      if (dropping) dropout_columns(model_.config(), inputs, members_[g].graph, {factors, model_.config().width});
      for (std::size_t c = 0; c < columns; ++c) dropped_.row(g)[c] = hidden1_.row(g)[c] * factors[c];
    }
    layers_.linear_forward(head[1], parameters, graphs, dropped_, hidden2_, Finish::activate);
    layers_.linear_forward(head[2], parameters, graphs, hidden2_, logits_, Finish::add_bias);
  }
  void head_backward(const Parameters& parameters, GradientSink sink) {
    const std::size_t graphs = members_.size();
    const auto head = model_.head();
    layers_.linear_backward(head[2], parameters, graphs, hidden2_, d_logits_, d_hidden2_, Finish::derive, hidden2_,
                            sink);
    layers_.linear_backward(head[1], parameters, graphs, dropped_, d_hidden2_, d_hidden1_, Finish::derive, hidden1_,
                            sink);
    const std::size_t columns = model_.padded(model_.config().width);
    for (std::size_t g = 0; g < graphs; ++g) {
      for (std::size_t c = 0; c < columns; ++c) d_hidden1_.row(g)[c] *= dropout_.row(g)[c];
    }
    layers_.linear_backward(head[0], parameters, graphs, pooled_, d_hidden1_, d_pooled_, Finish::store, View{}, sink);
  }

  const Job& job_;
  const PackedModel& model_;
  const Kernels& kernels_;
  const DrawTables& drawn_;
  LayerRunner layers_;
  std::span<const Member> members_;

  // One row per node.
  std::size_t row_capacity_ = 0;
  AlignedFloats row_memory_;
  View features_;            ///< input of pre.0
  View edges_;               ///< sums of edge features, beside the input of every convolution
  View pre_hidden_;          ///< output of pre.0
  std::vector<View> convs_;  ///< input of the first convolution, then the output of each
  View d_a_, d_b_;           ///< gradients, in turns

  // One row per graph.
  std::size_t graph_capacity_ = 0;
  AlignedFloats graph_memory_;
  View pooled_, hidden1_, dropped_, hidden2_, logits_, dropout_;
  View d_pooled_, d_hidden1_, d_hidden2_, d_logits_;
  AlignedBuffer<std::uint32_t> winners_;  ///< row of each column's maximum; the stride is pooled_'s
};

}  // namespace tyche::engine::cpu
