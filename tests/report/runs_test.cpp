// Runs side by side: whatever their kind, each with the result that its own summary reports.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/io.hpp"
#include "report/page.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "support/run_program.hpp"
#include "support/temporary_folder.hpp"
#include "train/samples.hpp"

namespace tyche::report {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

struct Side : testing::Test {
  TemporaryFolder folder;
  std::string labels = (folder / "labels.txt").string(), numbers = (folder / "numbers.jsonl").string();

  void SetUp() override {
    datasets::Dataset dataset = train::small_dataset();
    write_graphs(labels, dataset.set, Format::gin);
    dataset.set.labels.clear();
    dataset.set.target_dim = 1;
    for (const Graph& graph : dataset.set.graphs) {
      dataset.set.targets.push_back(static_cast<float>(graph.num_nodes()));
    }
    write_graphs(numbers, dataset.set, Format::jsonl);
  }
  void train(const std::string& name, const std::string& data, std::vector<std::string> more) const {
    std::vector<std::string> args = {"train",
                                     "--data",
                                     data,
                                     "--recipe",
                                     "paper",
                                     "--width",
                                     "8",
                                     "--lr",
                                     "0.01",
                                     "--layers",
                                     "2",
                                     "--folds",
                                     "3",
                                     "--epochs",
                                     "6",
                                     "--out",
                                     (folder / "runs" / name).string(),
                                     "--quiet"};
    args.insert(args.end(), more.begin(), more.end());
    const RunResult made = run_program(args);
    ASSERT_EQ(made.exit_code, 0) << made.err;
  }
  [[nodiscard]] std::string report(const std::vector<std::string>& names, const std::string& format) const {
    std::vector<std::string> args = {"report", "--format", format};
    for (const std::string& name : names) args.push_back((folder / name).string());
    const RunResult r = run_program(args);
    EXPECT_EQ(r.exit_code, 0) << r.err;
    return r.out;
  }
  [[nodiscard]] nlohmann::json summary(const std::string& name) const {
    return nlohmann::json::parse(read_file(folder / "runs" / name / "summary.json"));
  }
};

TEST_F(Side, EveryRunHasTheTestResultThatItsSummaryReports) {
  train("last", labels, {});
  train("chosen", labels, {"--validation", "0.25", "--select-by", "loss"});
  train("end", labels, {"--validation", "0.25", "--select-by", "loss", "--test", "end"});
  train("numbers", numbers, {});
  const auto json = nlohmann::json::parse(report({"runs/last", "runs/chosen", "runs/end", "runs/numbers"}, "json"));
  ASSERT_EQ(json["runs"].size(), 4u);
  for (const auto& run : json["runs"]) {
    const std::string name = std::filesystem::path(run["name"].get<std::string>()).filename();
    const std::string metric = name == "numbers" ? "test_mae" : "test_accuracy";
    EXPECT_EQ(run["scores"][metric]["mean"], summary(name)[metric + "_mean"]) << name;
    EXPECT_EQ(run["scores"][metric]["deviation"], summary(name)[metric + "_std"]) << name;
    EXPECT_EQ(run["scores"][metric]["values"].size(), 3u);
    for (std::size_t fold = 0; fold < 3; ++fold) {
      EXPECT_EQ(run["scores"][metric]["values"][fold], summary(name)["folds"][fold][metric]) << name;
    }
  }
  EXPECT_EQ(json["runs"][1]["of_epoch"], "the epoch with the best validation loss");
  const std::string text = report({"runs/last", "runs/end", "runs/numbers"}, "md");
  EXPECT_THAT(text, AllOf(HasSubstr("test accuracy, % |"), HasSubstr("test MAE"), HasSubstr("test R²"),
                          HasSubstr("validation loss |"), HasSubstr("/runs/end | labels.txt | gcn |")));
  EXPECT_THAT(report({"runs/last", "runs/numbers"}, "tex"), AllOf(HasSubstr("test R$^2$"), Not(HasSubstr("±"))));
  EXPECT_THAT(report({"runs/last", "runs/numbers"}, "csv"),
              AllOf(HasSubstr(",test_mae,"), HasSubstr(",test_accuracy,")));
}

TEST_F(Side, AFolderOfRunsIsComparedAndKindsMayDiffer) {
  train("mine", labels, {});
  const RunResult told =
      run_program({"distinguish", labels, "--width", "8", "--epochs", "16", "--random", "colours", "--draws", "32",
                   "--train-draws", "4", "--seeds", "2", "--out", (folder / "runs/pairs").string(), "--quiet"});
  ASSERT_LE(told.exit_code, 1) << told.err;
  const auto json = nlohmann::json::parse(report({"runs"}, "json"));
  ASSERT_EQ(json["runs"].size(), 2u);
  EXPECT_EQ(json["runs"][0]["kind"], "train");
  EXPECT_EQ(json["runs"][1]["kind"], "distinguish");
  EXPECT_EQ(json["runs"][1]["scores"]["told_apart"]["values"].size(), 2u);
  EXPECT_FALSE(json["runs"][1]["scores"].contains("test_accuracy"));
  const auto page = page_data(run_lines({folder / "runs"}), {.pairs = {}, .command = "c"});
  EXPECT_EQ(page["shows"], "runs");
  EXPECT_EQ(page["table"].size(), 3u);
  EXPECT_THAT(report({"runs"}, "md"), AllOf(HasSubstr("| told apart | controls told apart |"), HasSubstr("2 seeds")));
  const RunResult none =
      run_program({"report", (folder / "runs/mine").string(), folder.path().string() + "/nowhere", "--format", "md"});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.err, HasSubstr("nowhere"));
}

TEST_F(Side, RealTargetsOfAnExperimentShowTheirErrors) {
  write_file(folder / "sizes.toml", R"toml(title = "Sizes"
show = ["table", "curves"]
[data]
path = "numbers.jsonl"
[defaults]
model.width = 8
model.layers = 2
training.epochs = 3
folds.count = 3
[[models]]
name = "GCN"
)toml");
  const std::string out = (folder / "out").string();
  const RunResult made = run_program({"reproduce", (folder / "sizes.toml").string(), "--out", out, "--quiet"});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const Results results = load_results(out);
  const MetricCurves* error = results.experiments[0].rows[0].find("test_mae");
  ASSERT_NE(error, nullptr);
  EXPECT_EQ(error->over_folds.count, 3u);
  EXPECT_GT(error->over_folds.mean, 0);
  EXPECT_THAT(to_markdown(results), AllOf(HasSubstr("| model | test MAE | test R² |"), Not(HasSubstr("accuracy"))));
  EXPECT_THAT(to_latex(results), HasSubstr("Model & test MAE & test R$^2$ \\\\"));
  EXPECT_THAT(to_csv(results), AllOf(HasSubstr(",test_mae\n"), HasSubstr(",test_r2\n")));
  EXPECT_THAT(report({"out"}, "json"), HasSubstr("\"test_mae\""));
  EXPECT_THAT(report({"out", "out"}, "md"), HasSubstr("out: sizes, GCN | numbers | gcn |"));
}

}  // namespace
}  // namespace tyche::report
