// Real targets as a user meets them: a TUDataset with graph attributes, tyche train and tyche predict.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "graph/io.hpp"
#include "support/file.hpp"
#include "support/random.hpp"
#include "support/run_program.hpp"
#include "support/temporary_folder.hpp"

namespace tyche {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class RegressionCommand : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  /// Random graphs of 4 to 9 nodes; targets: 1000 + 25 per edge, and the share of edges there could be. Labels: whether
  /// there are more than eight edges.
  static GraphSet made_set(std::size_t count, bool labels) {
    Stream stream(derive_key(8, Purpose::test));
    GraphSet set;
    set.target_dim = 2;
    for (std::size_t g = 0; g < count; ++g) {
      const auto nodes = static_cast<Node>(4 + stream.below(6));
      std::vector<Edge> edges;
      for (Node u = 0; u < nodes; ++u) {
        for (Node v = u + 1; v < nodes; ++v) {
          if (stream.uniform() < 0.4) edges.emplace_back(u, v);
        }
      }
      set.graphs.push_back(Graph::from_edges(nodes, edges));
      const auto size = static_cast<float>(edges.size());
      set.targets.push_back(1000 + 25 * size);
      set.targets.push_back(2 * size / static_cast<float>(nodes * (nodes - 1)));
      if (labels) set.labels.push_back(edges.size() > 8 ? 1 : 0);
    }
    return set;
  }
  RunResult train(const std::string& data, const std::string& out, const std::vector<std::string>& more) const {
    std::vector<std::string> args = {
        "train",   "--recipe", "paper", "--data",   data,      "--out",     path(out),      "--quiet",   "--model",
        "gin",     "--width",  "16",    "--layers", "2",       "--readout", "sum",          "--dropout", "0",
        "--batch", "10",       "--lr",  "2e-3",     "--folds", "4",         "--validation", "0"};
    args.insert(args.end(), more.begin(), more.end());
    return run_program(args);
  }

  TemporaryFolder folder_;
};

TEST_F(RegressionCommand, LearnsTheNumberOfEdgesAndPredictsItInItsUnit) {
  write_graphs(folder_ / "EDGES", made_set(160, false), Format::tu);
  const RunResult r = train(path("EDGES"), "run", {"--epochs", "60", "--fold", "0", "--json"});
  ASSERT_EQ(r.exit_code, 0) << r.err;
  const auto json = nlohmann::json::parse(r.out);
  EXPECT_GE(json["folds"][0]["test_r2_0"].get<double>(), 0.95);
  EXPECT_LT(json["folds"][0]["test_mae_0"].get<double>(), 40);
  EXPECT_FALSE(json.contains("test_accuracy_mean"));
  EXPECT_THAT(read_file(folder_ / "run/config.toml"),
              AllOf(HasSubstr("target = \"attributes\""), HasSubstr("loss = \"squared\"")));

  const RunResult p =
      run_program({"predict", "--checkpoint", path("run/fold-0/last.safetensors"), "--data", path("EDGES"), "--json"});
  ASSERT_EQ(p.exit_code, 0) << p.err;
  const auto said = nlohmann::json::parse(p.out);
  ASSERT_EQ(said["predictions"].size(), 160u);
  EXPECT_EQ(said["predictions"][0]["values"].size(), 2u);
  EXPECT_NEAR(said["predictions"][0]["values"][0].get<double>(), said["predictions"][0]["targets"][0].get<double>(),
              150);
  EXPECT_EQ(said["headline"], "test");
  EXPECT_NEAR(said["r2"].get<double>(), json["folds"][0]["test_r2"].get<double>(), 1e-12);
  const RunResult table =
      run_program({"predict", "--checkpoint", path("run/fold-0/last.safetensors"), "--data", path("EDGES")});
  EXPECT_THAT(table.out, AllOf(HasSubstr("value"), HasSubstr("test part of fold 0: MAE "), HasSubstr("of 40 graphs")));
}

