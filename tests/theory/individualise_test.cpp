#include "theory/individualise.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "support/error.hpp"
#include "support/random.hpp"
#include "theory/run_plain.hpp"

namespace tyche::theory {
namespace {

TEST(Individualise, TheLemmasConstants) {
  EXPECT_EQ(lemma_thresholds(10, 0.1).slope, 400000);
  EXPECT_EQ(lemma_thresholds(10, 0.1).colours, 2000u);
  EXPECT_EQ(lemma_thresholds(30, 0.01).colours, 200u * 30 * 30);
  EXPECT_EQ(lemma_thresholds(3, 0.3).colours, 7u * 3 * 3);
}

TEST(Individualise, TheLayerIsTheLemmasFormula) {
  const Thresholds t = lemma_thresholds(2, 0.5);  // c = 4, k = 128, 16 colours
  AcrNetwork net;
  net.inputs = 2;
  net.layers.push_back(individualising_layer(t, 1));
  for (std::uint32_t j = 0; j < 17; ++j) {
    net.head.push(j, 1);
    net.head.end_row();
  }
  net.head_bias.assign(17, 0);
  for (const double r : {0.0, 0.0625, 0.064, 0.3, 0.5, 0.999}) {
    const Graph one = Graph::from_edges(1, std::vector<Edge>{});
    const auto out = run_plain(net, one, std::vector<double>{0.25, r});
    EXPECT_EQ(out[0], 0.25);  // handed on
    for (int j = 1; j <= 16; ++j) {
      EXPECT_EQ(out[static_cast<std::size_t>(j)], std::min(1.0, std::max(0.0, 128 * r - (j - 1) * 128.0 / 16))) << r;
    }
  }
}

TEST(Individualise, SaysWhichConditionFailed) {
  const Thresholds t = lemma_thresholds(2, 0.5);  // thresholds every 1/16, ramps of 1/128 above each
  const auto outcome = [&](double a, double b) {
    const double numbers[] = {a, b};
    return individualise(t, numbers);
  };
  EXPECT_FALSE(outcome(0.05, 0.9).failed());
  EXPECT_TRUE(outcome(0.03, 0.05).equal);  // the same cell
  EXPECT_FALSE(outcome(0.03, 0.05).blurred);
  EXPECT_TRUE(outcome(0.0625 + 0.001, 0.9).blurred);  // on a ramp
  EXPECT_FALSE(outcome(0.0625 + 0.001, 0.9).equal);
}

TEST(Individualise, FailsAtMostAsOftenAsTheLemmaAllows) {
  for (const std::uint32_t n : {2u, 5u, 10u, 30u}) {
    for (const double delta : {0.5, 0.1, 0.01}) {
      IndividualiseOptions options;
      options.nodes = n;
      options.delta = delta;
      options.trials = 20000;
      options.seed = 11;
      const IndividualiseReport r = measure_individualisation(options);
      const double rate = static_cast<double>(r.failures) / 20000;
      EXPECT_LE(rate, delta) << n;
      EXPECT_GE(r.checked_on_engine, 1u);
      // The chance of a ramp is n c n² / k = 1/c (their union, a little less), of a shared cell about (n-1)/(2 c n).
      const double c = r.thresholds.colours / static_cast<double>(n * n);
      EXPECT_NEAR(static_cast<double>(r.blurred) / 20000, 1 - std::pow(1 - 1 / (c * n), n), 0.015);
      EXPECT_NEAR(static_cast<double>(r.equal) / 20000, (n - 1) / (2 * c * n), 0.2 * delta);
    }
  }
}

TEST(Individualise, TheSameSeedGivesTheSameCountsOnAnyNumberOfThreads) {
  IndividualiseOptions options;
  options.trials = 3000;
  options.one_in = 3;
  options.rounds = 3;
  options.threads = 1;
  const IndividualiseReport one = measure_individualisation(options);
  options.threads = 4;
  const IndividualiseReport four = measure_individualisation(options);
  EXPECT_EQ(one.failures, four.failures);
  EXPECT_EQ(one.same_number, four.same_number);
}

TEST(Individualise, SpreadingTakesTheFractionOfThreeTimesOwnAndNeighbours) {
  const std::vector<Edge> path = {{0, 1}, {1, 2}};
  const Graph g = Graph::from_edges(3, path);
  const std::vector<double> start = {0.3, 0, 0};
  const auto after = [&](std::uint32_t rounds) { return run_plain(spreading_network(3, rounds), g, start); };
  const auto near = [](std::vector<double> numbers) {
    return testing::Pointwise(testing::DoubleNear(1e-9), std::move(numbers));
  };
  EXPECT_THAT(after(0), near({0.3, 0, 0}));
  EXPECT_THAT(after(1), near({0.9, 0.3, 0}));
  // 3 · 0.9 + 0.3 = 3.0 lies on a step; one round from (0.9, 0.31, 0) would not.
  EXPECT_THAT(run_plain(spreading_network(3, 1), g, std::vector<double>{0.9, 0.31, 0.75}), near({0.01, 0.58, 0.56}));
}

TEST(Individualise, TwinsStayAlikeHoweverLongNumbersSpread) {
  IndividualiseOptions options;
  options.nodes = 4;  // a star: its three leaves are twins, and with one random node two of them start alike
  const std::vector<Edge> star = {{0, 1}, {0, 2}, {0, 3}};
  options.graph = Graph::from_edges(4, star);
  options.one_in = 4;
  options.rounds = 6;
  options.trials = 200;
  const IndividualiseReport r = measure_individualisation(options);
  EXPECT_EQ(r.failures, 200u);
  EXPECT_EQ(r.same_number, 200u);
}

TEST(Individualise, OneRandomNodeOnAPathIsEnoughWhenItsNumberHasReachedTheEnds) {
  std::vector<Edge> path;
  for (Node v = 1; v < 8; ++v) path.emplace_back(v - 1, v);
  IndividualiseOptions options;
  options.nodes = 8;  // no node in the middle, so no two nodes are alike seen from any node
  options.graph = Graph::from_edges(8, path);
  options.one_in = 8;
  options.trials = 5000;
  options.rounds = 7;
  const IndividualiseReport r = measure_individualisation(options);
  EXPECT_EQ(r.same_number, 0u);
  EXPECT_LT(static_cast<double>(r.failures) / 5000, 0.15);
  options.rounds = 2;  // the far end has heard nothing yet
  EXPECT_EQ(measure_individualisation(options).same_number, 5000u);
}

TEST(Individualise, SenselessOptionsAreRefused) {
  const auto message = [](IndividualiseOptions options) {
    try {
      (void)measure_individualisation(options);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_THAT(message({.nodes = 0}), testing::HasSubstr("at least 1"));
  EXPECT_THAT(message({.delta = 0}), testing::HasSubstr("between 0 and 1"));
  EXPECT_THAT(message({.delta = 1.5}), testing::HasSubstr("between 0 and 1"));
  EXPECT_THAT(message({.nodes = 100000}), testing::HasSubstr("fit in memory"));
  EXPECT_THAT(message({.trials = 0}), testing::HasSubstr("number of trials"));
  EXPECT_THAT(message({.one_in = 0}), testing::HasSubstr("one node in 0"));
}

}  // namespace
}  // namespace tyche::theory
