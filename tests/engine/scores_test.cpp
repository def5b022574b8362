// Scores against their definitions, written out over all pairs or all thresholds, and against figures that scikit-learn
// gives.
#include "engine/core/scores.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

#include "support/random.hpp"

namespace tyche::engine {
namespace {

// Over all pairs of a graph of the class and one of the rest.
double plain_auc(const std::vector<double>& p, const std::vector<bool>& positive) {
  double good = 0, pairs = 0;
  for (std::size_t i = 0; i < p.size(); ++i) {
    for (std::size_t j = 0; j < p.size(); ++j) {
      if (!positive[i] || positive[j]) continue;
      ++pairs;
      good += p[i] > p[j] ? 1 : p[i] == p[j] ? 0.5 : 0;
    }
  }
  return good / pairs;
}

// Σ (R_n - R_{n-1}) P_n over the different thresholds, each with counts of its own.
double plain_precision(const std::vector<double>& p, const std::vector<bool>& positive) {
  const std::set<double, std::greater<>> thresholds(p.begin(), p.end());
  double all = 0, sum = 0, before = 0;
  for (const bool own : positive) all += own ? 1 : 0;
  for (const double threshold : thresholds) {
    double said = 0, right = 0;
    for (std::size_t i = 0; i < p.size(); ++i) {
      if (p[i] < threshold) continue;
      ++said;
      right += positive[i] ? 1 : 0;
    }
    sum += (right / all - before) * (right / said);
    before = right / all;
  }
  return sum;
}

struct Sample {
  std::vector<std::uint32_t> said, truth;
  std::vector<double> probabilities;
  std::size_t classes;

