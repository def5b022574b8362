// Rows brought to mean 0 and variance 1 by column, forward and backward. Compiled once per instruction set.
#include "engine/cpu/dispatch.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/cpu/normalise.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "engine/cpu/vector_math-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tyche::engine::cpu {
namespace HWY_NAMESPACE {

#define TYCHE_UNROLL _Pragma("GCC unroll 8")

// Stripes of columns stay in registers while the rows pass.
constexpr std::size_t kSide = 4;

template <class Body>
HWY_INLINE void ForStripes(std::size_t columns, const Body& body) {
  std::size_t c = 0;
  for (; c + kSide * kLanes <= columns; c += kSide * kLanes) body(std::integral_constant<std::size_t, kSide>(), c);
  for (; c < columns; c += kLanes) body(std::integral_constant<std::size_t, 1>(), c);
}

void ColumnMoments(View values, std::size_t rows, std::size_t columns, float* mean, float* squares) {
  const Floats d;
  const Float share = hn::Set(d, 1 / static_cast<float>(rows));
  ForStripes(columns, [&](auto side, std::size_t c) {
    constexpr std::size_t kN = decltype(side)::value;
    Float sum[kN], more[kN];
    TYCHE_UNROLL
    for (std::size_t j = 0; j < kN; ++j) sum[j] = more[j] = hn::Zero(d);
    for (std::size_t r = 0; r < rows; ++r) {
      TYCHE_UNROLL
      for (std::size_t j = 0; j < kN; ++j) sum[j] = hn::Add(sum[j], hn::Load(d, values.row(r) + c + j * kLanes));
    }
    TYCHE_UNROLL
    for (std::size_t j = 0; j < kN; ++j) sum[j] = hn::Mul(sum[j], share);
    for (std::size_t r = 0; r < rows; ++r) {
      TYCHE_UNROLL
      for (std::size_t j = 0; j < kN; ++j) {
        const Float off = hn::Sub(hn::Load(d, values.row(r) + c + j * kLanes), sum[j]);
        more[j] = hn::MulAdd(off, off, more[j]);
      }
    }
    TYCHE_UNROLL
    for (std::size_t j = 0; j < kN; ++j) {
      hn::Store(sum[j], d, mean + c + j * kLanes);
      hn::Store(more[j], d, squares + c + j * kLanes);
    }
  });
}

void AffineRows(View values, std::size_t rows, std::size_t columns, const float* times, const float* plus, View out) {
  const Floats d;
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < columns; c += kLanes) {
      const Float x = hn::Load(d, values.row(r) + c);
      hn::Store(hn::MulAdd(hn::Load(d, times + c), x, hn::Load(d, plus + c)), d, out.row(r) + c);
    }
  }
}

void ColumnProducts(View gradient, View values, std::size_t rows, std::size_t columns, const float* mean, float* sums,
                    float* products) {
  const Floats d;
  ForStripes(columns, [&](auto side, std::size_t c) {
    constexpr std::size_t kN = decltype(side)::value;
    Float sum[kN], product[kN], middle[kN];
    TYCHE_UNROLL
    for (std::size_t j = 0; j < kN; ++j) {
      sum[j] = product[j] = hn::Zero(d);
      middle[j] = hn::Load(d, mean + c + j * kLanes);
    }
    for (std::size_t r = 0; r < rows; ++r) {
      TYCHE_UNROLL
      for (std::size_t j = 0; j < kN; ++j) {
        const Float own = hn::Load(d, gradient.row(r) + c + j * kLanes);
        sum[j] = hn::Add(sum[j], own);
        product[j] = hn::MulAdd(own, hn::Sub(hn::Load(d, values.row(r) + c + j * kLanes), middle[j]), product[j]);
      }
    }
    TYCHE_UNROLL
    for (std::size_t j = 0; j < kN; ++j) {
      hn::Store(sum[j], d, sums + c + j * kLanes);
      hn::Store(product[j], d, products + c + j * kLanes);
    }
  });
}

void AffineGradient(View gradient, View values, std::size_t rows, std::size_t columns, const float* times,
                    const float* slope, const float* plus, View out) {
  const Floats d;
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < columns; c += kLanes) {
      const Float x = hn::Load(d, values.row(r) + c);
      const Float rest = hn::MulAdd(hn::Load(d, slope + c), x, hn::Load(d, plus + c));
      hn::Store(hn::MulAdd(hn::Load(d, times + c), hn::Load(d, gradient.row(r) + c), rest), d, out.row(r) + c);
    }
  }
}

void FillNormalise(Kernels& table) {
  table.column_moments = ColumnMoments;
  table.affine_rows = AffineRows;
  table.column_products = ColumnProducts;
  table.affine_gradient = AffineGradient;
}

}  // namespace HWY_NAMESPACE
}  // namespace tyche::engine::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tyche::engine::cpu {
TYCHE_FILL_BY(fill_normalise, FillNormalise)
}  // namespace tyche::engine::cpu
#endif
