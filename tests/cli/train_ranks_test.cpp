// `tyche train` under mpirun: the files of one process.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/mpirun.hpp"
#include "train/run_contents.hpp"

namespace tyche {
namespace {

using testing::HasSubstr;

struct TrainOnRanks : testing::Test {
  TemporaryFolder folder;

  void SetUp() override {
    if (const std::string why = why_no_mpirun(); !why.empty()) GTEST_SKIP() << why;
    // Graphs of some forty nodes: a batch of twenty has three slices.
    ASSERT_EQ(run_program({"generate", "exp", "--pairs", "15", "--out", out("exp")}).exit_code, 0);
    std::string lines;
    for (int g = 0; g < 12; ++g) {
      std::string edges, values, labels;
      for (int v = 0; v < 80; ++v) {
        if (v > 0) edges += fmt::format("{}[{}, {}]", v > 1 ? ", " : "", v * g % 7 == 0 ? 0 : v - 1, v);
        if (v > 0) values += fmt::format("{}{}", v > 1 ? ", " : "", v % (g + 2));
        labels += fmt::format("{}{}", v > 0 ? ", " : "", v % (g + 2) == 0 ? 1 : 0);
      }
      lines += fmt::format(R"({{"nodes": 80, "edges": [{}], "node_labels": [{}], )", edges, labels);
      lines += fmt::format(R"("edge_targets": [{}], "target": [{}, {}]}})", values, g % 2, g % 4 == 0 ? 0 : 1) + "\n";
    }
    write_file(folder / "nodes.jsonl", lines);
  }
  [[nodiscard]] std::string out(const std::string& name) const { return (folder / name).string(); }
  [[nodiscard]] std::string words(const std::string& options, const std::string& name,
                                  const std::string& data = "exp") const {
    return "train --device cpu --quiet --data " + out(data) + " --width 8 --layers 2 " + options + " --out " +
           out(name);
  }
  [[nodiscard]] std::string log() const { return read_file(folder / "log"); }
};

TEST_F(TrainOnRanks, AnyNumberOfRanksWritesTheFilesOfOneProcess) {
  const std::string fold = "--recipe own --fold 0 --epochs 4 ";
  for (const auto& [data, options] :
       {std::pair("exp", fold + "--rni 0.5 --select-by loss --test end --eval-draws 2"),
        std::pair("exp", fold + "--model gin --norm batch --batch 6 --accumulate 2 --rate-rule linear --test end"),
        std::pair("exp", fold + "--model local2 --early-stopping --patience 1 --validation 0.2 --select-by loss"),
        std::pair("nodes.jsonl", fold + "--target node-labels"),
        std::pair("nodes.jsonl", fold + "--target node-labels --batch 1 --test end"),
        std::pair("nodes.jsonl", fold + "--target edge-targets --model gin --norm batch --batch 4"),
        std::pair("nodes.jsonl", fold + "--target attributes --loss binary --batch 4 --accumulate 2")}) {
    ASSERT_EQ(std::system((std::string(TYCHE_PROGRAM) + " " + words(options, "one", data) + " > /dev/null").c_str()),
              0);
    for (const unsigned ranks : {2u, 3u, 4u}) {
      ASSERT_EQ(run_on_ranks(ranks, words(options, "several", data), folder / "log"), 0) << log();
      EXPECT_EQ(train::run_contents(folder / "several"), train::run_contents(folder / "one")) << options;
      std::filesystem::remove_all(folder / "several");
    }
    std::filesystem::remove_all(folder / "one");
  }
}

TEST_F(TrainOnRanks, WholeFoldsAreSpreadWhereThereAreEnough) {
  for (const std::string& options :
       {std::string("--epochs 3 --folds 3 --rni 0.5"), std::string("--epochs 3 --model gcn2 --fold 1")}) {
    ASSERT_EQ(std::system((std::string(TYCHE_PROGRAM) + " " + words(options, "one") + " > /dev/null").c_str()), 0);
    ASSERT_EQ(run_on_ranks(3, words(options, "several"), folder / "log"), 0) << log();
    EXPECT_EQ(train::run_contents(folder / "several"), train::run_contents(folder / "one")) << options;
    std::filesystem::remove_all(folder / "several");
    std::filesystem::remove_all(folder / "one");
  }
}

TEST_F(TrainOnRanks, ARankThatDiesEndsTheJobWithALineAndOthersGoOnToTheSameFiles) {
  const std::string options = "--fold 0 --rni 0.5 --epochs 400";
  ASSERT_EQ(std::system((std::string(TYCHE_PROGRAM) + " " + words(options, "one") + " > /dev/null").c_str()), 0);
  // As soon as the first epochs are written.
  const std::string kill = "if [ $OMPI_COMM_WORLD_RANK = 1 ]; then (while [ ! -s " +
                           out("several/fold-0/metrics.jsonl") + " ]; do sleep 0.01; done; kill -9 $$) & fi; ";
  EXPECT_NE(run_on_ranks(3, words(options, "several"), folder / "log", kill), 0);
  EXPECT_THAT(log(), HasSubstr("rank 1"));
  EXPECT_NE(train::run_contents(folder / "several"), train::run_contents(folder / "one"));
  ASSERT_EQ(run_on_ranks(2, words(options, "several") + " --resume", folder / "log"), 0) << log();
  EXPECT_EQ(train::run_contents(folder / "several"), train::run_contents(folder / "one"));
}

TEST_F(TrainOnRanks, ARankThatThrowsInTheMiddleEndsTheJobWithOneLine) {
#ifndef TYCHE_NO_MEMORY
  GTEST_SKIP() << "sanitizers have an operator new of their own";
#define TYCHE_NO_MEMORY ""
#endif
  // Its memory is at an end as soon as the first epochs are written.
  const std::string fail =
      "if [ $OMPI_COMM_WORLD_RANK = 1 ]; then export TYCHE_NO_MEMORY_AFTER=" + out("several/fold-0/metrics.jsonl") +
      " LD_PRELOAD=" + TYCHE_NO_MEMORY + "; fi; ";
  EXPECT_NE(run_on_ranks(3, words("--fold 0 --rni 0.5 --epochs 4000", "several"), folder / "log", fail), 0);
  const std::string said = log();
  EXPECT_THAT(said, HasSubstr("tyche: rank 1 of 3 failed: "));
  EXPECT_THAT(said, HasSubstr("all ranks end: go on with --resume"));
  EXPECT_EQ(said.find("tyche: "), said.rfind("tyche: ")) << said;
}

TEST_F(TrainOnRanks, MistakesAreSaidOnce) {
  EXPECT_NE(run_on_ranks(3, words("--rni 7", "several"), folder / "log"), 0);
  const std::string said = log();
  EXPECT_EQ(said.find("tyche: "), said.rfind("tyche: "));
  EXPECT_THAT(said, HasSubstr("rni"));
  // One batch per step is nothing for two GPUs to share, where there are any.
  EXPECT_NE(
      run_on_ranks(2, "train --device cuda --fold 0 --data " + out("exp") + " --out " + out("gpu"), folder / "log"), 0);
  EXPECT_THAT(log(), testing::AnyOf(HasSubstr("no GPU to use"), HasSubstr("--accumulate")));
}

}  // namespace
}  // namespace tyche
