// tyche distinguish, as a user calls it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "graph/io.hpp"
#include "support/run_program.hpp"
#include "wl/sample_graphs.hpp"

namespace tyche {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class Distinguish : public testing::Test {
 protected:
  std::string write(const std::string& name, std::vector<Graph> graphs) const {
    GraphSet set;
    set.graphs = std::move(graphs);
    write_graphs(folder_ / name, set, Format::gin);
    return (folder_ / name).string();
  }
  static RunResult call(const std::string& pairs, std::vector<std::string> more) {
    more.insert(more.begin(), {"distinguish", pairs, "--width", "16", "--epochs", "64", "--lr", "0.005"});
    return run_program(more);
  }
  static Graph turned() {
    const std::vector<Node> to = {5, 3, 1, 0, 2, 4};
    return wl::cycle(6).relabelled(to);
  }
  TemporaryFolder folder_;
};

const std::vector<std::string> kColours = {"--random", "colours", "--draws", "64", "--train-draws", "8"};
std::vector<std::string> with(std::vector<std::string> more) {
  more.insert(more.begin(), kColours.begin(), kColours.end());
  return more;
}

TEST_F(Distinguish, SaysYesOfDifferentGraphsInWordsAndJson) {
  const std::string pairs = write("pairs.txt", {wl::cycle(6), wl::two_triangles(), wl::rook(), wl::shrikhande()});
  const RunResult words = call(pairs, with({}));
  EXPECT_EQ(words.exit_code, 0) << words.out << words.err;
  EXPECT_THAT(words.out, AllOf(HasSubstr("told apart"), HasSubstr("64 fresh draws per graph, level 0.005 per pair")));
  const RunResult json = call(pairs, with({"--json", "--seeds", "2", "--seed", "5"}));
  EXPECT_EQ(json.exit_code, 0);
  const auto answer = nlohmann::json::parse(json.out);
  EXPECT_EQ(answer["pairs"], 2);
  EXPECT_EQ(answer["told_apart"], nlohmann::json({2, 2}));
  EXPECT_EQ(answer["controls_failed"], nlohmann::json({0, 0}));
  EXPECT_EQ(answer["seeds"], nlohmann::json({5, 6}));
  EXPECT_EQ(answer["categories"], nlohmann::json::object());
  EXPECT_TRUE(answer["failed"].empty());
  EXPECT_GT(answer["seconds"], 0);
}

TEST_F(Distinguish, SaysNoOfIsomorphicGraphsAndNamesThem) {
  const std::string pairs = write("same.txt", {wl::cycle(6), wl::two_triangles(), wl::cycle(6), turned()});
  const RunResult r = call(pairs, with({}));
  EXPECT_EQ(r.exit_code, 1) << r.out;
  EXPECT_THAT(r.out, HasSubstr("pair 1, seed 1: not told apart (the graphs are isomorphic): p = "));
  const auto answer = nlohmann::json::parse(call(pairs, with({"--json"})).out);
  ASSERT_EQ(answer["failed"].size(), 1u);
  EXPECT_EQ(answer["failed"][0]["pair"], "1");
  EXPECT_EQ(answer["failed"][0]["seed"], 1);
  EXPECT_GT(answer["failed"][0]["p"], 0.005);
}

TEST_F(Distinguish, APlainNetworkTellsNothingApartThatLooksAlikeToRefinement) {
  const RunResult r = call(write("pairs.txt", {wl::cycle(6), wl::two_triangles()}), {});
  EXPECT_EQ(r.exit_code, 1);
  EXPECT_THAT(r.out, HasSubstr("no random inputs"));
}

TEST_F(Distinguish, GraphsOfDifferentSizeAreFine) {
  EXPECT_EQ(call(write("sizes.txt", {wl::cycle(6), wl::cycle(9)}), with({})).exit_code, 0);
}

TEST_F(Distinguish, ARunTakenUpAgainEndsWithTheSameBytes) {
  const std::string pairs = write("pairs.txt", {wl::cycle(6), wl::two_triangles(), wl::rook(), wl::shrikhande()});
  const auto run = [&](const std::string& out, std::vector<std::string> more) {
    more.insert(more.end(), {"--seeds", "2", "--out", (folder_ / out).string(), "--quiet"});
    return call(pairs, with(more));
  };
  ASSERT_EQ(run("whole", {"--threads", "1"}).exit_code, 0);
  ASSERT_EQ(run("cut", {"--threads", "3"}).exit_code, 0);
  const std::string whole = read_file(folder_ / "whole/results.jsonl");
  EXPECT_EQ(read_file(folder_ / "cut/results.jsonl"), whole);
  EXPECT_EQ(run("cut", {}).exit_code, 2);  // without --resume
  for (const std::size_t bytes : {std::size_t{0}, whole.size() / 4, whole.size() * 3 / 4}) {
    write_file(folder_ / "cut/results.jsonl", whole.substr(0, bytes));
    ASSERT_EQ(run("cut", {"--resume"}).exit_code, 0);
    EXPECT_EQ(read_file(folder_ / "cut/results.jsonl"), whole) << bytes;
  }
  const RunResult other = run("cut", {"--resume", "--layers", "3"});
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_THAT(other.err, HasSubstr("model.layers: the run has 2, asked for 3"));
}

TEST_F(Distinguish, NodeTypesAreSeen) {
  const std::vector<Edge> edge = {{0, 1}};
  const std::string pairs =
      write("types.txt", {Graph::from_edges(2, edge, {0, 0}), Graph::from_edges(2, edge, {0, 1})});
  EXPECT_EQ(call(pairs, {}).exit_code, 0);
}

TEST_F(Distinguish, OneNetworkForAllPairsIsJudgedPairByPair) {
  const std::string pairs = write("pairs.txt", {wl::cycle(6), wl::two_triangles(), wl::rook(), wl::shrikhande()});
  const auto run = [&](std::vector<std::string> more) {
    more.insert(more.end(), {"--together", "--layers", "2", "--seeds", "2"});
    return call(pairs, with(more));
  };
  const std::string out = (folder_ / "run").string();
  const RunResult words = run({"--out", out});
  EXPECT_EQ(words.exit_code, 0) << words.out << words.err;
  EXPECT_THAT(words.out, AllOf(HasSubstr("of fresh draws are called by their right name"),
                               HasSubstr("one network for all pairs; Fisher's exact test on 64 fresh draws")));
  const std::string whole = read_file(folder_ / "run/results.jsonl");
  const auto answer = nlohmann::json::parse(run({"--json"}).out);
  EXPECT_EQ(answer["told_apart"], nlohmann::json({2, 2}));
  ASSERT_EQ(answer["accuracy"].size(), 2u);
  EXPECT_GT(answer["accuracy"][1], 0.75);
  // The networks are in the folder: the results alone are made again, or one network and its results.
  write_file(folder_ / "run/results.jsonl", whole.substr(0, whole.size() / 4));
  EXPECT_EQ(run({"--out", out, "--resume"}).exit_code, 0);
  EXPECT_EQ(read_file(folder_ / "run/results.jsonl"), whole);
  write_file(folder_ / "run/results.jsonl", "");
  std::filesystem::remove(folder_ / "run/network-2.safetensors");
  EXPECT_EQ(run({"--out", out, "--resume", "--threads", "3"}).exit_code, 0);
  EXPECT_EQ(read_file(folder_ / "run/results.jsonl"), whole);
}

TEST_F(Distinguish, CallsThatMakeNoSenseAreRefused) {
  const std::string good = write("pairs.txt", {wl::cycle(6), wl::two_triangles()});
  const std::string odd = write("odd.txt", {wl::cycle(3), wl::cycle(4), wl::cycle(5)});
  const std::string one = write("one.txt", {wl::cycle(3)});
  const std::string empty = write("empty.txt", {wl::cycle(3), Graph::from_edges(0, {})});
  const std::string dots = write("dots.txt", {Graph::from_edges(1, {}), Graph::from_edges(1, {})});
  const std::string nothing = (folder_ / "nothing.txt").string();
  write_file(nothing, "0\n");
  const std::vector<std::tuple<std::string, std::vector<std::string>, std::string>> calls = {
      {odd, {}, "holds 3 graphs; graphs 2i and 2i + 1 are a pair"},
      {one, {}, "holds one graph; there is nothing to tell it apart from"},
      {good, {"--draws", "0"}, "at least one seed, one draw"},
      {good, {"--train-draws", "4"}, "this one has none"},
      {good, {"--scoring", "fair"}, "unknown scoring 'fair'; there are exact, released"},
      {good, {"--scoring", "released", "--draws", "7"}, "are for exact scoring"},
      {good, {"--scoring", "released", "--batch", "7"}, "released scoring has batches of 16; came 7"},
      {good, {"--scoring", "released", "--dropout", "0.5"}, "without dropout"},
      {good, {"--scoring", "released", "--together"}, "trains a network per pair"},
      {empty, {}, "pair 0: a graph of it has no nodes"},
      {nothing, {}, "holds 0 graphs"},
      {dots, {"--model", "gcn2"}, "gcn2 works on sets of 2 nodes, and no graph of these pairs has more than 1"},
      {good, {"--resume"}, "--resume requires --out"},
      {good, {"--only", "str"}, "is no folder of BREC's files"},
  };
  for (const auto& [pairs, more, complaint] : calls) {
    const RunResult r = call(pairs, more);
    EXPECT_EQ(r.exit_code, 2) << complaint;
    EXPECT_THAT(r.err, HasSubstr(complaint));
  }
}

TEST_F(Distinguish, ReleasedScoringRunsAndIsNamed) {
  const RunResult r =
      call(write("pairs.txt", {wl::cycle(6), wl::two_triangles()}), {"--random", "colours", "--scoring", "released"});
  EXPECT_NE(r.exit_code, 2) << r.err;
  EXPECT_THAT(r.out, HasSubstr("BREC's released protocol"));
}

}  // namespace
}  // namespace tyche
