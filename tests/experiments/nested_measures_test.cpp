// Nested selection by every measure there is: summaries of candidates are written here, so that who must win is known.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "experiments/plan.hpp"
#include "experiments/runner.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "support/seal.hpp"
#include "support/temporary_folder.hpp"
#include "train/metrics.hpp"
#include "train/samples.hpp"

namespace tyche::experiments {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

/// Two folds, four candidates of one model that differ in the learning rate; none is trained.
struct NestedMeasures : testing::Test {
  TemporaryFolder folder;

  void SetUp() override {
    datasets::Dataset dataset = train::small_dataset();
    write_graphs(folder / "labels.txt", dataset.set, Format::gin);
    dataset.set.labels.clear();
    dataset.set.target_dim = 1;
    for (const Graph& graph : dataset.set.graphs) {
      dataset.set.targets.push_back(static_cast<float>(graph.num_nodes()));
    }
    write_graphs(folder / "numbers.jsonl", dataset.set, Format::jsonl);
  }
  [[nodiscard]] Plan plan_by(const std::string& measure, bool of_numbers) const {
    write_file(folder / "small.toml", fmt::format(R"toml(selection = "nested"
[data]
path = "{}"
[defaults]
model.width = 8
model.layers = 2
training.batch = 4
training.epochs = 6
folds.count = 2
folds.validation = 0.25
{}[[models]]
name = "narrow"
[grid]
training.learning_rate = [1e-4, 1e-3, 1e-2, 1e-1]
)toml",
                                                  of_numbers ? "numbers.jsonl" : "labels.txt",
                                                  measure.empty() ? "" : "selection.by = \"" + measure + "\"\n"));
    return make_plan(load_experiments(find_experiment(folder / "small.toml"), "standard"), folder / measure / "results",
                     {.engine = "cpu", .threads = 1});
  }
  /// The summary of a candidate whose fold validated to `value` in an epoch; NaN: it diverged.
  static void summarise(const PlannedTrial& trial, const std::string& measure, double value, std::uint32_t epoch) {
    nlohmann::ordered_json fold = {{"fold", 0}, {"best_epoch", epoch}, {"validation_" + measure, nullptr}};
    if (!std::isnan(value)) fold["validation_" + measure] = value;
    const nlohmann::ordered_json summary = {{"complete", true}, {"folds", {fold}}};
    std::filesystem::create_directories(trial.folder);
    write_file(trial.folder / "summary.json", seal_json(summary.dump(2) + "\n"));
  }
  /// The values of the four candidates in either fold.
  using Values = std::vector<std::array<double, 2>>;
  static void summarise(const Plan& plan, const std::string& measure, const Values& values) {
    for (std::size_t row = 0; row < plan.rows.size(); ++row) {
      for (std::size_t fold = 0; fold < 2; ++fold) {
        summarise(plan.trials[plan.rows[row].trials[fold]], measure, values[row][fold],
                  static_cast<std::uint32_t>(10 * row + fold + 1));
      }
    }
  }
};

TEST_F(NestedMeasures, TheSmallestOfALossAndTheLargestOfAScoreWins) {
  // The largest is candidate 1 and the smallest 2; in the other fold 3 and 0, each the first of two equals.
  const Values values = {{0.5, 0.25}, {0.75, 0.25}, {0.25, 0.5}, {0.5, 0.75}};
  for (const bool of_numbers : {false, true}) {
    for (const std::string& measure : train::selection_measures(of_numbers, false)) {
      if (measure == "none") continue;
      const bool smallest = measure == "loss" || measure == "mae" || measure == "rmse";
      Plan plan = plan_by(measure, of_numbers);
      ASSERT_EQ(plan.rows.size(), 4u) << measure;
      summarise(plan, measure, values);
      add_finals(plan);
      ASSERT_EQ(plan.finals.size(), 1u) << measure;
      const std::vector<Winner>& winners = plan.finals[0].winners;
      ASSERT_EQ(winners.size(), 2u) << measure;
      EXPECT_EQ(winners[0].row, smallest ? 2u : 1u) << measure;
      EXPECT_EQ(winners[0].value, smallest ? 0.25 : 0.75) << measure;
      EXPECT_EQ(winners[0].epoch, smallest ? 21u : 11u) << measure;
      EXPECT_EQ(winners[1].row, smallest ? 0u : 3u) << measure;
      // The winner is trained, with its own rate, under seeds of its own.
      const PlannedTrial& final = plan.trials[plan.finals[0].trials[0]];
      EXPECT_DOUBLE_EQ(final.config.training.learning_rate, smallest ? 1e-2 : 1e-3) << measure;
      EXPECT_EQ(final.config.selection.test, "end") << measure;
      EXPECT_EQ(final.config.folds.only, 0u) << measure;
    }
  }
}

