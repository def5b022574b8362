// Experiments whose data is the user's: zinc, counting and roots, on a tiny folder of the same files.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "experiments/experiment.hpp"
#include "graph/io.hpp"
#include "graph/patterns.hpp"
#include "report/page.hpp"
#include "report/results.hpp"
#include "support/file.hpp"
#include "support/random.hpp"
#include "support/run_program.hpp"
#include "support/temporary_folder.hpp"

namespace tyche::experiments {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// Graphs of 5 to 8 nodes with types, labels of edges and one target; the same without them, and six counts.
struct DataFolder : testing::Test {
  TemporaryFolder folder;

  void SetUp() override {
    make_folder(folder / "bench");
    std::string molecules;
    GraphSet counted;
    Stream stream(derive_key(6, Purpose::test));
    for (int g = 0; g < 24; ++g) {
      const auto nodes = static_cast<Node>(5 + stream.below(4));
      nlohmann::json line = {{"nodes", nlohmann::json::array()}, {"edges", nlohmann::json::array()}};
      std::vector<Edge> edges;
      for (Node v = 0; v < nodes; ++v) {
        line["nodes"].push_back(stream.below(3));
        for (Node u = 0; u < v; ++u) {
          if (u + 1 != v && stream.uniform() > 0.3) continue;
          edges.emplace_back(u, v);
          line["edges"].push_back({u, v, 1 + stream.below(2)});
        }
      }
      line["target"] = stream.uniform() - 0.5;
      molecules += line.dump() + "\n";
      counted.graphs.push_back(Graph::from_edges(nodes, edges));
    }
    write_file(folder / "bench/zinc12k.jsonl", molecules);
    add_counts(counted, count_patterns(counted.graphs, parse_patterns(kUsualPatterns), 1), CountsAs::targets);
    write_graphs(folder / "bench/counting.jsonl", counted, Format::jsonl);
    for (const CountsAs as : {CountsAs::node_targets, CountsAs::edge_targets}) {
      add_counts(counted, count_patterns(counted.graphs, parse_patterns(kUsualPatterns), 1), as);
    }
    write_graphs(folder / "bench/counting_nodes.jsonl", counted, Format::jsonl);
    nlohmann::json split = {{"train", nlohmann::json::array()}};
    for (int g = 0; g < 24; ++g) split[g < 16 ? "train" : g < 20 ? "validation" : "test"].push_back(g);
    write_file(folder / "bench/zinc12k_split.json", split.dump());
    write_file(folder / "bench/counting_split.json", split.dump());
  }
  [[nodiscard]] RunResult run(const std::string& name, std::vector<std::string> more = {}) const {
    const bool own = name == "mine.toml";
    std::vector<std::string> args = {"reproduce", own ? (folder / name).string() : name, "--quiet"};
    args.insert(args.end(), {"--profile", own ? "paper" : "quick", "--device", "cpu", "--threads", "1"});
    args.insert(args.end(), {"--out", (folder / "out").string()});
    args.insert(args.end(), more.begin(), more.end());
    return run_program(args);
  }
  [[nodiscard]] std::string bench() const { return (folder / "bench").string(); }
};

TEST_F(DataFolder, ZincTrainsAndItsReportHasTheReleasedErrorsBeside) {
  const RunResult result = run("zinc", {"--data-folder", bench(), "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(nlohmann::json::parse(result.out)["trials"], 2) << "mp, and subgraph with 10 roots";
  const auto record = nlohmann::json::parse(read_file(folder / "out/experiments/zinc.json"));
  EXPECT_EQ(record["rows"][0]["paper"]["all"]["mean"], 0.1381);
  EXPECT_EQ(record["rows"][0]["paper"]["all"]["metric"], "mae");
  EXPECT_EQ(record["rows"][0]["config"]["training"]["loss"], "absolute");
  const RunResult table = run_program({"report", (folder / "out").string(), "--format", "md"});
  EXPECT_THAT(table.out, AllOf(HasSubstr("| released |"), HasSubstr("0.1381 ± 0.0058"), HasSubstr("ours / released")));
  EXPECT_THAT(table.out, testing::Not(HasSubstr("within range")));
  const RunResult csv = run_program({"report", (folder / "out").string(), "--format", "csv"});
  EXPECT_THAT(csv.out, HasSubstr(",0.1381,0.0058,"));
  const auto page = report::page_data(report::load_results(folder / "out"), {});
  const auto& row = page["experiments"][0]["rows"][0];
  EXPECT_EQ(row["paper"]["all"]["text"], "0.1381 ± 0.0058");
  EXPECT_GT(row["paper"]["all"]["ratio"].get<double>(), 0);
}

TEST_F(DataFolder, CountingHasATaskPerPattern) {
  const RunResult result = run("counting", {"--data-folder", bench(), "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(nlohmann::json::parse(result.out)["trials"], 12);
  const auto record = nlohmann::json::parse(read_file(folder / "out/experiments/counting-chordal5.json"));
  EXPECT_EQ(record["rows"][0]["config"]["data"]["target_columns"], "5");
  EXPECT_NEAR(record["rows"][0]["paper"]["all"]["mean"].get<double>(), 0.205 * 21.684, 0.01) << "in copies";
}

TEST_F(DataFolder, CountingNodesHasATaskPerPatternOfNodesAndOfEdges) {
  const RunResult result = run("counting-nodes", {"--data-folder", bench(), "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(nlohmann::json::parse(result.out)["trials"], 24);
  const auto record = nlohmann::json::parse(read_file(folder / "out/experiments/counting-nodes-edge-chordal5.json"));
  const auto& row = record["rows"][0];
  EXPECT_EQ(row["config"]["data"]["target"], "edge-targets");
  EXPECT_EQ(row["config"]["data"]["target_columns"], "5");
  // Released per graph, both directions of an edge, over 14 and the deviation; 77,905 edges in 2,500 test graphs.
  EXPECT_NEAR(row["paper"]["all"]["mean"].get<double>(), 0.504 * 14 / 2 * 21.684 * 2500 / 77905, 1e-3);
  const RunResult list = run("counting-nodes", {"--data-folder", bench(), "--list"});
  EXPECT_EQ(list.exit_code, 0) << list.err;
  EXPECT_THAT(list.out, HasSubstr("6-cycles per node"));
}

TEST_F(DataFolder, ASplitOfNodesIsOneOfNodes) {
  nlohmann::json split = {{"unit", "nodes"}, {"train", nlohmann::json::array()}};
  for (int v = 0; v < 40; ++v) split[v < 20 ? "train" : v < 30 ? "validation" : "test"].push_back(v);
  write_file(folder / "bench/split.json", nlohmann::json::array({split, split}).dump());
  write_file(folder / "mine.toml",
             "[data]\npath = \"bench/counting_nodes.jsonl\"\nsplit = \"bench/split.json\"\n[defaults]\n"
             "data.target = \"node-targets\"\ntraining.epochs = 2\nmodel.width = 8\nmodel.layers = 1\n[[models]]\n"
             "model.kind = \"gin\"\n");
  const RunResult list = run("mine.toml", {"--list"}), result = run("mine.toml", {"--json"});
  EXPECT_EQ(list.exit_code, 0) << list.err;
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(nlohmann::json::parse(result.out)["trials"], 2) << "a fold each";
}

TEST_F(DataFolder, RootsRunsEveryNumberOfThemOnBothSets) {
  const RunResult result = run("roots", {"--data-folder", bench(), "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(nlohmann::json::parse(result.out)["trials"], 16);
  const auto record = nlohmann::json::parse(read_file(folder / "out/experiments/roots-zinc.json"));
  EXPECT_EQ(record["rows"][7]["name"], "subgraph, roots all");
}

TEST_F(DataFolder, RepeatsAreRunsOfOneSplitWithOtherRandomNumbers) {
  write_file(folder / "mine.toml", read_file(std::filesystem::path(TYCHE_TEST_DATA) / "../../experiments/zinc.toml") +
                                       "[profiles.paper]\ndefaults.training.epochs = 2\ndefaults.model.width = 8\n"
                                       "defaults.training.repeats = 3\ndefaults.model.layers = 1\n");
  const RunResult result = run("mine.toml", {"--data-folder", bench(), "--without", "mp, colours", "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(nlohmann::json::parse(result.out)["trials"], 8 * 3);
  const auto record = nlohmann::json::parse(read_file(folder / "out/experiments/mine.json"));
  EXPECT_EQ(record["rows"][0]["folds_run"], 3);
  EXPECT_NE(record["rows"][0]["trials"][0], record["rows"][0]["trials"][1]);
  EXPECT_THAT(run_program({"report", (folder / "out").string(), "--format", "md"}).out, HasSubstr("| 3 × 2 |"));
}

TEST_F(DataFolder, WhatIsMissingIsNamedWithWhatIsExpected) {
  const RunResult none = run("zinc"), gone = run("zinc", {"--data-folder", (folder / "nowhere").string()});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.err, AllOf(HasSubstr("a folder that holds zinc12k.jsonl and zinc12k_split.json"),
                              HasSubstr("--data-folder names it")));
  EXPECT_EQ(gone.exit_code, 2);
  EXPECT_THAT(gone.err, AllOf(HasSubstr("nowhere"), HasSubstr("is no folder; experiment zinc expects one that holds")));
  std::filesystem::remove(folder / "bench/zinc12k_split.json");
  const RunResult split = run("zinc", {"--data-folder", bench()});
  EXPECT_EQ(split.exit_code, 2);
  EXPECT_THAT(split.err,
              AllOf(HasSubstr("zinc12k_split.json"), HasSubstr("is not there; experiment zinc expects a JSON "
                                                               "file that says which graphs train")));
  std::filesystem::remove(folder / "bench/zinc12k.jsonl");
  EXPECT_THAT(run("roots", {"--data-folder", bench()}).err, HasSubstr("zinc12k.jsonl"));
  const RunResult useless = run("table1", {"--data-folder", bench()});
  EXPECT_EQ(useless.exit_code, 2);
  EXPECT_THAT(useless.err, HasSubstr("none of these experiments takes its data from there"));
}

}  // namespace
}  // namespace tyche::experiments
