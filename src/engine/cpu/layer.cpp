#include "engine/cpu/layer.hpp"

#include <algorithm>

namespace tyche::engine::cpu {

namespace {

// Rows worked on together. A product's left operands are read once per panel and should stay in the first cache. The
// sums of a gradient are begun and ended once per chunk, which only longer chunks make up for.
constexpr std::size_t kProductChunk = 64;
constexpr std::size_t kGradientChunk = 256;

// [0, rows) in nearly equal chunks; at least one, so that a layer without rows still stores a gradient of zeros.
template <class Body>
void for_chunks(std::size_t rows, std::size_t most, const Body& body) {
  const std::size_t chunks = std::max<std::size_t>(1, (rows + most - 1) / most);
  for (std::size_t c = 0; c < chunks; ++c) body(rows * c / chunks, rows * (c + 1) / chunks, c == 0, c + 1 == chunks);
}

}  // namespace

LayerRunner::LayerRunner(const PackedModel& model) : model_(model), kernels_(model.kernels()) {
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

void LayerRunner::gather(std::span<const Piece> pieces, SparseRows MessageGraph::*which, View from, std::size_t columns,
                         std::size_t first, std::size_t last, View to) const {
  auto piece = std::upper_bound(pieces.begin(), pieces.end(), first,
                                [](std::size_t row, const Piece& p) { return row < p.first; });
  if (piece != pieces.begin()) --piece;
  for (; piece != pieces.end() && piece->first < last; ++piece) {
    const SparseRows& sparse = piece->messages->*which;
    const std::size_t begin = piece->first;
    const std::size_t from_row = std::max(first, begin) - begin, to_row = std::min(last, begin + sparse.rows()) - begin;
    if (from_row >= to_row) continue;
    kernels_.gather_rows({&sparse, from_row, to_row, from.from(begin), columns, to.from(begin + from_row - first)});
  }
}

void LayerRunner::conv_forward(const PackedLayer& layer, const Parameters& parameters, std::span<const Piece> pieces,
                               View in, View out, View edges) {
  const std::size_t columns = model_.padded(layer.in);
  for_chunks(rows_of(pieces), kProductChunk, [&](std::size_t first, std::size_t last, bool, bool) {
    gather(pieces, &MessageGraph::gather, in, columns, first, last, gathered_);
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

void LayerRunner::conv_backward(const PackedLayer& layer, const Parameters& parameters, std::span<const Piece> pieces,
                                View in, View d_out, View d_in, GradientSink sink, View edges) {
  const std::size_t columns = model_.padded(layer.out);
  kernels_.column_sums(d_out, rows_of(pieces), columns, nullptr, sink.add, sink.packed + layer.bias);
  float* const whole = sink.packed + layer.forward.offset;
  const auto chunk = [&](std::size_t first, std::size_t last, bool first_chunk, bool last_chunk) {
    gather(pieces, &MessageGraph::scatter, d_out, columns, first, last, gathered_);
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
  for_chunks(rows_of(pieces), kGradientChunk, chunk);
}

void LayerRunner::linear_forward(const PackedLayer& layer, const Parameters& parameters, std::size_t rows, View in,
                                 View out, Finish finish) {
  kernels_.rows_product({.rows = rows,
                         .depth = layer.in,
                         .left = {in},
                         .right = layer.forward.in(parameters.packed),
                         .out = out,
                         .finish = finish,
                         .bias = parameters.packed + layer.bias});
}

void LayerRunner::linear_backward(const PackedLayer& layer, const Parameters& parameters, std::size_t rows, View in,
                                  View d_out, View d_in, Finish finish, View activated, GradientSink sink) {
  kernels_.column_sums(d_out, rows, model_.padded(layer.out), nullptr, sink.add, sink.packed + layer.bias);
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

// The backward pass of the last convolution under max readout. Of d_out only one entry per graph and column is not
// zero, so instead of three products there are, per graph and column, a few sums over one row: 2 % of their cost.
void LayerRunner::conv_backward_sparse(const PackedLayer& layer, const Parameters& parameters,
                                       std::span<const Piece> pieces, View in, const Winners& winners, View d_in,
                                       GradientSink sink, View edges) {
  find_winners(layer, pieces, winners);
  const std::size_t columns = model_.padded(layer.in), stride = model_.stride(layer.in);
  if (winner_memory_.size() < (distinct_.size() + 1) * stride) {
    winner_memory_ = AlignedFloats((distinct_.size() + 1) * stride);
  }
  const View messages{winner_memory_.data(), stride};
  for (std::size_t g = 0; g < pieces.size(); ++g) {
    for (std::size_t i = begin_[g]; i < begin_[g + 1]; ++i) {
      const std::size_t row = pieces[g].first + distinct_[i];
      gather(pieces, &MessageGraph::gather, in, columns, row, row + 1, {messages.row(i), stride});
    }
  }
  sparse_weight_gradient(layer, pieces, in, messages, winners, sink, edges);
  if (layer.needed > 0) sparse_input_gradient(layer, parameters, pieces, in, winners, d_in);
}

// distinct_: the rows that won something, those of graph g from begin_[g] on; places_: for every graph and column,
// which of them won.
void LayerRunner::find_winners(const PackedLayer& layer, std::span<const Piece> pieces, const Winners& winners) {
  const std::size_t graphs = pieces.size();
  distinct_.clear();
  places_.assign(graphs * layer.out, 0);
  begin_.assign(graphs + 1, 0);
  for (std::size_t g = 0; g < graphs; ++g) {
    slots_.resize(std::max(slots_.size(), pieces[g].nodes()), -1);
    for (std::size_t j = 0; j < layer.out && pieces[g].nodes() > 0; ++j) {
      const std::uint32_t row = winners.row[g * winners.stride + j];
      if (slots_[row] < 0) {
        slots_[row] = static_cast<std::int32_t>(distinct_.size());
        distinct_.push_back(row);
      }
      places_[g * layer.out + j] = static_cast<std::uint32_t>(slots_[row]);
    }
    begin_[g + 1] = distinct_.size();
    for (std::size_t i = begin_[g]; i < begin_[g + 1]; ++i) slots_[distinct_[i]] = -1;
  }
}

// Every column's weights: from the rows that won it, from their messages (a row per winner) and their edges' sums.
void LayerRunner::sparse_weight_gradient(const PackedLayer& layer, std::span<const Piece> pieces, View in,
                                         View messages, const Winners& winners, GradientSink sink, View edges) {
  const std::size_t graphs = pieces.size(), columns = model_.padded(layer.in);
  rows_.resize(graphs);
  weights_.resize(graphs);
  float* bias = sink.packed + layer.bias;
  if (!sink.add) std::fill_n(bias, model_.padded(layer.out), 0.0f);
  for (std::size_t j = 0; j < layer.out; ++j) {
    float* to = sink.packed + layer.row_of(j);
    float sum = 0;
    std::size_t count = 0;
    for (std::size_t g = 0; g < graphs; ++g) {
      if (begin_[g] == begin_[g + 1]) continue;
      const float d = winners.gradient[g * winners.stride + j];
      sum += d;
      weights_[count] = d;
      rows_[count++] = in.row(pieces[g].first + winners.row[g * winners.stride + j]);
    }
    kernels_.weighted_rows(rows_.data(), weights_.data(), count, columns, sink.add, to);
    count = 0;
    for (std::size_t g = 0; g < graphs; ++g) {
      if (begin_[g] != begin_[g + 1]) rows_[count++] = messages.row(places_[g * layer.out + j]);
    }
    kernels_.weighted_rows(rows_.data(), weights_.data(), count, columns, sink.add, to + layer.row_stride);
    bias[j] += sum;
    if (layer.edge == 0) continue;
    count = 0;
    for (std::size_t g = 0; g < graphs; ++g) {
      if (begin_[g] == begin_[g + 1]) continue;
      rows_[count++] = edges.row(pieces[g].first + winners.row[g * winners.stride + j]);
    }
    kernels_.weighted_rows(rows_.data(), weights_.data(), count, model_.padded(layer.edge), sink.add,
                           to + layer.terms * layer.row_stride);
  }
}

// Back to the inputs: to the winners, to their messages, and through these to their neighbours. Columns with the
// same winner are summed together.
void LayerRunner::sparse_input_gradient(const PackedLayer& layer, const Parameters& parameters,
                                        std::span<const Piece> pieces, View in, const Winners& winners, View d_in) {
  const std::size_t needed = model_.padded(layer.needed), inputs = rows_of(pieces);
  float* d_message = winner_memory_.data() + distinct_.size() * model_.stride(layer.in);
  for (std::size_t r = 0; r < inputs; ++r) std::fill_n(d_in.row(r), needed, 0.0f);
  for (std::size_t g = 0; g < pieces.size(); ++g) {
    const MessageGraph& m = *pieces[g].messages;
    if (begin_[g] == begin_[g + 1]) continue;
    sort_columns(layer, g);
    for (std::size_t i = begin_[g]; i < begin_[g + 1]; ++i) {
      const std::uint32_t row = distinct_[i];
      const std::size_t first = column_begin_[i - begin_[g]], count = column_begin_[i - begin_[g] + 1] - first;
      weights_.resize(count);
      rows_.resize(count);
      for (std::size_t c = 0; c < count; ++c) {
        weights_[c] = winners.gradient[g * winners.stride + columns_[first + c]];
        rows_[c] = parameters.packed + layer.row_of(columns_[first + c]);
      }
      float* d_root = d_in.row(pieces[g].first + row);
      kernels_.weighted_rows(rows_.data(), weights_.data(), count, needed, true, d_root);
      for (const float*& weight : rows_) weight += layer.row_stride;
      kernels_.weighted_rows(rows_.data(), weights_.data(), count, needed, false, d_message);
      for (std::uint64_t e = m.gather.offsets[row]; e < m.gather.offsets[row + 1]; ++e) {
        kernels_.add_scaled(m.gather.value(row, e), d_message, d_in.row(pieces[g].first + m.gather.columns[e]), needed);
      }
    }
  }
  kernels_.derive(model_.config().activation, in, d_in, inputs, needed);
  // Columns that are no output of the layer before stay zero, as its padding must.
  for (std::size_t r = 0; r < inputs && layer.needed < needed; ++r) {
    std::fill(d_in.row(r) + layer.needed, d_in.row(r) + needed, 0.0f);
  }
}

// columns_: the columns of graph g by their winners; those of its i-th winner begin at column_begin_[i].
void LayerRunner::sort_columns(const PackedLayer& layer, std::size_t g) {
  const std::uint32_t* place = places_.data() + g * layer.out;
  const std::size_t first = begin_[g];
  column_begin_.assign(begin_[g + 1] - first + 1, 0);
  for (std::size_t j = 0; j < layer.out; ++j) ++column_begin_[place[j] - first + 1];
  for (std::size_t i = 0; i + 1 < column_begin_.size(); ++i) column_begin_[i + 1] += column_begin_[i];
  next_.assign(column_begin_.begin(), column_begin_.end() - 1);
  columns_.resize(layer.out);
  for (std::uint32_t j = 0; j < layer.out; ++j) columns_[next_[place[j] - first]++] = j;
}

}  // namespace tyche::engine::cpu
