// Labels of nodes through the program: made, certified, looked into; and tests on pairs of nodes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/file.hpp"
#include "support/run_program.hpp"

namespace tyche {
namespace {

using nlohmann::json;
using testing::HasSubstr;

TEST(NodeDataCommands, LabelsAreMadeCertifiedAndBounded) {
  const TemporaryFolder folder;
  const std::string place = (folder / "matching").string();
  const RunResult made =
      run_program({"generate", "matching", "--graphs", "9", "--nodes", "8", "--out", place, "--json", "--quiet"});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_EQ(json::parse(made.out)["certificate"]["right"], 9);
  EXPECT_THAT(run_program({"certify", place, "--quiet"}).out, HasSubstr("all graphs pass"));
  const json found = json::parse(run_program({"inspect", "--data", place, "--json", "--quiet"}).out);
  EXPECT_EQ(found["of_nodes"]["ceiling_everyone"], 0.25);
  EXPECT_EQ(found["of_nodes"]["known"], 72);
  EXPECT_THAT(read_file(folder / "matching" / "graphs.jsonl"), HasSubstr("\"node_labels\""));
  const RunResult wrong = run_program({"generate", "matching", "--nodes", "7", "--out", place});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("even number of nodes"));
  EXPECT_EQ(run_program({"generate", "orbits", "--degree", "3", "--out", place}).exit_code, 2);
}

TEST(WlSpaces, AreThoseOfNetworksOnPairs) {
  for (const char* space : {"rooted", "pairs", "folklore"}) {
    const RunResult run = run_program({"wl", "g6:EhEG", "g6:EwCW", "--space", space, "--json"});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(json::parse(run.out)[0]["distinguished"], true);
  }
  EXPECT_EQ(run_program({"wl", "g6:EhEG", "g6:EwCW", "--space", "rooted", "--dim", "2"}).exit_code, 2);
  EXPECT_EQ(run_program({"wl", "g6:EhEG", "g6:EwCW", "--distance-cut", "2"}).exit_code, 2);
  const RunResult cut = run_program({"wl", "g6:EhEG", "g6:EwCW", "--space", "folklore", "--distance-cut", "2"});
  EXPECT_EQ(cut.exit_code, 2);
  EXPECT_THAT(cut.err, HasSubstr("distance cut"));
}

}  // namespace
}  // namespace tyche
