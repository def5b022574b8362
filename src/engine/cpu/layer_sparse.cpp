// The backward pass of the last convolution under max readout. Of d_out only one entry per graph and column is not
// zero, so instead of three products there are, per graph and column, a few sums over one row: 2 % of their cost.
#include <algorithm>

#include "engine/cpu/layer.hpp"

namespace tyche::engine::cpu {

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
