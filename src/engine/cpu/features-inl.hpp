// Random features, a vector of Philox counters at a time. The definition is engine/core/inputs.hpp's
// random_features(); uniform features are the same bits, normal ones agree to rounding.

#if HWY_TARGET != HWY_SCALAR

// Rows worked on together: their chains of ten rounds are independent and hide each other's latency.
constexpr std::size_t kRowsAtOnce = 2;

// The 64-bit products of all lanes with one factor, as high and low words.
HWY_INLINE void MultiplyWide(Word a, Word factor, Word& high, Word& low) {
  const Words d;
  const hn::RepartitionToWide<Words> wide;
  const auto even = hn::MulEven(a, factor);
  const auto odd = hn::MulEven(hn::BitCast(d, hn::ShiftRight<32>(hn::BitCast(wide, a))), factor);
  low = hn::OddEven(hn::BitCast(d, hn::ShiftLeft<32>(odd)), hn::BitCast(d, even));
  high = hn::OddEven(hn::BitCast(d, odd), hn::BitCast(d, hn::ShiftRight<32>(even)));
}

// No struct: g++ would make its constructor outside of the instruction set that this is compiled for (NEON).
using Counters = Word[4];

// Philox4x32-10 of kRowsAtOnce vectors of counters.
HWY_INLINE void Philox(Key key, Counters (&x)[kRowsAtOnce]) {
  const Words d;
  const Word m0 = hn::Set(d, 0xD2511F53u), m1 = hn::Set(d, 0xCD9E8D57u);
  for (int round = 0; round < 10; ++round) {
    const Word k0 = hn::Set(d, key.lo), k1 = hn::Set(d, key.hi);
    for (Counters& row : x) {
      Word high0, low0, high1, low1;
      MultiplyWide(row[0], m0, high0, low0);
      MultiplyWide(row[2], m1, high1, low1);
      row[0] = hn::Xor(hn::Xor(high1, row[1]), k0);
      row[2] = hn::Xor(hn::Xor(high0, row[3]), k1);
      row[1] = low1;
      row[3] = low0;
    }
    key.lo += 0x9E3779B9u;
    key.hi += 0xBB67AE85u;
  }
}

// -2 ln((w + 1/2) / 2^32), with full relative precision at both ends: in the upper half the distance y from 1 is exact,
// and ln(1 - y) begins from it. ln is e ln 2 + ln(1 + f) with f in [-0.293, 0.414].
HWY_INLINE Float MinusTwoLog(Word w) {
  const Floats d;
  const Ints di;
  const auto sign = hn::ShiftRight<31>(hn::BitCast(di, w));
  const auto upper = hn::RebindMask(d, hn::MaskFromVec(sign));
  const Float folded = hn::ConvertTo(d, hn::Xor(hn::BitCast(di, w), sign));
  const Float y = hn::Mul(hn::Add(folded, hn::Set(d, 0.5f)), hn::Set(d, 0x1p-32f));

  const Float one = hn::Set(d, 1.0f);
  const auto bits = hn::BitCast(di, y);
  const auto exponent = hn::ShiftRight<23>(hn::Sub(bits, hn::Set(di, 0x3f3504f3)));
  const Float mantissa = hn::BitCast(d, hn::Sub(bits, hn::ShiftLeft<23>(exponent)));
  const auto far = hn::Gt(y, hn::Set(d, 0.29289322f));
  const Float f_upper = hn::IfThenElse(far, hn::Sub(one, hn::Add(y, y)), hn::Neg(y));
  const Float e_upper = hn::IfThenElseZero(far, hn::Set(d, -1.0f));
  const Float f = hn::IfThenElse(upper, f_upper, hn::Sub(mantissa, one));
  const Float e = hn::IfThenElse(upper, e_upper, hn::ConvertTo(d, exponent));

  // ln(1 + f) = f - f²/2 + f³ p(f)
  Float p = hn::Set(d, 7.0376836292e-2f);
  p = hn::MulAdd(p, f, hn::Set(d, -1.1514610310e-1f));
  p = hn::MulAdd(p, f, hn::Set(d, 1.1676998740e-1f));
  p = hn::MulAdd(p, f, hn::Set(d, -1.2420140846e-1f));
  p = hn::MulAdd(p, f, hn::Set(d, 1.4249322787e-1f));
  p = hn::MulAdd(p, f, hn::Set(d, -1.6668057665e-1f));
  p = hn::MulAdd(p, f, hn::Set(d, 2.0000714765e-1f));
  p = hn::MulAdd(p, f, hn::Set(d, -2.4999993993e-1f));
  p = hn::MulAdd(p, f, hn::Set(d, 3.3333331174e-1f));
  const Float square = hn::Mul(f, f);
  Float tail = hn::Mul(hn::Mul(p, f), square);
  tail = hn::NegMulAdd(hn::Set(d, 0.5f), square, tail);
  tail = hn::MulAdd(e, hn::Set(d, -2.12194440e-4f), tail);
  const Float log = hn::MulAdd(e, hn::Set(d, 0.693359375f), hn::Add(f, tail));
  return hn::Mul(hn::Set(d, -2.0f), log);
}

