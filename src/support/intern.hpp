#pragma once
/// What makes equal records one record (hash-consing): a mixer of bits, and a hash table of numbers that stand for
/// records kept elsewhere.
///
///   const std::uint32_t id = table.find_or_add(hash, [&](std::uint32_t other) { return same(other, fresh); },
///                                              [&] { return append(fresh); });
///
/// Four bytes of hash and four of number a slot: formulas, networks and classes of sets reach millions of records.
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
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

/// Records of a head and a list each, equal ones once, numbered from 0. Heads and items consist of 32-bit words.
///
///   const std::uint32_t id = records.intern({.op = Op::all}, operands);    // the same number for the same again
///   records.head(id).op, records.list(id)
template <class Head, class Item>
class InternedLists {
 public:
  /// Not to be given a list() of these records: it moves them.
  std::uint32_t intern(const Head& head, std::span<const Item> list) {
    std::uint64_t hash = hashed(0, head);
    for (const Item& item : list) hash = hashed(hash, item);
    const auto equals = [&](std::uint32_t id) {
      return heads_[id] == head && std::ranges::equal(this->list(id), list);
    };
    return table_.find_or_add(hash, equals, [&] {
      heads_.push_back(head);
      items_.insert(items_.end(), list.begin(), list.end());
      ends_.push_back(items_.size());
      return static_cast<std::uint32_t>(heads_.size() - 1);
    });
  }
  [[nodiscard]] const Head& head(std::uint32_t id) const { return heads_[id]; }
  [[nodiscard]] std::span<const Item> list(std::uint32_t id) const {
    return std::span(items_).subspan(ends_[id], ends_[id + 1] - ends_[id]);
  }
  [[nodiscard]] std::size_t size() const { return heads_.size(); }

 private:
  template <class Value>
  [[nodiscard]] static std::uint64_t hashed(std::uint64_t hash, const Value& value) {
    static_assert(std::has_unique_object_representations_v<Value>);
    for (const std::uint32_t word : std::bit_cast<std::array<std::uint32_t, sizeof(Value) / 4>>(value)) {
      hash = mix(hash ^ word);
    }
    return hash;
  }

  InternTable table_;
  std::vector<Head> heads_;
  std::vector<std::uint64_t> ends_ = {0};
  std::vector<Item> items_;
};

}  // namespace tyche
