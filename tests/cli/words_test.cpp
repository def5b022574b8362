// Options under other names, and options that there are none of.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "graph/io.hpp"
#include "support/run_program.hpp"
#include "train/config.hpp"
#include "train/samples.hpp"

namespace tyche {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string refusal(std::vector<std::string> words) {
  const RunResult r = run_program(words);
  EXPECT_EQ(r.exit_code, 2) << r.err;
  EXPECT_EQ(r.out, "");
  return r.err;
}

TEST(Words, AnOptionThatThereIsNoneOfNamesTheNearest) {
  EXPECT_EQ(refusal({"train", "--learnig-rate", "1e-3"}),
            "tyche: tyche train has no option '--learnig-rate'; did you mean '--lr'? See 'tyche train --help'\n");
  EXPECT_THAT(refusal({"train", "--epocs=3"}), HasSubstr("did you mean '--epochs'?"));
  EXPECT_THAT(refusal({"train", "--weight_decai", "0.1"}), HasSubstr("did you mean '--weight-decay'?"));
  EXPECT_THAT(refusal({"train", "-lr", "0.1"}), HasSubstr("has no option '-lr'; did you mean '--lr'?"));
  EXPECT_EQ(refusal({"train", "--zzz"}), "tyche: tyche train has no option '--zzz'; see 'tyche train --help'\n");
  EXPECT_THAT(refusal({"train", "--data", "x", "--out", "y", "--fold", "0", "--lrr", "1"}), HasSubstr("'--lr'"));
}

TEST(Words, EverySubcommandNamesTheNearest) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> calls = {
      {{"generate", "exp", "--pair", "3"}, "--pairs"},
      {{"certify", "--jsn"}, "--json"},
      {{"wl", "--dims", "2"}, "--dim"},
      {{"inspect", "--fold", "2"}, "--folds"},
      {{"predict", "--check", "x"}, "--checkpoint"},
      {{"distinguish", "--draw", "8"}, "--draws"},
      {{"reproduce", "--profil", "quick"}, "--profile"},
      {{"report", "--formt", "md"}, "--format"},
      {{"theory", "approximate", "--detla", "1"}, "--delta"}};
  for (const auto& [words, meant] : calls) {
    EXPECT_THAT(refusal(words), HasSubstr("did you mean '" + meant + "'?")) << words.front();
  }
  EXPECT_THAT(refusal({"--vershun"}), HasSubstr("did you mean '--version'?"));
}

TEST(Words, FieldsMayBeCalledAsOthersCallThem) {
  const TemporaryFolder folder;
  const std::string data = (folder / "small.txt").string(), out = (folder / "run").string();
  write_graphs(data, train::small_dataset().set, Format::gin);
  const RunResult r = run_program({"train",
                                   "--data",
                                   data,
                                   "--out",
                                   out,
                                   "--quiet",
                                   "--folds",
                                   "2",
                                   "--hidden",
                                   "8",
                                   "--num-layers",
                                   "2",
                                   "--epoch",
                                   "2",
                                   "--batch-size=5",
                                   "--learning-rate",
                                   "0.004",
                                   "--weight_decay",
                                   "0.5",
                                   "--random_state",
                                   "9",
                                   "--pooling",
                                   "mean"});
  ASSERT_EQ(r.exit_code, 0) << r.err;
  const train::RunConfig config = train::read_config(folder / "run" / "config.toml");
  EXPECT_EQ(config.model.width, 8u);
  EXPECT_EQ(config.model.layers, 2u);
  EXPECT_EQ(config.training.epochs, 2u);
  EXPECT_EQ(config.training.batch, 5u);
  EXPECT_EQ(config.training.learning_rate, 0.004);
  EXPECT_EQ(config.training.optimiser.weight_decay, 0.5);
  EXPECT_EQ(config.seed, 9u);
  EXPECT_EQ(config.model.readout, nn::Readout::mean);
  // Twice is twice, under whatever names.
  EXPECT_EQ(run_program({"train", "--data", data, "--out", out + "2", "--lr", "1", "--learning-rate", "2"}).exit_code,
            2);
}

TEST(Words, HelpShowsTheOneName) {
  const RunResult r = run_program({"train", "--help"});
  EXPECT_THAT(r.out, AllOf(HasSubstr("--lr"), Not(HasSubstr("--learning-rate")), Not(HasSubstr("--hidden"))));
}

}  // namespace
}  // namespace tyche