TEST_F(NestedMeasures, WithoutAWordTheSmallestValidationLossWins) {
  Plan plan = plan_by("", false);
  EXPECT_EQ(plan.trials[0].config.selection.by, "loss");
  summarise(plan, "loss", {{3, 3}, {1, 2}, {2, 1}, {4, 4}});
  add_finals(plan);
  EXPECT_EQ(plan.finals[0].winners[0].row, 1u);
  EXPECT_EQ(plan.finals[0].winners[1].row, 2u);
}

TEST_F(NestedMeasures, WhatDivergedNeverWinsAndNobodyWinsWhereAllDid) {
  const double none = std::nan("");
  Plan plan = plan_by("loss", false), other = plan_by("accuracy", false);
  summarise(plan, "loss", {{none, 3}, {none, none}, {2, none}, {none, 1}});
  add_finals(plan);
  EXPECT_EQ(plan.finals[0].winners[0].row, 2u);
  EXPECT_EQ(plan.finals[0].winners[1].row, 3u);
  summarise(other, "accuracy", {{0.5, none}, {none, none}, {0.25, none}, {none, none}});
  EXPECT_THAT([&] { add_finals(other); }, ThrowsMessage<InputError>(HasSubstr("fold 1: no candidate of narrow")));
}

TEST_F(NestedMeasures, TheDeviationIsThatOfTheFoldsEachTheMeanOfItsTrainings) {
  Plan plan = plan_by("loss", false);
  summarise(plan, "loss", {{3, 3}, {1, 2}, {2, 1}, {4, 4}});
  add_finals(plan);
  ASSERT_EQ(plan.finals[0].trials.size(), 6u);
  const double accuracy[] = {0.5, 0.75, 1, 0.25, 0.25, 0.25};  // means 0.75 and 0.25
  for (std::size_t t = 0; t < 6; ++t) {
    const PlannedTrial& trial = plan.trials[plan.finals[0].trials[t]];
    const nlohmann::ordered_json fold = {{"fold", t / 3}, {"test_accuracy", accuracy[t]}};
    std::filesystem::create_directories(trial.folder);
    write_file(trial.folder / "summary.json",
               seal_json(nlohmann::ordered_json{{"complete", true}, {"folds", {fold}}}.dump(2) + "\n"));
  }
  const nlohmann::ordered_json model = nested_results(plan, 0)["models"][0];
  EXPECT_DOUBLE_EQ(model["test_accuracy_mean"].get<double>(), 0.5);
  EXPECT_DOUBLE_EQ(model["test_accuracy_std"].get<double>(), 0.25);
  EXPECT_DOUBLE_EQ(model["folds"][0]["test_accuracy_mean"].get<double>(), 0.75);
  EXPECT_EQ(model["folds"][1]["test_accuracy"], (std::vector<double>{0.25, 0.25, 0.25}));
}

TEST_F(NestedMeasures, ASummaryInWhichAByteChangedIsRefused) {
  Plan plan = plan_by("loss", false);
  summarise(plan, "loss", {{3, 3}, {1, 2}, {2, 1}, {4, 4}});
  const std::filesystem::path path = plan.trials[0].folder / "summary.json";
  std::string text = read_file(path);
  text.replace(text.find("\"validation_loss\": 3"), 20, "\"validation_loss\": 0");
  write_file(path, text);
  EXPECT_THAT([&] { add_finals(plan); }, ThrowsMessage<InputError>(HasSubstr("summary.json: is damaged")));
  EXPECT_THAT([&] { (void)is_complete(plan.trials[0]); },
              ThrowsMessage<InputError>(HasSubstr("summary.json: is damaged")));
}

}  // namespace
}  // namespace tyche::experiments
