#include "distinguish/refinement.hpp"

#include <algorithm>

#include "support/error.hpp"
#include "support/parallel.hpp"
#include "wl/wl.hpp"

namespace tyche::distinguish {

namespace {
constexpr Node kMostNodes = 256;               // for 2-WL: its work grows with their cube
constexpr std::uint64_t kMostWork = 20000000;  // of a search among leaves: a fraction of a second
}  // namespace

std::vector<Refined> refine(const PairSet& pairs, unsigned threads) {
  std::vector<Refined> out(pairs.size());
  parallel_for(out.size(), threads, [&](std::size_t i) {
    if (interrupted()) throw Interrupted("stopped before all pairs were refined");
    const Graph &a = pairs.set.graphs[2 * i], &b = pairs.set.graphs[2 * i + 1];
    out[i].one = wl::compare(a, b, {.dim = 1, .stop_when_distinguished = true}).distinguished;
    if (std::max(a.num_nodes(), b.num_nodes()) <= kMostNodes) {
      out[i].two = wl::compare(a, b, {.dim = 2, .stop_when_distinguished = true}).distinguished;
    }
    out[i].leaf = wl::compare_leaves(a, b, {}, 0, 1, kMostWork).verdict;
  });
  return out;
}

}  // namespace tyche::distinguish
