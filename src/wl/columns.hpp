#pragma once
/// Exact comparison of the signatures of tuples: multisets of columns, one of k colours for every node.
///
///   ColumnCheck<2> check;
///   check.expect(columns_of_one);
///   if (check.equals(columns_of_another)) { ... }       // as often as wanted
#include <bit>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "wl/buckets.hpp"

namespace tyche::wl {

/// K colours as one number, the first one highest.
template <unsigned K>
using Column = std::conditional_t<K == 2, std::uint64_t, unsigned __int128>;

/// A table of the expected columns and how often each is there.
template <unsigned K>
class ColumnCheck {
 public:
  void expect(std::span<const Column<K>> columns) {
    expected_ = columns.size();
    entries_.assign(std::bit_ceil(2 * expected_ + 1), {});
    for (const Column<K>& column : columns) {
      Counted& entry = find(column);
      entry.column = column;
      ++entry.count;
    }
    turn_ = 0;
  }
  /// Equally many columns, and none more often than expected.
  [[nodiscard]] bool equals(std::span<const Column<K>> columns) {
    if (columns.size() != expected_) return false;
    ++turn_;
    for (const Column<K>& column : columns) {
      Counted& entry = find(column);
      if (entry.turn != turn_) {
        entry.turn = turn_;
        entry.seen = 0;
      }
      if (++entry.seen > entry.count) return false;
    }
    return true;
  }

 private:
  struct Counted {
    Column<K> column{};
    std::uint32_t count = 0;  // 0: a free place
    std::uint32_t seen = 0;   // in this turn
    std::uint32_t turn = 0;
  };
  [[nodiscard]] Counted& find(const Column<K>& column) {
    auto hash = static_cast<std::uint64_t>(column);
    if constexpr (K == 3) hash ^= static_cast<std::uint64_t>(column >> 64) * 0xbf58476d1ce4e5b9ull;
    std::size_t at = ((hash ^ hash >> 32) * 0x9e3779b97f4a7c15ull) >> 32 & (entries_.size() - 1);
    while (entries_[at].count != 0 && entries_[at].column != column) at = (at + 1) & (entries_.size() - 1);
    return entries_[at];
  }

  std::vector<Counted> entries_;
  std::size_t expected_ = 0;
  std::uint32_t turn_ = 0;
};

}  // namespace tyche::wl
