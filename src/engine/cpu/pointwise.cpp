// Loops over single values: activations on their own, sums and maxima of columns, Adam. Compiled once per instruction
// set.
#include "engine/cpu/dispatch.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/cpu/pointwise.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "engine/cpu/pointwise-inl.hpp"
#include "engine/cpu/vector_math-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tyche::engine::cpu {
namespace HWY_NAMESPACE {

#define TYCHE_UNROLL _Pragma("GCC unroll 8")

void Activate(nn::Activation activation, const float* bias, View values, std::size_t rows, std::size_t columns) {
  ActivateRows(activation, bias, values, rows, columns);
}

void Derive(nn::Activation activation, View outputs, View values, std::size_t rows, std::size_t columns) {
  DeriveRows(activation, outputs, values, rows, columns);
}

// Stripes of columns are summed in registers while the rows pass once.
constexpr std::size_t kStripe = 4;

template <std::size_t kVectors>
HWY_INLINE void SumStripe(const float* values, std::size_t stride, std::size_t rows, const float* weights, bool add,
                          float* out) {
  const Floats d;
  Float sum[kVectors];
  TYCHE_UNROLL
  for (std::size_t j = 0; j < kVectors; ++j) sum[j] = hn::Zero(d);
  for (std::size_t r = 0; r < rows; ++r) {
    const Float weight = hn::Set(d, weights == nullptr ? 1.0f : weights[r]);
    TYCHE_UNROLL
    for (std::size_t j = 0; j < kVectors; ++j) {
      sum[j] = hn::MulAdd(weight, hn::Load(d, values + r * stride + j * kLanes), sum[j]);
    }
  }
  TYCHE_UNROLL
  for (std::size_t j = 0; j < kVectors; ++j) {
    hn::Store(add ? hn::Add(hn::Load(d, out + j * kLanes), sum[j]) : sum[j], d, out + j * kLanes);
  }
}

void ColumnSums(View values, std::size_t rows, std::size_t columns, const float* weights, bool add, float* out) {
  std::size_t c = 0;
  for (; c + kStripe * kLanes <= columns; c += kStripe * kLanes) {
    SumStripe<kStripe>(values.data + c, values.stride, rows, weights, add, out + c);
  }
  for (; c < columns; c += kLanes) SumStripe<1>(values.data + c, values.stride, rows, weights, add, out + c);
}

template <std::size_t kVectors>
HWY_INLINE void MaxStripe(const float* values, std::size_t stride, std::size_t rows, float* out, std::uint32_t* row) {
  const Floats d;
  const Words dw;
  Float best[kVectors];
  Word where[kVectors];
  TYCHE_UNROLL
  for (std::size_t j = 0; j < kVectors; ++j) {
    best[j] = hn::Load(d, values + j * kLanes);
    where[j] = hn::Zero(dw);
  }
  for (std::size_t r = 1; r < rows; ++r) {
    const Word here = hn::Set(dw, static_cast<std::uint32_t>(r));
    TYCHE_UNROLL
    for (std::size_t j = 0; j < kVectors; ++j) {
      const Float value = hn::Load(d, values + r * stride + j * kLanes);
      const auto larger = hn::Gt(value, best[j]);
      best[j] = hn::IfThenElse(larger, value, best[j]);
      where[j] = hn::IfThenElse(hn::RebindMask(dw, larger), here, where[j]);
    }
  }
  TYCHE_UNROLL
  for (std::size_t j = 0; j < kVectors; ++j) {
    hn::Store(best[j], d, out + j * kLanes);
    hn::Store(where[j], dw, row + j * kLanes);
  }
}

void ColumnMax(View values, std::size_t rows, std::size_t columns, float* out, std::uint32_t* row) {
  std::size_t c = 0;
  for (; c + kStripe * kLanes <= columns; c += kStripe * kLanes) {
    MaxStripe<kStripe>(values.data + c, values.stride, rows, out + c, row + c);
  }
  for (; c < columns; c += kLanes) MaxStripe<1>(values.data + c, values.stride, rows, out + c, row + c);
}

// No fused multiply-add: the same bits as the plain loop, on every instruction set.
void Adam(const AdamStep& constants, float* p, float* m, float* v, const float* const* gradients, std::size_t count,
          std::size_t first, std::size_t last) {
  const Floats d;
  const Float step_size = hn::Set(d, constants.step_size);
  const Float correction = hn::Set(d, constants.correction2_sqrt);
  const Float eps = hn::Set(d, constants.epsilon);
  const Float keep = hn::Set(d, constants.keep);
  const Float keep2 = hn::Set(d, constants.beta2);
  const Float rest1 = hn::Set(d, AdamStep::kOneMinusBeta1);
  const Float rest2 = hn::Set(d, constants.one_minus_beta2);
  const Float clip = hn::Set(d, constants.gradient_scale);
  for (std::size_t i = first; i < last; i += kLanes) {
    Float g = hn::LoadU(d, gradients[0] + i);
    for (std::size_t s = 1; s < count; ++s) g = hn::Add(g, hn::LoadU(d, gradients[s] + i));
    g = hn::Mul(g, clip);
    Float mean = hn::LoadU(d, m + i);
    mean = hn::Add(mean, hn::Mul(hn::Sub(g, mean), rest1));
    const Float square = hn::Add(hn::Mul(keep2, hn::LoadU(d, v + i)), hn::Mul(hn::Mul(rest2, g), g));
    hn::StoreU(mean, d, m + i);
    hn::StoreU(square, d, v + i);
    const Float scale = hn::Add(hn::Div(hn::Sqrt(square), correction), eps);
    hn::StoreU(hn::Sub(hn::Mul(hn::LoadU(d, p + i), keep), hn::Mul(step_size, hn::Div(mean, scale))), d, p + i);
  }
}

// In blocks of 4 × 4, the largest that every vector length can turn in registers.
void Transpose(const float* from, std::size_t from_stride, std::size_t rows, std::size_t columns, float* to,
               std::size_t to_stride) {
  std::size_t r = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::Full128<float> d;
  for (; r + 4 <= rows; r += 4) {
    std::size_t c = 0;
    for (; c + 4 <= columns; c += 4) {
      const float* at = from + r * from_stride + c;
      const auto r0 = hn::LoadU(d, at), r1 = hn::LoadU(d, at + from_stride);
      const auto r2 = hn::LoadU(d, at + 2 * from_stride), r3 = hn::LoadU(d, at + 3 * from_stride);
      const auto low01 = hn::InterleaveLower(d, r0, r1), high01 = hn::InterleaveUpper(d, r0, r1);
      const auto low23 = hn::InterleaveLower(d, r2, r3), high23 = hn::InterleaveUpper(d, r2, r3);
      float* out = to + c * to_stride + r;
      hn::StoreU(hn::ConcatLowerLower(d, low23, low01), d, out);
      hn::StoreU(hn::ConcatUpperUpper(d, low23, low01), d, out + to_stride);
      hn::StoreU(hn::ConcatLowerLower(d, high23, high01), d, out + 2 * to_stride);
      hn::StoreU(hn::ConcatUpperUpper(d, high23, high01), d, out + 3 * to_stride);
    }
    for (; c < columns; ++c) {
      for (std::size_t i = 0; i < 4; ++i) to[c * to_stride + r + i] = from[(r + i) * from_stride + c];
    }
  }
#endif
  for (; r < rows; ++r) {
    for (std::size_t c = 0; c < columns; ++c) to[c * to_stride + r] = from[r * from_stride + c];
  }
}

void FillPointwise(Kernels& table) {
  table.transpose = Transpose;
  table.activate = Activate;
  table.derive = Derive;
  table.column_sums = ColumnSums;
  table.column_max = ColumnMax;
  table.adam = Adam;
}

}  // namespace HWY_NAMESPACE
}  // namespace tyche::engine::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tyche::engine::cpu {
TYCHE_FILL_BY(fill_pointwise, FillPointwise)
}  // namespace tyche::engine::cpu
#endif