TEST_F(RegressionCommand, ResumesToTheSameBits) {
  write_graphs(folder_ / "EDGES", made_set(24, false), Format::tu);
  ASSERT_EQ(train(path("EDGES"), "whole", {"--epochs", "4", "--loss", "huber"}).exit_code, 0);
  ASSERT_EQ(train(path("EDGES"), "half", {"--epochs", "2", "--loss", "huber"}).exit_code, 0);
  const RunResult r = run_program({"train", "--resume", "--out", path("half"), "--epochs", "4", "--quiet"});
  ASSERT_EQ(r.exit_code, 0) << r.err;
  for (const char* fold : {"fold-0", "fold-3"}) {
    EXPECT_EQ(read_file(folder_ / "whole" / fold / "last.safetensors"),
              read_file(folder_ / "half" / fold / "last.safetensors"));
  }
}

TEST_F(RegressionCommand, LabelsAreLearnedWhereThereAreBothUnlessSaidOtherwise) {
  write_graphs(folder_ / "BOTH", made_set(24, true), Format::tu);
  const RunResult labels = train(path("BOTH"), "labels", {"--epochs", "1", "--class-weights", "balanced"});
  ASSERT_EQ(labels.exit_code, 0) << labels.err;
  EXPECT_THAT(labels.out, AllOf(HasSubstr("test accuracy"), HasSubstr("balanced accuracy"), Not(HasSubstr("MAE"))));
  const RunResult numbers = train(path("BOTH"), "numbers", {"--epochs", "1", "--target", "attributes"});
  ASSERT_EQ(numbers.exit_code, 0) << numbers.err;
  EXPECT_THAT(numbers.out, AllOf(HasSubstr("test MAE"), Not(HasSubstr("test accuracy"))));
}

TEST_F(RegressionCommand, SaysWhatIsWrong) {
  write_graphs(folder_ / "BOTH", made_set(24, true), Format::tu);
  GraphSet labels_alone = made_set(24, true);
  labels_alone.targets.clear();
  labels_alone.target_dim = 0;
  write_graphs(folder_ / "LABELS", labels_alone, Format::tu);
  write_graphs(folder_ / "EDGES", made_set(24, false), Format::tu);
  const auto complaint = [&](const std::string& data, const std::vector<std::string>& more) {
    const RunResult r = train(path(data), "never", more);
    EXPECT_EQ(r.exit_code, 2) << r.out;
    EXPECT_FALSE(std::filesystem::exists(folder_ / "never"));
    return r.err;
  };
  EXPECT_THAT(complaint("LABELS", {"--target", "attributes"}), HasSubstr("the graphs have no real targets to learn"));
  EXPECT_THAT(complaint("EDGES", {"--target", "labels"}), HasSubstr("the graphs have no labels, but real targets"));
  EXPECT_THAT(complaint("BOTH", {"--loss", "huber"}), HasSubstr("must be cross-entropy where labels are learned"));
  EXPECT_THAT(complaint("EDGES", {"--loss", "cross-entropy"}), HasSubstr("must be squared, absolute, huber or binary"));
  EXPECT_THAT(complaint("EDGES", {"--loss", "cubic"}),
              HasSubstr("expected cross-entropy, squared, absolute, huber or binary, found 'cubic'"));
  EXPECT_THAT(complaint("BOTH", {"--target", "colour"}),
              HasSubstr("expected labels, attributes, node-labels, node-targets or edge-targets, found 'colour'"));
  EXPECT_THAT(complaint("BOTH", {"--class-weights", "1,2,3"}), HasSubstr("2 numbers from 0 on, separated by commas"));
  EXPECT_THAT(complaint("EDGES", {"--class-weights", "balanced"}), HasSubstr("real targets have no classes"));
  const std::filesystem::path file = folder_ / "EDGES/EDGES_graph_attributes.txt";
  std::string text = read_file(file);
  text.replace(0, text.find(','), "nan");
  write_file(file, text);
  EXPECT_THAT(complaint("EDGES", {}), AllOf(HasSubstr("EDGES_graph_attributes.txt"), HasSubstr("line 1")));
}

}  // namespace
}  // namespace tyche
