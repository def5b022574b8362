#include "engine/cpu/pass.hpp"

#include <algorithm>
#include <cmath>

namespace tyche::engine::cpu {

namespace {

// Cuts views of `rows` rows out of one piece of memory: first measured, then placed. Starts are spread over the sets of
// a cache, so that the same row of several matrices does not fall on the same set.
class Carver {
 public:
  explicit Carver(float* memory) : memory_(memory) {}
  View view(std::size_t rows, std::size_t stride) {
    const std::size_t place = used_;
    used_ += rows * stride + kAlign * (7 + 13 * (count_++ % 8));
    return {memory_ == nullptr ? nullptr : memory_ + place, stride};
  }
  [[nodiscard]] std::size_t used() const { return used_; }

 private:
  float* memory_;
  std::size_t used_ = 0;
  std::size_t count_ = 0;
};

}  // namespace

Pass::Pass(const Job& job, const PackedModel& model, const DrawTables& drawn)
    : job_(job), model_(model), kernels_(model.kernels()), drawn_(drawn), layers_(model) {}

void Pass::reserve(std::size_t rows, std::size_t graphs) {
  const nn::ModelConfig& config = model_.config();
  const std::size_t width = model_.stride(config.width);
  if (rows > row_capacity_) {
    const auto place = [&](Carver carver) {
      if (!model_.pre().empty()) {
        features_ = carver.view(rows, model_.stride(config.pre_inputs()));
        pre_hidden_ = carver.view(rows, model_.stride(config.pre_hidden));
      }
      if (config.edge_features > 0) edges_ = carver.view(rows, model_.stride(config.edge_features));
      convs_.clear();
      for (std::size_t l = 0; l <= config.layers; ++l) convs_.push_back(carver.view(rows, width));
      const std::size_t widest = std::max(width, model_.stride(config.pre_hidden));
      d_a_ = carver.view(rows, widest);
      d_b_ = carver.view(rows, widest);
      return carver.used();
    };
    row_memory_ = AlignedFloats();  // before the larger one is there
    row_memory_ = AlignedFloats(place(Carver(nullptr)));
    place(Carver(row_memory_.data()));
    row_capacity_ = rows;
  }
  if (graphs > graph_capacity_) {
    const auto place = [&](Carver carver) {
      for (View* view : {&pooled_, &hidden1_, &dropped_, &dropout_, &d_pooled_, &d_hidden1_}) {
        *view = carver.view(graphs, width);
      }
      for (View* view : {&hidden2_, &d_hidden2_}) *view = carver.view(graphs, model_.stride(config.head_hidden));
      for (View* view : {&logits_, &d_logits_}) *view = carver.view(graphs, model_.stride(config.classes));
      return carver.used();
    };
    graph_memory_ = AlignedFloats(place(Carver(nullptr)));
    place(Carver(graph_memory_.data()));
    winners_ = AlignedBuffer<std::uint32_t>(graphs * width);
    graph_capacity_ = graphs;
  }
}

// Node features and, behind them, drawn columns.
void Pass::fill_features(const Slice& slice) {
  const std::size_t columns = model_.config().input_features;
  for (std::size_t g = 0; g < members_.size(); ++g) {
    fixed_columns(job_, members_[g].graph, features_.row(pieces_[g].first), features_.stride);
    if (drawn_.columns() == 0) continue;
    drawn_.fill(slice.inputs.key, members_[g].graph, features_.row(pieces_[g].first) + columns, features_.stride);
  }
}

void Pass::fill_edges() {
  const std::size_t columns = model_.config().edge_features;
  for (std::size_t g = 0; g < members_.size() && columns > 0; ++g) {
    for (std::size_t v = 0; v < pieces_[g].nodes(); ++v) {
      std::copy_n(members_[g].edges + v * columns, columns, edges_.row(pieces_[g].first + v));
    }
  }
}

void Pass::fill_inputs(const Slice& slice, const Parameters& parameters) {
  const nn::ModelConfig& config = model_.config();
  const std::size_t fixed = config.deterministic_dims();
  const std::size_t random = config.random_dims();
  if (fixed > 0) {
    fill_features(slice);
    layers_.conv_forward(model_.pre()[0], parameters, pieces_, features_, pre_hidden_, edges_);
    layers_.conv_forward(model_.pre()[1], parameters, pieces_, pre_hidden_, convs_[0], edges_);
  }
  // After the deterministic columns, whose layer has written zeros into its padding.
  for (std::size_t g = 0; g < members_.size() && random > 0; ++g) {
    random_rows(kernels_, config, slice.inputs, members_[g].graph, pieces_[g].nodes(), members_[g].before,
                convs_[0].row(pieces_[g].first) + fixed, convs_[0].stride);
  }
}

void Pass::forward(const Slice& slice, const Parameters& parameters) {
  members_ = slice.members;
  pieces_.clear();
  std::size_t rows = 0;
  for (const Member& member : members_) {
    pieces_.push_back({member.messages, rows});
    rows += member.messages->rows_in;
  }
  reserve(std::max<std::size_t>(1, rows), std::max<std::size_t>(1, members_.size()));
  fill_edges();
  fill_inputs(slice, parameters);
  for (std::size_t l = 0; l < model_.convs().size(); ++l) {
    layers_.conv_forward(model_.convs()[l], parameters, pieces_, convs_[l], convs_[l + 1], edges_);
  }
  readout();
  head_forward(slice, parameters);
}

void Pass::readout() {
  for (std::size_t g = 0; g < pieces_.size(); ++g) {
    read_out(kernels_, model_.config().readout, {pieces_[g].nodes()}, convs_.back().from(pieces_[g].first),
             model_.padded(model_.config().width), pooled_.row(g), winners_.data() + g * pooled_.stride);
  }
}

// The gradient of a mean or sum readout, before the last activation.
void Pass::spread_readout(View d_out) {
  const std::size_t columns = model_.padded(model_.config().width);
  for (std::size_t g = 0; g < pieces_.size(); ++g) {
    spread_out(model_.config().readout, {pieces_[g].nodes()}, d_pooled_.row(g), nullptr, columns,
               d_out.from(pieces_[g].first), false);
  }
  kernels_.derive(model_.config().activation, convs_.back(), d_out, rows_of(pieces_), columns);
}

void Pass::head_forward(const Slice& slice, const Parameters& parameters) {
  const std::size_t graphs = members_.size();
  const auto head = model_.head();
  layers_.linear_forward(head[0], parameters, graphs, pooled_, hidden1_, Finish::activate);
  const std::size_t columns = model_.padded(model_.config().width);
  const bool dropping = slice.inputs.dropout && model_.config().dropout > 0;
  for (std::size_t g = 0; g < graphs; ++g) {
    float* factors = dropout_.row(g);
    std::fill_n(factors, columns, 1.0f);
    if (dropping) dropout_columns(model_.config(), slice.inputs, members_[g].graph, {factors, model_.config().width});
    for (std::size_t c = 0; c < columns; ++c) dropped_.row(g)[c] = hidden1_.row(g)[c] * factors[c];
  }
  layers_.linear_forward(head[1], parameters, graphs, dropped_, hidden2_, Finish::activate);
  layers_.linear_forward(head[2], parameters, graphs, hidden2_, logits_, Finish::add_bias);
}

void Pass::losses(const Job& job, const Targets& targets, float scale, Tally& tally) {
  for (std::size_t g = 0; g < members_.size(); ++g) {
    const SerialOutputs<float> outputs(logits_.row(g), model_.config().classes, d_logits_.row(g));
    tally.add(job_loss(job, targets, members_[g].graph, outputs, scale));
  }
}

void Pass::head_backward(const Parameters& parameters, GradientSink sink) {
  const std::size_t graphs = members_.size();
  const auto head = model_.head();
  layers_.linear_backward(head[2], parameters, graphs, hidden2_, d_logits_, d_hidden2_, Finish::derive, hidden2_, sink);
  layers_.linear_backward(head[1], parameters, graphs, dropped_, d_hidden2_, d_hidden1_, Finish::derive, hidden1_,
                          sink);
  const std::size_t columns = model_.padded(model_.config().width);
  for (std::size_t g = 0; g < graphs; ++g) {
    for (std::size_t c = 0; c < columns; ++c) d_hidden1_.row(g)[c] *= dropout_.row(g)[c];
  }
  layers_.linear_backward(head[0], parameters, graphs, pooled_, d_hidden1_, d_pooled_, Finish::store, View{}, sink);
}

void Pass::backward(const Parameters& parameters, GradientSink sink) {
  head_backward(parameters, sink);
  const auto convs = model_.convs();
  View d_out = d_a_, d_in = d_b_;
  std::size_t left = convs.size();  // layers whose backward pass is still to come
  if (convs.back().by_rows) {
    --left;
    // The pooled values are the last layer's at the rows that won.
    kernels_.derive(model_.config().activation, pooled_, d_pooled_, members_.size(),
                    model_.padded(model_.config().width));
    layers_.conv_backward_sparse(convs[left], parameters, pieces_, convs_[left],
                                 {winners_.data(), d_pooled_.data, pooled_.stride}, d_out, sink, edges_);
  } else {
    spread_readout(d_out);
  }
  while (left > 0) {
    --left;
    layers_.conv_backward(convs[left], parameters, pieces_, convs_[left], d_out, d_in, sink, edges_);
    std::swap(d_out, d_in);
  }
  if (model_.pre().empty()) return;
  layers_.conv_backward(model_.pre()[1], parameters, pieces_, pre_hidden_, d_out, d_in, sink, edges_);
  layers_.conv_backward(model_.pre()[0], parameters, pieces_, features_, d_in, d_out, sink, edges_);
}

}  // namespace tyche::engine::cpu
