// tyche wl --individualise and tyche bench individualise as a user calls them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "graph/io.hpp"
#include "support/run_program.hpp"
#include "wl/sample_graphs.hpp"

namespace tyche {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

class WlIndividualise : public testing::Test {
 protected:
  std::string file(const std::string& name, std::vector<Graph> graphs) const {
    GraphSet set;
    set.labels.assign(graphs.size(), 0);
    set.graphs = std::move(graphs);
    write_graphs(folder_ / name, set, Format::gin);
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

TEST_F(WlIndividualise, SaysWhatTheDrawsSawOfEachGraph) {
  // The hexagon's 12 leaves are one up to renumbering; a star's are one too, and a discrete graph has nothing to
  // choose.
  const std::string many =
      file("many.txt", {hexagon_, Graph::from_edges(3, {}, {0, 1, 2}), Graph(), Graph::from_edges(9, {})});
  const RunResult table = wl({many, "--individualise", "leaf", "--draws", "7"});
  EXPECT_EQ(table.exit_code, 0) << table.err;
  EXPECT_THAT(table.out, AllOf(HasSubstr("4 graphs, 7 draws of each to the leaf (first-largest): mean depth 2.50, "
                                         "1.0 distinct on average; 3 trees walked in full\n"),
                               HasSubstr("     0        6            2         1           12")));
  const json answer = json::parse(wl({many, "--individualise", "leaf", "--draws", "7", "--json"}).out);
  ASSERT_EQ(answer.size(), 4u);
  EXPECT_EQ(answer[0], json::parse(R"({"graph": 0, "nodes": 6, "draws": 7, "distinct": 1, "discrete": 7,
                                       "depth": {"least": 2, "mean": 2.0, "most": 2},
                                       "tree": {"leaves": 12, "distinct": 1}})"));
  EXPECT_EQ(answer[1]["depth"]["most"], 0);
  EXPECT_EQ(answer[2]["tree"]["leaves"], 1);
  EXPECT_EQ(answer[3]["tree"], nullptr);  // 9! leaves
  const json one = json::parse(wl({many, "--individualise", "1", "--json"}).out);
  EXPECT_EQ(one[0]["discrete"], 0);
  EXPECT_EQ(one[3]["tree"]["leaves"], 9);
}

TEST_F(WlIndividualise, JudgesPairs) {
  const std::string pairs = file("pairs.txt", {hexagon_, triangles_, wl::rook(), wl::shrikhande(), hexagon_, hexagon_});
  const RunResult table = wl({pairs, "--individualise", "leaf", "--pairs"});
  EXPECT_EQ(table.exit_code, 1);
  EXPECT_EQ(table.out,
            "  pair  verdict\n"
            "     0  different: they have no leaf in common\n"
            "     1  different: they have no leaf in common\n"
            "     2  isomorphic: they have a leaf in common\n"
            "3 pairs: 1 isomorphic, 2 different, 0 unknown\n");
  const json shallow = json::parse(wl({pairs, "--individualise", "1", "--pairs", "--json"}).out);
  ASSERT_EQ(shallow.size(), 3u);
  EXPECT_EQ(shallow[0]["verdict"], "different");
  EXPECT_EQ(shallow[2]["verdict"], "unknown");
  EXPECT_EQ(shallow[2]["pair"], 2);
  EXPECT_THAT(wl({pairs, "--individualise", "1", "--pairs"}).out,
              HasSubstr("unknown: all paths to depth 1 end alike, and none is a leaf\n"));
  const std::string apart = file("apart.txt", {hexagon_, triangles_});
  EXPECT_EQ(wl({apart, "--individualise", "leaf", "--pairs"}).exit_code, 0);
}

TEST_F(WlIndividualise, JudgesTwoFilesAndTwoGraphsOfOne) {
  const std::string a = file("a.txt", {hexagon_, triangles_});
  const std::string b = file("b.txt", {triangles_});
  const RunResult different = wl({a, b, "--individualise", "leaf", "--quiet"});
  EXPECT_EQ(different.exit_code, 0) << different.err;
  EXPECT_EQ(different.out, "graph 0 of " + a + " and graph 0 of " + b + ": different: they have no leaf in common\n");
  EXPECT_EQ(wl({a, b, "--index", "1,0", "--individualise", "leaf"}).exit_code, 1);
  EXPECT_EQ(json::parse(wl({a, "--index", "0,1", "--individualise", "leaf", "--json"}).out)[0]["verdict"], "different");
}

TEST_F(WlIndividualise, GivesTheSameForASeedOnAnyNumberOfThreads) {
  std::vector<Graph> graphs;
  Stream stream(derive_key(1, Purpose::test));
  for (int i = 0; i < 20; ++i) graphs.push_back(disjoint_union(wl::random_circulant(9, stream), hexagon_));
  const std::string many = file("many.txt", graphs);
  const auto run = [&](const std::string& seed, const std::string& threads) {
    return wl({many, "--individualise", "leaf", "--draws", "3", "--seed", seed, "--threads", threads}).out;
  };
  EXPECT_EQ(run("1", "1"), run("1", "4"));
  EXPECT_NE(run("1", "1"), run("2", "1"));
}

TEST_F(WlIndividualise, RefusesCallsThatMakeNoSense) {
  const std::string one = file("one.txt", {hexagon_});
  for (const char* depth : {"0", "-1", "two", "1.5", ""}) {
    const RunResult r = wl({one, "--individualise", depth});
    EXPECT_EQ(r.exit_code, 2) << depth;
    EXPECT_EQ(r.err, std::string("tyche: --individualise '") + depth + "': expected at least 1 or leaf\n");
  }
  EXPECT_EQ(wl({one, "--individualise", "1000000"}).exit_code, 0);
  EXPECT_EQ(wl({one, "--individualise", "99999999999"}).exit_code, 0);
  EXPECT_THAT(wl({one, "--individualise", "leaf", "--dim", "2"}).err, HasSubstr("--dim excludes --individualise"));
  EXPECT_THAT(wl({one, "--individualise", "leaf", "--sets", "2"}).err, HasSubstr("--sets excludes --individualise"));
  EXPECT_THAT(wl({one, "--draws", "5"}).err, HasSubstr("--draws requires --individualise"));
  EXPECT_THAT(wl({one, "--seed", "5"}).err, HasSubstr("--seed requires --individualise"));
  EXPECT_EQ(wl({one, "--individualise", "leaf", "--draws", "0"}).exit_code, 2);
  EXPECT_THAT(wl({one, "--individualise", "leaf", "--cell", "largest"}).err,
              HasSubstr("unknown cell selector 'largest'; expected one of first-largest, first-smallest"));
  EXPECT_EQ(wl({one, "--individualise", "leaf", "--pairs"}).exit_code, 2);
}

TEST_F(WlIndividualise, IsMeasuredByBench) {
  const std::string some = file("some.txt", {hexagon_, wl::exp_core(2, true)});
  const RunResult r = run_program({"bench", "individualise", "--data", some, "--largest", "1000", "--json"});
  ASSERT_EQ(r.exit_code, 0) << r.err;
  const json answer = json::parse(r.out);
  EXPECT_EQ(answer["graphs"], 2);
  EXPECT_GT(answer["draws_per_second"].get<double>(), 0);
  EXPECT_GT(answer["refinements_per_second"].get<double>(), 0);
  EXPECT_EQ(answer["large"].size(), 4u);
  EXPECT_EQ(answer["large"][3]["depth"], 998);
  EXPECT_EQ(run_program({"bench", "individualise", "--cell", "x"}).exit_code, 2);
}

}  // namespace
}  // namespace tyche
