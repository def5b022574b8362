// tyche train on a person's own data, without an option that is known.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "graph/io.hpp"
#include "support/file.hpp"
#include "support/replaced.hpp"
#include "support/run_program.hpp"
#include "support/temporary_folder.hpp"
#include "train/config.hpp"
#include "train/samples.hpp"

namespace tyche {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class OwnData : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string data(const std::string& name, const GraphSet& set) const {
    write_graphs(folder_ / name, set, Format::gin);
    return path(name);
  }
  TemporaryFolder folder_;
};

TEST_F(OwnData, TheChoicesAreSaidInOneLine) {
  const RunResult r = run_program({"train", "--data", data("own.txt", train::small_dataset(150).set), "--out",
                                   path("run"), "--epochs", "2", "--width", "8", "--fold", "0"});
  ASSERT_EQ(r.exit_code, 0) << r.err;
  EXPECT_THAT(r.err,
              HasSubstr("\nchosen  sum over neighbours (means see neither degrees nor counts), sum readout (it sees "
                        "sizes), 4 layers, no dropout, relu (nodes have 2 types and no attributes), learning rate "
                        "1e-3, cosine, stratified folds (each has all labels), "));
  EXPECT_THAT(r.err, HasSubstr("; --recipe paper gives the paper's\n"));
  const RunResult paper = run_program({"train", "--data", path("own.txt"), "--out", path("paper"), "--epochs", "1",
                                       "--width", "8", "--fold", "0", "--recipe", "paper"});
  EXPECT_THAT(paper.err, Not(HasSubstr("chosen")));
  const RunResult resumed = run_program({"train", "--resume", "--out", path("run")});
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_THAT(resumed.err, Not(HasSubstr("chosen")));
  EXPECT_THAT(run_program({"train", "--resume", "--out", path("run"), "--recipe", "paper"}).err,
              HasSubstr("recipe: the run has \"own\", asked for \"paper\""));
}

TEST_F(OwnData, ContiguousFoldsOfSortedLabelsAreRefused) {
  GraphSet set = train::small_dataset(60).set;
  std::sort(set.labels.begin(), set.labels.end());
  const std::string file = data("sorted.txt", set);
  const RunResult r = run_program({"train", "--data", file, "--out", path("run"), "--fold-scheme", "contiguous"});
  EXPECT_EQ(r.exit_code, 2);
  EXPECT_THAT(r.err, AllOf(HasSubstr("sorted by label"), HasSubstr("--fold-scheme stratified")));
  EXPECT_EQ(run_program({"train", "--data", file, "--out", path("run"), "--epochs", "1", "--width", "8", "--fold", "0"})
                .exit_code,
            0);
}

TEST_F(OwnData, NodeTypesThatTrainingDidNotSeeAreCountedAndAnswered) {
  const GraphSet set = train::small_dataset().set;
  ASSERT_EQ(run_program({"train", "--data", data("own.txt", set), "--out", path("run"), "--epochs", "1", "--width", "8",
                         "--folds", "3", "--fold", "0"})
                .exit_code,
            0);
  GraphSet other = set;
  const Graph third = other.graphs[2];
  std::vector<NodeType> types(third.types().begin(), third.types().end());
  types[0] = 16;
  other.graphs = replaced(other.graphs, 2, Graph::from_edges(third.num_nodes(), third.edges(), types));
  other.labels[1] = 99;
  const RunResult r = run_program({"predict", path("run"), "--data", data("other.txt", other)});
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_THAT(r.err, AllOf(HasSubstr("1 of 24 graphs has node types that training did not see (16: 1 node): they count "
                                     "as 'other'"),
                           HasSubstr("1 of 24 graphs has a label that training did not see (99)")));
}

TEST_F(OwnData, ALossThatExplodesIsSaid) {
  const RunResult r = run_program({"train", "--recipe", "paper", "--data", data("own.txt", train::small_dataset().set),
                                   "--out", path("run"), "--epochs", "2", "--folds", "3", "--lr", "50", "--aggregation",
                                   "sum", "--readout", "sum"});
  EXPECT_THAT(r.err, AllOf(HasSubstr("exploded"), HasSubstr("--lr"), HasSubstr("--clip-norm")));
}

