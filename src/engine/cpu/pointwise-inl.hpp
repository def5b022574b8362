// Loops over single values: activations on their own, sums and maxima of columns, Adam.

template <class Function>
HWY_INLINE void ForEachVector(std::size_t rows, std::size_t columns, const Function& function) {
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < columns; c += kLanes) function(r, c);
  }
}

// Activations: the value, and a gradient brought back by it.
struct EluOf {
  static HWY_INLINE Float Apply(Float z) { return Elu(z); }
  static HWY_INLINE Float Derive(Float d, Float h) { return hn::Mul(d, EluDerivative(h)); }
};
struct TanhOf {
  static HWY_INLINE Float Apply(Float z) { return Tanh(z); }
  static HWY_INLINE Float Derive(Float d, Float h) { return hn::NegMulAdd(hn::Mul(d, h), h, d); }
};
struct ReluOf {
  static HWY_INLINE Float Apply(Float z) { return MaxOrNan(hn::Zero(Floats()), z); }
  static HWY_INLINE Float Derive(Float d, Float h) { return hn::IfThenElseZero(hn::Gt(h, hn::Zero(Floats())), d); }
};

template <class Body>
HWY_INLINE void ByActivation(nn::Activation activation, const Body& body) {
  if (activation == nn::Activation::elu) return body(EluOf());
  activation == nn::Activation::tanh ? body(TanhOf()) : body(ReluOf());
}

void Activate(nn::Activation activation, const float* bias, View values, std::size_t rows, std::size_t columns) {
  const Floats d;
  ByActivation(activation, [&](auto function) HWY_ATTR {
    ForEachVector(rows, columns, [&](std::size_t r, std::size_t c) HWY_ATTR {
      Float z = hn::Load(d, values.row(r) + c);
      if (bias != nullptr) z = hn::Add(z, hn::Load(d, bias + c));
      hn::Store(function.Apply(z), d, values.row(r) + c);
    });
  });
}

void Derive(nn::Activation activation, View outputs, View values, std::size_t rows, std::size_t columns) {
  const Floats d;
  ByActivation(activation, [&](auto function) HWY_ATTR {
    ForEachVector(rows, columns, [&](std::size_t r, std::size_t c) HWY_ATTR {
      const Float h = hn::Load(d, outputs.row(r) + c);
      hn::Store(function.Derive(hn::Load(d, values.row(r) + c), h), d, values.row(r) + c);
    });
  });
}

template <std::size_t kVectors>
HWY_INLINE void SumStripe(const float* values, std::size_t stride, std::size_t rows, bool add, float* out) {
  const Floats d;
  Float sum[kVectors];
  TYCHE_UNROLL
  for (std::size_t j = 0; j < kVectors; ++j) sum[j] = hn::Zero(d);
  for (std::size_t r = 0; r < rows; ++r) {
    TYCHE_UNROLL
    for (std::size_t j = 0; j < kVectors; ++j) sum[j] = hn::Add(sum[j], hn::Load(d, values + r * stride + j * kLanes));
  }
  TYCHE_UNROLL
  for (std::size_t j = 0; j < kVectors; ++j) {
    hn::Store(add ? hn::Add(hn::Load(d, out + j * kLanes), sum[j]) : sum[j], d, out + j * kLanes);
  }
}

void ColumnSums(View values, std::size_t rows, std::size_t columns, bool add, float* out) {
  ForStripes(columns, [&](auto vectors, std::size_t c)
                          HWY_ATTR { SumStripe<vectors>(values.data + c, values.stride, rows, add, out + c); });
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
  ForStripes(columns, [&](auto vectors, std::size_t c)
                          HWY_ATTR { MaxStripe<vectors>(values.data + c, values.stride, rows, out + c, row + c); });
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
