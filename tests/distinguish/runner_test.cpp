// Networks trained on pairs a person can check.
#include "distinguish/runner.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "distinguish/records.hpp"
#include "distinguish/samples.hpp"
#include "support/error.hpp"
#include "support/npy_file.hpp"

namespace tyche::distinguish {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

std::vector<PairResult> run(const Settings& settings, const PairSet& pairs, const std::string& engine = "cpu",
                            unsigned threads = 2) {
  const auto trainer = engine::make_engine(engine, threads);
  const auto judge = engine::make_engine(engine, 1);
  Runner runner(settings, pairs, *trainer, *judge, threads);
  std::vector<PairResult> all;
  for (const Chunk& chunk : runner.chunks()) {
    for (const PairResult& result : runner.run(chunk, settings.config.seed, nullptr)) all.push_back(result);
  }
  return all;
}

/// Hexagon and two triangles; rook's and Shrikhande's graph; a graph and itself in another order.
PairSet three_pairs() {
  return pairs_of(
      {wl::cycle(6), wl::two_triangles(), wl::rook(), wl::shrikhande(), wl::shrikhande(), reversed(wl::shrikhande())});
}

TEST(Runner, ColoursAtTheLeafTellWhatIsDifferentAndNothingElse) {
  const PairSet pairs = three_pairs();
  const std::vector<PairResult> results = run(small_settings(pairs, nn::Random::colours), pairs);
  ASSERT_EQ(results.size(), 3u);
  EXPECT_TRUE(results[0].verdict.told_apart);
  EXPECT_TRUE(results[1].verdict.told_apart);
  EXPECT_FALSE(results[2].verdict.told_apart) << results[2].verdict.p;
  for (const PairResult& result : results) EXPECT_FALSE(result.control.told_apart) << result.pair;
}

TEST(Runner, WithoutRandomInputsNothingIsToldApartThatRefinementCannot) {
  // The last pair is the one that 1-WL tells apart, and a gcn has to find it.
  const PairSet pairs = pairs_of({wl::cycle(6), wl::two_triangles(), wl::rook(), wl::shrikhande(),
                                  wl::exp_core(2, true), wl::exp_core(2, false), wl::path(6), wl::cycle(6)});
  Settings settings = small_settings(pairs, nn::Random::features);
  settings.config.model.aggregation = nn::Aggregation::sum;  // a mean does not see degrees
  const std::vector<PairResult> results = run(settings, pairs);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(results[i].verdict.told_apart, i == 3) << i;
    EXPECT_FALSE(results[i].control.told_apart) << i;
  }
}

TEST(Runner, NodeTypesAreSeen) {
  const std::vector<Edge> edge = {{0, 1}};
  const PairSet pairs = pairs_of({Graph::from_edges(2, edge, {0, 0}), Graph::from_edges(2, edge, {0, 1})});
  EXPECT_TRUE(run(small_settings(pairs, nn::Random::features), pairs)[0].verdict.told_apart);
}

TEST(Runner, GivesTheSameOnAnyNumberOfThreads) {
  const PairSet pairs = three_pairs();
  for (const Scoring scoring : {Scoring::exact, Scoring::released}) {
    Settings settings = small_settings(pairs, nn::Random::colours);
    if (scoring == Scoring::released) {
      settings = {};
      settings.scoring = scoring;
      settings.config = default_config("gcn", nn::Random::colours, scoring);
      settings.config.model.width = 16;
      resolve(settings, pairs, "pairs");
    }
    settings.config.training.epochs = 8;
    EXPECT_EQ(run(settings, pairs, "cpu", 1), run(settings, pairs, "cpu", 3));
  }
}

TEST(Runner, LargeGraphsInAChunkChangeNothingForTheOthers) {
  // Pairs of like size train together; each keeps its place, and so its draws.
  const PairSet alone = pairs_of({wl::cycle(6), wl::two_triangles()});
  const PairSet mixed = pairs_of({wl::cycle(6), wl::two_triangles(), wl::cycle(140), wl::cycle(70), wl::rook(),
                                  wl::shrikhande(), wl::cycle(100), wl::cycle(90)});
  Settings settings = small_settings(alone, nn::Random::colours);
  settings.config.training.epochs = 16;
  settings.config.training.learning_rate = 1e-2;
  std::vector<PairResult> results = run(settings, mixed);
  ASSERT_EQ(results.size(), 4u);
  results[0].verdict.told_apart = results[0].control.told_apart = false;  // the level is that of four pairs
  PairResult one = run(settings, alone)[0];
  one.verdict.told_apart = one.control.told_apart = false;
  EXPECT_EQ(results[0], one);
  EXPECT_TRUE(results[1].verdict.told_apart) << results[1].verdict.p;
  EXPECT_TRUE(results[3].verdict.told_apart) << results[3].verdict.p;
}

