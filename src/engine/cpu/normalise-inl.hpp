// Rows brought to mean 0 and variance 1 by column, forward and backward.

void ColumnMoments(View values, std::size_t rows, std::size_t columns, float* mean, float* squares) {
  const Floats d;
  const Float share = hn::Set(d, 1 / static_cast<float>(rows));
  ForStripes(columns, [&](auto side, std::size_t c) {
    constexpr std::size_t kN = side;
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
  ForEachVector(rows, columns, [&](std::size_t r, std::size_t c) HWY_ATTR {
    const Float x = hn::Load(d, values.row(r) + c);
    hn::Store(hn::MulAdd(hn::Load(d, times + c), x, hn::Load(d, plus + c)), d, out.row(r) + c);
  });
}

void ColumnProducts(View gradient, View values, std::size_t rows, std::size_t columns, const float* mean, float* sums,
                    float* products) {
  const Floats d;
  ForStripes(columns, [&](auto side, std::size_t c) {
    constexpr std::size_t kN = side;
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
  ForEachVector(rows, columns, [&](std::size_t r, std::size_t c) HWY_ATTR {
    const Float x = hn::Load(d, values.row(r) + c);
    const Float rest = hn::MulAdd(hn::Load(d, slope + c), x, hn::Load(d, plus + c));
    hn::Store(hn::MulAdd(hn::Load(d, times + c), hn::Load(d, gradient.row(r) + c), rest), d, out.row(r) + c);
  });
}
