// The level at length: graphs of several kinds, networks that call many or few leaves the first.
#include <gtest/gtest.h>

#include "distinguish/level.hpp"
#include "distinguish/samples.hpp"

namespace tyche::distinguish {
namespace {

TEST(LevelAtLength, IsNotExceededWhateverTheGraphAndTheNetwork) {
  const std::vector<Graph> graphs = {wl::shrikhande(), wl::rook(), wl::exp_core(3, true),
                                     disjoint_union(wl::cycle(4), wl::cycle(5))};
  std::uint32_t number = 0;
  for (const Graph& graph : graphs) {
    for (const double share : {0.1, 0.5, 0.8}) {
      for (const double level : {0.05, 0.01, 0.001}) {
        const LevelCount count = simulate_level(graph, share, 128, level, 50000, ++number);
        EXPECT_TRUE(holds(count, level)) << number << ": " << count.told << " of " << count.runs << " at " << level;
      }
    }
  }
}

}  // namespace
}  // namespace tyche::distinguish
