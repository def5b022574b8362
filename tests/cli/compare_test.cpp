// tyche compare as a user calls it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cli/mpirun.hpp"
#include "support/file.hpp"
#include "support/random.hpp"
#include "support/run_program.hpp"
#include "train/run_contents.hpp"

namespace tyche {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

/// Trees whose label is noise, or whether they have more than `large` nodes.
std::string trees(const TemporaryFolder& folder, std::uint64_t seed, bool noise, int graphs = 60, bool bonds = false) {
  Stream stream(derive_key(seed, Purpose::test, 30));
  std::string text;
  for (int g = 0; g < graphs; ++g) {
    const auto n = static_cast<int>(5 + stream.below(8));
    json line = {{"nodes", n}, {"edges", json::array()}};
    for (int v = 1; v < n; ++v) line["edges"].push_back({stream.below(static_cast<std::uint64_t>(v)), v});
    for (json& edge : line["edges"]) {
      if (bonds) edge.push_back(edge[1].get<int>() % 2);
    }
    line["label"] = noise ? static_cast<int>(stream.below(2)) : n > 8 ? 1 : 0;
    text += line.dump() + "\n";
  }
  const std::string path = (folder / "trees.jsonl").string();
  write_file(path, text);
  return path;
}

json without_times(json found) {
  found.erase("seconds");
  found.erase("check");
  for (auto& row : found["rows"]) row.erase("seconds");
  found.erase("final");
  found.erase("command");
  found["settings"].erase("data");
  return found;
}

TEST(CompareCommand, SaysThatNothingBeatsCountingWhereCountsDecide) {
  const TemporaryFolder folder;
  const std::string data = trees(folder, 1, false), out = (folder / "cmp").string();
  const RunResult run = run_program(
      {"compare", "--data", data, "--out", out, "--budget-epochs", "60", "--models", "gcn", "--json", "--quiet"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const json found = json::parse(run.out);
  EXPECT_EQ(found["metric"], "accuracy");
  EXPECT_FALSE(found["beats_baseline"]);
  EXPECT_EQ(found["best"], found["baseline"]);
  EXPECT_THAT(found["verdict"].get<std::string>(), HasSubstr("Nothing beats the baseline"));
  ASSERT_EQ(found["rows"].size(), 5) << "three without a network, gcn without and with random inputs";
  for (const json& row : found["rows"]) {
    EXPECT_LE(row["low"], row["score"]);
    EXPECT_GE(row["high"], row["score"]);
    EXPECT_GE(row["seconds"], 0);
    EXPECT_EQ(row["command"].get<std::string>().empty(), !row["network"].get<bool>());
  }
  EXPECT_EQ(found["rows"][0]["name"], "majority");
  EXPECT_GT(found["rows"][1]["score"], 0.95) << "sizes decide";
  EXPECT_TRUE(std::filesystem::exists(folder / "cmp" / "compare.csv"));
  const RunResult predict = run_program({"predict", (folder / "cmp" / "best").string(), "--data", data});
  EXPECT_EQ(predict.exit_code, 0) << predict.err;
}

TEST(CompareCommand, SaysOnHowManyGraphsOfEachLabelAnAreaRests) {
  const TemporaryFolder folder;
  const std::string data = trees(folder, 1, false, 30);
  const RunResult run = run_program({"compare", "--data", data, "--out", (folder / "cmp").string(), "--budget-epochs",
                                     "10", "--models", "gcn", "--metric", "roc_auc", "--quiet"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const json labels = json::parse(read_file(folder / "cmp" / "compare.json"))["labels"];
  EXPECT_EQ(labels["0"].get<int>() + labels["1"].get<int>(), 30);
  EXPECT_THAT(run.out, HasSubstr("of 30 test graphs, " + labels["0"].dump() + " of label 0, "));
}

TEST(CompareCommand, TrainsNetworksOfTheUsualSizeOnlyWhereThatLeavesThemEpochs) {
  const TemporaryFolder folder;
  const std::string data = trees(folder, 4, true, 20);
  const auto layers = [&](const char* epochs) {
    const RunResult run = run_program({"compare", "--data", data, "--out", (folder / epochs).string(), "--folds", "2",
                                       "--budget-epochs", epochs, "--models", "mp", "--json", "--quiet"});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    return json::parse(run.out)["rows"][3]["layers"].get<int>();
  };
  EXPECT_EQ(layers("40"), 4);
  EXPECT_EQ(layers("600"), 6);
}

TEST(CompareCommand, DrawsRootsOfNetworksOnPairsWhichHaveThreeSharesOfTheBudget) {
  const TemporaryFolder folder;
  const std::string data = trees(folder, 3, true, 20);
  const RunResult run = run_program({"compare", "--data", data, "--out", (folder / "cmp").string(), "--budget-epochs",
                                     "1000", "--models", "gcn,subgraph", "--json", "--quiet"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const json rows = json::parse(run.out)["rows"];
  ASSERT_EQ(rows.size(), 7);
  EXPECT_EQ(rows[6]["name"], "subgraph, 5 random roots");
  EXPECT_THAT(rows[6]["command"].get<std::string>(),
              AllOf(HasSubstr("--roots 5"), testing::Not(HasSubstr("--random"))));
  EXPECT_TRUE(rows[6]["random"]);
  EXPECT_GE(rows[5]["epochs_trained"].get<double>(), 2.5 * rows[3]["epochs_trained"].get<double>());
}

TEST(CompareCommand, OfEpochsGivesTheSameBitsOnAnyThreadsAndAfterAStop) {
  const TemporaryFolder folder;
  const std::string data = trees(folder, 2, true);
  const auto call = [&](const char* out, const char* threads, bool resume) {
    std::vector<std::string> args = {"compare",         "--data", data,       "--out",     (folder / out).string(),
                                     "--budget-epochs", "200",    "--models", "gcn",       "--threads",
                                     threads,           "--json", "--quiet",  "--ensemble"};
    if (resume) args.emplace_back("--resume");
    return run_program(args);
  };
  const RunResult one = call("one", "1", false), two = call("two", "2", false);
  ASSERT_EQ(one.exit_code, 0) << one.err;
  EXPECT_EQ(without_times(json::parse(one.out)), without_times(json::parse(two.out)));
  // As a kill in the middle of the second row leaves it: that row is gone, and so is the final model.
  std::filesystem::remove_all(folder / "two" / "best");
  std::filesystem::remove(folder / "two" / "rows" / "gcn-random-colours.json");
  EXPECT_EQ(call("two", "2", false).exit_code, 2) << "not without --resume";
  const RunResult again = call("two", "2", true);
  ASSERT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(without_times(json::parse(one.out)), without_times(json::parse(again.out)));
  const RunResult other = run_program(
      {"compare", "--data", data, "--out", (folder / "two").string(), "--budget-epochs", "300", "--resume"});
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_THAT(other.err, HasSubstr("begun differently"));
  const std::string best = (folder / "one" / "best").string();
  EXPECT_EQ(run_program({"predict", best, "--data", data, "--ensemble", "--json"}).exit_code, 0);
  EXPECT_EQ(run_program({"predict", best, "--fold", "0", "--data", data, "--ensemble"}).exit_code, 2);
}

TEST(CompareCommand, LearnsTheColumnsThatAreNamed) {
  const TemporaryFolder folder;
  Stream stream(derive_key(9, Purpose::test, 30));
  std::string text;
  for (int g = 0; g < 40; ++g) {  // column 0 is noise between graphs that are alike, column 1 their nodes
    const auto n = static_cast<int>(3 + stream.below(5));
    json line = {{"nodes", n}, {"edges", json::array()}, {"target", {stream.uniform(), n}}};
    for (int v = 1; v < n; ++v) line["edges"].push_back({v - 1, v});
    text += line.dump() + "\n";
  }
  write_file(folder / "paths.jsonl", text);
  const auto compared = [&](const std::string& columns, const std::string& out) {
    return run_program({"compare", "--data", (folder / "paths.jsonl").string(), "--target-columns", columns, "--out",
                        (folder / out).string(), "--budget-epochs", "20", "--models", "gcn", "--json", "--quiet"});
  };
  const RunResult nodes = compared("1", "nodes"), noise = compared("0", "noise"), none = compared("2", "none");
  ASSERT_EQ(nodes.exit_code, 0) << nodes.err;
  const json found = json::parse(nodes.out), other = json::parse(noise.out);
  EXPECT_EQ(found["settings"]["target_columns"], "1");
  EXPECT_EQ(found["ceilings"]["one_wl"], 1.0);
  EXPECT_LT(other["ceilings"]["one_wl"], 0.9) << "of its own column";
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.err, HasSubstr("target column 2"));
}

TEST(CompareCommand, RefusesWhatItCannotDo) {
  const TemporaryFolder folder;
  const std::string data = trees(folder, 3, true), out = (folder / "cmp").string();
  const auto refused = [&](std::vector<std::string> more) {
    std::vector<std::string> args = {"compare", "--data", data, "--out", out};
    args.insert(args.end(), more.begin(), more.end());
    const RunResult run = run_program(args);
    EXPECT_EQ(run.exit_code, 2) << run.err;
    std::filesystem::remove_all(out);
    return run.err;
  };
  EXPECT_THAT(refused({"--budget", "soon"}), HasSubstr("10m"));
  EXPECT_THAT(refused({"--budget", "1m", "--budget-epochs", "10"}), HasSubstr("excludes"));
  EXPECT_THAT(refused({"--metric", "beauty"}), HasSubstr("roc_auc"));
  EXPECT_THAT(refused({"--metric", "mae"}), HasSubstr("is no metric here"));
  EXPECT_THAT(refused({"--models", "ppgn"}), HasSubstr("the portfolio has gcn"));
  EXPECT_THAT(refused({"--target", "attributes"}), HasSubstr("target"));
}

TEST(CompareCommand, TakesTargetsOfZeroAndOneByTheMeanArea) {
  const TemporaryFolder folder;
  std::string text;
  for (int g = 0; g < 60; ++g) {
    const int n = 4 + g % 7;
    json line = {{"nodes", n}, {"edges", json::array()}};
    for (int v = 1; v < n; ++v) line["edges"].push_back({v - 1, v});
    line["target"] = {n > 6 ? 1 : 0, g % 5 == 0 ? json() : json(g / 7 % 2)};
    text += line.dump() + "\n";
  }
  const std::string data = (folder / "bits.jsonl").string(), out = (folder / "cmp").string();
  write_file(data, text);
  const RunResult run = run_program({"compare", "--data", data, "--out", out, "--budget-epochs", "40", "--models",
                                     "gcn", "--folds", "2", "--json", "--quiet"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const json found = json::parse(run.out);
  EXPECT_EQ(found["metric"], "roc_auc");
  EXPECT_NEAR(found["rows"][0]["score"].get<double>(), 0.5, 1e-9) << "the mean of a column tells no graphs apart";
  EXPECT_GT(found["rows"][1]["score"], 0.6) << "sizes tell one of two columns";
  EXPECT_THAT(found["rows"].back()["command"].get<std::string>(), HasSubstr("--loss binary"));
  const RunResult said = run_program({"predict", out + "/best", "--json"});
  ASSERT_EQ(said.exit_code, 0) << said.err;
  EXPECT_EQ(json::parse(said.out)["predictions"][0]["values"].size(), 2);
}

TEST(CompareCommand, OverRanksSaysWhatOneProcessSays) {
  if (const std::string why = why_no_mpirun(); !why.empty()) GTEST_SKIP() << why;
  const TemporaryFolder folder;
  const std::string data = trees(folder, 2, true, 40, true), log = (folder / "mpi.log").string();
  const auto words = [&](const std::string& name) {
    return "compare --data " + data + " --models gcn,sage --folds 2 --threads 1 --quiet --out " +
           (folder / name).string();
  };
  ASSERT_EQ(std::system((std::string(TYCHE_PROGRAM) + " " + words("one") + " --budget-epochs 120").c_str()), 0);
  const auto found = [&](const std::string& name) {
    return without_times(json::parse(read_file(folder / name / "compare.json")));
  };
  ASSERT_EQ(found("one")["left_out"].size(), 2) << "sage has no use for labels of edges";
  // Four rows: of two ranks each trains some, five share every trial.
  for (const std::size_t ranks : {2u, 5u}) {
    const std::string name = "ranks-" + std::to_string(ranks);
    ASSERT_EQ(run_on_ranks(ranks, words(name) + " --budget-epochs 120", log), 0) << read_file(log);
    EXPECT_EQ(found(name), found("one")) << ranks;
    EXPECT_EQ(train::run_contents(folder / name / "best"), train::run_contents(folder / "one" / "best")) << ranks;
  }
  EXPECT_NE(run_on_ranks(2, words("timed") + " --budget 10s", log), 0);
  EXPECT_THAT(read_file(log), HasSubstr("the budget is counted in epochs"));
}

}  // namespace
}  // namespace tyche
