// The draws that PyTorch's cases of marks and colours were computed on (tests/golden/paths.py), against ours.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "engine/core/draw_tables.hpp"
#include "engine/core/inputs.hpp"
#include "engine/golden.hpp"
#include "wl/individualise.hpp"

namespace tyche::engine {
namespace {

class GoldenDraws : public testing::TestWithParam<const char*> {
 protected:
  const GoldenCase golden{GetParam()};
  const Job job = golden.job();
  const Draw draw = golden.draw();

  // A number per node of all graphs, as the file has it: those of one graph.
  [[nodiscard]] std::vector<std::uint32_t> of_graph(const char* name, std::size_t graph) const {
    const auto all = golden.integers(name);
    const auto owner = golden.integers("graph.batch");
    std::vector<std::uint32_t> own;
    for (std::size_t v = 0; v < owner.size(); ++v) {
      if (owner[v] == static_cast<std::int64_t>(graph)) own.push_back(static_cast<std::uint32_t>(all[v]));
    }
    return own;
  }
};

TEST_P(GoldenDraws, TheKeyFollowsFromSeedFoldEpochAndDraw) {
  EXPECT_EQ(feature_key(draw.seed, draw.fold, draw.epoch, test_pass(draw.index)), golden.draw_key);
}

TEST_P(GoldenDraws, PathsHaveTheRanksAndChoices) {
  std::size_t choices = 0;
  nn::ModelConfig marked = job.model;
  marked.random = nn::Random::marks;
  for (const std::uint32_t g : golden.which) {
    const wl::Path path = wl::Individualiser(job.data.graphs[g]).draw({golden.draw_key, g}, job.model.depth);
    EXPECT_EQ(path.ranks, of_graph("draw.rank", g)) << "graph " << g;
    std::vector<std::uint32_t> marks(path.ranks.size());
    draw_numbers(marked, job.data.graphs[g], golden.draw_key, g, marks);
    EXPECT_EQ(marks, of_graph("draw.mark", g)) << "graph " << g;
    choices = std::max(choices, path.chosen.size());
  }
  // More than one block of Philox has words for, where nothing ends a path early.
  EXPECT_GE(choices, std::min<std::size_t>(job.model.depth, 5));
}

TEST_P(GoldenDraws, TablesOfAllPathsHaveTheSame) {
  for (const std::uint32_t g : golden.which) {
    const auto tree = wl::make_tree(job.data.graphs[g], job.model.depth);
    ASSERT_TRUE(tree.has_value()) << "graph " << g;
    const auto ranks = tree->ranks_of(tree->leaf({golden.draw_key, g}));
    EXPECT_EQ(std::vector<std::uint32_t>(ranks.begin(), ranks.end()), of_graph("draw.rank", g)) << "graph " << g;
  }
}

// The cases have eyes: an engine that took one of these draws instead would miss the tolerance of every golden test.
// Not every draw is another answer, since nodes that can be mapped to one another look the same to a network.
TEST_P(GoldenDraws, TheDrawsNextToItAreOtherAnswers) {
  const auto engine = make_engine("reference", 1);
  const auto expected = golden.values("out.logits");
  const auto distance = [&](const Draw& other) {
    const Logits logits = engine->predict(job, golden.flat("init"), golden.which, other);
    float worst = 0, largest = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      worst = std::max(worst, std::fabs(logits.values.at(i) - expected[i]));
      largest = std::max(largest, std::fabs(expected[i]));
    }
    return worst / largest;
  };
  EXPECT_LT(distance(draw), 2e-5);
  const auto expect_far = [&](auto member, const char* what, auto step) {
    Draw other = draw;
    other.*member += step;
    EXPECT_GT(distance(other), 0.1) << "another " << what;
  };
  expect_far(&Draw::seed, "seed", 1u);
  expect_far(&Draw::seed, "upper half of the seed", std::uint64_t{1} << 32);
  expect_far(&Draw::index, "index", 1u);
  expect_far(&Draw::fold, "fold", 1u);
  expect_far(&Draw::epoch, "epoch", 1u);
}

INSTANTIATE_TEST_SUITE_P(MarksAndColours, GoldenDraws, testing::Values("gcn_colours", "gcn_marks"),
                         [](const testing::TestParamInfo<const char*>& one) { return std::string(one.param); });

}  // namespace
}  // namespace tyche::engine
