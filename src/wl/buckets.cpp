#include "wl/buckets.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace tyche::wl {
namespace {

constexpr std::size_t kInsertion = 24;

void insertion_sort(std::span<Keyed> items) {
  for (std::size_t i = 1; i < items.size(); ++i) {
    const Keyed item = items[i];
    std::size_t j = i;
    for (; j > 0 && items[j - 1].key > item.key; --j) items[j] = items[j - 1];
    items[j] = item;
  }
}

std::uint64_t median(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  return std::max(std::min(a, b), std::min(std::max(a, b), c));
}

// Quicksort that sets the keys equal to the pivot aside in one sweep. Where pivots keep failing (`budget` is spent) the
// standard library's sort ends it, so that no input is quadratic.
void three_way(std::span<Keyed> items, unsigned budget) {
  while (items.size() > kInsertion) {
    if (budget == 0) {
      std::sort(items.begin(), items.end(), [](const Keyed& a, const Keyed& b) { return a.key < b.key; });
      return;
    }
    --budget;
    const std::uint64_t pivot = median(items.front().key, items[items.size() / 2].key, items.back().key);
    std::size_t less = 0, i = 0, greater = items.size();
    while (i < greater) {
      if (items[i].key < pivot) {
        std::swap(items[less++], items[i++]);
      } else if (items[i].key > pivot) {
        std::swap(items[i], items[--greater]);
      } else {
        ++i;
      }
    }
    three_way(items.first(less), budget);
    items = items.subspan(greater);
  }
  insertion_sort(items);
}

}  // namespace

void sort_by_key(std::span<Keyed> items) { three_way(items, 2 * static_cast<unsigned>(std::bit_width(items.size()))); }

}  // namespace tyche::wl
