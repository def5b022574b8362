#include "support/random.hpp"

#include <Random123/philox.h>

namespace tyche {

Block philox(Key key, Block counter) {
  const r123::Philox4x32::ctr_type in = {{counter[0], counter[1], counter[2], counter[3]}};
  const r123::Philox4x32::key_type k = {{key.lo, key.hi}};
  const auto out = r123::Philox4x32()(in, k);
  return {out[0], out[1], out[2], out[3]};
}

Key derive_key(std::uint64_t seed, Purpose purpose, std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  const Key root{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)};
  const Block out = philox(root, {static_cast<std::uint32_t>(purpose), a, b, c});
  return {out[0], out[1]};
}

void Stream::refill() {
  block_ = philox(key_, {static_cast<std::uint32_t>(index_), static_cast<std::uint32_t>(index_ >> 32), 0, 0});
  ++index_;
  used_ = 0;
}

std::uint64_t Stream::below(std::uint64_t bound) {
  // Rejection on the smallest power-of-two mask that covers the range: exact, at most two tries on average.
  std::uint64_t mask = bound - 1;
  for (unsigned shift = 1; shift < 64; shift <<= 1) mask |= mask >> shift;
  for (;;) {
    std::uint64_t value = (*this)();
    if (mask >> 32) value |= static_cast<std::uint64_t>((*this)()) << 32;
    value &= mask;
    if (value < bound) return value;
  }
}

double Stream::uniform() {
  const std::uint64_t high = (*this)() >> 5;
  const std::uint64_t low = (*this)() >> 6;
  return static_cast<double>((high << 26) | low) * 0x1p-53;
}

}  // namespace tyche
