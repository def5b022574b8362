// Sparse rows times a matrix of activations. A stripe of columns is held in
// registers while a row's neighbours are added up, so that each output is stored once.

// 64 columns where a vector has 16 lanes or 8.
constexpr std::size_t kGatherStripe = kLanes >= 16 ? 4 : 8;

template <std::size_t kVectors, bool kWeighted, bool kFar>
HWY_NOINLINE void GatherStripe(const GatherRows& g, std::size_t column) {
  const Floats d;
  const std::uint64_t* HWY_RESTRICT offsets = g.sparse->offsets.data();
  const std::uint32_t* HWY_RESTRICT columns = g.sparse->columns.data();
  const float* HWY_RESTRICT weights = g.sparse->weights.data();
  const float* HWY_RESTRICT scales = g.sparse->scales.empty() ? nullptr : g.sparse->scales.data();
  const float* HWY_RESTRICT matrix = g.matrix.data + column;
  float* HWY_RESTRICT out = g.out.data + column;
  // In a matrix too large for the caches, rows are asked for a few entries ahead; which come next only the graph knows.
  constexpr std::uint64_t kAhead = 16;
  const std::uint64_t final = offsets[g.last] == 0 ? 0 : offsets[g.last] - 1;
  for (std::size_t v = g.first; v < g.last; ++v, out += g.out.stride) {
    Float sum[kVectors];
    TYCHE_UNROLL
    for (std::size_t j = 0; j < kVectors; ++j) sum[j] = hn::Zero(d);
    for (std::uint64_t e = offsets[v]; e < offsets[v + 1]; ++e) {
      const float* from = matrix + columns[e] * g.matrix.stride;
      if constexpr (kFar) {
        const float* ahead = matrix + columns[HWY_MIN(e + kAhead, final)] * g.matrix.stride;
        TYCHE_UNROLL
        for (std::size_t j = 0; j < kVectors * kLanes; j += kAlign) __builtin_prefetch(ahead + j);
      }
      TYCHE_UNROLL
      for (std::size_t j = 0; j < kVectors; ++j) {
        const Float x = hn::Load(d, from + j * kLanes);
        if constexpr (kWeighted) {
          sum[j] = hn::MulAdd(hn::Set(d, weights[e]), x, sum[j]);
        } else {
          sum[j] = hn::Add(sum[j], x);
        }
      }
    }
    if (scales != nullptr) {
      const Float scale = hn::Set(d, scales[v]);
      TYCHE_UNROLL
      for (std::size_t j = 0; j < kVectors; ++j) sum[j] = hn::Mul(sum[j], scale);
    }
    TYCHE_UNROLL
    for (std::size_t j = 0; j < kVectors; ++j) hn::Store(sum[j], d, out + j * kLanes);
  }
}

template <bool kWeighted, bool kFar>
void GatherAll(const GatherRows& g) {
  for (std::size_t column = 0; column < g.columns; column += kGatherStripe * kLanes) {
    const std::size_t vectors = HWY_MIN(kGatherStripe, (g.columns - column + kLanes - 1) / kLanes);
    WithConstant<kGatherStripe>(vectors, [&](auto n) HWY_ATTR { GatherStripe<n, kWeighted, kFar>(g, column); });
  }
}

void Gather(const GatherRows& g) {
  constexpr std::size_t kFarFloats = 1 << 18;  // 1 MB
  const bool weighted = !g.sparse->weights.empty();
  const bool far = g.sparse->rows() * g.matrix.stride > kFarFloats;
  if (weighted) {
    far ? GatherAll<true, true>(g) : GatherAll<true, false>(g);
  } else {
    far ? GatherAll<false, true>(g) : GatherAll<false, false>(g);
  }
}

