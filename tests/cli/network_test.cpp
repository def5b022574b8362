// tyche network: a model step by step, for people and for programs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/file.hpp"
#include "support/run_program.hpp"
#include "support/temporary_folder.hpp"

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
  EXPECT_EQ(json["steps"][0]["columns"], 5) << "three labels, one for others, and an attribute";
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

TEST(NetworkCommand, PrintsWhatTrainReads) {
  const TemporaryFolder folder;
  const std::string data = std::string(TYCHE_TEST_DATA) + "/v0.2.0/exp", file = (folder / "n.toml").string();
  const auto run = [&](const std::string& name, std::vector<std::string> words) {
    words.insert(words.begin(), {"train", "--data", data, "--folds", "2", "--epochs", "2", "--batch", "4", "--engine",
                                 "reference", "--out", (folder / name).string()});
    return run_program(words);
  };
  const std::vector<std::vector<std::string>> models = {{"--model", "gcn", "--rni", "0.5"},
                                                        {"--model", "gin", "--random", "colours"},
                                                        {"--model", "sage"},
                                                        {"--model", "gcn2"},
                                                        {"--model", "gcn123"},
                                                        {"--model", "ppgn"}};
  for (std::size_t i = 0; i < models.size(); ++i) {
    std::vector<std::string> model = models[i];
    model.insert(model.end(), {"--width", "6", "--layers", "1"});
    for (const bool with_data : {false, true}) {
      std::vector<std::string> show = model;
      show.insert(show.begin(), "network");
      show.emplace_back("--toml");
      if (with_data) show.insert(show.end(), {"--data", data});
      const RunResult shown = run_program(show);
      ASSERT_EQ(shown.exit_code, 0) << shown.err;
      write_file(file, shown.out);
      const std::string number = std::to_string(i) + (with_data ? "d" : "");
      const RunResult known = run("known" + number, model), own = run("own" + number, {"--network", file});
      ASSERT_EQ(known.exit_code, 0) << known.err;
      ASSERT_EQ(own.exit_code, 0) << own.err;
      for (const char* name : {"config.toml", "fold-0/last.safetensors", "fold-1/last.safetensors"}) {
        EXPECT_EQ(read_file(folder / ("own" + number) / name), read_file(folder / ("known" + number) / name)) << name;
      }
    }
  }
}

TEST(NetworkCommand, DrawsAPage) {
  const TemporaryFolder folder;
  const std::string page = (folder / "n.html").string();
  const RunResult r = run_program({"network", "--model", "sage", "--layers", "1", "--page", page});
  ASSERT_EQ(r.exit_code, 0) << r.err;
  EXPECT_THAT(read_file(page), testing::AllOf(HasSubstr("<svg"), HasSubstr(">convs.0.joined</text>"),
                                              HasSubstr("mean over neighbours"), HasSubstr("</html>")));
  EXPECT_EQ(run_program({"network", "--page", page, "--toml"}).exit_code, 2);
}

}  // namespace
}  // namespace tyche
