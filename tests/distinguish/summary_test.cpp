// What is said of a run: counts by seed and category, controls that went off, and where its pairs came from.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "distinguish/call.hpp"
#include "distinguish/records.hpp"
#include "distinguish/samples.hpp"
#include "support/error.hpp"
#include "support/file.hpp"

namespace tyche::distinguish {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

/// Three pairs in two categories, two seeds from 7 on. Seed 7 tells pairs 0 and 2 apart and its control 2 goes off;
/// seed 8 tells pair 1 apart.
struct Told {
  PairSet pairs =
      pairs_of({wl::cycle(6), wl::two_triangles(), wl::rook(), wl::shrikhande(), wl::path(4), reversed(wl::path(4))});
  Settings settings = small_settings(pairs, nn::Random::colours);
  StoredRun summary;

  Told() {
    pairs.categories = {"Basic", "CFI", "CFI"};
    settings.config.seed = 7;
    settings.seeds = 2;
    summary.settings = settings;
    summary.only = {"basic"};
    for (std::uint32_t pair = 0; pair < 3; ++pair) {
      for (const std::uint64_t seed : {7u, 8u}) {
        PairResult result{seed, pair, 5, {}, {}};
        result.verdict.told_apart = seed == 7 ? pair != 1 : pair == 1;
        result.verdict.p = result.verdict.told_apart ? 1e-9 : 0.25;
        result.control.told_apart = seed == 7 && pair == 2;
        result.control.p = result.control.told_apart ? 1e-7 : 0.5;
        summary.results.push_back(result);
      }
      summary.pairs.push_back({.name = pairs.names[pair],
                               .category = pairs.categories[pair],
                               .one = pair == 0,
                               .two = pair == 0,
                               .leaf = pair == 2 ? wl::LeafVerdict::isomorphic : wl::LeafVerdict::different});
    }
  }
};

TEST(Summary, CountsBySeedAndCategoryAndNamesEveryControlThatWentOff) {
  const Told told;
  const nlohmann::ordered_json json = to_json(told.summary);
  EXPECT_EQ(json["told_apart"], (std::vector<int>{2, 1}));
  EXPECT_EQ(json["controls_failed"], (std::vector<int>{1, 0}));
  EXPECT_EQ(json["categories"]["Basic"], (std::vector<int>{1, 0}));
  EXPECT_EQ(json["categories"]["CFI"], (std::vector<int>{1, 1}));
  EXPECT_EQ(json["refinement"]["wl1"], 1);
  EXPECT_EQ(json["refinement"]["leaves"], 2);
  EXPECT_EQ(json["refinement"]["isomorphic"], 1);
  ASSERT_EQ(json["failed_controls"].size(), 1u);
  EXPECT_EQ(json["failed_controls"][0]["pair"], told.pairs.names[2]);
  EXPECT_EQ(json["failed_controls"][0]["seed"], 7);
  EXPECT_EQ(json["failed_controls"][0]["p"], 1e-7);
  EXPECT_EQ(json["failed"].size(), 3u);
  EXPECT_FALSE(all_told_apart(told.summary));
}

TEST(Summary, TheTableHasControlsBesideWhatWasToldApart) {
  const Told told;
  const std::string table = to_table(told.summary);
  // Name, pairs, told apart in each seed, controls in each seed.
  EXPECT_THAT(table, testing::ContainsRegex("all +3 +2 1 +1 0 "));
  EXPECT_THAT(table, testing::ContainsRegex("CFI +2 +1 1 +1 0 "));
  EXPECT_THAT(table, HasSubstr("pair " + told.pairs.names[2] +
                               ", seed 7: its control is told apart, which should not be: p = 1e-07"));
  EXPECT_THAT(table, HasSubstr("pair " + told.pairs.names[2] +
                               ", seed 8: not told apart (the graphs are isomorphic): p = 0.25"));
  EXPECT_THAT(table, HasSubstr("level 0.0017 per pair"));  // 0.01 over three pairs and two seeds
}

TEST(Origin, GivesBackWhatWasWrittenAndRefusesAChangedByte) {
  const TemporaryFolder folder;
  const Told told;
  write_origin(folder.path(), told.summary);
  StoredRun read;
  read_origin(folder.path(), read);
  EXPECT_EQ(read.only, std::vector<std::string>{"basic"});
  ASSERT_EQ(read.pairs.size(), 3u);
  EXPECT_EQ(read.pairs[1].category, "CFI");
  EXPECT_TRUE(read.pairs[0].one);
  EXPECT_EQ(read.pairs[2].leaf, wl::LeafVerdict::isomorphic);
  std::string text = read_file(folder / "pairs.json");
  text.replace(text.find("\"wl1\":true"), 10, "\"wl1\":null");
  write_file(folder / "pairs.json", text);
  EXPECT_THAT([&] { read_origin(folder.path(), read); },
              ThrowsMessage<InputError>(HasSubstr("pairs.json: is damaged")));
}

}  // namespace
}  // namespace tyche::distinguish
