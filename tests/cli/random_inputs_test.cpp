// tyche train --random and tyche predict on what it gives, as a user calls them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "graph/io.hpp"
#include "support/npy.hpp"
#include "support/run_program.hpp"
#include "train/run_contents.hpp"

namespace tyche {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// A ring of 2n nodes (label 0) beside two of n (label 1): refinement alone sees one colour.
GraphSet rings() {
  GraphSet set;
  for (Node n = 3; n < 9; ++n) {
    std::vector<Edge> one, two;
    for (Node v = 0; v < n; ++v) {
      two.emplace_back(v, (v + 1) % n);
      two.emplace_back(n + v, n + (v + 1) % n);
    }
    for (Node v = 0; v < 2 * n; ++v) one.emplace_back(v, (v + 1) % (2 * n));
    for (const auto* edges : {&one, &two}) {
      set.graphs.push_back(Graph::from_edges(2 * n, *edges));
      set.labels.push_back(edges == &one ? 0 : 1);
    }
  }
  return set;
}

class RandomInputs : public testing::Test {
 protected:
  RandomInputs() { write_graphs(folder_ / "rings.txt", rings(), Format::gin); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  RunResult train(const std::string& out, const std::vector<std::string>& more) const {
    std::vector<std::string> args = {"train",   "--recipe", "paper",   "--data", path("rings.txt"), "--out", path(out),
                                     "--folds", "3",        "--width", "8",      "--batch",         "4"};
    args.insert(args.end(), more.begin(), more.end());
    return run_program(args);
  }
  TemporaryFolder folder_;
};

TEST_F(RandomInputs, TrainWithDefaultsOfTheirOwn) {
  const RunResult r = train("run", {"--random", "colours", "--epochs", "2"});
  ASSERT_EQ(r.exit_code, 0) << r.err;
  EXPECT_THAT(r.err, HasSubstr("16 random input columns: colours, depth leaf"));
  EXPECT_THAT(read_file(folder_ / "run/config.toml"),
              AllOf(HasSubstr("random = \"colours\""), HasSubstr("depth = \"leaf\""), HasSubstr("layers = 4"),
                    HasSubstr("learning_rate = 0.0005")));
}

TEST_F(RandomInputs, GiveTheSameBitsOnAnyNumberOfThreadsAndTakenUpAgain) {
  for (const std::string random : {"colours", "marks", "uniform-marks", "class-marks"}) {
    const std::vector<std::string> options = {"--random", random, "--layers", "1", "--quiet"};
    const auto with = [&](std::vector<std::string> more) {
      more.insert(more.end(), options.begin(), options.end());
      return more;
    };
    ASSERT_EQ(train("one " + random, with({"--epochs", "4", "--threads", "1"})).exit_code, 0);
    ASSERT_EQ(train("four " + random, with({"--epochs", "4", "--threads", "4"})).exit_code, 0);
    ASSERT_EQ(train("parts " + random, with({"--epochs", "2"})).exit_code, 0);
    ASSERT_EQ(
        run_program({"train", "--resume", "--out", path("parts " + random), "--epochs", "4", "--quiet"}).exit_code, 0);
    const auto whole = train::run_contents(folder_ / ("one " + random));
    EXPECT_EQ(train::run_contents(folder_ / ("four " + random)), whole) << random;
    EXPECT_EQ(train::run_contents(folder_ / ("parts " + random)), whole) << random;
  }
}

TEST_F(RandomInputs, PredictAveragesDrawsAndTakesNoFeatures) {
  // Two nodes of a ring may be near or far; paths of a ring all look alike.
  ASSERT_EQ(train("run", {"--random", "uniform-marks", "--depth", "2", "--epochs", "2"}).exit_code, 0);
  const std::vector<std::string> call = {"predict", "--checkpoint", path("run/fold-0/last.safetensors"), "--data",
                                         path("rings.txt")};
  const auto predict = [&](std::vector<std::string> more) {
    more.insert(more.begin(), call.begin(), call.end());
    return run_program(more);
  };
  const RunResult one = predict({"--draws", "1", "--json"}), many = predict({"--draws", "8", "--json"});
  ASSERT_EQ(many.exit_code, 0) << many.err;
  EXPECT_NE(one.out, many.out);
  write_npy_matrix(folder_ / "x.npy", NpyMatrix{1, 1, {0.5f}});
  const RunResult pinned = predict({"--features", path("x.npy")});
  EXPECT_EQ(pinned.exit_code, 2);
  EXPECT_THAT(pinned.err, HasSubstr("random inputs are uniform-marks, which are drawn"));
}

TEST_F(RandomInputs, CallsThatMakeNoSenseAreRefused) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> calls = {
      {{"--random", "colors"}, "unknown random input 'colors'; there are features, marks, colours"},
      {{"--random", "colours", "--rni", "0.5"}, "--rni is 0.5, but it belongs to random features"},
      {{"--random", "marks", "--rni-dist", "uniform"}, "it belongs to random features"},
      {{"--random", "colours", "--depth", "0"}, "expected a whole number from 1"},
      {{"--random", "marks", "--depth", "1000000"}, "1 to 1024"},
      {{"--random", "marks", "--depth", "leaf"}, "depth is leaf"},
      {{"--depth", "2"}, "random features have no depth"},
      {{"--model", "gcn3", "--random", "colours"}, "gcn3 has no random colours: marks and colours"},
  };
  for (const auto& [options, complaint] : calls) {
    const RunResult r = train("none", options);
    EXPECT_EQ(r.exit_code, 2) << complaint;
    EXPECT_THAT(r.err, HasSubstr(complaint));
  }
}

}  // namespace
}  // namespace tyche
