// The theorem at full size: what it promises, measured, in two minutes for each function.
#include <gtest/gtest.h>

#include <ctime>

#include "theory/individualise.hpp"
#include "theory/universal.hpp"

namespace tyche::theory {
namespace {

void expect_promise_kept(const std::string& name, Node n, Construction construction, std::uint64_t trials) {
  constexpr double kSeconds = 120;  // of processor time, which other work on the machine does not lengthen
  const std::clock_t start = std::clock();
  const Universal u = build_universal(named_function(name), n, 0.1, construction);
  const UniversalReport r = measure_universal(u, {.trials = trials, .seed = 2, .threads = 2});
  for (const ClassResult& c : r.classes) {
    EXPECT_GE(static_cast<double>(c.right) / static_cast<double>(r.trials), 0.9) << name << ", value " << c.values[0];
  }
  EXPECT_LT(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC, kSeconds) << name;
}

TEST(UniversalSlow, EveryNamedFunctionAtFourNodes) {
  for (const GraphFunction& f : functions_of({"all"}, 4)) expect_promise_kept(f.name, 4, Construction::order, 2000);
}

TEST(UniversalSlow, ConnectedAndTriangleAtFiveNodes) {
  for (const char* name : {"connected", "triangle"}) expect_promise_kept(name, 5, Construction::order, 2000);
}

TEST(UniversalSlow, ThePapersConstructionAtThreeNodes) {
  expect_promise_kept("connected", 3, Construction::paper, 400);
}

TEST(UniversalSlow, IndividualisationOverAHundredThousandTrials) {
  for (const std::uint32_t n : {2u, 5u, 10u, 30u}) {
    for (const double delta : {0.5, 0.1, 0.01}) {
      IndividualiseOptions options;
      options.nodes = n;
      options.delta = delta;
      options.seed = 12;
      const IndividualiseReport r = measure_individualisation(options);
      EXPECT_LE(r.failure_interval.high, delta) << n;
    }
  }
}

}  // namespace
}  // namespace tyche::theory
