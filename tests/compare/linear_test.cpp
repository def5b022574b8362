// Counts and linear models, on graphs whose counts are known.
#include "compare/linear.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "wl/sample_graphs.hpp"

namespace tyche::compare {
namespace {

using testing::Each;

TEST(SizeAndDegrees, CountsNodesEdgesAndDegrees) {
  GraphSet set;
  set.graphs = {wl::path(4), wl::cycle(5)};
  const Table table = size_and_degrees(set);
  // Nodes, edges, nodes of degree 1 and 2; then types, of which there is one.
  const std::size_t types = 2 + 17;
  EXPECT_EQ(table.rows[0], (std::vector<Cell>{{0, 4}, {1, 3}, {2 + 1, 2}, {2 + 2, 2}, {types, 4}}));
  EXPECT_EQ(table.rows[1], (std::vector<Cell>{{0, 5}, {1, 5}, {2 + 2, 5}, {types, 5}}));
}

TEST(ColourCounts, SeeWhatRefinementSeesAndNoMore) {
  GraphSet set;
  set.graphs = {wl::cycle(6), disjoint_union(wl::cycle(3), wl::cycle(3)), wl::path(6)};
  const Table table = colour_counts(set);
  EXPECT_EQ(table.rows[0], table.rows[1]) << "1-WL takes them for one another";
  EXPECT_NE(table.rows[0], table.rows[2]);
}

datasets::Fold fold_of(std::uint32_t graphs) {
  datasets::Fold fold;
  for (std::uint32_t g = 0; g < graphs; ++g)
    (g % 5 == 0 ? fold.test : g % 5 == 1 ? fold.validation : fold.train).push_back(g);
  return fold;
}

TEST(LinearAnswers, FindAStraightLine) {
  GraphSet set;
  Truth truth;
  for (Node n = 3; n < 60; ++n) {
    set.graphs.push_back(wl::path(n));
    truth.targets.push_back(2.0 * n + 1);
  }
  const datasets::Fold fold = fold_of(57);
  const std::vector<double> said = linear_answers(size_and_degrees(set), truth, fold, fold.test);
  for (std::size_t i = 0; i < fold.test.size(); ++i) EXPECT_NEAR(said[i], truth.targets[fold.test[i]], 0.5);
}

TEST(LinearAnswers, TellClassesOfThreeBySizesAndGiveProbabilities) {
  GraphSet set;
  Truth truth;
  truth.classes = 3;
  for (std::uint32_t g = 0; g < 60; ++g) {
    set.graphs.push_back(wl::path(4 + 3 * (g % 3)));
    truth.labels.push_back(g % 3);
  }
  const datasets::Fold fold = fold_of(60);
  const std::vector<double> said = linear_answers(colour_counts(set), truth, fold, fold.test);
  for (std::size_t i = 0; i < fold.test.size(); ++i) {
    EXPECT_GT(said[3 * i + truth.labels[fold.test[i]]], 0.8);
    EXPECT_NEAR(said[3 * i] + said[3 * i + 1] + said[3 * i + 2], 1, 1e-12);
  }
}

TEST(LinearAnswers, WithoutColumnsAreTheSharesOfTheTrainingPart) {
  Truth truth;
  truth.classes = 2;
  truth.labels = {0, 1, 1, 1, 0};
  datasets::Fold fold;
  fold.train = {0, 1, 2, 3};
  fold.test = {4};
  EXPECT_EQ(linear_answers({}, truth, fold, fold.test), (std::vector<double>{0.25, 0.75}));
}

}  // namespace
}  // namespace tyche::compare
