#include "distinguish/level.hpp"

#include <gtest/gtest.h>

#include "distinguish/samples.hpp"

namespace tyche::distinguish {
namespace {

// Shrikhande's graph has several different leaves, so that a network's calls are truly random.
TEST(Level, IsNotExceededOnTheLeavesOfAStronglyRegularGraph) {
  for (const double level : {0.05, 0.01, 0.001}) {
    const LevelCount count = simulate_level(wl::shrikhande(), 0.5, 64, level, 2000, 3);
    EXPECT_TRUE(holds(count, level)) << count.told << " of " << count.runs << " at " << level;
  }
}

TEST(Level, TheSimulationWouldSeeATestThatIsTooEager) {
  // Judged at twice the level, the test must stand out: the simulation has the power to say so.
  const LevelCount eager = simulate_level(wl::shrikhande(), 0.5, 64, 0.1, 4000, 3);
  EXPECT_FALSE(holds(eager, 0.05)) << eager.told;
}

}  // namespace
}  // namespace tyche::distinguish
