// generate, certify and wl, as a user runs them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/file.hpp"
#include "support/run_program.hpp"

namespace tyche {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;

TEST(Program, SaysWhatItCanDoAndRefusesWhatItCannot) {
  EXPECT_EQ(run_program({"--help"}).exit_code, 0);
  EXPECT_EQ(run_program({"--version"}).exit_code, 0);
  for (const char* command : {"generate", "certify", "wl"}) {
    const RunResult help = run_program({command, "--help"});
    EXPECT_EQ(help.exit_code, 0);
    EXPECT_THAT(help.out, HasSubstr("Example")) << command;
  }
  const RunResult unknown = run_program({"genrate"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("unknown command 'genrate'"));
  EXPECT_EQ(run_program({}).exit_code, 2);
  EXPECT_EQ(run_program({"wl", "--frobnicate"}).exit_code, 2);
}

TEST(GenerateCommand, WritesCertifiedDataInEveryFormatAskedFor) {
  const TemporaryFolder folder;
  const std::string out = (folder / "d").string();
  const RunResult made = run_program(
      {"generate", "cexp", "--pairs", "6", "--seed", "5", "--out", out, "--format", "tu,graph6,dimacs", "--json"});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const json answer = json::parse(made.out);
  EXPECT_EQ(answer["pairs"], 6);
  EXPECT_EQ(answer["certificate"]["corrupt_pairs"], 3);
  const json manifest = json::parse(read_file(folder / "d/manifest.json"));
  EXPECT_EQ(manifest["seed"], 5);
  EXPECT_EQ(manifest["graphs"].size(), 12u);
  EXPECT_EQ(manifest["graphs"][2]["pair"], 1);
  for (const std::string& path : {out, out + "/graphs.txt", out + "/tu"}) {
    const RunResult certified = run_program({"certify", path, "--json"});
    EXPECT_EQ(certified.exit_code, 0) << path << ": " << certified.err;
    const json c = json::parse(certified.out);
    EXPECT_EQ(c["pairs"], 6);
    EXPECT_EQ(c["labels_ok"], 6);
    EXPECT_EQ(c["planar_pairs"], 3);
    EXPECT_EQ(c["wl1_equal"], 3);
    EXPECT_EQ(c["wl2_distinct"], 6);
    EXPECT_EQ(c["non_isomorphic"], 6);
    EXPECT_EQ(c["corrupt_pairs"], 3);
    EXPECT_EQ(c["corrupt_minimal"], 3);
    EXPECT_EQ(c["width_violations"], 0);
    EXPECT_EQ(c["failures"], json::array());
  }
  // The formulas by themselves say the same as the graphs.
  const RunResult same = run_program({"wl", out + "/dimacs", out + "/graphs.txt", "--index", "3,3"});
  EXPECT_EQ(same.exit_code, 1) << same.err;
  const RunResult again = run_program({"generate", "cexp", "--out", out});
  EXPECT_EQ(again.exit_code, 2);
  EXPECT_THAT(again.err, HasSubstr("--force"));
}

TEST(GenerateCommand, RefusesCallsThatMakeNoSense) {
  const TemporaryFolder folder;
  const std::string out = (folder / "d").string();
  const std::vector<std::vector<std::string>> calls = {
      {"generate", "expo", "--out", out},
      {"generate", "exp"},
      {"generate", "exp", "--out", out, "--pairs", "0"},
      {"generate", "exp", "--out", out, "--pairs", "many"},
      {"generate", "exp", "--out", out, "--core-min", "5", "--core-max", "4"},
      {"generate", "exp", "--out", out, "--planar-nodes", "12"},
      {"generate", "exp", "--out", out, "--format", "npy"},
      {"generate", "exp", "--out", out, "--planar-source", out + "/none.pc"},
  };
  for (const auto& call : calls) {
    const RunResult r = run_program(call);
    EXPECT_EQ(r.exit_code, 2) << call.back();
    EXPECT_THAT(r.err, StartsWith("tyche: ")) << call.back();
    EXPECT_EQ(std::count(r.err.begin(), r.err.end(), '\n'), 1) << r.err;
  }
  EXPECT_FALSE(std::filesystem::exists(folder / "d/graphs.txt"));
}

TEST(GenerateCommand, MakesALadderThatCertifiesAndTrains) {
  const TemporaryFolder folder;
  const std::string out = (folder / "d").string();
  const RunResult made = run_program({"generate", "tseitin", "--base-nodes", "6,8", "--pairs", "12", "--unseen", "3",
                                      "--out", out, "--format", "dimacs", "--json"});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_EQ(json::parse(made.out)["certificate"]["tseitin"]["wl2_equal"], 12);
  const json manifest = json::parse(read_file(folder / "d/manifest.json"));
  EXPECT_EQ(manifest["parameters"], json::parse(R"({"base_nodes": "6,8", "planar_nodes": "none", "unseen": 3})"));
  EXPECT_EQ(manifest["graphs"][1]["subset"], "TSEITIN");
  EXPECT_EQ(manifest["graphs"][0]["class"], manifest["graphs"][1]["class"]);
  for (const std::string& path : {out, out + "/graphs.txt"}) {
    const RunResult certified = run_program({"certify", path});
    EXPECT_EQ(certified.exit_code, 0) << certified.err;
    EXPECT_THAT(certified.out, HasSubstr("12 pairs of Tseitin formulas"));
    EXPECT_THAT(certified.out, HasSubstr("all pairs pass"));
  }
  const json c = json::parse(run_program({"certify", out, "--json", "--higher", "1"}).out);
  EXPECT_EQ(c["tseitin"]["wl3_tried"], 1);
  EXPECT_EQ(c["failures"], json::array());
  const RunResult trained =
      run_program({"train", "--recipe", "paper", "--data", out, "--out", (folder / "run").string(), "--folds", "3",
                   "--epochs", "1", "--width", "8", "--layers", "2", "--quiet"});
  EXPECT_EQ(trained.exit_code, 0) << trained.err;
}

TEST(GenerateCommand, MakesCircularSkipLinksThatCertifyAndTrain) {
  const TemporaryFolder folder;
  const std::string out = (folder / "d").string();
  const RunResult made = run_program({"generate", "csl", "--out", out, "--json"});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const json answer = json::parse(made.out);
  EXPECT_EQ(answer["graphs"], 150);
  EXPECT_EQ(answer["nodes"], 150 * 41);
  EXPECT_EQ(answer["certificate"]["classes"].size(), 10u);
  const RunResult certified = run_program({"certify", out});
  EXPECT_EQ(certified.exit_code, 0) << certified.err;
  EXPECT_THAT(certified.out, HasSubstr("all graphs pass"));
  const RunResult trained =
      run_program({"train", "--recipe", "paper", "--data", out, "--out", (folder / "run").string(), "--folds", "5",
                   "--epochs", "1", "--width", "8", "--layers", "2", "--quiet"});
  EXPECT_EQ(trained.exit_code, 0) << trained.err;
  // A graph given another class's label.
  std::string graphs = read_file(folder / "d/graphs.txt");
  const std::size_t second = graphs.find("\n41 1\n");
  ASSERT_NE(second, std::string::npos);
  graphs[second + 4] = '2';
  write_file(folder / "bad.txt", graphs);
  const RunResult bad = run_program({"certify", (folder / "bad.txt").string(), "--json"});
  EXPECT_EQ(bad.exit_code, 1);
  EXPECT_EQ(json::parse(bad.out)["failures"][0]["property"], "copy");
}

TEST(GenerateCommand, RefusesLaddersThatCannotBe) {
  const TemporaryFolder folder;
  const std::string out = (folder / "d").string();
  const std::vector<std::pair<std::vector<std::string>, std::string>> calls = {
      {{"tseitin", "--base-nodes", "5"}, "even number"},
      {{"tseitin", "--base-nodes", "2"}, "out of range"},
      {{"tseitin", "--base-nodes", "10:4"}, "the range is empty"},
      {{"tseitin", "--base-nodes", "many"}, "expected even numbers"},
      {{"tseitin", "--base-nodes", "4", "--unseen", "2"}, "1 class up to isomorphism"},
      {{"tseitin", "--pairs", "5", "--unseen", "10"}, "5 pairs"},
      {{"tseitin", "--core-min", "2"}, "tseitin has no parameter 'core_min'"},
      {{"tseitin", "--planar-nodes", "3:1"}, "out of range"},
      {{"exp", "--base-nodes", "12"}, "exp has no parameter 'base_nodes'"},
      {{"exp", "--planar-nodes", "none"}, "planar sizes 'none'"},
      {{"csl", "--pairs", "3"}, "csl has no parameter 'pairs'"},
      {{"csl", "--format", "dimacs"}, "formulas"},
  };
  for (const auto& [arguments, expected] : calls) {
    std::vector<std::string> call = {"generate"};
    call.insert(call.end(), arguments.begin(), arguments.end());
    call.insert(call.end(), {"--out", out});
    const RunResult r = run_program(call);
    EXPECT_EQ(r.exit_code, 2) << expected;
    EXPECT_THAT(r.err, HasSubstr(expected));
    EXPECT_EQ(std::count(r.err.begin(), r.err.end(), '\n'), 1) << r.err;
  }
  EXPECT_FALSE(std::filesystem::exists(folder / "d"));
}

TEST(GenerateCommand, TakesPlanarGraphsFromAFile) {
  const TemporaryFolder folder;
  // plantri's code of the four-cycle and of K_{2,4}: node count, then each node's neighbours clockwise, 0 at the end.
  const std::string code =
      std::string(">>planar_code<<") + std::string("\x04\x02\x04\x00\x03\x01\x00\x04\x02\x00\x01\x03\x00", 13);
  write_file(folder / "c4.pc", code);
  const std::string out = (folder / "d").string();
  const RunResult made = run_program(
      {"generate", "exp", "--pairs", "3", "--planar-source", (folder / "c4.pc").string(), "--out", out, "--json"});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_EQ(json::parse(read_file(folder / "d/manifest.json"))["parameters"]["planar_source"], "c4.pc");
  write_file(folder / "triangle.g6", "Bw\n");
  const RunResult odd = run_program(
      {"generate", "exp", "--planar-source", (folder / "triangle.g6").string(), "--out", (folder / "e").string()});
  EXPECT_EQ(odd.exit_code, 2);
  EXPECT_THAT(odd.err, HasSubstr("graph 0: expected a connected bipartite planar graph"));
}

TEST(CertifyCommand, AnswersNoWithThePairAndTheProperty) {
  const TemporaryFolder folder;
  // Two isomorphic satisfiable formula graphs of one variable, one of them labelled 0.
  write_file(folder / "bad.txt", "2\n2 1\n1 1 1\n1 1 0\n2 0\n1 1 1\n1 1 0\n");
  const RunResult r = run_program({"certify", (folder / "bad.txt").string(), "--json"});
  EXPECT_EQ(r.exit_code, 1);
  const json c = json::parse(r.out);
  ASSERT_FALSE(c["failures"].empty());
  EXPECT_EQ(c["failures"][0]["pair"], 0);
  EXPECT_EQ(c["failures"][0]["property"], "label");
  const RunResult text = run_program({"certify", (folder / "bad.txt").string()});
  EXPECT_THAT(text.out, HasSubstr("pair 0 fails isomorphic"));
}

TEST(WlAnswers, TellsTwoTrianglesFromAHexagonInDimensionTwo) {
  const TemporaryFolder folder;
  write_file(folder / "triangles.g6", "EwCW\n");
  write_file(folder / "hexagon.g6", "EhEG\n");
  const std::string a = (folder / "triangles.g6").string();
  const std::string b = (folder / "hexagon.g6").string();
  const RunResult one = run_program({"wl", a, b, "--dim", "1", "--json"});
  EXPECT_EQ(one.exit_code, 1);
  EXPECT_EQ(json::parse(one.out),
            json::parse(R"([{"pair": 0, "distinguished": false, "round": null, "stable_after": 0, "classes": 1}])"));
  const RunResult two = run_program({"wl", a, b, "--dim", "2", "--json"});
  EXPECT_EQ(two.exit_code, 0);
  EXPECT_EQ(json::parse(two.out)[0]["distinguished"], true);
  EXPECT_EQ(json::parse(two.out)[0]["round"], 1);
  EXPECT_EQ(run_program({"wl", a, b, "--dim", "4"}).exit_code, 2);
  EXPECT_EQ(run_program({"wl", a, b, "--index", "0,1"}).exit_code, 2);
  EXPECT_EQ(run_program({"wl", a, b, "--pairs"}).exit_code, 2);
}

TEST(WlAnswers, AnswersForEveryPairOfAFileAndGroupsAllItsGraphs) {
  const TemporaryFolder folder;
  write_file(folder / "four.g6", "EwCW\nEhEG\nBw\nBw\n");
  const std::string file = (folder / "four.g6").string();
  const RunResult pairs = run_program({"wl", file, "--pairs", "--dim", "2", "--json"});
  EXPECT_EQ(pairs.exit_code, 1);
  const json list = json::parse(pairs.out);
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[0]["distinguished"], true);
  EXPECT_EQ(list[1]["distinguished"], false);
  EXPECT_EQ(list[1]["pair"], 1);
  const RunResult groups = run_program({"wl", file, "--dim", "1", "--json"});
  EXPECT_EQ(json::parse(groups.out)["groups"], 2);
  EXPECT_THAT(run_program({"wl", file, "--dim", "2"}).out, StartsWith("4 graphs fall into 3 groups under 2-WL"));
}

TEST(WlAnswers, SaysWhatThreeDimensionsWouldNeed) {
  const TemporaryFolder folder;
  std::string path = "1\n20000 0\n";
  for (int v = 0; v < 20000; ++v) path += "0 0\n";
  write_file(folder / "large.txt", "2\n" + path.substr(2) + path.substr(2));
  const RunResult r = run_program({"wl", (folder / "large.txt").string(), "--pairs", "--dim", "3"});
  EXPECT_EQ(r.exit_code, 2);
  EXPECT_THAT(r.err, HasSubstr("20000 nodes"));
}

TEST(Program, ReportsBadFilesInOneLineWithTheirPlace) {
  const TemporaryFolder folder;
  const std::string file = (folder / "g.txt").string();
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "empty"},
      {"1\n1000000000000000000 0\n", "line 2"},
      {"1\n2 0\n0 1 1\n0 0\n", "line "},
      {"1\n2 0\n0 1 5\n0 1 0\n", "line 3"},
      {"1\n2 0\n0 1 x\n0 1 0\n", "line 3"},
      {std::string("\x1f\x8b\x08\x00", 4), "gzip"},
  };
  for (const auto& [bytes, expected] : cases) {
    write_file(file, bytes);
    const RunResult r = run_program({"wl", file});
    EXPECT_EQ(r.exit_code, 2) << expected;
    EXPECT_THAT(r.err, HasSubstr("g.txt")) << r.err;
    EXPECT_THAT(r.err, HasSubstr(expected)) << r.err;
    EXPECT_EQ(std::count(r.err.begin(), r.err.end(), '\n'), 1) << r.err;
  }
}

}  // namespace
}  // namespace tyche
