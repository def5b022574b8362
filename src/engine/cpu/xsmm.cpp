// Products by libxsmm, which compiles a kernel for every shape it is asked for.
//
// libxsmm thinks in columns, so a row-major product out = left · right is asked for as outᵀ = rightᵀ · leftᵀ; right
// operands are then plain row-major matrices (one panel as wide as the matrix). Version 1.17 has no kernels with
// alpha ≠ 1, beta outside {0, 1}, or a transposed first operand; those it has are checked for null all the same, and
// the own kernels step in (they can read the same layout).
#ifdef TYCHE_HAVE_XSMM

#include <libxsmm.h>

#include <algorithm>
#include <vector>

#include "engine/cpu/dispatch.hpp"

namespace tyche::engine::cpu {

namespace {

// The own kernels of the table that was replaced: they do what follows a product.
Kernels own;

using Product = libxsmm_smmfunction;

Product kernel(std::size_t m, std::size_t n, std::size_t k, std::size_t lda, std::size_t ldb, std::size_t ldc,
               float beta, int flags) {
  const auto to_int = [](std::size_t value) { return static_cast<libxsmm_blasint>(value); };
  const libxsmm_blasint a = to_int(lda), b = to_int(ldb), c = to_int(ldc);
  const float alpha = 1;
  return libxsmm_smmdispatch(to_int(m), to_int(n), to_int(k), &a, &b, &c, &alpha, &beta, &flags, nullptr);
}

// One panel of `right` is the whole matrix here.
std::size_t packed_columns(const RowsProduct& p) { return p.right.row_stride; }

void rows_product(const RowsProduct& p) {
  const std::size_t columns = packed_columns(p);
  if (p.rows == 0) return;
  for (std::size_t t = 0; t < p.terms; ++t) {
    const Product product = kernel(columns, p.rows, p.depth, p.right.row_stride, p.left_stride[t], p.out_stride,
                                   t == 0 ? 0.0f : 1.0f, LIBXSMM_GEMM_FLAG_NONE);
    if (product == nullptr) {
      RowsProduct plain = p;
      plain.right.count = columns / own.panel;
      plain.right.panel_stride = own.panel;
      return own.rows_product(plain);
    }
    product(p.right.data + t * p.depth * p.right.row_stride, p.left[t], p.out);
  }
  switch (p.finish) {
    case Finish::store:
      return;
    case Finish::add_bias:
      for (std::size_t r = 0; r < p.rows; ++r) own.add_scaled(1, p.bias, p.out + r * p.out_stride, columns);
      return;
    case Finish::activate:
      return own.activate(p.activation, p.bias, p.out, p.out_stride, p.rows, columns);
    case Finish::derive:
      return own.derive(p.activation, p.outputs, p.outputs_stride, p.out, p.out_stride, p.rows, columns);
  }
}

void gradient_product(const GradientProduct& p) {
  const std::size_t columns = p.row_stride;
  const Product product = p.rows == 0 ? nullptr
                                      : kernel(columns, p.depth, p.rows, p.right_stride, p.left_stride, p.row_stride,
                                               p.start == nullptr ? 0.0f : 1.0f, LIBXSMM_GEMM_FLAG_TRANS_B);
  // libxsmm adds onto its output in place; where `plus` must be added last, the sum is made elsewhere first.
  if (product == nullptr || (p.start != nullptr && p.start != p.out)) {
    GradientProduct plain = p;
    plain.panels = columns / own.panel;
    plain.panel_stride = own.panel;
    return own.gradient_product(plain);
  }
  if (p.plus == nullptr) return product(p.right, p.left, p.out);
  thread_local std::vector<float> sum;
  sum.resize(p.depth * columns + kAlign);
  float* aligned = sum.data() + (kAlign - reinterpret_cast<std::uintptr_t>(sum.data()) / 4 % kAlign) % kAlign;
  if (p.start != nullptr) std::copy_n(p.start, p.depth * columns, aligned);
  product(p.right, p.left, aligned);
  if (p.plus != p.out) std::copy_n(p.plus, p.depth * columns, p.out);
  own.add_scaled(1, aligned, p.out, p.depth * columns);
}

}  // namespace

void use_xsmm(Kernels& table) {
  libxsmm_init();
  own = table;
  table.products = "libxsmm";
  table.panel = 0;
  table.rows_product = rows_product;
  table.gradient_product = gradient_product;
}

}  // namespace tyche::engine::cpu

#endif
