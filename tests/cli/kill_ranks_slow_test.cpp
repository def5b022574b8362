// A trial that ranks share, of which one is killed at a random moment: resumed by another number of ranks, 50 times.
#include <gtest/gtest.h>

#include <random>

#include "cli/mpirun.hpp"
#include "train/run_contents.hpp"

namespace tyche {
namespace {

TEST(KilledRanks, AreResumedByOthersToTheSameFiles) {
  if (const std::string why = why_no_mpirun(); !why.empty()) GTEST_SKIP() << why;
  const TemporaryFolder folder;
  ASSERT_EQ(run_program({"generate", "exp", "--pairs", "15", "--out", (folder / "exp").string()}).exit_code, 0);
  const auto words = [&](const std::string& name) {
    return "train --device cpu --quiet --resume --recipe paper --data " + (folder / "exp").string() +
           " --model gin --norm batch --width 8 --layers 2 --fold 0 --epochs 200 --select-by loss --out " +
           (folder / name).string();
  };
  ASSERT_EQ(std::system((std::string(TYCHE_PROGRAM) + " " + words("whole") + " > /dev/null").c_str()), 0);
  const auto whole = train::run_contents(folder / "whole");
  std::mt19937 random(std::random_device{}());
  int killed = 0, begun = 0;
  for (int i = 0; i < 50; ++i) {
    const int ranks = 2 + static_cast<int>(random() % 3), others = 1 + static_cast<int>(random() % 4);
    const double after = 0.3 + static_cast<double>(random() % 1000) / 600;
    const int status =
        run_on_ranks(ranks, words("run"), folder / "log", killed_after(static_cast<int>(random()) % ranks, after));
    killed += status != 0 ? 1 : 0;
    begun += std::filesystem::exists(folder / "run/fold-0/last.safetensors") ? 1 : 0;
    ASSERT_EQ(run_on_ranks(others, words("run"), folder / "log"), 0) << read_file(folder / "log");
    EXPECT_EQ(train::run_contents(folder / "run"), whole)
        << ranks << " ranks, then " << others << ", " << after << " s";
    std::filesystem::remove_all(folder / "run");
  }
  RecordProperty("killed", killed);
  RecordProperty("begun", begun);
  std::printf("%d of 50 killed, %d of them with a checkpoint\n", killed, begun);
  EXPECT_GE(killed, 10);
}

}  // namespace
}  // namespace tyche
