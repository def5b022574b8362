// A run killed at any moment and resumed gives what an unbroken run gives.
#include <gtest/gtest.h>

#include <filesystem>
#include <thread>

#include "support/random.hpp"
#include "support/run_program.hpp"
#include "train/run_contents.hpp"
#include "train/samples.hpp"

namespace tyche {
namespace {

namespace fs = std::filesystem;

std::uint64_t lines_written(const fs::path& run) {
  std::uint64_t lines = 0;
  for (int fold = 0; fold < 3; ++fold) {
    const fs::path file = run / ("fold-" + std::to_string(fold)) / "metrics.jsonl";
    if (!fs::exists(file)) continue;
    const std::string text = read_file(file);
    lines += static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n'));
  }
  return lines;
}

// As published; and with all that has a state of its own: a rate that follows a plateau, a best epoch, a test at the
// end.
class KilledRuns : public testing::TestWithParam<std::vector<std::string>> {};

TEST_P(KilledRuns, GiveTheBitsOfAnUnbrokenOneWhenResumed) {
  const TemporaryFolder folder;
  write_graphs(folder / "small.txt", train::small_dataset().set, Format::gin);
  const auto call = [&](const std::string& out) {
    std::vector<std::string> args = {"train",
                                     "--recipe",
                                     "paper",
                                     "--data",
                                     (folder / "small.txt").string(),
                                     "--out",
                                     (folder / out).string(),
                                     "--width",
                                     "8",
                                     "--layers",
                                     "2",
                                     "--rni",
                                     "0.5",
                                     "--epochs",
                                     "120",
                                     "--batch",
                                     "4",
                                     "--folds",
                                     "3",
                                     "--quiet",
                                     "--threads",
                                     "2",
                                     "--resume"};
    args.insert(args.end(), GetParam().begin(), GetParam().end());
    return args;
  };
  ASSERT_EQ(run_program(call("whole")).exit_code, 0);

  // Each life is ended as soon as it has written some more epochs, at a moment the scheduler picks: in training, in a
  // metrics line, between a line and its checkpoint, or in the checkpoint.
  Stream stream(derive_key(11, Purpose::test));
  int kills = 0;
  for (int life = 0; life < 6; ++life) {
    StartedProgram child(call("run"));
    const std::uint64_t until = lines_written(folder / "run") + 5 + stream.below(40);
    for (int wait = 0; wait < 20000 && lines_written(folder / "run") < until; ++wait) {
      std::this_thread::sleep_for(std::chrono::microseconds(stream.below(1500)));
    }
    child.signal(SIGKILL);
    kills += child.wait().exit_code == 128 + SIGKILL ? 1 : 0;
  }
  EXPECT_GE(kills, 3);
  const RunResult last = run_program(call("run"));
  EXPECT_EQ(last.exit_code, 0) << last.err;
  EXPECT_EQ(train::run_contents(folder / "run"), train::run_contents(folder / "whole"));
}

INSTANTIATE_TEST_SUITE_P(PlainAndWithEveryOption, KilledRuns,
                         testing::Values(std::vector<std::string>{}, std::vector<std::string>{"--clip-norm",
                                                                                              "0.5",
                                                                                              "--weight-decay",
                                                                                              "0.01",
                                                                                              "--schedule",
                                                                                              "plateau",
                                                                                              "--plateau-patience",
                                                                                              "2",
                                                                                              "--warm-up",
                                                                                              "5",
                                                                                              "--fold-scheme",
                                                                                              "stratified",
                                                                                              "--validation",
                                                                                              "0.25",
                                                                                              "--early-stopping",
                                                                                              "--patience",
                                                                                              "100",
                                                                                              "--test",
                                                                                              "end",
                                                                                              "--eval-every",
                                                                                              "3",
                                                                                              "--repeat",
                                                                                              "1"}),
                         [](const auto& way) { return way.param.empty() ? "Plain" : "EveryOption"; });

TEST(KilledRun, MayDieBeforeItsFirstEpoch) {
  const TemporaryFolder folder;
  write_graphs(folder / "small.txt", train::small_dataset().set, Format::gin);
  const std::vector<std::string> call = {"train",
                                         "--recipe",
                                         "paper",
                                         "--data",
                                         (folder / "small.txt").string(),
                                         "--out",
                                         (folder / "run").string(),
                                         "--width",
                                         "8",
                                         "--layers",
                                         "2",
                                         "--epochs",
                                         "2",
                                         "--folds",
                                         "2",
                                         "--quiet",
                                         "--resume"};
  for (const int microseconds : {0, 500, 1000, 2000, 4000, 8000}) {
    StartedProgram child(call);
    std::this_thread::sleep_for(std::chrono::microseconds(microseconds));
    child.signal(SIGKILL);
    (void)child.wait();
  }
  const RunResult last = run_program(call);
  EXPECT_EQ(last.exit_code, 0) << last.err;
}

}  // namespace
}  // namespace tyche
