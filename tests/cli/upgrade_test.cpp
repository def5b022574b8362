// What version 0.1.0 wrote (tests/data/v0.1.0, made by its program, less the paths of that machine): runs that were
// stopped half way, the same taken to their ends by 0.1.0, predictions, a folder of reproduce. All with the plain
// engine, whose bits are the same everywhere.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "support/run_program.hpp"
#include "train/checkpoint.hpp"

namespace tyche {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
namespace fs = std::filesystem;

const fs::path kOld = fs::path(TYCHE_TEST_DATA) / "v0.1.0";

class Version010 : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  /// A copy of the run that can be written to.
  void take(const std::string& name) const { fs::copy(kOld / name, folder_ / name, fs::copy_options::recursive); }
  RunResult resume(const std::string& name, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> args = {"train",  "--resume",   "--out",     path(name),
                                     "--data", kOld / "exp", "--threads", "2"};
    args.insert(args.end(), more.begin(), more.end());
    return run_program(args);
  }
  /// That a run ended where 0.1.0 ended it: parameters, moments and every number of every epoch but times.
  void expect_end(const std::string& name) const {
    const train::Checkpoint ours = train::read_checkpoint(folder_ / name / "fold-0/last.safetensors");
    const train::Checkpoint theirs = train::read_checkpoint(kOld / (name + "-end") / "fold-0/last.safetensors");
    EXPECT_EQ(ours.state.epoch, theirs.state.epoch);
    EXPECT_EQ(ours.state.step, theirs.state.step);
    EXPECT_EQ(ours.state.parameters, theirs.state.parameters);
    EXPECT_EQ(ours.state.adam_m, theirs.state.adam_m);
    EXPECT_EQ(ours.state.adam_v, theirs.state.adam_v);
    std::istringstream our_lines(read_file(folder_ / name / "fold-0/metrics.jsonl"));
    std::istringstream their_lines(read_file(kOld / (name + "-end") / "fold-0/metrics.jsonl"));
    std::string our_line, their_line;
    std::size_t lines = 0;
    while (std::getline(their_lines, their_line)) {
      ASSERT_TRUE(std::getline(our_lines, our_line)) << "line " << lines;
      const auto our_record = nlohmann::json::parse(our_line), their_record = nlohmann::json::parse(their_line);
      for (const auto& [key, value] : their_record.items()) {
        if (key.find("seconds") != std::string::npos) continue;
        EXPECT_EQ(our_record.at(key), value) << key << " in " << our_line;
      }
      ++lines;
    }
    EXPECT_EQ(lines, theirs.state.epoch);
    EXPECT_FALSE(std::getline(our_lines, our_line));
  }

  TemporaryFolder folder_;
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
  const RunResult p = run_program({"predict", "--checkpoint", kOld / "ppgn-end/fold-0/last.safetensors", "--data",
                                   kOld / "exp", "--engine", "reference"});
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
  const RunResult r = run_program({"predict", "--checkpoint", kOld / "gcn-end/fold-0/last.safetensors", "--data",
                                   kOld / "exp", "--draws", "3", "--engine", "reference", "--logits", "--json"});
  ASSERT_EQ(r.exit_code, 0) << r.err;
  EXPECT_EQ(nlohmann::json::parse(r.out), nlohmann::json::parse(read_file(kOld / "predictions.json")));
}

TEST_F(Version010, AFolderOfReproduceHasItsTrialsAndComputesNothing) {
  take("reproduce");
  const auto reproduce = [&] {
    const RunResult r = run_program({"reproduce", kOld / "tiny.toml", "--out", path("reproduce"), "--engine",
                                     "reference", "--resume", "--quiet", "--json"});
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

}  // namespace
}  // namespace tyche
