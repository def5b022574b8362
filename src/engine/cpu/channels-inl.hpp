// Matrix products channel by channel: out[x][y][c] = Σ_z left[x][z][c]
// right[z][y][c]. The channels of an entry lie side by side, so a vector of channels is multiplied at once; a tile of
// entries stays in registers while z runs, so that each load serves several multiply-adds.

#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_NEON
constexpr std::size_t kEntries = 4;
#else
constexpr std::size_t kEntries = 3;
#endif

template <std::size_t kX, std::size_t kY>
HWY_NOINLINE void EntryTile(const ChannelProduct& p, std::size_t x, std::size_t y, std::size_t channel) {
  const Floats d;
  Float sum[kX][kY];
  TYCHE_UNROLL
  for (std::size_t i = 0; i < kX; ++i) {
    TYCHE_UNROLL
    for (std::size_t j = 0; j < kY; ++j) sum[i][j] = hn::Zero(d);
  }
  const float* HWY_RESTRICT left = p.left + x * p.left_x + channel;
  const float* HWY_RESTRICT right = p.right + y * p.right_y + channel;
  for (std::size_t z = 0; z < p.n; ++z, left += p.left_z, right += p.right_z) {
    Float b[kY];
    TYCHE_UNROLL
    for (std::size_t j = 0; j < kY; ++j) b[j] = hn::Load(d, right + j * p.right_y);
    TYCHE_UNROLL
    for (std::size_t i = 0; i < kX; ++i) {
      const Float a = hn::Load(d, left + i * p.left_x);
      TYCHE_UNROLL
      for (std::size_t j = 0; j < kY; ++j) sum[i][j] = hn::MulAdd(a, b[j], sum[i][j]);
    }
  }
  TYCHE_UNROLL
  for (std::size_t i = 0; i < kX; ++i) {
    TYCHE_UNROLL
    for (std::size_t j = 0; j < kY; ++j) {
      hn::Store(sum[i][j], d, p.out + (x + i) * p.out_x + (y + j) * p.out_y + channel);
    }
  }
}

void Channels(const ChannelProduct& p) {
  for (std::size_t channel = 0; channel < p.channels; channel += kLanes) {
    for (std::size_t x = 0; x < p.n; x += kEntries) {
      for (std::size_t y = 0; y < p.n; y += kEntries) {
        WithConstant<kEntries>(HWY_MIN(kEntries, p.n - x), [&](auto xs) HWY_ATTR {
          WithConstant<kEntries>(HWY_MIN(kEntries, p.n - y),
                                 [&](auto ys) HWY_ATTR { EntryTile<decltype(xs)::value, ys>(p, x, y, channel); });
        });
      }
    }
  }
}
