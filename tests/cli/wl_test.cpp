// tyche wl as a user calls it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "graph/io.hpp"
#include "support/npy_file.hpp"
#include "support/run_program.hpp"
#include "wl/sample_graphs.hpp"

namespace tyche {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

class WlCommand : public testing::Test {
 protected:
  /// Writes graphs under a name and returns its path.
  std::string file(const std::string& name, std::vector<Graph> graphs, Format format = Format::gin) const {
    GraphSet set;
    set.labels.assign(graphs.size(), 0);
    set.graphs = std::move(graphs);
    write_graphs(folder_ / name, set, format);
    return (folder_ / name).string();
  }
  static RunResult wl(std::vector<std::string> args) {
    args.insert(args.begin(), "wl");
    return run_program(args);
  }

  TemporaryFolder folder_;
  const Graph hexagon_ = wl::cycle(6);
  const Graph triangles_ = disjoint_union(wl::cycle(3), wl::cycle(3));
};

TEST_F(WlCommand, AnswersForTwoFilesInASentenceAndAnExitCode) {
  const std::string a = file("a.g6", {hexagon_}, Format::graph6);
  const std::string b = file("b.txt", {triangles_});
  const RunResult one = wl({a, b});
  EXPECT_EQ(one.exit_code, 1) << one.err;
  EXPECT_EQ(one.out, "graph 0 of " + a + " and graph 0 of " + b +
                         ": not told apart by 1-WL; stable after 0 rounds, with 1 class of nodes\n");
  const RunResult two = wl({a, b, "--dim", "2"});
  EXPECT_EQ(two.exit_code, 0) << two.err;
  EXPECT_THAT(two.out,
              HasSubstr("told apart by 2-WL, first at round 1; stable after 2 rounds, with 7 classes of 2-tuples"));
  EXPECT_EQ(two.err, "");
}

TEST_F(WlCommand, AnswersInJson) {
  const std::string a = file("a.txt", {wl::rook()});
  const std::string b = file("b.txt", {wl::shrikhande()});
  const RunResult two = wl({a, b, "--dim", "2", "--json"});
  EXPECT_EQ(two.exit_code, 1);
  EXPECT_EQ(json::parse(two.out),
            json::parse(R"([{"pair": 0, "distinguished": false, "round": null, "stable_after": 0, "classes": 3}])"));
  const json three = json::parse(wl({a, b, "--dim", "3", "--json", "--threads", "2"}).out);
  EXPECT_EQ(three[0]["distinguished"], true);
  EXPECT_EQ(three[0]["round"], 1);
}

TEST_F(WlCommand, ComparesThePairsOfAFile) {
  const std::string exp = file("exp.txt", {wl::exp_core(2, true), wl::exp_core(2, false), hexagon_, hexagon_});
  const RunResult two = wl({exp, "--pairs", "--dim", "2"});
  EXPECT_EQ(two.exit_code, 1);  // the second pair is not told apart
  EXPECT_THAT(two.out, AllOf(HasSubstr("  told apart  round  stable after   classes\n"),
                             HasSubstr("1 of 2 pairs told apart by 2-WL\n")));
  const json answers = json::parse(wl({exp, "--pairs", "--dim", "2", "--json"}).out);
  ASSERT_EQ(answers.size(), 2u);
  EXPECT_EQ(answers[0]["pair"], 0);
  EXPECT_EQ(answers[0]["distinguished"], true);
  EXPECT_EQ(answers[1]["pair"], 1);
  EXPECT_EQ(answers[1]["distinguished"], false);
  EXPECT_EQ(answers[1]["round"], nullptr);
  const std::string apart = file("apart.txt", {wl::exp_core(3, true), wl::exp_core(3, false)});
  EXPECT_EQ(wl({apart, "--pairs", "--dim", "2"}).exit_code, 0);
  EXPECT_EQ(wl({apart, "--pairs", "--dim", "1"}).exit_code, 1);
}

TEST_F(WlCommand, BrecsFoldersAreComparedPairByPairAndCountedByCategory) {
  write_npy(folder_ / "dr.npy", "|S2", "(2,)", "BwBW");     // a triangle, a path
  write_npy(folder_ / "basic.npy", "|S2", "(2,)", "BwBw");  // two triangles
  const std::string folder = (folder_ / ".").string();
  for (const std::vector<std::string>& test : {std::vector<std::string>{"--dim", "1"}, {"--individualise", "leaf"}}) {
    const auto with = [&](const char* more) {
      std::vector<std::string> args = {folder, "--pairs", test[0], test[1]};
      if (*more != 0) args.emplace_back(more);
      return wl(args);
    };
    const RunResult words = with("");
    EXPECT_EQ(words.exit_code, 1) << words.err;
    EXPECT_THAT(words.out, AllOf(HasSubstr("basic:0  "), HasSubstr("Basic: 0 of 1 told apart\n"),
                                 HasSubstr("distance-regular: 1 of 1 told apart\n")));
    EXPECT_EQ(json::parse(with("--json").out)[1]["name"], "dr:0");
  }
}

TEST_F(WlCommand, GroupsTheGraphsOfAFile) {
  const std::string many = file("many.g6", {hexagon_, wl::path(6), triangles_}, Format::graph6);
  const RunResult one = wl({many});
  EXPECT_EQ(one.exit_code, 1);
  EXPECT_THAT(one.out,
              AllOf(HasSubstr("3 graphs fall into 2 groups under 1-WL"), HasSubstr("not told apart: graphs 0, 2\n")));
  const json two = json::parse(wl({many, "--dim", "2", "--json"}).out);
  EXPECT_EQ(two["graphs"], 3);
  EXPECT_EQ(two["groups"], 3);
  EXPECT_EQ(two["group"], (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(wl({many, "--dim", "2"}).exit_code, 0);
}

TEST_F(WlCommand, PicksGraphsByIndexAndSaysWhenItTakesTheFirst) {
  const std::string many = file("many.txt", {hexagon_, wl::path(6), triangles_});
  const std::string other = file("other.txt", {wl::path(6)});
  EXPECT_EQ(wl({many, other, "--index", "1,0"}).exit_code, 1);
  EXPECT_THAT(wl({many, "--index", "0,2", "--dim", "2"}).out,
              HasSubstr("graph 0 of " + many + " and graph 2 of " + many));
  const RunResult first = wl({many, other});
  EXPECT_EQ(first.exit_code, 0);
  EXPECT_THAT(first.err, HasSubstr("--index"));
  const RunResult beyond = wl({many, other, "--index", "3,0"});
  EXPECT_EQ(beyond.exit_code, 2);
  EXPECT_EQ(beyond.err, "tyche: " + many + ": holds 3 graphs (0 to 2); graph 3 was asked for\n");
}

TEST_F(WlCommand, TakesGraphsByTheirNames) {
  const std::string many = file("many.txt", {hexagon_, wl::path(6), triangles_});
  const RunResult code = wl({"g6:EhEG", many + ":2"});
  EXPECT_EQ(code.exit_code, 1) << code.err;
  EXPECT_THAT(code.out, HasSubstr("g6:EhEG and graph 2 of " + many + ": not told apart by 1-WL"));
  EXPECT_EQ(code.err, "");  // nothing was left to guess
  EXPECT_EQ(wl({many + ":0", many + ":1"}).exit_code, 0);
  EXPECT_THAT(wl({many + ":1"}).out, HasSubstr("1 graph"));
  const RunResult beyond = wl({many + ":3", "g6:EhEG"});
  EXPECT_EQ(beyond.exit_code, 2);
  EXPECT_EQ(beyond.err, "tyche: " + many + ": there is no graph 3: it holds 3 (from 0)\n");
  const RunResult twice = wl({many + ":0", many, "--index", "0,1"});
  EXPECT_EQ(twice.exit_code, 2);
  EXPECT_THAT(twice.err, HasSubstr("leave it out where a graph is named g6:CODE or FILE:I"));
}

TEST_F(WlCommand, WritesAPageToLookAtTwoGraphsIn) {
  // A template of the test's own: the real one is there only where Node is.
  write_file(folder_ / "report.html", "<p>\"tyche-data-goes-here\"</p>");
  ::setenv("TYCHE_SHARE", folder_.path().c_str(), 1);
  const std::string many = file("many.txt", {hexagon_, wl::path(6), triangles_, wl::cycle(161)});
  const std::string out = (folder_ / "out.html").string();
  const auto page = [&] {
    const std::string text = read_file(out);
    return json::parse(text.substr(3, text.size() - 7));
  };
  const RunResult made = wl({many + ":0", many + ":2", "--page", out});
  EXPECT_EQ(made.exit_code, 1) << made.err;
  EXPECT_THAT(made.out, AllOf(HasSubstr("not told apart by 1-WL"), HasSubstr(out + " (")));
  EXPECT_EQ(page()["command"], "tyche wl " + many + ":0 " + many + ":2 --page " + out);
  EXPECT_EQ(page()["data"][0]["pairs"][0]["graphs"][1]["title"], "graph 2 of " + many);
  const RunResult by_index = wl({many, "--index", "1,2", "--page", out, "--json"});
  EXPECT_EQ(json::parse(by_index.out)[0]["distinguished"], true);  // and no other word on standard output
  EXPECT_EQ(page()["data"][0]["pairs"][0]["graphs"][0]["title"], "graph 1 of " + many);
  EXPECT_EQ(page()["command"], "tyche wl " + many + " --index 1,2 --page " + out + " --json");

  const RunResult large = wl({many + ":0", many + ":3", "--page", out});
  EXPECT_EQ(large.exit_code, 2);
  EXPECT_EQ(large.out, "");
  EXPECT_THAT(large.err, HasSubstr("graph 3 of " + many + " has 161 nodes; the page draws graphs of up to 160"));
  for (const std::vector<std::string>& call : {std::vector<std::string>{many}, {many, "--pairs"}}) {
    std::vector<std::string> with_page = call;
    with_page.insert(with_page.end(), {"--page", out});
    const RunResult refused = wl(with_page);
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_THAT(refused.err, HasSubstr("--page shows two graphs: name both"));
  }
  ::unsetenv("TYCHE_SHARE");
}

TEST_F(WlCommand, RefusesCallsThatMakeNoSense) {
  const std::string three = file("three.txt", {hexagon_, hexagon_, hexagon_});
  EXPECT_EQ(wl({}).exit_code, 2);
  EXPECT_EQ(wl({three, "--dim", "4"}).exit_code, 2);
  EXPECT_EQ(wl({three, "--index", "1"}).exit_code, 2);
  EXPECT_EQ(wl({three, three, "--pairs"}).exit_code, 2);
  const RunResult odd = wl({three, "--pairs"});
  EXPECT_EQ(odd.exit_code, 2);
  EXPECT_EQ(odd.err, "tyche: " + three + ": holds 3 graphs; --pairs wants an even number\n");
  EXPECT_EQ(wl({(folder_ / "nowhere").string()}).exit_code, 2);
}

TEST_F(WlCommand, SaysWhatMemoryThreeWlWouldNeed) {
  const std::string large = file("large.txt", {wl::path(20000), wl::cycle(20000)});
  const RunResult r = wl({large, "--pairs", "--dim", "3"});
  EXPECT_EQ(r.exit_code, 2);
  EXPECT_THAT(r.err, AllOf(HasSubstr("3-WL on 2 graphs of up to 20000 nodes needs 1152"), HasSubstr(" bytes of memory"),
                           HasSubstr("the limit is ")));
}

TEST_F(WlCommand, ShowsExamplesInItsHelp) {
  const RunResult r = wl({"--help"});
  EXPECT_EQ(r.exit_code, 0);
  EXPECT_THAT(r.out, AllOf(HasSubstr("tyche wl a.g6 b.g6 --dim 2"), HasSubstr("--pairs"), HasSubstr("--json")));
}

}  // namespace
}  // namespace tyche