template <class Function>
void GatherEdgesBy(const EdgeGather& g) {
  const Floats d;
  const SparseRows& sparse = *g.sparse;
  const bool weighted = !sparse.weights.empty();
  for (std::size_t v = 0; v < sparse.rows(); ++v) {
    const Float scale = hn::Set(d, sparse.scales.empty() ? 1.0f : sparse.scales[v]);
    for (std::size_t c = 0; c < g.columns; c += kLanes) {
      Float sum = hn::Zero(d);
      for (std::uint64_t e = sparse.offsets[v]; e < sparse.offsets[v + 1]; ++e) {
        const Float from = hn::Load(d, g.matrix.row(sparse.columns[e]) + c);
        const Float edge = hn::Load(d, g.edges.row(g.edge[e]) + c);
        const Float message = Function::Apply(hn::Add(from, edge));
        sum = weighted ? hn::MulAdd(message, hn::Set(d, sparse.weights[e]), sum) : hn::Add(sum, message);
      }
      hn::Store(hn::Mul(sum, scale), d, g.out.row(v) + c);
    }
  }
}

template <class Function>
void ScatterEdgesBy(const EdgeScatter& s) {
  const Floats d;
  const EdgeGather& g = s.forward;
  const SparseRows& sparse = *g.sparse;
  const bool scaled = !sparse.scales.empty(), weighted = !sparse.weights.empty();
  for (std::size_t v = 0; v < sparse.rows(); ++v) {
    for (std::size_t c = 0; c < g.columns; c += kLanes) {
      const Float own = hn::Load(d, g.matrix.row(v) + c);
      Float sum = hn::Zero(d);
      for (std::uint64_t e = sparse.offsets[v]; e < sparse.offsets[v + 1]; ++e) {
        const std::uint32_t to = sparse.columns[e];
        Float gradient = hn::Load(d, s.d.row(to) + c);
        if (scaled) gradient = hn::Mul(gradient, hn::Set(d, sparse.scales[to]));
        if (weighted) gradient = hn::Mul(gradient, hn::Set(d, sparse.weights[e]));
        const Float edge = hn::Load(d, g.edges.row(g.edge[e]) + c);
        gradient = Function::Derive(gradient, Function::Apply(hn::Add(own, edge)));
        sum = hn::Add(sum, gradient);
        float* d_edge = s.d_edges.row(g.edge[e]) + c;
        hn::Store(hn::Add(hn::Load(d, d_edge), gradient), d, d_edge);
      }
      hn::Store(sum, d, g.out.row(v) + c);
    }
  }
}

void GatherEdges(const EdgeGather& g) {
  ByActivation(g.activation, [&](auto function) HWY_ATTR { GatherEdgesBy<decltype(function)>(g); });
}

void ScatterEdges(const EdgeScatter& s) {
  ByActivation(s.forward.activation, [&](auto function) HWY_ATTR { ScatterEdgesBy<decltype(function)>(s); });
}

void AddScaled(float a, const float* x, float* y, std::size_t columns) {
  const Floats d;
  const Float factor = hn::Set(d, a);
  for (std::size_t c = 0; c < columns; c += kLanes) {
    hn::Store(hn::MulAdd(factor, hn::Load(d, x + c), hn::Load(d, y + c)), d, y + c);
  }
}

void WeightedRows(const float* const* rows, const float* weights, std::size_t count, std::size_t columns, bool add,
                  float* out) {
  const Floats d;
  for (std::size_t c = 0; c < columns; c += 2 * kLanes) {
    // Columns are padded to panels of two vectors.
    Float first = hn::Zero(d), second = hn::Zero(d);
    for (std::size_t i = 0; i < count; ++i) {
      const Float weight = hn::Set(d, weights[i]);
      first = hn::MulAdd(weight, hn::Load(d, rows[i] + c), first);
      second = hn::MulAdd(weight, hn::Load(d, rows[i] + c + kLanes), second);
    }
    if (add) {
      first = hn::Add(hn::Load(d, out + c), first);
      second = hn::Add(hn::Load(d, out + c + kLanes), second);
    }
    hn::Store(first, d, out + c);
    hn::Store(second, d, out + c + kLanes);
  }
}
