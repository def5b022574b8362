// What versions 0.1.0 and 0.2.0 wrote (tests/data/v0.1.0, v0.2.0, made by their programs, less the paths of that
// machine): runs that were stopped half way, the same taken to their ends by that version, predictions, a folder of
// reproduce, a run of distinguish.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/earlier_version.hpp"
#include "train/checkpoint.hpp"

namespace tyche {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
namespace fs = std::filesystem;

class Version010 : public EarlierVersion {
 protected:
  Version010() : EarlierVersion("v0.1.0", "fold-0") {}
  RunResult resume(const std::string& name, const std::vector<std::string>& more = {}) const {
    return EarlierVersion::resume(name, "exp", more);
  }
};

TEST_F(Version010, AStoppedRunGoesOnToTheBitsItWouldHaveGiven) {
  take("gcn");
  const RunResult r = resume("gcn");
  ASSERT_EQ(r.exit_code, 0) << r.err;
  EXPECT_THAT(r.err, AllOf(HasSubstr("resuming: 3 epochs done, 37 to go"), Not(HasSubstr("0.1.0"))));
  expect_end("gcn");
  EXPECT_EQ(train::read_config(folder_ / "gcn/config.toml").version, "0.1.0") << "which began it";
}

TEST_F(Version010, AnOptionThatWasIgnoredIsSaidAndChangesNothing) {
  take("gcn3");
  const RunResult r = resume("gcn3");
  ASSERT_EQ(r.exit_code, 0) << r.err;
  EXPECT_THAT(r.err, HasSubstr("did not look at model.mlp_depth = 3"));
  expect_end("gcn3");
}

TEST_F(Version010, APpgnWhoseReadoutWasIgnoredGoesOnWithTheMaximum) {
  take("ppgn");
  const RunResult r = resume("ppgn");
  ASSERT_EQ(r.exit_code, 0) << r.err;
  EXPECT_THAT(r.err, HasSubstr("did not look at model.readout = \"sum\": it trained with \"max\""));
  expect_end("ppgn");
  EXPECT_THAT(resume("ppgn").err, Not(HasSubstr("did not look at"))) << "said once: the run's file has been put right";
  const RunResult p = run_program({"predict", "--checkpoint", old("ppgn-end/fold-0/last.safetensors"), "--data",
                                   old("exp"), "--engine", "reference"});
  EXPECT_EQ(p.exit_code, 0);
  EXPECT_THAT(p.err, HasSubstr("did not look at model.readout"));
}

TEST_F(Version010, ARunOfTheEngineCpuXsmmGoesOnWithCpuAndSaysSo) {
  take("gcn");
  std::string text = read_file(folder_ / "gcn/config.toml");
  const std::string name = "name = \"reference\"";
  text.replace(text.find(name), name.size(), "name = \"cpu-xsmm\"");
  write_file(folder_ / "gcn/config.toml", text);
  const RunResult r = resume("gcn");
  ASSERT_EQ(r.exit_code, 0) << r.err;
  EXPECT_THAT(r.err,
              AllOf(HasSubstr("engine cpu-xsmm, which is no more: it goes on with cpu"), HasSubstr("engine  cpu: ")));
}

TEST_F(Version010, WhatARunHasIsNotContradictedByItsOptions) {
  take("gcn");
  const RunResult r = resume("gcn", {"--width", "9", "--seed", "2"});
  EXPECT_EQ(r.exit_code, 2);
  EXPECT_THAT(r.err, AllOf(HasSubstr("model.width: the run has 8, asked for 9"), HasSubstr("seed: the run has 1")));
}

TEST_F(Version010, ACheckpointPredictsWhatItPredicted) {
  const RunResult r = run_program({"predict", "--checkpoint", old("gcn-end/fold-0/last.safetensors"), "--data",
                                   old("exp"), "--draws", "3", "--engine", "reference", "--logits", "--json"});
  ASSERT_EQ(r.exit_code, 0) << r.err;
  expect_all_of(nlohmann::json::parse(r.out), nlohmann::json::parse(read_file(old("predictions.json"))), "answer");
}

TEST_F(Version010, AFolderOfReproduceHasItsTrialsAndComputesNothing) {
  take("reproduce");
  const auto reproduce = [&] {
    const RunResult r = run_program({"reproduce", old("tiny.toml"), "--out", path("reproduce"), "--engine", "reference",
                                     "--resume", "--quiet", "--json"});
    EXPECT_EQ(r.exit_code, 0) << r.err;
    return nlohmann::json::parse(r.out);
  };
  const auto all = reproduce();
  EXPECT_EQ(all["trials"], 5);
  EXPECT_EQ(all["trained"], 0);
  fs::remove_all(folder_ / "reproduce/trials/gcn3-e1859007336d7f81");
  EXPECT_EQ(reproduce()["trained"], 1) << "the one that is gone";
  EXPECT_TRUE(fs::exists(folder_ / "reproduce/trials/gcn3-e1859007336d7f81/summary.json"));
  EXPECT_EQ(run_program({"report", path("reproduce"), "--format", "md", "--out", path("report.md")}).exit_code, 0);
}

// ---- 0.2.0 (tests/data/v0.2.0/make.sh says how): every model, random inputs of every kind that has another way

class Version020 : public EarlierVersion {
 protected:
  Version020() : EarlierVersion("v0.2.0", "fold-1") {}
  std::string report(const std::string& folder) const {
    const RunResult r = run_program({"report", folder, "--format", "md", "--out", path("report.md")});
    EXPECT_EQ(r.exit_code, 0) << r.err;
    return r.exit_code == 0 ? read_file(path("report.md")) : "";
  }
};

class Version020Run : public Version020, public testing::WithParamInterface<const char*> {
 protected:
  std::string data() const { return std::string(GetParam()).ends_with("-edges") ? "molecules.jsonl" : "exp"; }
};

INSTANTIATE_TEST_SUITE_P(Every, Version020Run,
                         testing::Values("gcn", "gcn-colours", "gcn-edges", "gin", "gin-edges", "gcn2", "gcn3",
                                         "gcn123", "ppgn"),
                         [](const auto& run) {
                           std::string name = run.param;
                           std::erase(name, '-');
                           return name;
                         });

TEST_P(Version020Run, GoesOnToTheBitsItWouldHaveGiven) {
  take(GetParam());
  const RunResult r = resume(GetParam(), data(), {"--epochs", "4"});
  ASSERT_EQ(r.exit_code, 0) << r.err;
  EXPECT_THAT(r.err, HasSubstr("resuming: 2 epochs done, 2 to go"));
  expect_end(GetParam());
  const std::string ours = path(GetParam()), theirs = old(GetParam()) + "-end";
  for (const std::string file : {"/summary.json", "/fold-1/test.json"}) {
    ASSERT_EQ(fs::exists(ours + file), fs::exists(theirs + file)) << file;
    if (!fs::exists(theirs + file)) continue;
    auto expected = nlohmann::json::parse(read_file(theirs + file));
    // 0.2.0 put the last epoch's training figures beside the chosen epoch's scores.
    if (expected.contains("folds") && expected["folds"][0].contains("best_epoch")) {
      for (const char* key : {"train_loss", "train_accuracy"}) expected["folds"][0].erase(key);
    }
    expect_all_of(nlohmann::json::parse(read_file(ours + file)), expected, file);
  }
}

TEST_P(Version020Run, PredictsTheSameDigitsAndIsReported) {
  const std::string end = std::string(GetParam()) + "-end";
  take(end);
  const bool logits = GetParam() != std::string("gcn-edges");
  std::vector<std::string> args = {"predict", path(end),  "--data",    old(data()), "--draws",
                                   "3",       "--engine", "reference", "--json"};
  if (logits) args.push_back("--logits");
  const RunResult r = run_program(args);
  ASSERT_EQ(r.exit_code, 0) << r.err;
  const auto theirs = nlohmann::json::parse(read_file(old(end + "/predictions.json")));
  expect_all_of(nlohmann::json::parse(r.out)["predictions"], theirs["predictions"], end);
  const auto summary = nlohmann::json::parse(read_file(old(end + "/summary.json")));
  EXPECT_THAT(report(path(end)), HasSubstr(std::to_string(summary["parameters"].get<std::size_t>()) + " parameters"));
}

TEST_F(Version020, AFolderOfReproduceHasItsTrialsAndComputesNothing) {
  take("reproduce");
  const RunResult r = run_program({"reproduce", old("tiny.toml"), "--out", path("reproduce"), "--engine", "reference",
                                   "--resume", "--quiet", "--json"});
  ASSERT_EQ(r.exit_code, 0) << r.err;
  const auto all = nlohmann::json::parse(r.out);
  EXPECT_EQ(all["trials"], 3);
  EXPECT_EQ(all["trained"], 0);
  EXPECT_THAT(report(path("reproduce")), AllOf(HasSubstr("GCN-colours | 50.00"), HasSubstr("2-GCN | 50.00")));
}

TEST_F(Version020, AStoppedRunOfDistinguishGoesOnToTheRecordsItWouldHaveWritten) {
  take("pairs");
  const RunResult r =
      run_program({"distinguish", old("exp"),  "--model", "gin",         "--random", "colours", "--width",       "4",
                   "--layers",    "1",         "--draws", "32",          "--epochs", "40",      "--threads",     "2",
                   "--engine",    "reference", "--out",   path("pairs"), "--resume", "--json",  "--train-draws", "4"});
  ASSERT_EQ(r.exit_code, 1) << r.err << "one pair of the four is not told apart";
  expect_lines(path("pairs/results.jsonl"), old("pairs-end/results.jsonl"));
  expect_all_of(nlohmann::json::parse(r.out), nlohmann::json::parse(read_file(old("pairs-end/answer.json"))), "answer");
  take("pairs-end");
  EXPECT_THAT(report(path("pairs-end")), HasSubstr("| all | 4 | 3 | 0 | 0 | 4 | 4 |"));
}

}  // namespace
}  // namespace tyche
