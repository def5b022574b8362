#include "wl/refining.hpp"

#include <boost/sort/pdqsort/pdqsort.hpp>

namespace tyche::wl {

void sort_by_key(std::span<Keyed> items) {
  boost::sort::pdqsort(items.begin(), items.end(), [](const Keyed& a, const Keyed& b) { return a.key < b.key; });
}

}  // namespace tyche::wl
