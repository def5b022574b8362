// The page and the tables of a run of distinguish, from a folder that the program made.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "distinguish/samples.hpp"
#include "graph/formats.hpp"
#include "report/page.hpp"
#include "support/error.hpp"
#include "support/run_program.hpp"

namespace tyche::report {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// Three pairs in two seeds: told apart by colours, isomorphic, told apart.
class DistinguishRun : public testing::Test {
 protected:
  void SetUp() override {
    write_pairs({wl::cycle(6), wl::two_triangles(), wl::cycle(7), distinguish::reversed(wl::cycle(7)), wl::cycle(9),
                 disjoint_union(wl::cycle(4), wl::cycle(5))});
    const RunResult made = call({});
    ASSERT_EQ(made.exit_code, 1) << made.out << made.err;  // the isomorphic pair
  }
  void write_pairs(std::vector<Graph> graphs) const {
    GraphSet set;
    set.graphs = std::move(graphs);
    write_graphs(data, set, Format::gin);
  }
  [[nodiscard]] RunResult call(const std::vector<std::string>& more) const {
    std::vector<std::string> args = {"distinguish",   data.string(), "--width",  "16",      "--epochs", "64",
                                     "--lr",          "0.005",       "--random", "colours", "--draws",  "64",
                                     "--train-draws", "8",           "--seeds",  "2",       "--seed",   "5",
                                     "--out",         run.string(),  "--quiet"};
    args.insert(args.end(), more.begin(), more.end());
    return run_program(args);
  }

