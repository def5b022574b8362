// Activations and their derivatives over whole matrices; included once per instruction set.
#if defined(TYCHE_POINTWISE_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TYCHE_POINTWISE_INL
#undef TYCHE_POINTWISE_INL
#else
#define TYCHE_POINTWISE_INL
#endif

#include <hwy/highway.h>

#include "engine/cpu/kernels.hpp"
#include "engine/cpu/vector_math-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tyche::engine::cpu {
namespace HWY_NAMESPACE {

template <class Function>
HWY_INLINE void ForEachVector(std::size_t rows, std::size_t columns, const Function& function) {
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < columns; c += kLanes) function(r, c);
  }
}

HWY_INLINE void ActivateRows(nn::Activation activation, const float* bias, View values, std::size_t rows,
                             std::size_t columns) {
  const Floats d;
  const auto apply = [&](auto&& function) HWY_ATTR {
    ForEachVector(rows, columns, [&](std::size_t r, std::size_t c) HWY_ATTR {
      Float z = hn::Load(d, values.row(r) + c);
      if (bias != nullptr) z = hn::Add(z, hn::Load(d, bias + c));
      hn::Store(function(z), d, values.row(r) + c);
    });
  };
  switch (activation) {
    case nn::Activation::elu:
      return apply([](Float z) HWY_ATTR { return Elu(z); });
    case nn::Activation::tanh:
      return apply([](Float z) HWY_ATTR { return Tanh(z); });
    case nn::Activation::relu:
      return apply([](Float z) HWY_ATTR { return MaxOrNan(hn::Zero(Floats()), z); });
  }
}

HWY_INLINE void DeriveRows(nn::Activation activation, View outputs, View values, std::size_t rows,
                           std::size_t columns) {
  const Floats d;
  const auto apply = [&](auto&& function) HWY_ATTR {
    ForEachVector(rows, columns, [&](std::size_t r, std::size_t c) HWY_ATTR {
      const Float h = hn::Load(d, outputs.row(r) + c);
      const Float value = hn::Load(d, values.row(r) + c);
      hn::Store(function(value, h), d, values.row(r) + c);
    });
  };
  switch (activation) {
    case nn::Activation::elu:
      return apply([](Float v, Float h) HWY_ATTR { return hn::Mul(v, EluDerivative(h)); });
    case nn::Activation::tanh:
      return apply([](Float v, Float h) HWY_ATTR { return hn::NegMulAdd(hn::Mul(v, h), h, v); });
    case nn::Activation::relu:
      return apply([](Float v, Float h) HWY_ATTR { return hn::IfThenElseZero(hn::Gt(h, hn::Zero(Floats())), v); });
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace tyche::engine::cpu
HWY_AFTER_NAMESPACE();

#endif
