#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/page.hpp"

namespace tyche::report {
namespace {

using testing::HasSubstr;
using testing::Not;

Results sample() {
  ResultRow row;
  row.name = "GCN-50%RNI_x|y<b>";
  row.folds_run = 2;
  row.folds_done = 2;
  row.config.training.epochs = 7;
  row.epochs_done = 7;
  row.commands = {"tyche train --data d"};
  row.accuracy["all"] = {98.0, 1.0, 2};
  row.paper["all"] = {99.5, 2.0, "Table 1"};
  ResultRow bare;
  bare.name = "a, \"b\"";
  bare.folds_run = 2;
  Experiment e;
  e.name = "mine";
  e.title = "Mine & yours";
  e.profile = "quick";
  e.show = {"table"};
  e.rows = {row, bare};
  Results results;
  results.experiments = {e};
  return results;
}

}  // namespace

TEST(Markdown, PutsOursBesideThePapers) {
  const std::string text = to_markdown(sample());
  EXPECT_THAT(text, HasSubstr("| 98.00 ± 1.00 | 99.50 ± 2.00 | -1.50 | yes (±2.00) | 2 × 7 |"));
  EXPECT_THAT(text, HasSubstr("GCN-50%RNI\\_x\\|y\\<b\\>"));
  EXPECT_THAT(text, HasSubstr("0 of 2 folds"));  // the row without measurements says how far it is
  EXPECT_THAT(text, HasSubstr("tyche train --data d --out RUN"));
}

TEST(Tables, ARowOfOneFoldSaysThatItWasTestedOnItsTrainingGraphs) {
  Results results = sample();
  EXPECT_THAT(to_markdown(results) + to_latex(results), Not(HasSubstr("same graphs")));
  ResultRow& row = results.experiments[0].rows[0];
  row.config.folds.count = 1;
  row.folds_run = 1;
  row.folds_done = 1;
  EXPECT_THAT(to_markdown(results), HasSubstr("| 1 × 7, trained and tested on the same graphs |"));
  EXPECT_THAT(to_latex(results), HasSubstr("y<b>, trained and tested on the same graphs & 98.00"));
}

TEST(Csv, QuotesWhatNeedsQuotes) {
  Results results = sample();
  results.experiments[0].rows[1].paper["all"] = {50, std::nullopt, ""};
  const std::string text = to_csv(results);
  EXPECT_THAT(text, HasSubstr("mine,\"a, \"\"b\"\"\",all,,,0,2,"));
  EXPECT_THAT(text, HasSubstr(",98,1,2,2,7,7,99.5,2,-1.5,yes,"));
}

TEST(Latex, EscapesNames) {
  const std::string text = to_latex(sample());
  EXPECT_THAT(text, HasSubstr("GCN-50\\%RNI\\_x|y<b> & 98.00 $\\pm$ 1.00 & 99.50 $\\pm$ 2.00 \\\\"));
  EXPECT_THAT(text, HasSubstr("Mine \\& yours"));
  EXPECT_THAT(text, Not(HasSubstr("±")));
}

}  // namespace tyche::report
