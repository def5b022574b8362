// Vectors and their functions, as all kernels use them. Like them included by kernels.cpp alone, once per instruction
// set, within its namespace.

namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using Ints = hn::RebindToSigned<Floats>;
using Words = hn::RebindToUnsigned<Floats>;
using Float = hn::Vec<Floats>;
using Word = hn::Vec<Words>;
constexpr std::size_t kLanes = hn::MaxLanes(Floats());

#define TYCHE_UNROLL _Pragma("GCC unroll 8")

// body(size) of 1 … kMost, as a constant.
template <std::size_t kMost, class Body>
HWY_INLINE void WithConstant(std::size_t size, const Body& body) {
  if (size == kMost) {
    body(std::integral_constant<std::size_t, kMost>());
  } else if constexpr (kMost > 1) {
    WithConstant<kMost - 1>(size, body);
  }
}

// body(vectors, first column) for stripes of columns, which stay in registers while the rows pass.
template <class Body>
HWY_INLINE void ForStripes(std::size_t columns, const Body& body) {
  constexpr std::size_t kStripe = 4;
  std::size_t c = 0;
  for (; c + kStripe * kLanes <= columns; c += kStripe * kLanes)
    body(std::integral_constant<std::size_t, kStripe>(), c);
  for (; c < columns; c += kLanes) body(std::integral_constant<std::size_t, 1>(), c);
}

// e^x - 1 for x <= 0, within two units in the last place. Cody and Waite: x = n ln 2 + r; e^r - 1 = r + r² q(r) with a
// minimax q; e^x - 1 = 2^n (e^r - 1) + (2^n - 1). One constant for ln 2 is enough: its error, n · 2e-8 relative to
// e^x, is far below half a unit of a result near -1. n comes from adding 1.5 · 2^23, whose low mantissa bits then hold
// n plus the exponent's bias; shifted into place they are 2^n.
HWY_INLINE Float ExpMinusOne(Float x) {
  const Floats d;
  const Ints di;
  const Float magic = hn::Set(d, 12582912.0f + 127.0f);
  x = hn::Max(x, hn::Set(d, -87.0f));
  const Float shifted = hn::MulAdd(x, hn::Set(d, 1.44269504f), magic);
  const Float n = hn::Sub(shifted, magic);
  const Float power = hn::BitCast(d, hn::ShiftLeft<23>(hn::BitCast(di, shifted)));
  const Float r = hn::NegMulAdd(n, hn::Set(d, 0.693147181f), x);
  Float q = hn::Set(d, 1.38982315e-3f);
  q = hn::MulAdd(q, r, hn::Set(d, 8.36606676e-3f));
  q = hn::MulAdd(q, r, hn::Set(d, 4.16668545e-2f));
  q = hn::MulAdd(q, r, hn::Set(d, 1.66665485e-1f));
  q = hn::MulAdd(q, r, hn::Set(d, 0.5f));
  const Float grown = hn::MulAdd(hn::Mul(r, r), q, r);
  return hn::MulAdd(power, grown, hn::Sub(power, hn::Set(d, 1.0f)));
}

// max(a, z), and z where it is not a number: x86 gives the second operand then, NEON any that is none; the maximum
// of Highway's scalar and emulated vectors would hide it.
HWY_INLINE Float MaxOrNan(Float a, Float z) {
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128
  return hn::IfThenElse(hn::Gt(a, z), a, z);
#else
  return hn::Max(a, z);
#endif
}

// e^z - 1 >= z everywhere, so ELU is a maximum.
HWY_INLINE Float Elu(Float z) { return MaxOrNan(ExpMinusOne(hn::Min(z, hn::Zero(Floats()))), z); }
HWY_INLINE Float EluDerivative(Float h) {
  const Floats d;
  return hn::Add(hn::Min(h, hn::Zero(d)), hn::Set(d, 1.0f));
}

// tanh |z| = -t / (t + 2) with t = e^(-2|z|) - 1: as accurate near 0 as near 1, where 1 - tanh² must keep its digits.
HWY_INLINE Float Tanh(Float z) {
  const Floats d;
  const Float t = ExpMinusOne(hn::Mul(hn::Abs(z), hn::Set(d, -2.0f)));
  const Float size = hn::Div(hn::Neg(t), hn::Add(t, hn::Set(d, 2.0f)));
  return hn::IfThenElse(hn::Eq(z, z), hn::CopySign(size, z), z);  // not a number stays so
}
