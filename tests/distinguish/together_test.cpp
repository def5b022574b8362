// One network for all pairs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "distinguish/runner.hpp"
#include "distinguish/samples.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "train/checkpoint.hpp"

namespace tyche::distinguish {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

Settings together_settings(const PairSet& pairs, nn::Random random) {
  Settings settings = small_settings(pairs, random);
  settings.together = true;
  settings.config.training.epochs = 96;
  return settings;
}

std::vector<PairResult> trained(const Settings& settings, const PairSet& pairs,
                                const std::filesystem::path& network = {}, unsigned threads = 2) {
  const auto trainer = engine::make_engine("cpu", threads);
  const auto judge = engine::make_engine("cpu", 1);
  Runner runner(settings, pairs, *trainer, *judge, threads);
  return runner.run(runner.chunks()[0], settings.config.seed, nullptr, network);
}

/// Hexagon and two triangles; rook's and Shrikhande's graph; a graph and itself in another order.
PairSet three_small_pairs() {
  return pairs_of({wl::cycle(6), wl::two_triangles(), wl::rook(), wl::shrikhande(), wl::exp_core(2, true),
                   reversed(wl::exp_core(2, true))});
}

TEST(Together, OneNetworkTellsTheGraphsOfEveryPairThatDifferApart) {
  const PairSet pairs = three_small_pairs();
  const Settings settings = together_settings(pairs, nn::Random::colours);
  const std::vector<PairResult> results = trained(settings, pairs);
  ASSERT_EQ(results.size(), 3u);
  for (std::uint32_t i = 0; i < 3; ++i) {
    EXPECT_EQ(results[i].pair, i);
    EXPECT_EQ(results[i].epochs, 96u);
    EXPECT_EQ(results[i].verdict.told_apart, i < 2) << i << ": p = " << results[i].verdict.p;
    EXPECT_FALSE(results[i].control.told_apart) << i << ": p = " << results[i].control.p;
  }
  // Two pairs in three can be known, and a guess is right half of the time.
  EXPECT_GT(accuracy(results, settings, 1), 0.7);
  EXPECT_LT(accuracy(results, settings, 1), 0.95);
}

TEST(Together, ANetworkWithoutRandomInputsIsComparedBeyondRounding) {
  const PairSet pairs = pairs_of({wl::cycle(6), wl::two_triangles(), wl::path(6), wl::cycle(6)});
  Settings settings = together_settings(pairs, nn::Random::features);
  settings.config.model.aggregation = nn::Aggregation::sum;
  const std::vector<PairResult> results = trained(settings, pairs);
  EXPECT_FALSE(results[0].verdict.told_apart);
  EXPECT_TRUE(results[1].verdict.told_apart);
  for (const PairResult& result : results) EXPECT_FALSE(result.control.told_apart);
}

TEST(Together, GivesTheSameOnAnyNumberOfThreadsAndFromACheckpoint) {
  const PairSet pairs = three_small_pairs();
  Settings settings = together_settings(pairs, nn::Random::colours);
  settings.config.training.epochs = 8;
  const TemporaryFolder folder;
  const std::vector<PairResult> whole = trained(settings, pairs, folder / "whole", 1);
  EXPECT_EQ(trained(settings, pairs, {}, 3), whole);
  EXPECT_EQ(trained(settings, pairs, folder / "whole"), whole);  // trained already: judged again
  const std::string bytes = read_file(folder / "whole");

  // Stopped before it began, and taken up again.
  set_interrupted(true);
  EXPECT_THROW((void)trained(settings, pairs, folder / "cut"), Interrupted);
  set_interrupted(false);
  EXPECT_EQ(trained(settings, pairs, folder / "cut"), whole);
  EXPECT_EQ(read_file(folder / "cut"), bytes);

  settings.config.seed = 2;
  EXPECT_THAT([&] { (void)trained(settings, pairs, folder / "cut"); },
              ThrowsMessage<InputError>(HasSubstr("is a network of another run")));
}

/// Asks for a stop after some epochs.
class StoppingProgress : public Progress {
 public:
  StoppingProgress() : Progress("epochs", 1, nullptr) {}
  void add(std::uint64_t count, const std::string&) override {
    done_ += count;
    if (done_ == 3) set_interrupted(true);
  }

 private:
  std::uint64_t done_ = 0;
};

TEST(Together, AStopInTheMiddleKeepsTheEpochsThatWereTrained) {
  const PairSet pairs = three_small_pairs();
  Settings settings = together_settings(pairs, nn::Random::colours);
  settings.config.training.epochs = 8;
  const TemporaryFolder folder;
  const auto engine = engine::make_engine("cpu", 1);
  Runner runner(settings, pairs, *engine, *engine, 1);
  const Chunk all = runner.chunks()[0];
  StoppingProgress progress;
  EXPECT_THROW((void)runner.run(all, settings.config.seed, &progress, folder / "cut"), Interrupted);
  set_interrupted(false);
  EXPECT_EQ(train::read_checkpoint(folder / "cut").state.epoch, 3u);
  EXPECT_EQ(runner.run(all, settings.config.seed, nullptr, folder / "cut"), trained(settings, pairs));
}

TEST(Together, AccuracyCountsBothGraphsOfAPair) {
  Settings settings;
  settings.config = default_config("gcn", nn::Random::colours);
  settings.draws = 10;
  PairResult result;
  result.verdict.first_a = 9;
  result.verdict.first_b = 3;
  EXPECT_NEAR(accuracy({result}, settings, 1), 0.8, 1e-12);
  EXPECT_EQ(accuracy({}, settings, 1), 0);
}

}  // namespace
}  // namespace tyche::distinguish
