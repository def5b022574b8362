// Matrix products.
//
// Both products hold a tile of kTileRows × 2 vectors of the result in registers and stream the other operands past it:
// per step two vectors of the right operand and one broadcast per row. Six rows fill 16 vector registers; with 32,
// eight rows already reach the peak and ten or twelve brought nothing. A number of rows that is no multiple of the tile
// is cut into tiles of nearly equal height rather than full ones and a rest.

#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON
constexpr std::size_t kTileRows = 8;
#else
constexpr std::size_t kTileRows = 6;
#endif
constexpr std::size_t kPanel = 2 * kLanes;

// Hides from the compiler how a pointer came about. GCC otherwise keeps one pointer per address of an unrolled body,
// more than there are registers.
#define TYCHE_OPAQUE(pointer) asm("" : "+r"(pointer))

// c += left (kRows × depth) · right (depth × 2 vectors). Rows are reached through one pointer per three of them: x86
// addresses [p], [p + s] and [p + 2 s] at no cost. Plain unrolled loops over arrays: GCC keeps c in registers here, but
// not through a lambda.
template <std::size_t kRows>
HWY_INLINE void Accumulate(Float (&c)[kRows][2], const float* HWY_RESTRICT left, std::size_t stride,
                           const float* HWY_RESTRICT right, std::size_t right_stride, std::size_t depth) {
  const Floats d;
  constexpr std::size_t kGroups = (kRows + 2) / 3;
  const float* rows[kGroups];
  TYCHE_UNROLL
  for (std::size_t g = 0; g < kGroups; ++g) rows[g] = left + 3 * g * stride;
  for (std::size_t k = depth; k > 0; --k) {
    const Float b0 = hn::Load(d, right);
    const Float b1 = hn::Load(d, right + kLanes);
    TYCHE_UNROLL
    for (std::size_t i = 0; i < kRows; ++i) {
      const Float a = hn::Set(d, rows[i / 3][(i % 3) * stride]);
      c[i][0] = hn::MulAdd(a, b0, c[i][0]);
      c[i][1] = hn::MulAdd(a, b1, c[i][1]);
    }
    right += right_stride;
    TYCHE_OPAQUE(right);
    TYCHE_UNROLL
    for (std::size_t g = 0; g < kGroups; ++g) {
      ++rows[g];
      TYCHE_OPAQUE(rows[g]);
    }
  }
}

// The finishes that are done while the tile is in registers; others follow in a second pass.
enum class Fused { store, bias, bias_elu, elu_derivative };

template <std::size_t kRows, Fused kFused>
HWY_NOINLINE void RowsTile(const RowsProduct& p, std::size_t row, std::size_t panel) {
  const Floats d;
  const float* right = p.right.data + panel * p.right.panel_stride;
  Float c[kRows][2];
  Float first = hn::Zero(d), second = hn::Zero(d);
  if constexpr (kFused == Fused::bias || kFused == Fused::bias_elu) {
    first = hn::Load(d, p.bias + panel * kPanel);
    second = hn::Load(d, p.bias + panel * kPanel + kLanes);
  }
  TYCHE_UNROLL
  for (std::size_t i = 0; i < kRows; ++i) {
    c[i][0] = first;
    c[i][1] = second;
  }
  Accumulate<kRows>(c, p.left[0].row(row), p.left[0].stride, right, p.right.row_stride, p.depth);
  if (p.terms == 2) {
    Accumulate<kRows>(c, p.left[1].row(row), p.left[1].stride, right + p.depth * p.right.row_stride, p.right.row_stride,
                      p.depth);
  }
  if (p.more_depth > 0) {
    Accumulate<kRows>(c, p.more.row(row), p.more.stride, right + p.terms * p.depth * p.right.row_stride,
                      p.right.row_stride, p.more_depth);
  }
  float* out = p.out.row(row) + panel * kPanel;
  [[maybe_unused]] const float* outputs = nullptr;  // others than this finish have none
  if constexpr (kFused == Fused::elu_derivative) outputs = p.outputs.row(row) + panel * kPanel;
  TYCHE_UNROLL
  for (std::size_t i = 0; i < kRows; ++i) {
    TYCHE_UNROLL
    for (std::size_t j = 0; j < 2; ++j) {
      Float value = c[i][j];
      if constexpr (kFused == Fused::bias_elu) value = Elu(value);
      if constexpr (kFused == Fused::elu_derivative) {
        value = hn::Mul(value, EluDerivative(hn::Load(d, outputs + i * p.outputs.stride + j * kLanes)));
      }
      hn::Store(value, d, out + i * p.out.stride + j * kLanes);
    }
  }
}

// Asks for share `part` of `parts` of so many rows: a little before each tile, so that no load waits for it.
HWY_INLINE void AskFor(View rows, std::size_t count, std::size_t columns, std::size_t part, std::size_t parts) {
  for (std::size_t r = count * part / parts; r < count * (part + 1) / parts; ++r) {
    for (std::size_t c = 0; c < columns; c += kAlign) __builtin_prefetch(rows.row(r) + c, 0, 2);
  }
}

