#include "engine/cpu/linear_rows.hpp"

#include <algorithm>

namespace tyche::engine::cpu {

namespace {
constexpr std::size_t kChunk = 96;
}

void LinearRows::forward(std::size_t rows, View in, View out, Finish finish, nn::Activation activation) const {
  for (std::size_t first = 0; first < rows; first += kChunk) {
    RowsProduct product;
    product.rows = std::min(kChunk, rows - first);
    product.depth = layer.in;
    product.left[0] = in.row(first);
    product.left_stride[0] = in.stride;
    product.right = layer.forward.in(packed);
    product.out = out.row(first);
    product.out_stride = out.stride;
    product.finish = finish;
    product.activation = activation;
    product.bias = packed + layer.bias;
    kernels.rows_product(product);
  }
}

void LinearRows::backward(std::size_t rows, View in, View d_out, View d_in, Finish finish, nn::Activation activation,
                          float* gradient) const {
  const std::size_t columns = layer.end - layer.bias;  // padded
  if (rows == 0) std::fill(gradient + layer.begin, gradient + layer.end, 0.0f);
  for (std::size_t first = 0; first < rows; first += kChunk) {
    const std::size_t count = std::min(kChunk, rows - first);
    kernels.column_sums(d_out.row(first), d_out.stride, count, columns, nullptr, first > 0, gradient + layer.bias);
    GradientProduct sums;
    sums.rows = count;
    sums.depth = layer.in;
    sums.left = in.row(first);
    sums.left_stride = in.stride;
    sums.right = d_out.row(first);
    sums.right_stride = d_out.stride;
    sums.panels = layer.forward.count;
    sums.panel_stride = layer.forward.panel_stride;
    sums.row_stride = layer.forward.row_stride;
    sums.out = gradient + layer.forward.offset;
    sums.start = first > 0 ? sums.out : nullptr;
    kernels.gradient_product(sums);
    if (d_in.data == nullptr) continue;
    RowsProduct product;
    product.rows = count;
    product.depth = layer.out;
    product.left[0] = d_out.row(first);
    product.left_stride[0] = d_out.stride;
    product.right = layer.backward.in(derived);
    product.out = d_in.row(first);
    product.out_stride = d_in.stride;
    product.finish = finish;
    product.activation = activation;
    product.outputs = in.row(first);
    product.outputs_stride = in.stride;
    kernels.rows_product(product);
  }
}

}  // namespace tyche::engine::cpu
