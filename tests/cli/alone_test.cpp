// The program as one file: copied into an empty folder, it has all it needs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "support/file.hpp"
#include "support/run_program.hpp"

namespace tyche {
namespace {

using testing::HasSubstr;

class ProgramAlone : public testing::Test {
 protected:
  ProgramAlone() { std::filesystem::copy_file(TYCHE_PROGRAM, program()); }
  std::string program() const { return path("tyche"); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  RunResult run(const std::vector<std::string>& args) const { return run_other_program(program(), args); }

  TemporaryFolder folder_;
};

TEST_F(ProgramAlone, RunsAnExperimentOfOnesOwnAndReportsIt) {
  write_file(folder_ / "mine.toml",
             "title = \"Mine\"\npaper_data = \"EXP\"\nshow = [\"table\"]\n[data]\ngenerate = \"exp\"\npairs = 10\n"
             "[[models]]\nname = \"GCN\"\npaper = \"GCN\"\nmodel.layers = 2\nmodel.width = 8\ntraining.epochs = 2\n"
             "folds.count = 2\n");
  const RunResult made = run({"reproduce", path("mine.toml"), "--out", path("out"), "--quiet"});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const RunResult table = run({"report", path("out"), "--format", "md"});
  ASSERT_EQ(table.exit_code, 0) << table.err;
  EXPECT_THAT(table.out, HasSubstr("Mine"));
  EXPECT_THAT(table.out, HasSubstr("50.0")) << "the paper's number for GCN on EXP";
  const bool page = nlohmann::json::parse(run({"--version", "--json"}).out)["page"];
  if (!page) GTEST_SKIP() << "this build has no page: Node is missing";
  const RunResult html = run({"report", path("out"), "--out", path("report.html")});
  ASSERT_EQ(html.exit_code, 0) << html.err;
  EXPECT_THAT(read_file(path("report.html")), HasSubstr("\"Mine\""));
}

TEST_F(ProgramAlone, ShowsThePapersExperimentsAndCanRunWhatItShowed) {
  const RunResult shown = run({"reproduce", "--show", "table1"});
  ASSERT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_EQ(shown.out, read_file(std::filesystem::path(TYCHE_TEST_DATA) / "../../experiments/table1.toml"));
  EXPECT_THAT(run({"reproduce", "--show"}).err, HasSubstr("name one"));
  EXPECT_THAT(run({"reproduce", "--show", "tabel1"}).err, HasSubstr("did you mean 'table1'?"));
}

TEST_F(ProgramAlone, TakesItsFilesFromAFolderThatIsNamed) {
  std::filesystem::create_directories(folder_ / "share/experiments");
  write_file(folder_ / "share/experiments/other.toml", "# mine\n");
  ::setenv("TYCHE_SHARE", path("share").c_str(), 1);
  const RunResult other = run({"reproduce", "--show", "other"}), gone = run({"reproduce", "--show", "table1"});
  ::setenv("TYCHE_SHARE", path("nowhere").c_str(), 1);
  const RunResult nowhere = run({"reproduce", "--show", "table1"});
  ::unsetenv("TYCHE_SHARE");
  EXPECT_EQ(other.out, "# mine\n");
  EXPECT_EQ(gone.exit_code, 2);
  EXPECT_EQ(nowhere.exit_code, 2);
  EXPECT_THAT(nowhere.err, HasSubstr("TYCHE_SHARE is '" + path("nowhere") + "', which is no folder"));
}

TEST(Version, SaysWhatWasBuiltAndWhatIsUsedHere) {
  const RunResult text = run_program({"--version"});
  ASSERT_EQ(text.exit_code, 0);
  const RunResult in_json = run_program({"--version", "--json"});
  ASSERT_EQ(in_json.exit_code, 0);
  EXPECT_EQ(in_json.out, run_program({"--json", "--version"}).out);
  const auto json = nlohmann::json::parse(in_json.out);
  const std::string version = json["version"];
  EXPECT_EQ(text.out.substr(0, text.out.find('\n')), "tyche " + version);
  const auto built = json["kernels_built"].get<std::vector<std::string>>();
  EXPECT_THAT(built, testing::Contains(json["kernels"].get<std::string>()));
  EXPECT_THAT(json["commit"].get<std::string>(), testing::MatchesRegex("unknown|[0-9a-f]+"));
  EXPECT_THAT(json["engines"].get<std::vector<std::string>>(), testing::IsSupersetOf({"auto", "cpu", "reference"}));
  for (const char* line : {"commit", "engine", "kernels", "gpu", "mpi", "compiler"}) {
    EXPECT_THAT(text.out, HasSubstr(std::string("\n") + line + "  ")) << line;
  }
  EXPECT_THAT(run_program({"--json"}).err, HasSubstr("--json requires --version"));
}

}  // namespace
}  // namespace tyche
