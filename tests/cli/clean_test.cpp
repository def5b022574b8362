// --clean as users call it: dirty files are refused with a hint, mended with it, and runs remember it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "graph/io.hpp"
#include "support/file.hpp"
#include "support/run_program.hpp"
#include "support/temporary_folder.hpp"
#include "train/config.hpp"
#include "train/samples.hpp"

namespace tyche {
namespace {

using testing::HasSubstr;

class CleanOption : public testing::Test {
 protected:
  void SetUp() override {
    const GraphSet set = train::small_dataset().set;
    write_graphs(folder_ / "good.jsonl", set, Format::jsonl);
    // A loop in the first graph.
    std::string text = read_file(folder_ / "good.jsonl");
    const std::string at = "\"edges\": [";
    text.insert(text.find(at) + at.size(), set.graphs[0].has_edge_labels() ? "[0, 0, 0], " : "[0, 0], ");
    write_file(folder_ / "dirty.jsonl", text);
  }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  RunResult train(const std::string& data, const std::string& out, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> args = {"train",    "--recipe", "paper",   "--data", path(data), "--out",
                                     path(out),  "--quiet",  "--width", "4",      "--layers", "1",
                                     "--epochs", "1",        "--folds", "3",      "--fold",   "0"};
    args.insert(args.end(), more.begin(), more.end());
    return run_program(args);
  }
  TemporaryFolder folder_;
};

TEST_F(CleanOption, DirtyFilesAreRefusedWithTheOptionThatMendsThem) {
  const RunResult r = train("dirty.jsonl", "run");
  EXPECT_EQ(r.exit_code, 2);
  EXPECT_THAT(r.err, HasSubstr("dirty.jsonl: line 1: edge (0, 0) is a loop; graphs here have none; train, predict, "
                               "inspect, wl and distinguish mend that with --clean"));
  EXPECT_FALSE(std::filesystem::exists(path("run")));
}

TEST_F(CleanOption, TrainsOnTheCleanedGraphsAndRemembers) {
  const RunResult clean = train("dirty.jsonl", "clean", {"--clean"});
  ASSERT_EQ(clean.exit_code, 0) << clean.err;
  EXPECT_THAT(clean.err, HasSubstr("dirty.jsonl: --clean dropped 1 loop\n"));
  const RunResult good = train("good.jsonl", "good");
  ASSERT_EQ(good.exit_code, 0) << good.err;
  const train::RunConfig config = train::read_config(folder_ / "clean" / "config.toml");
  EXPECT_TRUE(config.data.clean);
  EXPECT_EQ(config.data.hash, train::read_config(folder_ / "good" / "config.toml").data.hash);
  EXPECT_EQ(read_file(folder_ / "clean" / "fold-0" / "metrics.jsonl").empty(), false);
  EXPECT_EQ(clean.out, good.out);

  const RunResult resumed = run_program({"train", "--resume", "--out", path("clean"), "--epochs", "2", "--quiet"});
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  const std::string checkpoint = path("clean/fold-0/last.safetensors");
  const RunResult asked = run_program({"predict", "--checkpoint", checkpoint, "--data", path("dirty.jsonl")});
  EXPECT_EQ(asked.exit_code, 0) << asked.err;
  EXPECT_EQ(asked.out, run_program({"predict", "--checkpoint", checkpoint, "--data", path("good.jsonl")}).out);
}

TEST_F(CleanOption, ComparisonsTakeItToo) {
  EXPECT_EQ(run_program({"wl", path("dirty.jsonl:0"), path("good.jsonl:0")}).exit_code, 2);
  const RunResult r = run_program({"wl", path("dirty.jsonl:0"), path("good.jsonl:0"), "--clean"});
  EXPECT_EQ(r.exit_code, 1) << r.err;  // the same graph: not told apart
  EXPECT_THAT(r.err, HasSubstr("good.jsonl:0: --clean found nothing to clean"));
}

}  // namespace
}  // namespace tyche
