// One true number: the test part at the chosen epoch, to the digit the same wherever tyche shows it.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "graph/io.hpp"
#include "support/file.hpp"
#include "support/run_program.hpp"
#include "train/samples.hpp"

namespace tyche {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class OneNumber : public testing::Test {
 protected:
  void SetUp() override { write_graphs(folder_ / "small.jsonl", train::small_dataset(60, 2).set, Format::jsonl); }
  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }

  /// Options that begin with the number of folds. It does not learn fast: epochs differ, and the chosen one is not the
  /// last.
  RunResult train(const std::string& out, const std::vector<std::string>& more) const {
    std::vector<std::string> args = {"train",   "--recipe", "paper",    "--data", path("small.jsonl"), "--out",
                                     path(out), "--quiet",  "--width",  "8",      "--layers",          "2",
                                     "--rni",   "0.5",      "--epochs", "12",     "--batch",           "4",
                                     "--lr",    "0.01",     "--seed",   "3"};
    args.insert(args.end(), more.begin(), more.end());
    if (more.at(1) != "1") args.insert(args.end(), {"--fold-scheme", "stratified"});  // one fold has no scheme
    return run_program(args);
  }
  [[nodiscard]] std::string report(const std::string& run, const std::string& format) const {
    return run_program({"report", path(run), "--format", format}).out;
  }
  [[nodiscard]] json summary(const std::string& run) const {
    return json::parse(read_file(folder_ / run / "summary.json"));
  }
  /// What the page's data says of a metric.
  [[nodiscard]] json of_page(const std::string& run, const std::string& metric) const {
    EXPECT_EQ(run_program({"report", path(run), "--out", path("page.html"), "--quiet"}).exit_code, 0);
    const std::string page = read_file(folder_ / "page.html");
    const std::size_t begin = page.find("{\"version\"");
    json data = json::parse(page.substr(begin, page.find("</script>", begin) - begin), nullptr, false);
    for (const json& own : data["run"]["metrics"]) {
      if (own["name"] == metric) return own;
    }
    return {};
  }
  /// The column of a CSV, of lines that are reported.
  static std::vector<double> reported(const std::string& csv, const std::string& column) {
    std::vector<double> values;
    std::vector<std::string> heads;
    std::size_t begin = 0;
    while (begin < csv.size()) {
      const std::size_t end = csv.find('\n', begin);
      std::vector<std::string> cells = {""};
      for (const char c : csv.substr(begin, end - begin)) {
        if (c == ',') {
          cells.emplace_back();
        } else {
          cells.back() += c;
        }
      }
      begin = end + 1;
      if (heads.empty()) {
        heads = cells;
        continue;
      }
      if (cells.back() != "1") continue;
      const auto at = std::find(heads.begin(), heads.end(), column);
      if (at != heads.end()) values.push_back(std::stod(cells[static_cast<std::size_t>(at - heads.begin())]));
    }
    return values;
  }

  TemporaryFolder folder_;
};

TEST_F(OneNumber, IsTheSameInTableSummaryReportsAndPredict) {
  for (const std::string test : {"end", "epochs"}) {
    SCOPED_TRACE(test);
    const RunResult made = train(test, {"--folds", "3", "--select-by", "loss", "--test", test});
    ASSERT_EQ(made.exit_code, 0) << made.err;
    const json said = summary(test);
    ASSERT_EQ(said["folds"].size(), 3u);
    bool earlier = false;
    for (const json& fold : said["folds"]) {
      EXPECT_EQ(fold["best_epoch"], fold["tested_epoch"]);
      earlier = earlier || fold["best_epoch"] != 12;
    }
    EXPECT_TRUE(earlier) << "some fold's best epoch is not its last, or this test shows nothing";
    const std::string number = fmt::format("{:.2f} ± {:.2f}", 100 * said["test_accuracy_mean"].get<double>(),
                                           100 * said["test_accuracy_std"].get<double>());
    EXPECT_THAT(made.out, AllOf(HasSubstr("test accuracy " + number + " %"), HasSubstr("chosen"),
                                HasSubstr("(of the epoch with the best validation loss)")));
    EXPECT_THAT(report(test, "md"), AllOf(HasSubstr("| metric, of the epoch with the best validation loss |"),
                                          HasSubstr("| test accuracy, % | " + number + " |"), HasSubstr("| chosen |")));
    std::string tex = number;
    tex.replace(tex.find("±"), std::string("±").size(), "$\\pm$");
    EXPECT_THAT(report(test, "tex"),
                AllOf(HasSubstr("test accuracy, \\% & " + tex), HasSubstr("best validation loss")));
    const std::vector<double> csv = reported(report(test, "csv"), "test_accuracy");
    const json page = of_page(test, "test_accuracy");
    EXPECT_EQ(page["over_folds"], number);
    ASSERT_EQ(csv.size(), 3u);
    for (std::size_t f = 0; f < 3; ++f) {
      const double accuracy = said["folds"][f]["test_accuracy"];
      EXPECT_EQ(csv[f], accuracy);
      const std::string shown = fmt::format("{:.2f}", 100 * accuracy);
      EXPECT_EQ(page["reported"][f], shown);
      EXPECT_THAT(made.out, HasSubstr(fmt::format("{:>6}      {:.4f}", said["folds"][f]["best_epoch"].get<int>(),
                                                  said["folds"][f]["train_loss"].get<double>())));
      // predict, asked of one fold: the headline is the test part's, and says so.
      const std::string fold = std::to_string(f);
      const json one = json::parse(run_program({"predict", path(test), "--fold", fold, "--json"}).out);
      EXPECT_EQ(one["headline"], "test");
      EXPECT_EQ(one["accuracy"], accuracy);
      EXPECT_EQ(one["parts"]["test"]["accuracy"], accuracy);
      EXPECT_EQ(one["parts"]["test"]["graphs"], 20);
      EXPECT_EQ(one["parts"]["train"]["graphs"], 36);
      EXPECT_EQ(one["parts"]["validation"]["graphs"], 4);
      EXPECT_FALSE(one["parts"].contains("new"));
      EXPECT_THAT(run_program({"predict", path(test), "--fold", fold}).out,
                  HasSubstr(fmt::format("\ntest part of fold {}: accuracy {} % of 20 graphs\n", f, shown)));
    }
    // Asked of all folds: every graph by the fold that tested it.
    const json all = json::parse(run_program({"predict", path(test), "--json"}).out);
    EXPECT_EQ(all["accuracy"], said["test_accuracy_mean"]);
    EXPECT_EQ(all["parts"]["test"]["accuracy_std"], said["test_accuracy_std"]);
    EXPECT_EQ(all["predictions"].size(), 60u);
    EXPECT_THAT(run_program({"predict", path(test)}).out, HasSubstr("accuracy " + number + " % of 60 graphs"));
  }
}

