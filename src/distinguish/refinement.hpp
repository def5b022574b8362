#pragma once
/// What refinement says of a pair: printed beside what networks learned, and never counted.
#include <optional>
#include <vector>

#include "distinguish/pairs.hpp"
#include "support/progress.hpp"
#include "wl/leaf_compare.hpp"

namespace tyche::distinguish {

struct Refined {
  bool one = false;                                 ///< told apart by 1-WL
  std::optional<bool> two;                          ///< by 2-WL; nothing where the graphs are too large for it
  wl::LeafVerdict leaf = wl::LeafVerdict::unknown;  ///< of all paths to the leaf, where they are few enough
};

/// One per pair, over the threads (0: all cores). Throws Interrupted when asked to stop.
[[nodiscard]] std::vector<Refined> refine(const PairSet& pairs, unsigned threads);

}  // namespace tyche::distinguish