TEST(Runner, ReleasedScoringTellsColoursApartButNotPlainConvolutions) {
  const PairSet pairs = pairs_of({wl::cycle(6), wl::two_triangles()});
  for (const nn::Random random : {nn::Random::colours, nn::Random::features}) {
    Settings settings;
    settings.scoring = Scoring::released;
    settings.config = default_config("gcn", random, Scoring::released);
    settings.config.model.width = 16;
    settings.config.model.layers = 2;
    settings.config.training.learning_rate = 1e-2;
    resolve(settings, pairs, "pairs");
    for (const std::string engine : {"cpu", "reference"}) {
      const PairResult result = run(settings, pairs, engine)[0];
      EXPECT_EQ(result.verdict.told_apart, random == nn::Random::colours) << engine;
      EXPECT_FALSE(result.control.told_apart);
    }
  }
}

TEST(Runner, LooksAtTheLossAtFixedEpochs) {
  EXPECT_EQ(milestones(400), (std::vector<std::uint32_t>{25, 50, 100, 200, 400}));
  EXPECT_EQ(milestones(3), (std::vector<std::uint32_t>{1, 3}));
  EXPECT_EQ(milestones(1), (std::vector<std::uint32_t>{1}));
}

TEST(Records, GiveBackWhatWasAddedAndRefuseAnotherRun) {
  const TemporaryFolder folder;
  const PairSet pairs = three_pairs();
  Settings settings = small_settings(pairs, nn::Random::colours);
  const PairResult result{1, 2, 25, {true, 1e-9, 60, 3, 4.5, false}, {false, 0.25, 3, 4, {}, true}};
  {
    Records records(folder / "run", settings, false);
    records.add({result}, pairs);
    records.add({result}, pairs);  // known already
    EXPECT_TRUE(records.has({2, 1}, 1));
    EXPECT_FALSE(records.has({1, 2}, 1));
    EXPECT_FALSE(records.has({2, 1}, 2));
  }
  EXPECT_EQ(Records(folder / "run", settings, true).results(), std::vector<PairResult>{result});
  EXPECT_THAT([&] { Records(folder / "run", settings, false); },
              ThrowsMessage<InputError>(HasSubstr("holds a run already")));
  settings.draws = 65;
  EXPECT_THAT([&] { Records(folder / "run", settings, true); },
              ThrowsMessage<InputError>(HasSubstr("draws: the run has 64, asked for 65")));
  settings.config.data.hash = "0000000000000000";
  settings.config.data.path = "my/pairs.g6";
  EXPECT_THAT([&] { Records(folder / "run", settings, true); },
              ThrowsMessage<InputError>(HasSubstr("(the content of my/pairs.g6 changed)")));
}

TEST(Pairs, BrecFoldersAreRecognised) {
  const TemporaryFolder folder;
  // An array of two graph6 strings: the triangle and the path of three nodes.
  write_npy(folder / "dr.npy", "|S2", "(2,)", "BwBW");
  write_npy(folder / "basic.npy", "<U2", "(1, 2)", std::string("B\0\0\0w\0\0\0B\0\0\0W\0\0\0", 16));
  const PairSet pairs = load_pairs(folder / ".");
  EXPECT_EQ(pairs.names, (std::vector<std::string>{"basic:0", "dr:0"}));
  EXPECT_EQ(pairs.categories, (std::vector<std::string>{"Basic", "distance-regular"}));
  EXPECT_EQ(pairs.groups, (std::vector<std::uint32_t>{0, 1}));
  EXPECT_EQ(pairs.set.graphs[0], wl::cycle(3));
  EXPECT_TRUE(is_brec(folder / "."));
  EXPECT_FALSE(is_brec(folder / "dr.npy"));
  const std::vector<CategoryCount> counts = count_by_category(pairs, {true, false});
  ASSERT_EQ(counts.size(), 2u);
  EXPECT_EQ(counts[0].name, "Basic");
  EXPECT_EQ(counts[0].yes, 1u);
  EXPECT_EQ(counts[1].yes, 0u);
  EXPECT_EQ(counts[1].pairs, 1u);
  EXPECT_EQ(load_pairs(folder / ".", {}, {"dr"}).names, std::vector<std::string>{"dr:0"});
  EXPECT_THAT([&] { (void)load_pairs(folder / ".", {}, {"cfi"}); },
              ThrowsMessage<InputError>(HasSubstr("has no part 'cfi'; there are basic, dr")));
}

}  // namespace
}  // namespace tyche::distinguish
