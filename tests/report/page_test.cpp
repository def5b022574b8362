#include "report/page.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "experiments/fixture.hpp"
#include "report/viewer.hpp"
#include "support/damage.hpp"
#include "support/error.hpp"
#include "support/run_program.hpp"
#include "support/temporary_folder.hpp"

namespace tyche::report {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kTemplate = "<script id=\"d\" type=\"application/json\">\"tyche-data-goes-here\"</script>";

/// The text of the script element, as a browser cuts it out: up to the first "</script", in any case of letters.
std::string cut_out(const std::string& page) {
  const std::size_t begin = page.find('>') + 1;
  std::string lower = page;
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return std::tolower(c); });
  return page.substr(begin, lower.find("</script", begin) - begin);
}

}  // namespace

TEST(FillPage, NamesCannotLeaveTheirElement) {
  const nlohmann::ordered_json data = {{"title", "</script><script>alert(1)</script><!-- &amp;"}};
  const std::string page = fill_page(kTemplate, data);
  EXPECT_THAT(page, Not(HasSubstr("alert(1)</script>")));
  EXPECT_EQ(nlohmann::json::parse(cut_out(page)), nlohmann::json(data));
}

RC_GTEST_PROP(FillPage, AnyTextComesBackFromThePage, (const std::string& bytes)) {
  // Any bytes may be in a file's name; those that are no UTF-8 are replaced, the others come back.
  const nlohmann::ordered_json data = {{"name", bytes}};
  const std::string page = fill_page(kTemplate, data);
  const auto back = nlohmann::json::parse(cut_out(page));
  const std::string replaced = data.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  RC_ASSERT(back == nlohmann::json::parse(replaced));
}

TEST(FillPage, ATemplateWithoutAPlaceForTheDataIsAnError) { EXPECT_THROW((void)fill_page("<html>", {}), InputError); }

struct ResultsFolder : testing::Test {
  TemporaryFolder folder;
  std::string out = (folder / "out").string();

  void SetUp() override {
    write_file(folder / "small.toml", experiments::small_experiment());
    const RunResult made = run_program({"reproduce", (folder / "small.toml").string(), "--out", out, "--quiet"});
    ASSERT_EQ(made.exit_code, 0) << made.err;
  }
};

TEST_F(ResultsFolder, RowsHoldMeansOverFoldsAndCurves) {
  const Results results = load_results(out);
  ASSERT_EQ(results.experiments.size(), 1u);
  const Experiment& e = results.experiments[0];
  ASSERT_EQ(e.rows.size(), 4u);
  for (const ResultRow& row : e.rows) {
    EXPECT_TRUE(row.complete());
    EXPECT_EQ(row.fold_accuracy.size(), 2u);
    EXPECT_NEAR(row.accuracy.at("all").mean, (row.fold_accuracy[0] + row.fold_accuracy[1]) / 2, 1e-9);
    EXPECT_EQ(row.curves.at("all").epoch, (std::vector<double>{1, 2, 3}));
    EXPECT_TRUE(row.curves.contains("CORRUPT"));
    EXPECT_NEAR(row.curves.at("all").mean.back(), row.accuracy.at("all").mean, 1e-9);
    EXPECT_GT(row.parameters, 0u);
  }
  EXPECT_EQ(e.rows[1].paper.at("all").mean, 99.92);
  EXPECT_EQ(results.log.size(), 1u);
}

TEST_F(ResultsFolder, ATornLastLineAndAMissingFoldAreReadAsFarAsTheyGo) {
  const auto record = nlohmann::json::parse(read_file(out + "/experiments/small.json"));
  const auto trial = [&](std::size_t row, std::size_t fold) {
    return std::filesystem::path(out) / "trials" / record["rows"][row]["trials"][fold].get<std::string>() /
           ("fold-" + std::to_string(fold)) / "metrics.jsonl";
  };
  const std::string text = read_file(trial(0, 0));
  write_file(trial(0, 0), text.substr(0, text.size() - 5));
  std::filesystem::remove(trial(3, 1));
  const Results results = load_results(out);
  const ResultRow& torn = results.experiments[0].rows[0];
  EXPECT_EQ(torn.folds_done, 1u);
  EXPECT_EQ(torn.epochs_done, 2u);
  EXPECT_EQ(torn.curves.at("all").epoch.size(), 2u);
  const ResultRow& missing = results.experiments[0].rows[3];
  EXPECT_EQ(missing.folds_done, 1u);
  EXPECT_EQ(missing.epochs_done, 0u);
  EXPECT_FALSE(missing.curves.contains("all"));
}

