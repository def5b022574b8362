// The page and the tables of a run of train, whatever it measured.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/page.hpp"
#include "support/damage.hpp"
#include "support/error.hpp"
#include "support/run_program.hpp"

namespace tyche::report {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class TrainingRun : public testing::Test {
 protected:
  void SetUp() override {
    const std::string data = (folder / "exp").string();
    ASSERT_EQ(run_program({"generate", "exp", "--out", data, "--pairs", "6", "--quiet"}).exit_code, 0);
    const RunResult made = run_program(
        {"train", "--recipe", "paper", "--data",   data, "--rni",        "0.5", "--width", "8",          "--layers",
         "2",     "--folds",  "3",     "--epochs", "4",  "--eval-every", "2",   "--out",   run.string(), "--quiet"});
    ASSERT_EQ(made.exit_code, 0) << made.err;
  }
  [[nodiscard]] std::filesystem::path records(int fold) const {
    return run / ("fold-" + std::to_string(fold)) / "metrics.jsonl";
  }
  [[nodiscard]] const MetricCurves& metric(const TrainingResults& results, const std::string& name) const {
    for (const MetricCurves& m : results.metrics) {
      if (m.name == name) return m;
    }
    throw InputError("no metric " + name);
  }
  TemporaryFolder folder;
  std::filesystem::path run = folder / "run";
};

TEST_F(TrainingRun, HasTheCurvesOfEveryFoldAndTheirMean) {
  const TrainingResults results = load_training(run);
  EXPECT_TRUE(results.complete);
  EXPECT_EQ(results.how_far(), "3 folds, 4 epochs");
  const MetricCurves& loss = metric(results, "train_loss");
  EXPECT_EQ(loss.epochs, (std::vector<std::uint32_t>{1, 2, 3, 4}));
  ASSERT_EQ(loss.folds.size(), 3u);
  EXPECT_NEAR(*loss.mean[2], (*loss.folds[0][2] + *loss.folds[1][2] + *loss.folds[2][2]) / 3, 1e-12);
  const MetricCurves& accuracy = metric(results, "test_accuracy");
  EXPECT_EQ(accuracy.epochs, (std::vector<std::uint32_t>{2, 4}));  // tested every second epoch
  const auto summary = nlohmann::json::parse(read_file(run / "summary.json"));
  EXPECT_EQ(accuracy.over_folds.mean, summary["test_accuracy_mean"].get<double>());
  EXPECT_EQ(accuracy.over_folds.deviation, summary["test_accuracy_std"].get<double>());
  EXPECT_EQ(results.parameters, summary["parameters"]);
  EXPECT_THAT(results.command, AllOf(HasSubstr("tyche train --data "), HasSubstr(" --rni 0.5"), HasSubstr(" --folds 3"),
                                     HasSubstr(" --epochs 4"), HasSubstr(" --eval-every 2")));
}

TEST_F(TrainingRun, MetricsOfAnyNameAreShownAsTheyAre) {
  for (int fold = 0; fold < 3; ++fold) {
    std::string text;
    for (int epoch = 1; epoch <= 4; ++epoch) {
      nlohmann::ordered_json line = {{"epoch", epoch}, {"train_loss", 2.0 / epoch}};
      if (epoch > 1) line["validation_mae"] = 10.0 * fold + epoch;
      line["test_r2"] = nullptr;  // diverged
      line["seconds"] = line["eval_seconds"] = 0.5;
      text += line.dump() + "\n";
    }
    write_file(records(fold), text);
  }
  const TrainingResults results = load_training(run);
  const MetricCurves& error = metric(results, "validation_mae");
  EXPECT_EQ(error.epochs, (std::vector<std::uint32_t>{2, 3, 4}));
  EXPECT_DOUBLE_EQ(*error.mean[0], 12);
  EXPECT_DOUBLE_EQ(error.over_folds.mean, 14);
  EXPECT_NEAR(error.over_folds.deviation, std::sqrt(200.0 / 3), 1e-12);
  EXPECT_THROW((void)metric(results, "test_r2"), InputError);  // no number in it
  EXPECT_DOUBLE_EQ(results.seconds, 12);
  const auto page = page_data(results, {.pairs = {}, .command = "c"});
  EXPECT_EQ(page["run"]["metrics"][1]["name"], "validation_mae");
  EXPECT_EQ(page["run"]["metrics"][1]["folds"][2], nlohmann::ordered_json({22.0, 23.0, 24.0}));
  EXPECT_EQ(page["run"]["metrics"][1]["over_folds"], "14 ± 8.165");
  EXPECT_EQ(page["run"]["metrics"][1]["title"], "validation MAE");
  EXPECT_THAT(to_csv(results), AllOf(HasSubstr("fold,epoch,train_loss,validation_mae,reported\n0,1,2,,0\n0,2,1,2,0\n"),
                                     HasSubstr("\n0,4,0.5,4,1\n")));
}

TEST_F(TrainingRun, AFoldThatStoppedEarlyCountsAsCompleteWhereTheRunSaysSo) {
  const std::string text = read_file(records(2));
  write_file(records(2), text.substr(0, text.rfind('\n', text.size() - 2) + 1));
  EXPECT_FALSE(load_training(run).complete);
  const std::string sealed = read_file(run / "summary.json");
  damage(run / "summary.json", "\"parameters\": ", "\"parameters\": 1");
  EXPECT_THAT([&] { (void)load_training(run); },
              testing::ThrowsMessage<InputError>(HasSubstr("summary.json: is damaged")));
  write_file(run / "summary.json", sealed);
  auto summary = nlohmann::ordered_json::parse(read_file(run / "summary.json"));
  summary["folds"][2]["epochs"] = 3;
  summary.erase("check");
  write_file(run / "summary.json", summary.dump());
  EXPECT_TRUE(load_training(run).complete);
  EXPECT_EQ(load_training(run).how_far(), "3 folds, 4 epochs at most (3 at least)");
}

TEST_F(TrainingRun, AnUnfinishedRunSaysHowFarItIs) {
  std::filesystem::remove(run / "summary.json");
  std::filesystem::remove_all(run / "fold-2");
  const std::string text = read_file(records(1));
  write_file(records(1), text.substr(0, text.size() / 2));  // two lines, and perhaps a torn one
  const TrainingResults results = load_training(run);
  EXPECT_FALSE(results.complete);
  EXPECT_THAT(results.how_far(), HasSubstr("under way: 1 of 3 folds done, "));
  ASSERT_EQ(results.folds.size(), 2u);
  const MetricCurves& loss = metric(results, "train_loss");
  EXPECT_EQ(loss.epochs.size(), 4u);
  EXPECT_TRUE(loss.mean[0].has_value());
  EXPECT_FALSE(loss.mean[3].has_value());  // one fold alone has it
  std::filesystem::remove_all(run / "fold-0");
  std::filesystem::remove_all(run / "fold-1");
  EXPECT_TRUE(load_training(run).metrics.empty());
  EXPECT_THAT(to_markdown(load_training(run)), HasSubstr("0 of 3 folds done, 0 of 12 epochs"));
}

TEST_F(TrainingRun, LongCurvesAreThinnedAndKeepTheirLastEpoch) {
  std::string text;
  for (int epoch = 1; epoch <= 1500; ++epoch) {
    text += nlohmann::ordered_json{{"epoch", epoch}, {"train_loss", 0.5}, {"seconds", 0}, {"eval_seconds", 0}}.dump() +
            "\n";
  }
  for (int fold = 0; fold < 3; ++fold) write_file(records(fold), text);
  const auto page = page_data(load_training(run), {.pairs = {}, .command = "c"});
  const auto& epochs = page["run"]["metrics"][0]["epochs"];
  EXPECT_LE(epochs.size(), kMostPoints + 1);
  EXPECT_EQ(epochs[0], 1);
  EXPECT_EQ(epochs.back(), 1500);
}

TEST_F(TrainingRun, TheTablesComeInThreeFormats) {
  const auto text = [&](const char* format) { return run_program({"report", run.string(), "--format", format}).out; };
  EXPECT_THAT(text("md"), AllOf(HasSubstr("3 folds, 4 epochs"), HasSubstr("| test accuracy, % | "),
                                HasSubstr("| fold | epochs | train loss |"), HasSubstr(" --out RUN")));
  EXPECT_THAT(text("csv"), AllOf(HasSubstr("fold,epoch,train_loss,"), HasSubstr("\n2,4,")));
  EXPECT_THAT(text("tex"), AllOf(HasSubstr("test accuracy, \\% & "), HasSubstr("$\\pm$"), Not(HasSubstr("±"))));
}

}  // namespace
}  // namespace tyche::report
