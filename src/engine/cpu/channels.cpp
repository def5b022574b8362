// Matrix products channel by channel, compiled once per instruction set: out[x][y][c] = Σ_z left[x][z][c]
// right[z][y][c]. The channels of an entry lie side by side, so a vector of channels is multiplied at once; a tile of
// entries stays in registers while z runs, so that each load serves several multiply-adds.
#include "engine/cpu/dispatch.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/cpu/channels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "engine/cpu/vector_math-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace tyche::engine::cpu {
namespace HWY_NAMESPACE {

#define TYCHE_UNROLL _Pragma("GCC unroll 8")

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

template <std::size_t kX, std::size_t kY>
HWY_INLINE void EntryTileOfSize(std::size_t xs, std::size_t ys, const ChannelProduct& p, std::size_t x, std::size_t y,
                                std::size_t channel) {
  if constexpr (kX > 1) {
    if (xs < kX) return EntryTileOfSize<kX - 1, kY>(xs, ys, p, x, y, channel);
  }
  if constexpr (kY > 1) {
    if (ys < kY) return EntryTileOfSize<kX, kY - 1>(xs, ys, p, x, y, channel);
  }
  EntryTile<kX, kY>(p, x, y, channel);
}

void Channels(const ChannelProduct& p) {
  for (std::size_t channel = 0; channel < p.channels; channel += kLanes) {
    for (std::size_t x = 0; x < p.n; x += kEntries) {
      for (std::size_t y = 0; y < p.n; y += kEntries) {
        EntryTileOfSize<kEntries, kEntries>(HWY_MIN(kEntries, p.n - x), HWY_MIN(kEntries, p.n - y), p, x, y, channel);
      }
    }
  }
}

void FillChannels(Kernels& table) { table.channel_product = Channels; }

}  // namespace HWY_NAMESPACE
}  // namespace tyche::engine::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tyche::engine::cpu {
TYCHE_FILL_BY(fill_channels, FillChannels)
}  // namespace tyche::engine::cpu
#endif
