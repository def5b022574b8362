// tyche inspect as a user calls it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "graph/io.hpp"
#include "support/file.hpp"
#include "support/run_program.hpp"
#include "wl/sample_graphs.hpp"

namespace tyche {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

TEST(InspectCommand, TellsWhatCanBeLearnedFromExp) {
  const TemporaryFolder folder;
  const std::string exp = (folder / "exp").string();
  ASSERT_EQ(run_program({"generate", "exp", "--pairs", "12", "--seed", "3", "--out", exp}).exit_code, 0);
  const RunResult text = run_program({"inspect", "--data", exp});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_EQ(text.err, "");
  EXPECT_THAT(text.out, AllOf(HasSubstr("24 graphs"), HasSubstr("Random inputs can win 50.0 points"),
                              HasSubstr("only training tells")));
  const RunResult run = run_program({"inspect", "--data", exp, "--json"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  const json found = json::parse(run.out);
  EXPECT_EQ(found["graphs"], 24);
  EXPECT_EQ(found["ceiling_1wl"], 0.5);
  EXPECT_EQ(found["ceiling_2wl"], 1.0);
  EXPECT_EQ(found["ceiling_everyone"], 1.0);
  EXPECT_EQ(found["ceiling_1wl_untyped"], 0.5);
  EXPECT_EQ(found["contradictions"], 0);
  EXPECT_EQ(found["leaks"], 0);
  EXPECT_TRUE(found["verdict"].is_string());
  EXPECT_TRUE(found["isomorphic_groups"].is_number());
}

TEST(InspectCommand, CountsLeaksBetweenTheFoldsAskedFor) {
  const TemporaryFolder folder;
  GraphSet set;
  for (Node n = 3; n < 8; ++n) set.graphs.push_back(wl::cycle(n));
  for (Node n = 3; n < 8; ++n) set.graphs.push_back(wl::cycle(n));  // five graphs, and all of them again
  set.labels = {0, 1, 0, 1, 0, 0, 1, 0, 1, 0};
  write_graphs(folder / "rings.txt", set, Format::gin);
  const std::string path = (folder / "rings.txt").string();
  const auto leaks = [&](std::vector<std::string> more) {
    std::vector<std::string> args = {"inspect", "--data", path, "--json", "--validation", "0"};
    args.insert(args.end(), more.begin(), more.end());
    const RunResult run = run_program(args);
    EXPECT_EQ(run.exit_code, 0) << run.err;
    return json::parse(run.out)["leaks"];
  };
  EXPECT_EQ(leaks({"--folds", "2", "--fold-scheme", "contiguous"}), 10);
  EXPECT_EQ(leaks({"--folds", "2"}), leaks({"--folds", "2", "--fold-scheme", "stratified"})) << "as train would";
  EXPECT_LT(leaks({"--folds", "2"}), 10);
  EXPECT_EQ(leaks({"--folds", "10"}), 10);
  EXPECT_EQ(leaks({}), 10);
  EXPECT_EQ(leaks({"--folds", "1"}), nullptr);
  write_file(folder / "split.json", R"({"train": [0, 1, 2, 3], "validation": [4], "test": [5, 6, 9]})");
  const RunResult split =
      run_program({"inspect", "--data", path, "--json", "--split", (folder / "split.json").string()});
  EXPECT_EQ(split.exit_code, 0) << split.err;
  EXPECT_EQ(json::parse(split.out)["leaks"], 2);  // graph 9 is a copy of graph 4, which does not train
  const RunResult many = run_program({"inspect", "--data", path, "--folds", "11"});
  EXPECT_EQ(many.exit_code, 2);
  EXPECT_THAT(many.err, HasSubstr("11 folds"));
}

TEST(InspectCommand, ASplitOfNodesIsLookedAtForLeaksBetweenPartsOfOneGraph) {
  const TemporaryFolder folder;
  const std::string path = (folder / "path.jsonl").string();
  write_file(path, R"({"nodes": 4, "edges": [[0, 1], [1, 2], [2, 3]], "node_labels": [0, 1, 1, 0]})");
  write_file(folder / "split.json", R"({"unit": "nodes", "train": [0, 1], "test": [3]})");
  const RunResult run = run_program({"inspect", "--data", path, "--json", "--split", (folder / "split.json").string()});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(json::parse(run.out)["of_nodes"]["leaks"], 1) << "the ends of a path are alike";
}

TEST(InspectCommand, WritesAPageOfThePairsThatAreConfused) {
  const TemporaryFolder folder;
  GraphSet set;
  set.graphs = {wl::cycle(6), disjoint_union(wl::cycle(3), wl::cycle(3)), wl::path(4)};
  set.labels = {0, 1, 1};
  write_graphs(folder / "rings.txt", set, Format::gin);
  const std::string page = (folder / "out.html").string();
  const RunResult run = run_program({"inspect", "--data", (folder / "rings.txt").string(), "--page", page, "--json"});
  if (run.exit_code == 2 && run.err.find("built with Node") != std::string::npos) GTEST_SKIP() << "no page was built";
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(json::parse(run.out)["confused"], json::parse("[[0, 1]]"));
  EXPECT_THAT(read_file(page),
              AllOf(HasSubstr("rings: what 1-WL cannot tell apart"), HasSubstr("label 0 and label 1")));
}

TEST(InspectCommand, RefusesWhatItCannotRead) {
  const RunResult gone = run_program({"inspect", "--data", "/nowhere/at/all"});
  EXPECT_EQ(gone.exit_code, 2);
  EXPECT_THAT(gone.err, HasSubstr("/nowhere/at/all"));
  EXPECT_EQ(run_program({"inspect"}).exit_code, 2);
  const TemporaryFolder folder;
  GraphSet set;
  set.graphs = {wl::cycle(3), wl::path(3)};
  set.labels = {0, 1};
  write_graphs(folder / "two.txt", set, Format::gin);
  const RunResult targets = run_program({"inspect", "--data", (folder / "two.txt").string(), "--target", "attributes"});
  EXPECT_EQ(targets.exit_code, 2);
  EXPECT_THAT(targets.err, HasSubstr("no real targets"));
}

}  // namespace
}  // namespace tyche