// cos and sin of 2π w / 2^32: the nearest quarter turn q in the upper bits, the rest within ±π/4.
HWY_INLINE void CosSin(Word w, Float& cosine, Float& sine) {
  const Floats d;
  const Words dw;
  const Ints di;
  const Word turned = hn::Add(w, hn::Set(dw, 1u << 29));
  const auto rest = hn::Sub(hn::BitCast(di, hn::And(turned, hn::Set(dw, 0x3fffffffu))), hn::Set(di, 1 << 29));
  const Float a = hn::Mul(hn::ConvertTo(d, rest), hn::Set(d, 1.4629180792671596e-9f));
  const Float a2 = hn::Mul(a, a);
  Float s = hn::Set(d, -1.9515295891e-4f);
  s = hn::MulAdd(s, a2, hn::Set(d, 8.3321608736e-3f));
  s = hn::MulAdd(s, a2, hn::Set(d, -1.6666654611e-1f));
  s = hn::MulAdd(hn::Mul(s, a2), a, a);
  Float c = hn::Set(d, 2.443315711809948e-5f);
  c = hn::MulAdd(c, a2, hn::Set(d, -1.388731625493765e-3f));
  c = hn::MulAdd(c, a2, hn::Set(d, 4.166664568298827e-2f));
  c = hn::MulAdd(hn::Mul(c, a2), a2, hn::NegMulAdd(hn::Set(d, 0.5f), a2, hn::Set(d, 1.0f)));

  // q odd swaps the two; cos is negative for q = 1, 2 and sin for q = 2, 3.
  const Word sign_bit = hn::Set(dw, 0x80000000u);
  const auto odd = hn::RebindMask(d, hn::TestBit(turned, hn::Set(dw, 1u << 30)));
  const Word sine_sign = hn::And(turned, sign_bit);
  const Word cosine_sign = hn::And(hn::Xor(turned, hn::ShiftLeft<1>(turned)), sign_bit);
  cosine = hn::Xor(hn::IfThenElse(odd, s, c), hn::BitCast(d, cosine_sign));
  sine = hn::Xor(hn::IfThenElse(odd, c, s), hn::BitCast(d, sine_sign));
}

HWY_INLINE void NormalPairOf(Word radius_word, Word angle_word, Float scale, Float& first, Float& second) {
  const Float radius = hn::Sqrt(MinusTwoLog(radius_word));
  CosSin(angle_word, first, second);
  first = hn::Mul(hn::Mul(radius, first), scale);
  second = hn::Mul(hn::Mul(radius, second), scale);
}

HWY_INLINE Float UniformOf(Word w, Float scale) {
  const Floats d;
  return hn::Mul(hn::Mul(hn::ConvertTo(d, hn::BitCast(Ints(), w)), hn::Set(d, 0x1p-31f)), scale);
}

void Features(const nn::ModelConfig& config, Key key, std::uint32_t graph, std::size_t nodes, float* to,
              std::size_t stride) {
  const Floats d;
  const Words dw;
  const bool normal = is_normal(config);
  const Float scale = hn::Set(d, feature_scale(config));
  const std::size_t columns = config.random_dims();
  constexpr std::size_t kGroup = 4 * kLanes;  // columns a vector of counters gives
  const Word iota = hn::Iota(dw, 0);          // out of the loop: GCC makes it element by element
  HWY_ALIGN float partial[kGroup];
  for (std::size_t v = 0; v < nodes; v += kRowsAtOnce) {
    // An odd last row is made twice rather than by other code.
    const std::size_t pair[kRowsAtOnce] = {v, HWY_MIN(v + 1, nodes - 1)};
    for (std::size_t column = 0; column < columns; column += kGroup) {
      Counters x[kRowsAtOnce];
      for (std::size_t i = 0; i < kRowsAtOnce; ++i) {
        x[i][0] = hn::Add(iota, hn::Set(dw, static_cast<std::uint32_t>(column / 4)));
        x[i][1] = hn::Set(dw, static_cast<std::uint32_t>(pair[i]));
        x[i][2] = hn::Set(dw, graph);
        x[i][3] = hn::Zero(dw);
      }
      Philox(key, x);
      for (std::size_t i = 0; i < kRowsAtOnce; ++i) {
        Float values[4];
        if (normal) {
          NormalPairOf(x[i][0], x[i][1], scale, values[0], values[1]);
          NormalPairOf(x[i][2], x[i][3], scale, values[2], values[3]);
        } else {
          for (std::size_t w = 0; w < 4; ++w) values[w] = UniformOf(x[i][w], scale);
        }
        float* out = to + pair[i] * stride + column;
        if (columns - column >= kGroup) {
          hn::StoreInterleaved4(values[0], values[1], values[2], values[3], d, out);
        } else {
          hn::StoreInterleaved4(values[0], values[1], values[2], values[3], d, partial);
          for (std::size_t c = 0; c < columns - column; ++c) out[c] = partial[c];
        }
      }
    }
  }
}

#else

constexpr auto Features = random_features;

#endif