template <Fused kFused>
void AllTiles(const RowsProduct& p) {
  const std::size_t tiles = (p.rows + kTileRows - 1) / kTileRows;
  for (std::size_t panel = 0; panel < p.right.count; ++panel) {
    for (std::size_t t = 0; t < tiles; ++t) {
      const std::size_t row = p.rows * t / tiles;
      if (p.ahead) {
        AskFor(p.left[0].from(p.rows), p.rows, p.depth, panel * tiles + t, p.right.count * tiles);
      }
      WithConstant<kTileRows>(p.rows * (t + 1) / tiles - row,
                              [&](auto rows) HWY_ATTR { RowsTile<rows, kFused>(p, row, panel); });
    }
  }
}

void RowsProductKernel(const RowsProduct& p) {
  const bool elu = p.activation == nn::Activation::elu;
  const std::size_t columns = p.right.count * kPanel;
  switch (p.finish) {
    case Finish::store:
      return AllTiles<Fused::store>(p);
    case Finish::add_bias:
      return AllTiles<Fused::bias>(p);
    case Finish::activate:
      if (elu) return AllTiles<Fused::bias_elu>(p);
      AllTiles<Fused::bias>(p);
      return Activate(p.activation, nullptr, p.out, p.rows, columns);
    case Finish::derive:
      if (elu) return AllTiles<Fused::elu_derivative>(p);
      AllTiles<Fused::store>(p);
      return Derive(p.activation, p.outputs, p.out, p.rows, columns);
  }
}

// kColumns columns of `left` against one panel of `right`, over all rows.
template <std::size_t kColumns>
HWY_NOINLINE void GradientTile(const GradientProduct& p, std::size_t column, std::size_t panel) {
  const Floats d;
  const std::size_t place = panel * p.packed.panel_stride + column * p.packed.row_stride;
  Float c[kColumns][2];
  TYCHE_UNROLL
  for (std::size_t i = 0; i < kColumns; ++i) {
    TYCHE_UNROLL
    for (std::size_t j = 0; j < 2; ++j) {
      c[i][j] = p.start == nullptr ? hn::Zero(d) : hn::Load(d, p.start + place + i * p.packed.row_stride + j * kLanes);
    }
  }
  if (p.plus != nullptr) {
    TYCHE_UNROLL
    for (std::size_t i = 0; i < kColumns; ++i) {
      TYCHE_UNROLL
      for (std::size_t j = 0; j < kPanel; j += kAlign) __builtin_prefetch(p.plus + place + i * p.packed.row_stride + j);
    }
  }
  const float* HWY_RESTRICT left = p.left.data + column;
  const float* HWY_RESTRICT right = p.right.data + panel * kPanel;
  const std::size_t left_stride = p.left.stride, right_stride = p.right.stride;
  for (std::size_t row = p.rows; row > 0; --row) {
    const Float b0 = hn::Load(d, right);
    const Float b1 = hn::Load(d, right + kLanes);
    TYCHE_UNROLL
    for (std::size_t i = 0; i < kColumns; ++i) {
      const Float a = hn::Set(d, left[i]);
      c[i][0] = hn::MulAdd(a, b0, c[i][0]);
      c[i][1] = hn::MulAdd(a, b1, c[i][1]);
    }
    left += left_stride;
    right += right_stride;
    TYCHE_OPAQUE(left);
    TYCHE_OPAQUE(right);
  }
  TYCHE_UNROLL
  for (std::size_t i = 0; i < kColumns; ++i) {
    TYCHE_UNROLL
    for (std::size_t j = 0; j < 2; ++j) {
      const std::size_t at = place + i * p.packed.row_stride + j * kLanes;
      if (p.plus != nullptr) c[i][j] = hn::Add(hn::Load(d, p.plus + at), c[i][j]);
      hn::Store(c[i][j], d, p.out + at);
    }
  }
}

void GradientProductKernel(const GradientProduct& p) {
  const std::size_t tiles = (p.depth + kTileRows - 1) / kTileRows;
  for (std::size_t panel = 0; panel < p.packed.count; ++panel) {
    for (std::size_t t = 0; t < tiles; ++t) {
      const std::size_t column = p.depth * t / tiles;
      if (p.ahead) {
        const std::size_t part = panel * tiles + t, parts = p.packed.count * tiles;
        AskFor(p.left.from(p.rows), p.rows, p.depth, part, parts);
        AskFor(p.right.from(p.rows), p.rows, p.packed.count * kPanel, part, parts);
      }
      WithConstant<kTileRows>(p.depth * (t + 1) / tiles - column,
                              [&](auto columns) HWY_ATTR { GradientTile<columns>(p, column, panel); });
    }
  }
}
