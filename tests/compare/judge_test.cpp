// Scores, intervals and tests, against numbers worked out by hand.
#include "compare/judge.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "engine/core/scores.hpp"
#include "support/error.hpp"
#include "support/random.hpp"

namespace tyche::compare {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;

TEST(Holm, MultipliesByHowManyAreLeftAndNeverFalls) {
  // Sorted 0.01, 0.03, 0.04: times 3, 2, 1 gives 0.03, 0.06, 0.04, of which the last rises to 0.06.
  EXPECT_THAT(holm({0.04, 0.01, 0.03}),
              ElementsAre(DoubleNear(0.06, 1e-12), DoubleNear(0.03, 1e-12), DoubleNear(0.06, 1e-12)));
  EXPECT_THAT(holm({0.9, 0.8}), ElementsAre(1.0, 1.0));
}

TEST(PairedTest, OfAccuraciesIsMcNemarsExactOne) {
  // Nine graphs that a alone has right and one that b alone has: 2 (1 + 10) / 2^10.
  std::vector<double> a(20, 1), b(20, 1);
  for (int i = 0; i < 9; ++i) b[i] = 0;
  a[15] = 0;
  EXPECT_NEAR(paired_p(Metric::accuracy, a, b), 22.0 / 1024, 1e-12);
  EXPECT_NEAR(paired_p(Metric::accuracy, b, a), 22.0 / 1024, 1e-12);
  EXPECT_EQ(paired_p(Metric::accuracy, a, a), 1);
}

TEST(PairedTest, OfErrorsIsStudentsOfTheDifferences) {
  // Differences 1, 2, 3, 4, 5: t = 3 / (sqrt(2.5) / sqrt(5)) = 4.2426 with 4 degrees of freedom; p = 0.01324.
  const std::vector<double> a = {2, 4, 6, 8, 10}, b = {1, 2, 3, 4, 5};
  EXPECT_NEAR(paired_p(Metric::mae, a, b), 0.013236, 1e-5);
}

TEST(Judge, ScoresAccuraciesWithClopperAndPearsonsInterval) {
  Truth truth;
  truth.classes = 2;
  truth.labels = {0, 1, 1, 0};
  const std::vector<Said> said = {{{0, 1}, {0.9, 0.1, 0.4, 0.6}}, {{2, 3}, {0.7, 0.3, 0.8, 0.2}}};
  const Judged judged = judge(Metric::accuracy, truth, said);
  EXPECT_EQ(judged.score, 0.75);
  EXPECT_THAT(judged.values, ElementsAre(1, 1, 0, 1));
  EXPECT_NEAR(judged.low, 0.1941, 1e-4);
  EXPECT_NEAR(judged.high, 0.9937, 1e-4);
  // Bins 0.6: right 1; 0.7: right 0; 0.8 and 0.9: right. |0.6-1|/4 + 0.7/4 + 0.2/4 + 0.1/4.
  EXPECT_NEAR(*judged.calibration_error, 0.35, 1e-12);
}

TEST(Judge, AreasAreThoseOfTheScoresRoomAndTheirSpreadIsDelongs) {
  Truth truth;
  truth.classes = 2;
  Said fold;
  std::vector<std::uint32_t> said;
  Stream stream(derive_key(1, Purpose::test));
  for (std::uint32_t g = 0; g < 200; ++g) {
    truth.labels.push_back(g % 5 == 0);
    const double p = std::floor(10 * stream.uniform() + 3 * (g % 5 == 0)) / 13;  // with ties
    fold.graphs.push_back(g);
    fold.answers.insert(fold.answers.end(), {1 - p, p});
    said.push_back(p > 0.5);
  }
  const Judged judged = judge(Metric::roc_auc, truth, std::vector<Said>{fold});
  EXPECT_NEAR(judged.score, *engine::class_scores(said, fold.answers, truth.labels, 2).find("roc_auc"), 1e-12);
  // DeLong by definition: variances of the shares of the other class.
  double square = 0;
  for (const std::uint32_t own : {0u, 1u}) {
    double count = 0, sum = 0, sum2 = 0, others = 0;
    for (const std::uint32_t g : fold.graphs) others += truth.labels[g] != own;
    for (const std::uint32_t g : fold.graphs) {
      if (truth.labels[g] != own) continue;
      double share = 0;
      for (const std::uint32_t h : fold.graphs) {
        if (truth.labels[h] == own) continue;
        const double more = (fold.answers[2 * g + 1] - fold.answers[2 * h + 1]) * (own == 1 ? 1 : -1);
        share += more > 0 ? 1 : more == 0 ? 0.5 : 0;
      }
      share /= others, ++count, sum += share, sum2 += share * share;
    }
    square += (sum2 / count - sum * sum / count / count) / count;
  }
  const double reach = (judged.high - judged.low) / 2;
  EXPECT_NEAR(reach, 1.9720 * std::sqrt(square), 0.01 * reach);
}

TEST(Judge, AnAreaOfOneLabelIsRefused) {
  Truth truth;
  truth.classes = 2;
  truth.labels = {1, 1};
  EXPECT_THROW((void)judge(Metric::roc_auc, truth, std::vector<Said>{{{0, 1}, {0.5, 0.5, 0.5, 0.5}}}), InputError);
}

TEST(Judge, MissingTargetsCountNowhere) {
  Truth truth;
  truth.columns = 2;
  truth.targets = {1, NAN, NAN, NAN, 3, 5};
  const Judged judged = judge(Metric::mae, truth, std::vector<Said>{{{0, 1, 2}, {2, 9, 9, 9, 3, 7}}});
  EXPECT_THAT(judged.values, ElementsAre(1, 1));
}

TEST(Judge, OfBinaryTargetsIsTheMeanAreaOverTheColumnsThatHaveBoth) {
  Truth truth;
  truth.columns = 3;
  truth.binary = true;
  const double none = std::nan("");
  truth.targets = {1, 0, 1, 0, 1, 1, 1, none, 1};
  const Said fold{{0, 1, 2}, {0.9, 0.1, 0.5, 0.8, 0.2, 0.3, 0.4, 0.9, 0.5}};
  const Judged judged = judge(Metric::roc_auc, truth, std::vector<Said>{fold});
  EXPECT_NEAR(judged.score, 0.75, 1e-12);
  EXPECT_EQ(judged.values.size(), 3u);
  EXPECT_FALSE(judged.calibration_error);
}

TEST(Judge, OfOneBinaryTargetIsThatOfTwoLabels) {
  Truth labels, bits;
  labels.classes = 2;
  labels.labels = {0, 1, 1, 0, 1, 0};
  bits.binary = true;
  bits.targets = {0, 1, 1, 0, 1, 0};
  const std::vector<double> chance = {0.2, 0.9, 0.4, 0.5, 0.7, 0.7};
  Said two{{0, 1, 2, 3, 4, 5}, {}}, one{two.graphs, chance};
  for (const double p : chance) two.answers.insert(two.answers.end(), {1 - p, p});
  const Judged a = judge(Metric::roc_auc, labels, std::vector<Said>{two}),
               b = judge(Metric::roc_auc, bits, std::vector<Said>{one});
  EXPECT_DOUBLE_EQ(a.score, b.score);
  for (std::size_t i = 0; i < a.values.size(); ++i) EXPECT_NEAR(a.values[i], b.values[i], 1e-12);
}

}  // namespace
}  // namespace tyche::compare
