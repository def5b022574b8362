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
    GatherRows rows;
    rows.sparse = &sparse;
    rows.first = std::max(first, begin) - begin;
    rows.last = std::min(last, begin + sparse.rows()) - begin;
    rows.matrix = from.row(begin);
    rows.stride = from.stride;
    rows.columns = columns;
    rows.out = to.row(begin + rows.first - first);
    rows.out_stride = to.stride;
    if (rows.first < rows.last) kernels_.gather_rows(rows);
  }
}

void LayerRunner::conv_forward(const PackedLayer& layer, const Parameters& parameters, std::span<const Piece> pieces,
                               View in, View out, View edges) {
  const std::size_t columns = model_.padded(layer.in);
  RowsProduct product;
  product.depth = layer.in;
  product.terms = 2;
  product.right = layer.forward.in(layer.by_rows ? parameters.derived : parameters.packed);
  product.out_stride = out.stride;
  product.finish = Finish::activate;
  product.activation = model_.config().activation;
  product.bias = parameters.packed + layer.bias;
  for_chunks(rows_of(pieces), kProductChunk, [&](std::size_t first, std::size_t last, bool, bool) {
    gather(pieces, &MessageGraph::gather, in, columns, first, last, gathered_);
    product.rows = last - first;
    product.left[0] = in.row(first);
    product.left_stride[0] = in.stride;
    product.left[1] = gathered_.data;
    product.left_stride[1] = gathered_.stride;
    if (layer.edge > 0) {
      product.more = edges.row(first);
      product.more_stride = edges.stride;
      product.more_depth = layer.edge;
    }
    product.out = out.row(first);
    kernels_.rows_product(product);
  });
}

void LayerRunner::gradient_products(const PackedLayer& layer, std::size_t rows, View in, std::size_t first,
                                    const View (&right)[2], bool first_chunk, bool last_chunk, GradientSink sink,
                                    View edges) {
  GradientProduct product;
  product.rows = rows;
  product.depth = layer.in;
  product.left = in.row(first);
  product.left_stride = in.stride;
  product.panels = layer.forward.count;
  product.panel_stride = layer.forward.panel_stride;
  product.row_stride = layer.forward.row_stride;
  const auto multiply = [&](std::size_t row, const View& factor) {
    const std::size_t place = row * layer.forward.row_stride;
    float* partial = partial_.data() + place;
    float* final = sink.packed + layer.forward.offset + place;
    product.right = factor.data;
    product.right_stride = factor.stride;
    product.start = first_chunk ? nullptr : partial;
    product.out = last_chunk ? final : partial;
    product.plus = last_chunk && sink.add ? final : nullptr;
    kernels_.gradient_product(product);
  };
  multiply(0, right[0]);
  if (layer.terms == 2) multiply(layer.in, right[1]);
  if (layer.edge == 0) return;
  product.depth = layer.edge;
  product.left = edges.row(first);
  product.left_stride = edges.stride;
  multiply(layer.terms * layer.in, right[0]);
}

void LayerRunner::conv_backward(const PackedLayer& layer, const Parameters& parameters, std::span<const Piece> pieces,
                                View in, View d_out, View d_in, GradientSink sink, View edges) {
  const std::size_t columns = model_.padded(layer.out);
  kernels_.column_sums(d_out.data, d_out.stride, rows_of(pieces), columns, nullptr, sink.add, sink.packed + layer.bias);
  RowsProduct product;
  product.depth = layer.out;
  product.terms = 2;
  product.right = layer.backward.in(parameters.derived);
  product.out_stride = d_in.stride;
  product.finish = Finish::derive;
  product.activation = model_.config().activation;
  product.outputs_stride = in.stride;
  const auto chunk = [&](std::size_t first, std::size_t last, bool first_chunk, bool last_chunk) {
    gather(pieces, &MessageGraph::scatter, d_out, columns, first, last, gathered_);
    const View own{d_out.row(first), d_out.stride};
    gradient_products(layer, last - first, in, first, {own, gathered_}, first_chunk, last_chunk, sink, edges);
    if (layer.needed == 0) return;
    for_chunks(last - first, kProductChunk, [&](std::size_t from, std::size_t to, bool, bool) {
      product.rows = to - from;
      product.left[0] = own.row(from);
      product.left_stride[0] = own.stride;
      product.left[1] = gathered_.row(from);
      product.left_stride[1] = gathered_.stride;
      product.out = d_in.row(first + from);
      product.outputs = in.row(first + from);
      kernels_.rows_product(product);
    });
  };
  for_chunks(rows_of(pieces), kGradientChunk, chunk);
}

void LayerRunner::linear_forward(const PackedLayer& layer, const Parameters& parameters, std::size_t rows, View in,
                                 View out, Finish finish) {
  RowsProduct product;
  product.rows = rows;
  product.depth = layer.in;
  product.left[0] = in.data;
  product.left_stride[0] = in.stride;
  product.right = layer.forward.in(parameters.packed);
  product.out = out.data;
  product.out_stride = out.stride;
  product.finish = finish;
  product.bias = parameters.packed + layer.bias;
  kernels_.rows_product(product);
}

void LayerRunner::linear_backward(const PackedLayer& layer, const Parameters& parameters, std::size_t rows, View in,
                                  View d_out, View d_in, Finish finish, View activated, GradientSink sink) {
  kernels_.column_sums(d_out.data, d_out.stride, rows, model_.padded(layer.out), nullptr, sink.add,
                       sink.packed + layer.bias);
  gradient_products(layer, rows, in, 0, {d_out, View{}}, true, true, sink);
  RowsProduct product;
  product.rows = rows;
  product.depth = layer.out;
  product.left[0] = d_out.data;
  product.left_stride[0] = d_out.stride;
  product.right = layer.backward.in(parameters.derived);
  product.out = d_in.data;
  product.out_stride = d_in.stride;
  product.finish = finish;
  product.outputs = activated.data;
  product.outputs_stride = activated.stride;
  kernels_.rows_product(product);
}

}  // namespace tyche::engine::cpu
