// tyche count: small graphs in large ones, as a table, as JSON and as columns of a file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/file.hpp"
#include "support/run_program.hpp"
#include "support/temporary_folder.hpp"

namespace tyche {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;

class CountCommand : public testing::Test {
 protected:
  TemporaryFolder folder_;
  std::string path_ = (folder_ / "two.jsonl").string();

  void SetUp() override {  // a square with a diagonal; a triangle with a tail
    write_file(path_,
               "{\"nodes\": 4, \"edges\": [[0, 1], [1, 2], [2, 3], [0, 3], [0, 2]], \"target\": 0.5}\n"
               "{\"nodes\": 4, \"edges\": [[0, 1], [1, 2], [0, 2], [2, 3]], \"target\": 1.5}\n");
  }
};

TEST_F(CountCommand, PrintsATableOfGraphsNodesOrEdges) {
  const RunResult graphs = run_program({"count", path_, "--patterns", "cycle3,chordal4"});
  ASSERT_EQ(graphs.exit_code, 0) << graphs.err;
  EXPECT_THAT(graphs.out, ContainsRegex("graph +nodes +edges +cycle3 +chordal4\n +0 +4 +5 +2 +1\n +1 +4 +4 +1 +0\n"));
  const RunResult nodes = run_program({"count", path_, "--patterns", "cycle3", "--of", "nodes"});
  EXPECT_THAT(nodes.out, ContainsRegex(" 0 +0 +2\n +0 +1 +1\n +0 +2 +2\n +0 +3 +1\n +1 +0 +1\n"));
  const RunResult edges = run_program({"count", path_, "--patterns", "cycle3", "--of", "edges"});
  EXPECT_THAT(edges.out, ContainsRegex(" 0 +0-2 +2\n")) << edges.out;
}

TEST_F(CountCommand, SaysTheSameInJson) {
  const RunResult r = run_program({"count", path_, "--json"});
  ASSERT_EQ(r.exit_code, 0) << r.err;
  const auto json = nlohmann::json::parse(r.out);
  EXPECT_EQ(json["patterns"][4], "chordal4");
  EXPECT_EQ(json["counts"], nlohmann::json::parse("[[2, 1, 0, 0, 1, 0], [1, 0, 0, 0, 0, 0]]"));
  EXPECT_EQ(json["totals"][0], 3);
  const auto nodes =
      nlohmann::json::parse(run_program({"count", path_, "--patterns", "cycle3", "--of", "nodes", "--json"}).out);
  EXPECT_EQ(nodes["counts"][1], nlohmann::json::parse("[[1], [1], [1], [0]]"));
}

TEST_F(CountCommand, WritesColumnsBehindThoseThatThereAre) {
  const std::string out = (folder_ / "out.jsonl").string();
  RunResult r = run_program({"count", path_, "--patterns", "cycle3,cycle4", "--out", out});
  ASSERT_EQ(r.exit_code, 0) << r.err;
  EXPECT_THAT(r.out, HasSubstr("2 graphs with 2 more columns of targets: cycle3 (3) cycle4 (1)"));
  EXPECT_THAT(read_file(out), HasSubstr("\"target\": [0.5, 2, 1]"));
  r = run_program({"count", path_, "--patterns", "cycle3", "--out", out, "--as", "edge-attributes"});
  ASSERT_EQ(r.exit_code, 0) << r.err;
  EXPECT_THAT(read_file(out), HasSubstr("\"edge_attributes\": [[1], [2], [1], [1], [1]]"));
}

TEST_F(CountCommand, TakesPatternsFromAFileAndRefusesOthers) {
  const std::string mine = (folder_ / "mine.jsonl").string();
  write_file(mine, "{\"nodes\": 4, \"edges\": [[0, 1], [1, 2], [0, 2], [2, 3]]}\n");
  const RunResult r = run_program({"count", path_, "--patterns", "cycle3," + mine, "--json"});
  ASSERT_EQ(r.exit_code, 0) << r.err;
  EXPECT_EQ(nlohmann::json::parse(r.out)["counts"], nlohmann::json::parse("[[2, 4], [1, 1]]"));
  const RunResult bad = run_program({"count", path_, "--patterns", "cycle9"});
  EXPECT_EQ(bad.exit_code, 2);
  EXPECT_THAT(bad.err, HasSubstr("unknown pattern 'cycle9': expected cycle3 to cycle6"));
  write_file(mine, "{\"nodes\": 7, \"edges\": []}\n");
  EXPECT_THAT(run_program({"count", path_, "--patterns", mine}).err, HasSubstr("expected 1 to 6 nodes, found 7"));
  EXPECT_EQ(run_program({"count", path_, "--as", "targets"}).exit_code, 2) << "without --out";
}

}  // namespace
}  // namespace tyche