// What 0.2.0 wrote for a generated set, to the value.
TEST_F(OwnData, AGeneratedSetTrainsAsIn020) {
  ASSERT_EQ(run_program({"generate", "exp", "--pairs", "10", "--seed", "3", "--quiet", "--out", path("exp")}).exit_code,
            0);
  ASSERT_EQ(run_program({"train", "--data", path("exp"), "--epochs", "1", "--fold", "0", "--quiet", "--device", "cpu",
                         "--out", path("run")})
                .exit_code,
            0);
  const std::string text = read_file(folder_ / "run" / "config.toml");
  for (const char* line : {"hash = \"3240824114fc7483\"",
                           "graphs = 20",
                           "node_types = [0, 1]",
                           "kind = \"gcn\"",
                           "width = 64",
                           "layers = 8",
                           "input_features = 2",
                           "rni = 0.0",
                           "xavier_fan = 906.0",
                           "activation = \"elu\"",
                           "aggregation = \"mean\"",
                           "readout = \"max\"",
                           "dropout = 0.5",
                           "batch = 20",
                           "learning_rate = 0.0001",
                           "loss = \"cross-entropy\"",
                           "schedule = \"constant\"",
                           "eval_every = 1",
                           "by = \"none\"",
                           "early_stopping = false",
                           "count = 10",
                           "scheme = \"contiguous\"",
                           "validation = 0.1",
                           "other = false",
                           "standardise = false",
                           "recipe = \"paper\""}) {
    EXPECT_THAT(text, HasSubstr(std::string("\n") + line)) << line;
  }
}

/// What the first fold of a run wrote of its first epoch, less the times.
std::string first_epoch(const std::string& run) {
  const std::string text = read_file(run + "/fold-0/metrics.jsonl");
  return text.substr(0, text.find("\"seconds\""));
}

TEST_F(OwnData, APackedFileTrainsToTheSameBitsAndIsRefusedWhereItIsDamaged) {
  GraphSet set = train::small_dataset(60).set;
  write_graphs(path("set.jsonl"), set, Format::jsonl);
  const RunResult packed = run_program({"pack", path("set.jsonl"), "--out", path("set.tyche"), "--json"});
  ASSERT_EQ(packed.exit_code, 0) << packed.err;
  EXPECT_THAT(packed.out, HasSubstr("\"graphs\": 60"));
  for (const char* data : {"set.jsonl", "set.tyche"}) {
    const RunResult r = run_program({"train", "--data", path(data), "--model", "gin", "--width", "8", "--epochs", "1",
                                     "--fold", "0", "--out", path(std::string("run of ") + data)});
    ASSERT_EQ(r.exit_code, 0) << r.err;
  }
  EXPECT_THAT(first_epoch(path("run of set.jsonl")), HasSubstr("train_loss"));
  EXPECT_EQ(first_epoch(path("run of set.jsonl")), first_epoch(path("run of set.tyche")));

  write_file(path("bad.jsonl"), "{\"nodes\": 1, \"edges\": []}\n{\"nodes\": 1, \"edges\": [[0, 1]]}\n");
  const RunResult bad = run_program({"pack", path("bad.jsonl"), "--out", path("set.tyche")});
  EXPECT_EQ(bad.exit_code, 2);
  EXPECT_THAT(bad.err, HasSubstr("bad.jsonl: line 2: edge 0 joins node 1"));
  std::string bytes = read_file(path("set.tyche"));
  EXPECT_EQ(read_graphs(path("set.tyche")).graphs, set.graphs) << "what was there is there";
  bytes[300] = static_cast<char>(bytes[300] ^ 4);
  write_file(path("set.tyche"), bytes);
  const RunResult damaged = run_program({"train", "--data", path("set.tyche"), "--out", path("run"), "--epochs", "1"});
  EXPECT_EQ(damaged.exit_code, 2);
  EXPECT_THAT(damaged.err, HasSubstr("set.tyche: graphs 0 to 59: their graphs (from byte 16 on) are damaged"));
}

}  // namespace
}  // namespace tyche