TEST_F(ResultsFolder, AByteThatChangedIsRefusedByTheNameOfItsFile) {
  const std::string record = read_file(out + "/experiments/small.json");
  const std::string key = nlohmann::json::parse(record)["rows"][0]["trials"][0];
  damage(std::filesystem::path(out) / "trials" / key / "summary.json", "\"parameters\": ", "\"parameters\": 1");
  EXPECT_THAT([&] { (void)load_results(out); },
              testing::ThrowsMessage<InputError>(HasSubstr("summary.json: is damaged")));
  damage(std::filesystem::path(out) / "experiments/small.json", "\"profile\"", "\"qrofile\"");
  EXPECT_THAT([&] { (void)load_results(out); },
              testing::ThrowsMessage<InputError>(HasSubstr("small.json: is damaged")));
}

TEST_F(ResultsFolder, ThePairsHoldBothDrawingsAndTheRoundsOfColourRefinement) {
  const Results results = load_results(out);
  const nlohmann::ordered_json view = view_data(results.experiments[0].data, 4, 1);
  ASSERT_EQ(view["pairs"].size(), 4u);
  for (const auto& pair : view["pairs"]) {
    const bool corrupt = pair["subset"] == "CORRUPT";
    EXPECT_EQ(pair["wl1"]["distinguished"], corrupt);
    EXPECT_EQ(pair["wl2"]["distinguished"], true);
    const std::size_t nodes = pair["graphs"][0]["x"].size();
    EXPECT_EQ(pair["wl1"]["rounds"][0].size(), nodes + pair["graphs"][1]["x"].size());
    // The core: 2n variables are 4n literals, and 4n disjunctions.
    std::size_t core = 0;
    for (const int bit : pair["graphs"][1]["core"]) core += bit == 1 ? 1 : 0;
    EXPECT_EQ(core, 8 * pair["core"].get<std::size_t>());
    if (corrupt) {
      EXPECT_FALSE(pair["graphs"][0]["added"].empty());
      EXPECT_EQ(pair["graphs"][0]["borrowed"], true);
      EXPECT_EQ(pair["graphs"][0]["x"], pair["graphs"][1]["x"]);
      EXPECT_TRUE(pair["graphs"][1]["added"].empty());
    } else {
      EXPECT_EQ(pair["graphs"][0]["planar"], true);
    }
  }
}

TEST_F(ResultsFolder, TheTablesComeInThreeFormats) {
  for (const auto& [format, expected] :
       {std::pair{"md", "| GCN |"}, {"csv", "small,GCN,all,"}, {"tex", "\\begin{tabular}"}}) {
    const RunResult result = run_program({"report", out, "--format", format});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.out, HasSubstr(expected));
  }
}

TEST_F(ResultsFolder, DataThatIsGoneIsSaidSo) {
  std::filesystem::remove_all(out + "/data");
  const nlohmann::ordered_json page = page_data(load_results(out), {.pairs = 2, .threads = 1, .command = "c"});
  EXPECT_THAT(page["data"][0]["missing"].get<std::string>(), HasSubstr("cannot open"));
}

TEST(Report, WhatIsNoResultsFolderIsAnError) {
  const TemporaryFolder folder;
  const RunResult result = run_program({"report", folder.path().string(), "--format", "md"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("tyche reproduce"));
}

TEST(Report, WithoutThePageTheErrorSaysWhatToInstall) {
  const TemporaryFolder share, out;
  std::filesystem::create_directories(out / "experiments");
  ::setenv("TYCHE_SHARE", share.path().c_str(), 1);
  try {
    (void)page_template();
    ADD_FAILURE();
  } catch (const IoError& error) {
    EXPECT_THAT(error.what(), HasSubstr("nodejs npm"));
  }
  ::unsetenv("TYCHE_SHARE");
}

}  // namespace tyche::report
