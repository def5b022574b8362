// On labels that are noise nothing may win: 20 seeds, a false winner at most once. What a budget of time leaves out.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "support/file.hpp"
#include "support/random.hpp"
#include "support/run_program.hpp"

namespace tyche {
namespace {

using nlohmann::json;
using testing::HasSubstr;

TEST(CompareCommand, HasAFalseWinnerAtMostOnceInTwentySeedsOfNoise) {
  const TemporaryFolder folder;
  int winners = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Stream stream(derive_key(seed, Purpose::test, 31));
    std::string text;
    for (int g = 0; g < 60; ++g) {
      const std::uint64_t n = 5 + stream.below(8);
      nlohmann::json line = {{"edges", nlohmann::json::array()}, {"nodes", nlohmann::json::array()}};
      for (std::uint64_t v = 0; v < n; ++v) line["nodes"].push_back(stream.below(3));
      for (std::uint64_t v = 1; v < n; ++v) line["edges"].push_back({stream.below(v), v});
      line["label"] = stream.below(2);
      text += line.dump() + "\n";
    }
    const std::string data = (folder / "noise.jsonl").string(), out = (folder / fmt::format("cmp{}", seed)).string();
    write_file(data, text);
    const RunResult run = run_program({"compare", "--data", data, "--out", out, "--budget-epochs", "600", "--seed",
                                       std::to_string(seed), "--json", "--quiet"});
    ASSERT_EQ(run.exit_code, 0) << run.err;
    winners += nlohmann::json::parse(run.out)["beats_baseline"].get<bool>();
  }
  EXPECT_LE(winners, 1);
}

/// Whatever the machine: local2 on pairs of 40 nodes takes hundreds of times what gcn takes.
TEST(CompareCommand, RowsThatTheTimeHasNoRoomForAreLeftOut) {
  const TemporaryFolder folder;
  std::string text;
  for (int g = 0; g < 600; ++g) {
    json line = {{"nodes", 40}, {"edges", json::array()}, {"label", g % 2}};
    for (int v = 1; v < 40; ++v) line["edges"].push_back({v - 1 - (g % 2 == 0 ? v % 3 % v : 0), v});
    text += line.dump() + "\n";
  }
  write_file(folder / "long.jsonl", text);
  std::vector<std::string> args = {"compare",
                                   "--data",
                                   (folder / "long.jsonl").string(),
                                   "--out",
                                   (folder / "cmp").string(),
                                   "--budget",
                                   "30s",
                                   "--folds",
                                   "2",
                                   "--models",
                                   "gcn,local2",
                                   "--json"};
  const RunResult run = run_program(args);
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const json found = json::parse(run.out);
  std::vector<std::string> named;
  for (const json& row : found["rows"]) named.push_back(row["name"]);
  EXPECT_THAT(named, testing::Contains("gcn")) << run.out;
  std::map<std::string, std::string> why;
  for (const json& row : found["left_out"]) why[row["name"]] = row["why"];
  EXPECT_THAT(why["local2"], HasSubstr("are left for the row; a budget of"));
  EXPECT_TRUE(std::filesystem::exists(folder / "cmp" / "best"));
  EXPECT_FALSE(std::filesystem::exists(folder / "cmp" / "trials")) << "timings leave nothing";
}

}  // namespace
}  // namespace tyche
