#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/page.hpp"
#include "report/results.hpp"

namespace tyche::report {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Two of ten folds of 600 graphs, 120 tested, for `epochs` epochs; the paper has 500, and a curve with three points.
ResultRow row_of(std::uint32_t epochs, double ours, double deviation) {
  ResultRow row;
  row.name = "GCN-50%RNI";
  row.folds_run = 2;
  row.folds_done = 2;
  row.epochs_done = epochs;
  row.config.training.epochs = epochs;
  row.config.data.graphs = 600;
  row.accuracy["all"] = {ours, deviation, 2};
  row.curves["all"] = {{1, static_cast<double>(epochs)}, {50, ours}, {0, deviation}};
  row.paper["all"] = {99.92, std::nullopt, "Figure 2a", 500};
  row.paper_curves["all"] = {{0, 170, 500}, {50, 95.42, 99.92}, {}};
  return row;
}

std::string markdown(const ResultRow& row) {
  Experiment e;
  e.title = "Mine";
  e.rows = {row};
  Results results;
  results.experiments = {e};
  return to_markdown(results);
}

}  // namespace

TEST(Compare, WithinThePapersDeviationAndOnePointAtLeast) {
  EXPECT_TRUE(compare({98.0, 0, 10}, {99.5, 2.0, ""}).within());
  EXPECT_FALSE(compare({97.0, 0, 10}, {99.5, 2.0, ""}).within());
  EXPECT_TRUE(compare({50.5, 0, 10}, {50.0, std::nullopt, ""}).within());
  EXPECT_FALSE(compare({51.5, 0, 10}, {50.0, std::nullopt, ""}).within());
  EXPECT_DOUBLE_EQ(compare({97.0, 0, 10}, {99.5, 2.0, ""}).difference, -2.5);
}

TEST(BesidePaper, AShortRunIsComparedWithTheCurveAtItsEpochAndNotWithTheEnd) {
  const Beside beside = beside_paper(row_of(170, 97.5, 0.5), "all");
  EXPECT_EQ(beside.epoch, 170u);
  ASSERT_TRUE(beside.comparison);
  EXPECT_NEAR(beside.comparison->difference, 97.5 - 95.42, 1e-9);
  // Two standard errors of 120 graphs at 95.42 %: 2 · √(0.9542 · 0.0458 / 120) = 3.8168 %.
  EXPECT_NEAR(beside.comparison->range, 3.8168, 1e-3);
  EXPECT_EQ(verdict(beside), "yes");
  EXPECT_THAT(markdown(row_of(170, 97.5, 0.5)),
              HasSubstr("| 97.50 ± 0.50 | 95.42 at epoch 170 | +2.08 | yes (±3.82) |"));
}

TEST(BesidePaper, FoldsThatDifferMuchWidenTheRange) {
  // Of two folds the standard error is the population deviation itself: σ · √2 is the sample's, over √2.
  EXPECT_NEAR(beside_paper(row_of(170, 87.5, 5.83), "all").comparison->range, 2 * 5.83, 1e-9);
  EXPECT_EQ(verdict(beside_paper(row_of(170, 87.5, 5.83), "all")), "yes");
  EXPECT_EQ(verdict(beside_paper(row_of(170, 87.5, 0.5), "all")), "behind");
  EXPECT_EQ(verdict(beside_paper(row_of(170, 100, 0), "all")), "ahead");
}

TEST(BesidePaper, ADeviationThatThePaperPrintsThereCountsToo) {
  ResultRow row = row_of(170, 90, 0);
  row.paper_curves["deviation"] = {{170}, {7.5}, {}};
  EXPECT_NEAR(beside_paper(row, "all").comparison->range, 7.5, 1e-9);
  EXPECT_THAT(papers_side(row, "all"), HasSubstr("95.42 ± 7.50 at epoch 170"));
}

TEST(BesidePaper, WhereThePaperHasNoNumberNothingIsCompared) {
  ResultRow between = row_of(171, 97.5, 0.5), without = row_of(170, 97.5, 0.5);
  without.paper_curves.clear();
  for (const ResultRow& row : {between, without}) {
    EXPECT_FALSE(beside_paper(row, "all").paper);
    EXPECT_FALSE(beside_paper(row, "all").comparison);
    EXPECT_EQ(verdict(beside_paper(row, "all")), "–");
  }
  EXPECT_THAT(markdown(between), HasSubstr("| none at epoch 171 (99.92 after 500) | – | – |"));
  EXPECT_THAT(markdown(between), Not(HasSubstr("yes")));
}

TEST(BesidePaper, ARunAsLongAsThePapersIsComparedWithItsTable) {
  for (const std::uint32_t epochs : {500u, 600u}) {
    const Beside beside = beside_paper(row_of(epochs, 98.5, 3), "all");
    EXPECT_EQ(beside.epoch, 0u);
    ASSERT_TRUE(beside.comparison);
    EXPECT_NEAR(beside.comparison->difference, -1.42, 1e-9);
    EXPECT_NEAR(beside.comparison->range, 1, 1e-9);  // our own deviation does not widen it there
    EXPECT_EQ(verdict(beside), "no");
  }
}

TEST(BesidePaper, WithoutAWordOnThePapersEpochsItsNumberIsItsEnd) {
  ResultRow row = row_of(170, 99, 0);  // a record made before they were written down
  row.paper["all"].epochs = 0;
  EXPECT_EQ(beside_paper(row, "all").epoch, 0u);
  EXPECT_EQ(verdict(beside_paper(row, "all")), "yes");
  row.paper.clear();
  EXPECT_FALSE(beside_paper(row, "all").paper);
  EXPECT_EQ(papers_side(row, "all"), "–");
}

TEST(BesidePaper, ARunUnderWayIsComparedAtTheEpochThatEveryFoldHas) {
  ResultRow row = row_of(170, 97.5, 0.5);
  row.config.training.epochs = 500;
  row.folds_done = 0;
  row.accuracy["all"].mean = 99;  // one fold is further
  EXPECT_EQ(beside_paper(row, "all").epoch, 170u);
  EXPECT_NEAR(beside_paper(row, "all").comparison->difference, 97.5 - 95.42, 1e-9);
}

TEST(Csv, SaysWhichEpochOfThePaperIsCompared) {
  Experiment e;
  e.name = "mine";
  e.rows = {row_of(170, 97.5, 0.5), row_of(171, 97.5, 0.5)};
  Results results;
  results.experiments = {e};
  const std::string text = to_csv(results);
  EXPECT_THAT(text, HasSubstr(",paper_epoch,metric\n"));
  EXPECT_THAT(text, HasSubstr(",170,170,95.42,,2.0"));
  EXPECT_THAT(text, HasSubstr(",,,170,test_accuracy\n"));
  EXPECT_THAT(text, HasSubstr(",171,171,,,,,0,"));  // nothing beside it
}

}  // namespace tyche::report
