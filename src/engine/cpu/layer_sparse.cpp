// The backward pass of the last convolution under max readout. Of d_out only one entry a graph and column is not zero,
// so instead of three products there are, per graph and column, a few sums over one row: 2 % of their cost.
#include <algorithm>

#include "engine/cpu/layer.hpp"
#include "nn/activation.hpp"

namespace tyche::engine::cpu {

void LayerRunner::conv_backward_sparse(const PackedLayer& layer, const Parameters& parameters,
                                       std::span<const Piece> pieces, View in, View out, const Winners& winners,
                                       View d_in, GradientSink sink) {
  const std::size_t graphs = pieces.size();
  const std::size_t columns = model_.padded(layer.in);
  const std::size_t stride = model_.stride(layer.in);

  // 1. The rows that won something, and their messages.
  distinct_.clear();
  places_.assign(graphs * layer.out, 0);
  std::vector<std::size_t> begin(graphs + 1, 0);
  for (std::size_t g = 0; g < graphs; ++g) {
    const MessageGraph& messages = *pieces[g].messages;
    slots_.resize(std::max(slots_.size(), messages.rows_out), -1);
    for (std::size_t j = 0; j < layer.out && messages.rows_out > 0; ++j) {
      const std::uint32_t row = winners.row[g * winners.stride + j];
      if (slots_[row] < 0) {
        slots_[row] = static_cast<std::int32_t>(distinct_.size());
        distinct_.push_back(row);
      }
      places_[g * layer.out + j] = static_cast<std::uint32_t>(slots_[row]);
    }
    begin[g + 1] = distinct_.size();
    for (std::size_t i = begin[g]; i < begin[g + 1]; ++i) slots_[distinct_[i]] = -1;
  }
  if (winner_memory_.size() < 2 * distinct_.size() * stride) {
    winner_memory_ = AlignedFloats(2 * distinct_.size() * stride);
  }
  const View messages{winner_memory_.data(), stride};
  const View d_messages{winner_memory_.data() + distinct_.size() * stride, stride};
  for (std::size_t g = 0; g < graphs; ++g) {
    for (std::size_t i = begin[g]; i < begin[g + 1]; ++i) {
      gather(pieces, &MessageGraph::gather, in, columns, pieces[g].out + distinct_[i], pieces[g].out + distinct_[i] + 1,
             {messages.row(i), stride});
    }
  }
  const auto root_row = [&](std::size_t g, std::uint32_t row) {
    const MessageGraph& m = *pieces[g].messages;
    return in.row(pieces[g].in + (m.roots.empty() ? row : m.roots[row])) - in.data;
  };

  // 2. The gradient before the activation, and from it that of every column's weights.
  d_values_.assign(graphs * layer.out, 0.0f);
  std::vector<const float*> rows(graphs);
  std::vector<float> weights(graphs);
  float* bias = sink.packed + layer.bias;
  if (!sink.add) std::fill_n(bias, model_.padded(layer.out), 0.0f);
  for (std::size_t j = 0; j < layer.out; ++j) {
    float* to = sink.packed + layer.rows + j * layer.terms * layer.row_stride;
    float sum = 0;
    std::size_t count = 0;
    for (std::size_t g = 0; g < graphs; ++g) {
      if (begin[g] == begin[g + 1]) continue;
      const std::uint32_t row = winners.row[g * winners.stride + j];
      float d = winners.gradient[g * winners.stride + j];
      d *= nn::derivative(model_.config().activation, out.row(pieces[g].out + row)[j]);
      d_values_[g * layer.out + j] = d;
      sum += d;
      weights[count] = d;
      rows[count++] = in.data + root_row(g, row);
    }
    kernels_.weighted_rows(rows.data(), weights.data(), count, columns, sink.add, to);
    count = 0;
    for (std::size_t g = 0; g < graphs; ++g) {
      if (begin[g] != begin[g + 1]) rows[count++] = messages.row(places_[g * layer.out + j]);
    }
    kernels_.weighted_rows(rows.data(), weights.data(), count, columns, sink.add, to + layer.row_stride);
    bias[j] += sum;
  }
  if (layer.needed == 0) return;

  // 3. Back to the inputs: to the winners' roots, to their messages, and through these to their neighbours.
  const std::size_t needed = model_.padded(layer.needed);
  const std::size_t inputs = rows_in(pieces);
  for (std::size_t r = 0; r < inputs; ++r) std::fill_n(d_in.row(r), needed, 0.0f);
  std::fill_n(d_messages.data, distinct_.size() * stride, 0.0f);
  for (std::size_t g = 0; g < graphs; ++g) {
    const MessageGraph& m = *pieces[g].messages;
    if (begin[g] == begin[g + 1]) continue;
    for (std::size_t j = 0; j < layer.out; ++j) {
      const float* weight = parameters.packed + layer.rows + j * layer.terms * layer.row_stride;
      const std::uint32_t row = winners.row[g * winners.stride + j];
      const float d = d_values_[g * layer.out + j];
      const std::size_t root = m.roots.empty() ? row : m.roots[row];
      kernels_.add_scaled(d, weight, d_in.row(pieces[g].in + root), needed);
      kernels_.add_scaled(d, weight + layer.row_stride, d_messages.row(places_[g * layer.out + j]), needed);
    }
    for (std::size_t i = begin[g]; i < begin[g + 1]; ++i) {
      const std::uint32_t row = distinct_[i];
      for (std::uint64_t e = m.gather.offsets[row]; e < m.gather.offsets[row + 1]; ++e) {
        kernels_.add_scaled(m.gather.value(row, e), d_messages.row(i), d_in.row(pieces[g].in + m.gather.columns[e]),
                            needed);
      }
    }
  }
  kernels_.derive(model_.config().activation, in.data, in.stride, d_in.data, d_in.stride, inputs, needed);
  // Columns that are no output of the layer before stay zero, as its padding must.
  for (std::size_t r = 0; r < inputs && layer.needed < needed; ++r) {
    std::fill(d_in.row(r) + layer.needed, d_in.row(r) + needed, 0.0f);
  }
}

}  // namespace tyche::engine::cpu
