#pragma once
/// What makes equal records one record (hash-consing): a mixer of bits, and a hash table of numbers that stand for
/// records kept elsewhere.
///
///   const std::uint32_t id = table.find_or_add(hash, [&](std::uint32_t other) { return same(other, fresh); },
///                                              [&] { return append(fresh); });
///
/// Four bytes of hash and four of number a slot: formulas, networks and classes of sets reach millions of records.
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tyche {

/// A bijection of 64 bits that spreads small numbers over all of them (the finaliser of SplitMix64). A hash takes one
/// more word by mix(hash ^ word).
[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15ull;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

class InternTable {
 public:
  /// With room for so many records; it grows where there are more.
  explicit InternTable(std::size_t records = 0) : slots_(std::bit_ceil(2 * records + 64)) {}

  /// The number of the record that `equals` accepts, or else the one `add` makes. Neither may use the table.
  template <class Equals, class Add>
  std::uint32_t find_or_add(std::uint64_t hash, const Equals& equals, const Add& add) {
    if ((used_ + 1) * 2 > slots_.size()) grow();
    const auto tag = static_cast<std::uint32_t>(hash >> 32);
    std::size_t at = spread(tag);
    for (; slots_[at].number != kEmpty; at = (at + 1) & (slots_.size() - 1)) {
      if (slots_[at].tag == tag && equals(slots_[at].number)) return slots_[at].number;
    }
    const std::uint32_t number = add();
    slots_[at] = {tag, number};
    ++used_;
    return number;
  }
  /// Says that this hash will be looked up soon.
  void prefetch(std::uint64_t hash) const {
    __builtin_prefetch(&slots_[spread(static_cast<std::uint32_t>(hash >> 32))]);
  }

 private:
  static constexpr std::uint32_t kEmpty = 0xffffffffu;
  struct Slot {
    std::uint32_t tag = 0;
    std::uint32_t number = kEmpty;
  };

  [[nodiscard]] std::size_t spread(std::uint32_t tag) const {
    return static_cast<std::size_t>(tag * 0x9e3779b97f4a7c15ull >> 20) & (slots_.size() - 1);
  }
  void grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.number == kEmpty) continue;
      std::size_t at = spread(slot.tag);
      while (slots_[at].number != kEmpty) at = (at + 1) & (slots_.size() - 1);
      slots_[at] = slot;
    }
  }

  std::vector<Slot> slots_;
  std::size_t used_ = 0;
};

}  // namespace tyche
