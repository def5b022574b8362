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

void weight_gradient(const Kernels& kernels, const PackedLayer& layer, std::size_t rows, View in, const View* right,
                     View edges, const float* start, const float* plus, float* out, bool ahead) {
  const auto multiply = [&](View left, std::size_t depth, std::size_t row, View factor) {
    const std::size_t place = row * layer.forward.row_stride;
    kernels.gradient_product({.rows = rows,
                              .depth = depth,
                              .left = left,
                              .right = factor,
                              .packed = layer.forward,
                              .out = out + place,
                              .start = start == nullptr ? nullptr : start + place,
                              .plus = plus == nullptr ? nullptr : plus + place,
                              .ahead = ahead});
  };
  for (std::size_t t = 0; t < layer.terms; ++t) multiply(in, layer.in, t * layer.in, right[t]);
  if (layer.edge > 0) multiply(edges, layer.edge, layer.terms * layer.in, right[0]);
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

}  // namespace tyche::engine::cpu
