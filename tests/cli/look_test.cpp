// tyche embed and tyche explain as a user calls them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "support/file.hpp"
#include "support/npy.hpp"
#include "support/random.hpp"
#include "support/run_program.hpp"

namespace tyche {
namespace {

using nlohmann::json;
using testing::HasSubstr;

TEST(EmbedCommand, PairsOfExpAreEqualWithoutRandomInputsAndDifferWithThem) {
  const TemporaryFolder folder;
  const std::string exp = (folder / "exp").string();
  ASSERT_EQ(run_program({"generate", "exp", "--pairs", "4", "--seed", "3", "--out", exp}).exit_code, 0);
  for (const bool random : {false, true}) {
    const std::string run = (folder / (random ? "random" : "plain")).string(), out = run + ".npy";
    std::vector<std::string> train = {"train", "--data",   exp, "--out",   run,  "--folds",  "2", "--fold",
                                      "0",     "--epochs", "2", "--width", "16", "--layers", "2", "--quiet"};
    if (random) train.insert(train.end(), {"--random", "colours"});
    ASSERT_EQ(run_program(train).exit_code, 0);
    const RunResult made = run_program({"embed", run, "--out", out, "--draws", "4", "--json"});
    ASSERT_EQ(made.exit_code, 0) << made.err;
    EXPECT_EQ(json::parse(made.out)["rows"], 8);
    const NpyMatrix rows = read_npy_matrix(out);
    ASSERT_EQ(rows.columns, 16);
    double most = 0, all = 0;
    for (std::size_t pair = 0; pair < 4; ++pair) {
      for (std::size_t c = 0; c < 16; ++c) {
        most = std::max<double>(most, std::abs(rows.values[32 * pair + c] - rows.values[32 * pair + 16 + c]));
        all = std::max<double>(all, std::abs(rows.values[32 * pair + c]));
      }
    }
    EXPECT_GT(all, 0.01);
    if (random) {
      EXPECT_GT(most, 1e-3);
    } else {
      EXPECT_LT(most, 1e-5);
    }
  }
  const RunResult nodes = run_program({"embed", (folder / "plain").string(), "--of", "nodes", "--out",
                                       (folder / "n.npy").string(), "--page", (folder / "n.html").string()});
  EXPECT_EQ(nodes.exit_code, 0) << nodes.err;
  EXPECT_THAT(read_file(folder / "n.html"), HasSubstr("\"shows\":\"embedding\""));
}

/// The chance that a responsible node has a higher score than another one.
double area(const std::vector<double>& responsible, const std::vector<double>& others) {
  double sum = 0;
  for (const double a : responsible) {
    for (const double b : others) sum += a > b ? 1 : a == b ? 0.5 : 0;
  }
  return sum / static_cast<double>(responsible.size() * others.size());
}

TEST(ExplainCommand, NamesTheNodesThatAreResponsible) {
  const TemporaryFolder folder;
  // Trees of types 0 to 2; in every second one, two nodes have the type 3: that is what the label says.
  Stream stream(derive_key(5, Purpose::test, 32));
  std::string text;
  std::vector<std::vector<bool>> planted;
  for (int g = 0; g < 80; ++g) {
    const std::uint64_t n = 8 + stream.below(6);
    json line = {{"nodes", json::array()}, {"edges", json::array()}, {"label", g % 2}};
    std::vector<bool>& own = planted.emplace_back(n, false);
    if (g % 2 == 1) own[stream.below(n)] = own[stream.below(n)] = true;
    for (std::uint64_t v = 0; v < n; ++v) line["nodes"].push_back(own[v] ? 3 : static_cast<int>(stream.below(3)));
    for (std::uint64_t v = 1; v < n; ++v) line["edges"].push_back({stream.below(v), v});
    text += line.dump() + "\n";
  }
  const std::string data = (folder / "planted.jsonl").string(), run = (folder / "run").string();
  write_file(data, text);
  ASSERT_EQ(run_program({"train", "--data", data, "--out", run, "--model", "gin", "--folds", "5", "--fold", "0",
                         "--epochs", "30", "--width", "16", "--layers", "2", "--quiet"})
                .exit_code,
            0);
  for (const char* measure : {"gradient_input", "left_out"}) {
    std::vector<double> responsible, others;
    for (int g = 1; g < 20; g += 2) {
      const RunResult why = run_program({"explain", run, "--graph", std::to_string(g), "--output", "1", "--json"});
      ASSERT_EQ(why.exit_code, 0) << why.err;
      const json found = json::parse(why.out);
      for (std::size_t v = 0; v < planted[g].size(); ++v) {
        (planted[g][v] ? responsible : others).push_back(found["nodes"][v][measure]);
      }
    }
    EXPECT_GE(area(responsible, others), 0.9) << measure;
  }
  const RunResult page = run_program({"explain", run, "--graph", "1", "--page", (folder / "why.html").string()});
  EXPECT_EQ(page.exit_code, 0) << page.err;
  EXPECT_THAT(page.out, HasSubstr("Graph 1: label 1 is said"));
  EXPECT_THAT(read_file(folder / "why.html"), HasSubstr("\"shows\":\"explanation\""));
  EXPECT_THAT(run_program({"explain", run, "--graph", "80"}).err, HasSubstr("counted from 0"));
  EXPECT_THAT(run_program({"explain", run, "--graph", "1", "--output", "7"}).err, HasSubstr("knows no label 7"));
}

TEST(ExplainCommand, OfSeveralFoldsLooksIntoTheOneThatTestedTheGraph) {
  const TemporaryFolder folder;
  const std::string run = (folder / "run").string(), data = (folder / "exp").string();
  ASSERT_EQ(run_program({"generate", "exp", "--pairs", "6", "--out", data, "--quiet"}).exit_code, 0);
  ASSERT_EQ(run_program({"train", "--data", data, "--out", run, "--folds", "3", "--epochs", "1", "--width", "8",
                         "--layers", "1", "--quiet"})
                .exit_code,
            0);
  std::vector<std::string> testers;
  for (const char* graph : {"0", "11"}) {
    const RunResult own = run_program({"explain", run, "--graph", graph, "--json"});
    ASSERT_EQ(own.exit_code, 0) << own.err;
    for (const char* fold : {"0", "1", "2"}) {
      if (own.err.find(std::string("fold ") + fold + ", which tested graph") != std::string::npos) {
        testers.emplace_back(fold);
        EXPECT_EQ(run_program({"explain", run, "--graph", graph, "--json", "--fold", fold}).out, own.out);
      }
    }
  }
  ASSERT_EQ(testers.size(), 2);
  EXPECT_NE(testers[0], testers[1]) << "folds are contiguous here";
  const RunResult embedded =
      run_program({"embed", run, "--out", (folder / "e.npy").string(), "--page", (folder / "e.html").string()});
  EXPECT_THAT(embedded.err, HasSubstr("has 3 folds; fold 0 is looked into"));
  EXPECT_THAT(read_file(folder / "e.html"), HasSubstr("tyche embed " + run + " --out "));
}

TEST(PredictPage, DrawsWhatIsSaidOfNodes) {
  const TemporaryFolder folder;
  std::string text;
  for (int g = 0; g < 12; ++g) {  // paths, whose ends have the label 1; graph 11 is too large to be drawn
    const int n = g == 11 ? 161 : 3 + g % 4;
    json line = {
        {"nodes", n}, {"edges", json::array()}, {"node_labels", std::vector<int>(static_cast<std::size_t>(n))}};
    for (int v = 1; v < n; ++v) line["edges"].push_back({v - 1, v});
    line["node_labels"][0] = line["node_labels"][n - 1] = 1;
    line["node_labels"][1] = nullptr;
    text += line.dump() + "\n";
  }
  const std::string run = (folder / "run").string(), page = (folder / "n.html").string();
  write_file(folder / "paths.jsonl", text);
  ASSERT_EQ(run_program({"train", "--data", (folder / "paths.jsonl").string(), "--out", run, "--model", "gin",
                         "--folds", "2", "--fold", "0", "--epochs", "2", "--width", "8", "--layers", "1", "--quiet"})
                .exit_code,
            0);
  const RunResult said = run_program({"predict", run, "--fold", "0", "--page", page});
  ASSERT_EQ(said.exit_code, 0) << said.err;
  EXPECT_THAT(said.out, HasSubstr("ROC AUC"));
  const std::string html = read_file(page);
  const std::size_t at = html.find("{", html.find("id=\"tyche-data\""));
  const json shown = json::parse(html.substr(at, html.find("</script>", at) - at));
  EXPECT_EQ(shown["shows"], "nodes");
  EXPECT_EQ(shown["of"], 11);
  ASSERT_EQ(shown["graphs"].size(), 11u);
  EXPECT_EQ(shown["graphs"][0]["part"][0], "test") << "what training saw comes last";
  EXPECT_EQ(shown["graphs"][10]["part"][0], "train");
  for (const json& graph : shown["graphs"]) {
    EXPECT_TRUE(graph["truth"][1].is_null());
    EXPECT_EQ(graph["truth"][0], 1);
    EXPECT_EQ(graph["colour"].front(), graph["colour"].back()) << "both ends look alike";
    EXPECT_NE(graph["colour"][0], graph["colour"][1]);
  }
}

}  // namespace
}  // namespace tyche