  [[nodiscard]] NamedValues scores() const { return class_scores(said, probabilities, truth, classes); }
  [[nodiscard]] double mean_over_classes(double (*score)(const std::vector<double>&, const std::vector<bool>&)) const {
    double sum = 0;
    for (std::size_t c = 0; c < classes; ++c) {
      std::vector<double> p;
      std::vector<bool> positive;
      for (std::size_t i = 0; i < truth.size(); ++i) {
        p.push_back(probabilities[i * classes + c]);
        positive.push_back(truth[i] == c);
      }
      const double own = score(p, positive);
      if (classes == 2 && c == 1) return own;
      sum += own;
    }
    return sum / static_cast<double>(classes);
  }
};

// Probabilities on a coarse grid, so that there are ties; every class has a graph.
Sample random_sample(std::size_t graphs, std::size_t classes, Stream& stream) {
  Sample sample;
  sample.classes = classes;
  for (std::size_t i = 0; i < graphs; ++i) {
    sample.truth.push_back(static_cast<std::uint32_t>(i < classes ? i : stream.below(classes)));
    sample.said.push_back(static_cast<std::uint32_t>(stream.below(classes)));
    for (std::size_t c = 0; c < classes; ++c) {
      sample.probabilities.push_back(static_cast<double>(stream.below(6)) / 5);
    }
  }
  return sample;
}

TEST(ClassScores, AreTheirDefinitionsOverAllPairsAndThresholds) {
  Stream stream(derive_key(101, Purpose::test));
  for (const std::size_t classes : {2u, 3u, 5u}) {
    for (int i = 0; i < 30; ++i) {
      const Sample sample = random_sample(classes + stream.below(30), classes, stream);
      const NamedValues scores = sample.scores();
      EXPECT_NEAR(scores.find("roc_auc").value(), sample.mean_over_classes(plain_auc), 1e-12);
      EXPECT_NEAR(scores.find("average_precision").value(), sample.mean_over_classes(plain_precision), 1e-12);
    }
  }
}

TEST(ClassScores, AreScikitLearnsOnItsOwnExample) {
  // roc_auc_score and average_precision_score of y = [0, 0, 1, 1], scores = [0.1, 0.4, 0.35, 0.8].
  const Sample sample = {{0, 0, 0, 1}, {0, 0, 1, 1}, {0.9, 0.1, 0.6, 0.4, 0.65, 0.35, 0.2, 0.8}, 2};
  const NamedValues scores = sample.scores();
  EXPECT_DOUBLE_EQ(scores.find("roc_auc").value(), 0.75);
  EXPECT_NEAR(scores.find("average_precision").value(), 0.8333333333333333, 1e-15);
  EXPECT_DOUBLE_EQ(scores.find("balanced_accuracy").value(), 0.75);
  EXPECT_DOUBLE_EQ(scores.find("f1").value(), 2.0 / 3);
  // balanced_accuracy_score and f1_score(average="macro") of y = [0, 1, 2, 0, 1, 2], said = [0, 2, 1, 0, 0, 1].
  const Sample three = {{0, 2, 1, 0, 0, 1}, {0, 1, 2, 0, 1, 2}, std::vector<double>(18, 1.0 / 3), 3};
  EXPECT_DOUBLE_EQ(three.scores().find("balanced_accuracy").value(), 1.0 / 3);
  EXPECT_NEAR(three.scores().find("f1").value(), 0.26666666666666666, 1e-15);
  EXPECT_DOUBLE_EQ(three.scores().find("roc_auc").value(), 0.5) << "all alike";
}

TEST(ClassScores, ThatAreNotDefinedAreNotThere) {
  const Sample one_class = {{0, 1}, {0, 0}, {0.9, 0.1, 0.2, 0.8}, 2};
  EXPECT_FALSE(one_class.scores().find("roc_auc").has_value());
  EXPECT_FALSE(one_class.scores().find("average_precision").has_value());
  EXPECT_DOUBLE_EQ(one_class.scores().find("balanced_accuracy").value(), 0.5) << "of the classes there are";
  EXPECT_DOUBLE_EQ(one_class.scores().find("f1").value(), 0) << "class 1 was said, and wrong";
  const Sample never = {{0, 0}, {0, 0}, {0.9, 0.1, 0.8, 0.2}, 2};
  EXPECT_FALSE(never.scores().find("f1").has_value()) << "class 1 is neither there nor said";
  const Sample diverged = {{0, 0}, {0, 1}, {NAN, NAN, 0.8, 0.2}, 2};
  EXPECT_FALSE(diverged.scores().find("roc_auc").has_value());
  const Sample empty = {{}, {}, {}, 2};
  EXPECT_FALSE(empty.scores().find("balanced_accuracy").has_value());
}

TEST(RealScores, AreScikitLearnsOnItsOwnExample) {
  // mean_absolute_error, r2_score of y = [3, -0.5, 2, 7], said = [2.5, 0, 2, 8].
  const std::vector<float> y = {3, -0.5f, 2, 7}, said = {2.5f, 0, 2, 8};
  const NamedValues scores = real_scores(said, y, 1);
  EXPECT_DOUBLE_EQ(scores.find("mae").value(), 0.5);
  EXPECT_DOUBLE_EQ(scores.find("rmse").value(), std::sqrt(0.375));
  EXPECT_NEAR(scores.find("r2").value(), 0.9486081370449679, 1e-12);
}

TEST(RealScores, LeaveMissingTargetsAndColumnsWithoutSpreadOut) {
  const float none = std::nanf("");
  // Columns: errors 1 and 3 with one missing; a constant; all missing.
  const std::vector<float> y = {0, 5, none, none, 5, none, 4, 5, none}, said = {1, 5, 0, 9, 6, 0, 7, 5, 0};
  const NamedValues all = real_scores(said, y, 3);
  EXPECT_DOUBLE_EQ(all.find("mae_0").value(), 2);
  EXPECT_DOUBLE_EQ(all.find("r2_0").value(), 1 - 10.0 / 8);
  EXPECT_DOUBLE_EQ(all.find("mae_1").value(), 1.0 / 3);
  EXPECT_FALSE(all.find("r2_1").has_value());
  EXPECT_FALSE(all.find("mae_2").has_value());
  EXPECT_DOUBLE_EQ(all.find("mae").value(), (1 + 3 + 1) / 5.0);
  EXPECT_DOUBLE_EQ(all.find("rmse").value(), std::sqrt((1 + 9 + 1) / 5.0));
  EXPECT_DOUBLE_EQ(all.find("r2").value(), all.find("r2_0").value()) << "the one column that has it";
}

TEST(BinaryScores, AreOfEachColumnOverTheTargetsThatAreThereAndTheirMean) {
  const float none = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> said = {0.9f, 0.1f, 0.5f, 0.8f, 0.2f, 0.3f, 0.4f, 0.9f, 0.5f};
  const std::vector<float> truth = {1, 0, 1, 0, 1, 1, 1, none, 1};
  // Column 0: 0.9 and 0.4 of 1, 0.8 of 0: one of two pairs is in order. Column 1: 0.2 of 1 is above 0.1 of 0.
  const NamedValues scores = binary_scores(said, truth, 3);
  EXPECT_DOUBLE_EQ(*scores.find("roc_auc_0"), 0.5);
  EXPECT_NEAR(*scores.find("average_precision_0"), (1 + 2.0 / 3) / 2, 1e-12);
  EXPECT_DOUBLE_EQ(*scores.find("roc_auc_1"), 1);
  EXPECT_FALSE(scores.find("roc_auc_2")) << "all are 1";
  EXPECT_DOUBLE_EQ(*scores.find("roc_auc"), 0.75);
  EXPECT_FALSE(binary_scores(std::vector<float>{1}, std::vector<float>{1}, 1).find("roc_auc"));
}

}  // namespace
}  // namespace tyche::engine
