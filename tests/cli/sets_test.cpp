// Models on sets as a user runs them: train, predict, bench, wl.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/run_program.hpp"

namespace tyche {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class SetsCommand : public testing::Test {
 protected:
  SetsCommand() {
    ::setenv("TYCHE_CACHE_DIR", path("cache").c_str(), 1);
    const RunResult made = run_program({"generate", "exp", "--pairs", "10", "--seed", "2", "--out", path("exp")});
    EXPECT_EQ(made.exit_code, 0) << made.err;
  }
  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }
  [[nodiscard]] RunResult train(const std::string& out, const std::vector<std::string>& more) const {
    std::vector<std::string> args = {"train",   "--recipe", "paper",    "--data", path("exp"), "--out", path(out),
                                     "--width", "8",        "--layers", "2",      "--folds",   "4",     "--fold",
                                     "0",       "--epochs", "2",        "--json", "--quiet"};
    args.insert(args.end(), more.begin(), more.end());
    return run_program(args);
  }
  TemporaryFolder folder_;
};

TEST_F(SetsCommand, TrainsEveryModelAndPredictsWhatItTested) {
  for (const std::string kind : {"gcn2", "gcn3", "gcn123", "ppgn"}) {
    const RunResult r = train(kind, {"--model", kind});
    ASSERT_EQ(r.exit_code, 0) << kind << ": " << r.err;
    EXPECT_EQ(json::parse(r.out)["complete"], true);
    const RunResult p = run_program(
        {"predict", "--checkpoint", path(kind + "/fold-0/last.safetensors"), "--data", path("exp"), "--json"});
    ASSERT_EQ(p.exit_code, 0) << kind << ": " << p.err;
    EXPECT_EQ(json::parse(p.out)["predictions"].size(), 20u);
  }
}

TEST_F(SetsCommand, PredictsTheMeanOfSeveralDrawsOfRandomFeatures) {
  for (const std::string kind : {"gcn123", "ppgn"}) {
    const RunResult r = train(kind, {"--model", kind, "--rni", "0.5", "--readout", "mean", "--eval-draws", "2"});
    ASSERT_EQ(r.exit_code, 0) << kind << ": " << r.err;
    const auto predict = [&](const std::string& draws) {
      const RunResult p = run_program({"predict", "--checkpoint", path(kind + "/fold-0/last.safetensors"), "--data",
                                       path("exp"), "--draws", draws, "--json"});
      EXPECT_EQ(p.exit_code, 0) << kind << ": " << p.err;
      return json::parse(p.out)["predictions"][0];
    };
    EXPECT_EQ(predict("1")["spread"], 0);
    EXPECT_GT(predict("4")["spread"], 0) << kind;
  }
}

TEST_F(SetsCommand, UncompressedGivesTheSameLossToRounding) {
  const auto loss = [&](const std::string& out) {
    return json::parse(read_file(folder_ / (out + "/summary.json")))["folds"][0]["train_loss"].get<double>();
  };
  ASSERT_EQ(train("classes", {"--model", "gcn3"}).exit_code, 0);
  ASSERT_EQ(train("sets", {"--model", "gcn3", "--no-compress"}).exit_code, 0);
  EXPECT_NEAR(loss("classes"), loss("sets"), 1e-4);
  // They are different runs all the same: digits differ.
  EXPECT_EQ(run_program({"train", "--resume", "--out", path("classes"), "--no-compress", "--quiet"}).exit_code, 2);
}

TEST_F(SetsCommand, SaysWhatAModelCannotDo) {
  EXPECT_THAT(train("a", {"--model", "gcn4"}).err, HasSubstr("gcn, gcn2, gcn3, gcn123, ppgn"));
  EXPECT_THAT(train("b", {"--model", "gcn3", "--rni", "0.5"}).err, HasSubstr("random node features are for gcn"));
  EXPECT_THAT(train("d", {"--model", "ppgn", "--activation", "tanh"}).err, HasSubstr("ReLU"));
  EXPECT_EQ(train("e", {"--model", "gcn2", "--two-sets", "all"}).exit_code, 2);
  EXPECT_THAT(train("c", {"--model", "gcn123", "--two-sets", "some"}).err, HasSubstr("edges, all"));
}

TEST_F(SetsCommand, RefinementShowsWhatTheyCanSee) {
  const auto wl = [&](const std::vector<std::string>& more) {
    std::vector<std::string> args = {"wl", path("exp"), "--pairs"};
    args.insert(args.end(), more.begin(), more.end());
    return run_program(args);
  };
  const RunResult edges = wl({"--sets", "1-2-3", "--two-sets", "edges"});
  EXPECT_EQ(edges.exit_code, 1);
  EXPECT_THAT(edges.out, HasSubstr("0 of 10 pairs told apart by refinement of nodes, edges, connected 3-sets"));
  for (const std::vector<std::string>& seeing :
       {std::vector<std::string>{"--sets", "1-2-3", "--two-sets", "all"}, {"--sets", "2"}, {"--sets", "3"}}) {
    EXPECT_EQ(wl(seeing).exit_code, 0);
  }
  EXPECT_EQ(run_program({"wl", path("exp"), "--sets", "2"}).exit_code, 2);
  EXPECT_EQ(wl({"--sets", "4"}).exit_code, 2);
}

TEST_F(SetsCommand, BenchCountsRows) {
  const RunResult r = run_program({"bench", "train", "--model", "gcn3", "--data", path("exp"), "--width", "8",
                                   "--epochs", "1", "--against-uncompressed", "--json"});
  ASSERT_EQ(r.exit_code, 0) << r.err;
  const json answer = json::parse(r.out);
  EXPECT_GT(answer["seconds_per_epoch"], 0);
  EXPECT_LT(answer["rows"].get<double>() * 3, answer["rows_uncompressed"].get<double>());
  EXPECT_GT(answer["seconds_per_epoch_uncompressed"], 0);
  EXPECT_GT(answer["peak_memory_mb"], 0);
}

}  // namespace
}  // namespace tyche
