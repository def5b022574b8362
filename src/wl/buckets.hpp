#pragma once
/// What the refinements share: items brought together by a 64-bit key. A key is a hash of canonical data, so its order
/// is canonical too; equal keys are candidates for equality, never a proof.
#include <cstdint>
#include <span>

namespace tyche::wl {

/// A bijection of 64 bits that spreads small numbers over all of them (the finaliser of SplitMix64).
[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

/// Which hash of canonical data to use. Attempts differ in all their values: where one brings different things together
/// the next will not. The mask is for tests, to make a hash of tuples as poor as wanted.
struct KeyHash {
  std::uint64_t attempt = 0;
  std::uint64_t tuple_bits = ~0ull;

  [[nodiscard]] constexpr std::uint64_t key(std::uint32_t colour) const { return mix((attempt << 32) | colour); }
};

struct Keyed {
  std::uint64_t key;
  std::uint32_t item;
};

/// Sorts by key; items with equal keys stand together in no particular order. O(n log d) for d different keys, which
/// is what refinement meets: many equal keys in early rounds, tiny spans in late ones.
void sort_by_key(std::span<Keyed> items);

/// The end of the run of equal keys that begins at `begin`.
[[nodiscard]] inline std::size_t run_end(std::span<const Keyed> items, std::size_t begin) {
  std::size_t end = begin + 1;
  while (end < items.size() && items[end].key == items[begin].key) ++end;
  return end;
}

}  // namespace tyche::wl
