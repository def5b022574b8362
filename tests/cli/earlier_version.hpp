#pragma once
/// What an earlier version wrote (tests/data/v…, made by its program with the plain engine, whose bits are the same
/// everywhere), taken up by the program under test.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "support/run_program.hpp"
#include "train/checkpoint.hpp"

namespace tyche {

class EarlierVersion : public testing::Test {
 protected:
  /// `fold`: the one that the version's runs trained.
  EarlierVersion(const std::string& version, std::string fold)
      : old_(std::filesystem::path(TYCHE_TEST_DATA) / version), fold_(std::move(fold)) {}

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string old(const std::string& name) const { return (old_ / name).string(); }
  /// A copy of the run that can be written to.
  void take(const std::string& name) const {
    std::filesystem::copy(old_ / name, folder_ / name, std::filesystem::copy_options::recursive);
  }
  RunResult resume(const std::string& name, const std::string& data, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> args = {"train", "--resume", "--out", path(name), "--data", old(data), "--threads", "2"};
    args.insert(args.end(), more.begin(), more.end());
    return run_program(args);
  }
  /// That ours has everything that theirs has, with the same values, but for times and what says who wrote it.
  static void expect_all_of(const nlohmann::json& ours, const nlohmann::json& theirs, const std::string& where) {
    if (theirs.is_array()) {
      ASSERT_EQ(ours.size(), theirs.size()) << where;
      for (std::size_t i = 0; i < theirs.size(); ++i) expect_all_of(ours[i], theirs[i], where);
    } else if (theirs.is_object()) {
      for (const auto& [key, value] : theirs.items()) {
        if (key.find("seconds") != std::string::npos || key == "check" || key == "version" || key == "engine") continue;
        ASSERT_TRUE(ours.contains(key)) << key << " in " << where;
        expect_all_of(ours[key], value, key + " in " + where);
      }
    } else {
      EXPECT_EQ(ours, theirs) << where;
    }
  }
  /// The same of two files of JSON lines.
  static void expect_lines(const std::string& ours, const std::string& theirs) {
    std::istringstream our_lines(read_file(ours)), their_lines(read_file(theirs));
    std::string our_line, their_line;
    while (std::getline(their_lines, their_line)) {
      ASSERT_TRUE(std::getline(our_lines, our_line)) << "lacks " << their_line;
      expect_all_of(nlohmann::json::parse(our_line), nlohmann::json::parse(their_line), our_line);
    }
    EXPECT_FALSE(std::getline(our_lines, our_line)) << our_line;
  }
  /// That a run ended where the earlier version ended it: parameters, moments and every number of every epoch but
  /// times.
  void expect_end(const std::string& name) const {
    const std::string ours = path(name) + "/" + fold_, theirs = old(name + "-end") + "/" + fold_;
    for (const char* file : {"/last.safetensors", "/best.safetensors"}) {
      ASSERT_EQ(std::filesystem::exists(ours + file), std::filesystem::exists(theirs + file)) << file;
      if (!std::filesystem::exists(theirs + file)) continue;
      const train::Checkpoint our_end = train::read_checkpoint(ours + file);
      const train::Checkpoint their_end = train::read_checkpoint(theirs + file);
      EXPECT_EQ(our_end.state.epoch, their_end.state.epoch) << file;
      EXPECT_EQ(our_end.state.step, their_end.state.step) << file;
      EXPECT_EQ(our_end.state.parameters, their_end.state.parameters) << file;
      EXPECT_EQ(our_end.state.adam_m, their_end.state.adam_m) << file;
      EXPECT_EQ(our_end.state.adam_v, their_end.state.adam_v) << file;
    }
    expect_lines(ours + "/metrics.jsonl", theirs + "/metrics.jsonl");
  }

  const std::filesystem::path old_;
  const std::string fold_;
  TemporaryFolder folder_;
};

}  // namespace tyche
