// tyche network: a model step by step, for people and for programs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/run_program.hpp"

namespace tyche {
namespace {

using testing::HasSubstr;

TEST(NetworkCommand, ShowsEveryStepWithItsParametersAndCost) {
  const RunResult r =
      run_program({"network", "--model", "gin", "--layers", "4", "--width", "8", "--nodes", "10", "--edges", "12"});
  ASSERT_EQ(r.exit_code, 0) << r.err;
  // (1 + ε) h and 24 messages of 8 numbers.
  EXPECT_THAT(r.out,
              testing::ContainsRegex("convs\\.3\\.sum +aggregate, sum over neighbours and \\(1 \\+ ε\\) of itself "
                                     "+node +8 +1 +272\n"));
  EXPECT_THAT(r.out, testing::ContainsRegex("head\\.fc3 +linear +graph +2 +66 +64\n"));
  EXPECT_THAT(r.out, HasSubstr("graph of 10 nodes and 12 edges"));
}

TEST(NetworkCommand, HasWhatADataSetBrings) {
  const std::string data = std::string(TYCHE_TEST_DATA) + "/v0.2.0/molecules.jsonl";
  const RunResult r = run_program({"network", "--data", data, "--json"});
  ASSERT_EQ(r.exit_code, 0) << r.err;
  const auto json = nlohmann::json::parse(r.out);
  EXPECT_EQ(json["steps"][0]["source"], "edges");
  EXPECT_EQ(json["steps"][0]["columns"], 4) << "three labels and an attribute";
  const RunResult sets = run_program({"network", "--model", "gcn3", "--data", data, "--toml"});
  ASSERT_EQ(sets.exit_code, 2) << "sets have no use for features of edges";
  const RunResult typed =
      run_program({"network", "--model", "gcn3", "--data", std::string(TYCHE_TEST_DATA) + "/v0.2.0/exp", "--toml"});
  ASSERT_EQ(typed.exit_code, 0) << typed.err;
  EXPECT_THAT(typed.out, HasSubstr("operation = \"input\"\nspace = \"set3\""));
  EXPECT_THAT(typed.out, HasSubstr("{ value = \"types.set3\", link = \"neighbours\", reduce = \"mean\", weight = "
                                   "\"convs.0.lin_rel.weight\" }"));
}

TEST(NetworkCommand, SaysWhatIsMissing) {
  const RunResult r = run_program({"network", "--model", "gcn3"});
  EXPECT_EQ(r.exit_code, 2);
  EXPECT_THAT(r.err, HasSubstr("--data is required for gcn3"));
  EXPECT_EQ(run_program({"network", "--json", "--toml"}).exit_code, 2);
  EXPECT_EQ(run_program({"network", "--nodes", "-1"}).exit_code, 2);
  EXPECT_THAT(run_program({"network", "--model", "gin", "--mlp-depth", "3"}).err, HasSubstr("mlp-depth"));
}

}  // namespace
}  // namespace tyche