TEST_F(OneNumber, OfDrawsIsThatOfTheRunsOwnTests) {
  ASSERT_EQ(train("draws", {"--folds", "3", "--eval-draws", "5"}).exit_code, 0);
  const json all = json::parse(run_program({"predict", path("draws"), "--json"}).out);
  EXPECT_EQ(all["accuracy"], summary("draws")["test_accuracy_mean"]) << "as many draws as the run's tests";
}

TEST_F(OneNumber, OfOneFoldHasNoDeviation) {
  const RunResult made = train("one", {"--folds", "3", "--fold", "1"});
  ASSERT_EQ(made.exit_code, 0);
  EXPECT_THAT(made.out, AllOf(HasSubstr("test accuracy "), Not(HasSubstr("±")), Not(HasSubstr("1 folds"))));
  EXPECT_THAT(report("one", "md"), AllOf(HasSubstr("1 fold, 12 epochs"), HasSubstr("| value |"), Not(HasSubstr("±"))));
}

TEST_F(OneNumber, OverTrainingGraphsIsCalledSoEverywhere) {
  const RunResult made = train("memory", {"--folds", "1"});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_THAT(made.out, AllOf(HasSubstr("train accuracy "), HasSubstr("train acc %"), Not(HasSubstr("test acc")),
                              HasSubstr("trained and tested on the same graphs")));
  EXPECT_EQ(summary("memory").dump().find("test_accuracy"), std::string::npos);
  EXPECT_EQ(read_file(folder_ / "memory/fold-0/metrics.jsonl").find("test_"), std::string::npos);
  for (const char* format : {"md", "csv", "tex"}) {
    EXPECT_THAT(report("memory", format),
                AllOf(HasSubstr("train"), Not(HasSubstr("test_")), Not(HasSubstr("test acc"))));
  }
  const RunResult asked = run_program({"predict", path("memory")});
  EXPECT_THAT(asked.out, HasSubstr("training part of fold 0: accuracy "));
  EXPECT_THAT(asked.out, HasSubstr("(the model was trained on them)"));
  const json one = json::parse(run_program({"predict", path("memory"), "--json"}).out);
  EXPECT_EQ(one["headline"], "train");
  EXPECT_EQ(one["accuracy"], summary("memory")["train_accuracy_mean"]);
}

TEST_F(OneNumber, PredictSaysWhichPartEachGraphWasInAndFiltersByIt) {
  ASSERT_EQ(train("run", {"--folds", "3"}).exit_code, 0);
  const RunResult asked = run_program({"predict", path("run"), "--fold", "0", "--part", "test"});
  EXPECT_THAT(asked.out, AllOf(HasSubstr("  part"), HasSubstr("  test"), Not(HasSubstr("train"))));
  const json filtered =
      json::parse(run_program({"predict", path("run"), "--fold", "0", "--part", "train", "--json"}).out);
  EXPECT_EQ(filtered["predictions"].size(), 36u);
  EXPECT_EQ(filtered["headline"], "train");
  EXPECT_EQ(run_program({"predict", path("run"), "--fold", "0", "--part", "all"}).exit_code, 2);

  // Another file: graphs of the run are known by what they look like, all others are new.
  GraphSet set = read_graphs(folder_ / "small.jsonl");
  set.graphs = set.graphs.first(30), set.labels.resize(30);
  set.graphs.push_back(Graph::from_edges(12, {}, std::vector<NodeType>(12, 1)));
  set.labels.push_back(3);
  write_graphs(folder_ / "other.jsonl", set, Format::jsonl);
  const RunResult other = run_program({"predict", path("run"), "--fold", "0", "--data", path("other.jsonl")});
  EXPECT_EQ(other.exit_code, 0) << other.err;
  EXPECT_THAT(other.out, AllOf(HasSubstr("new graphs: accuracy "), HasSubstr("copies of the run's training graphs")));
  const RunResult several = run_program({"predict", path("run"), "--data", path("other.jsonl")});
  EXPECT_EQ(several.exit_code, 2);
  EXPECT_THAT(several.err, HasSubstr("--fold names it"));
  // The run's data gone: nothing is claimed of copies.
  std::filesystem::remove(folder_ / "small.jsonl");
  const RunResult gone = run_program({"predict", path("run"), "--fold", "0", "--data", path("other.jsonl"), "--json"});
  EXPECT_EQ(gone.exit_code, 0);
  EXPECT_THAT(gone.err, HasSubstr("warning: which of these graphs the model was trained on is not known"));
  EXPECT_EQ(json::parse(gone.out)["parts"]["new"]["graphs"], 31);
}

}  // namespace
}  // namespace tyche