  TemporaryFolder folder;
  std::filesystem::path data = folder / "my pairs.txt";
  std::filesystem::path run = folder / "run";
};

TEST_F(DistinguishRun, CountsPerSeedAndPutsFailuresFirst) {
  const DistinguishResults results = load_distinguish(run);
  EXPECT_EQ(results.seeds, (std::vector<std::uint64_t>{5, 6}));
  ASSERT_EQ(results.rows.size(), 1u);  // no categories
  EXPECT_EQ(results.all().told, (std::vector<std::size_t>{2, 2}));
  EXPECT_EQ(results.all().controls, (std::vector<std::size_t>{0, 0}));
  EXPECT_EQ(results.all().one, 0u);
  EXPECT_EQ(results.all().two, 2u);
  EXPECT_EQ(results.failures_first(), (std::vector<std::size_t>{1, 0, 2}));
  EXPECT_FALSE(results.brec);
  EXPECT_EQ(results.done(), 6u);
  EXPECT_GT(results.run.seconds, 0);
}

TEST_F(DistinguishRun, ThePageHoldsResultsAndGraphsThatCanBeReadBack) {
  const auto page = page_data(load_distinguish(run), {.pairs = {}, .command = "c"});
  EXPECT_EQ(page["shows"], "distinguish");
  const auto& shown = page["run"];
  EXPECT_FALSE(shown.contains("missing"));
  ASSERT_EQ(shown["pairs"].size(), 3u);
  const auto& failed = shown["pairs"][0];
  EXPECT_EQ(failed["name"], "1");
  EXPECT_EQ(failed["leaves"], "isomorphic");
  ASSERT_EQ(failed["results"].size(), 2u);
  EXPECT_EQ(failed["results"][0][0], 0);
  EXPECT_GT(failed["results"][0][1], 0.001);
  EXPECT_EQ(shown["pairs"][1]["results"][1][0], 1);
  EXPECT_EQ(shown["pairs"][1]["wl2"], true);
  const GraphSet back = parse_graph6(shown["pairs"][1]["graphs"][1]["code"].get<std::string>() + "\n", "code");
  ASSERT_EQ(back.graphs.size(), 1u);
  EXPECT_EQ(back.graphs[0], wl::two_triangles());
  EXPECT_TRUE(shown["published"].empty());
}

TEST_F(DistinguishRun, OnlySoManyPairsHaveGraphsWhereSoManyAreAskedFor) {
  const auto page = page_data(load_distinguish(run), {.pairs = 1, .command = "c"});
  EXPECT_TRUE(page["run"]["pairs"][0].contains("graphs"));
  EXPECT_FALSE(page["run"]["pairs"][1].contains("graphs"));
}

TEST_F(DistinguishRun, TheCommandMakesTheSameRunAgain) {
  const std::string command = distinguish::command(load_distinguish(run).run);
  EXPECT_THAT(command, AllOf(HasSubstr("my pairs.txt' "), HasSubstr(" --random colours"), HasSubstr(" --width 16"),
                             HasSubstr(" --epochs 64"), HasSubstr(" --lr 0.005"), HasSubstr(" --seeds 2"),
                             HasSubstr(" --seed 5"), HasSubstr(" --draws 64"), HasSubstr(" --train-draws 8"),
                             Not(HasSubstr("--layers")), Not(HasSubstr("--dropout")), Not(HasSubstr("--batch"))));
}

TEST_F(DistinguishRun, DataThatIsGoneOrHasChangedIsSaidSoAndTheRestStands) {
  write_pairs({wl::cycle(6), wl::cycle(6), wl::cycle(7), wl::cycle(7), wl::cycle(9), wl::cycle(9)});
  auto page = page_data(load_distinguish(run), {.pairs = {}, .command = "c"});
  EXPECT_THAT(page["run"]["missing"].get<std::string>(), HasSubstr("has changed since the run was made"));
  std::filesystem::remove(data);
  page = page_data(load_distinguish(run), {.pairs = {}, .command = "c"});
  EXPECT_THAT(page["run"]["missing"].get<std::string>(), HasSubstr("my pairs.txt"));
  EXPECT_EQ(page["run"]["pairs"].size(), 3u);
  EXPECT_FALSE(page["run"]["pairs"][0].contains("graphs"));
  EXPECT_EQ(page["run"]["rows"].back()["told"], nlohmann::ordered_json({2, 2}));
}

TEST_F(DistinguishRun, ARunUnderWaySaysHowFarItIs) {
  const std::string text = read_file(run / "results.jsonl");
  write_file(run / "results.jsonl", text.substr(0, text.find('\n', text.find('\n') + 1) + 10));  // two, and a torn one
  const DistinguishResults results = load_distinguish(run);
  EXPECT_EQ(results.done(), 2u);
  EXPECT_THAT(to_markdown(results), HasSubstr("Under way: 2 of 6 results are there."));
  const auto page = page_data(results, {.pairs = 0, .command = "c"});
  EXPECT_EQ(page["run"]["done"], 2);
  EXPECT_TRUE(page["run"]["pairs"][0]["results"][1].is_null());
}

TEST_F(DistinguishRun, AFolderOfEarlierVersionsIsMendedByResuming) {
  std::filesystem::remove(run / "pairs.json");
  EXPECT_THROW((void)load_distinguish(run), InputError);
  const RunResult refused = run_program({"report", run.string(), "--format", "md"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("--resume"));
  EXPECT_EQ(call({"--resume"}).exit_code, 1);
  EXPECT_EQ(load_distinguish(run).all().told, (std::vector<std::size_t>{2, 2}));
}

TEST_F(DistinguishRun, TheTablesComeInThreeFormats) {
  const auto text = [&](const char* format) { return run_program({"report", run.string(), "--format", format}).out; };
  EXPECT_THAT(text("md"), AllOf(HasSubstr("| all | 3 | 2 in every seed | 0 in every seed | 0 | 2 | 2 |"),
                                HasSubstr("- 1, seed 5: not told apart"), HasSubstr("(the graphs are isomorphic)")));
  EXPECT_THAT(text("csv"), AllOf(HasSubstr("\n0,,5,yes,"), HasSubstr("\n1,,6,no,"), HasSubstr(",no,yes,different\n")));
  EXPECT_THAT(text("tex"), HasSubstr("all & 3 & 2 in every seed & 0 in every seed & 0 & 2 \\\\"));
}

}  // namespace

TEST(OverSeeds, SaysTheRangeAndTheMean) {
  EXPECT_EQ(over_seeds({7}), "7");
  EXPECT_EQ(over_seeds({7, 7}), "7 in every seed");
  EXPECT_EQ(over_seeds({6, 8, 8}), "6–8 (mean 7.3)");
}

/// A folder as a run on BREC leaves it, without the training.
struct BrecFolder : testing::Test {
  TemporaryFolder folder;
  void write(bool whole) {
    distinguish::StoredRun run;
    distinguish::Settings& settings = run.settings;
    settings.config = distinguish::default_config("gcn", nn::Random::colours);
    settings.config.model.classes = 2;
    settings.config.model.input_features = 1;
    write_file(folder / "distinguish.json", distinguish::identity(settings).dump());
    settings.config.data.path = "/nowhere/brec";
    std::string lines;
    for (const distinguish::BrecFile& file : distinguish::brec_files()) {
      for (std::uint32_t i = 0; i + (whole ? 0 : 1) < file.pairs; ++i) {
        nlohmann::ordered_json line = {{"seed", 1}, {"pair", run.pairs.size()}, {"epochs", 25}};
        line["verdict"] =
            line["control"] = {{"told_apart", false}, {"p", 0.5}, {"first", {1, 1}}, {"hotelling", nullptr}};
        line["verdict"]["told_apart"] = file.stem != std::string_view("cfi");
        lines += line.dump() + "\n";
        run.pairs.push_back({file.stem + std::string(":") + std::to_string(i), file.category, {}});
      }
    }
    distinguish::write_origin(folder.path(), run);
    write_file(folder / "results.jsonl", lines);
  }
};

TEST_F(BrecFolder, PublishedTotalsStandBesideAllOfBrecAndNothingElse) {
  write(true);
  const DistinguishResults results = load_distinguish(folder.path());
  EXPECT_TRUE(results.brec);
  EXPECT_EQ(results.all().told, (std::vector<std::size_t>{300}));
  ASSERT_EQ(results.rows.size(), 8u);
  EXPECT_EQ(results.rows[6].name, "Regular, as published");
  EXPECT_EQ(results.rows[6].pairs, 140u);
  ASSERT_EQ(results.published.size(), 9u);
  EXPECT_EQ(results.published[0]["model"], "I²-GNN");
  EXPECT_EQ(results.published[0]["total"], 281u);
  EXPECT_EQ(results.published.back()["total"], 148u);
  EXPECT_EQ(results.published.back()["random"], true);
  EXPECT_THAT(to_markdown(results), AllOf(HasSubstr("| this run | 300 |"), HasSubstr("| PPGN | 233 |"),
                                          HasSubstr("counted by BREC's released test")));
  write(false);
  EXPECT_FALSE(load_distinguish(folder.path()).brec);
  EXPECT_THAT(to_markdown(load_distinguish(folder.path())), Not(HasSubstr("PPGN")));
}

}  // namespace tyche::report
