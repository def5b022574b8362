// On labels that are noise nothing may win: 20 seeds, a false winner at most once.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/file.hpp"
#include "support/random.hpp"
#include "support/run_program.hpp"

namespace tyche {
namespace {

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

}  // namespace
}  // namespace tyche
