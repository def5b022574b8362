// tyche train and tyche predict as a user calls them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <thread>

#include "graph/io.hpp"
#include "support/npy.hpp"
#include "support/replaced.hpp"
#include "support/run_program.hpp"
#include "support/small_disk.hpp"
#include "train/checkpoint.hpp"
#include "train/golden.hpp"
#include "train/metrics.hpp"
#include "train/run_contents.hpp"
#include "train/samples.hpp"

namespace tyche {
namespace {

using testing::AllOf;
using testing::HasSubstr;
namespace fs = std::filesystem;

class TrainCommand : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  /// Writes graphs under a name and returns its path.
  std::string data(const std::string& name, const GraphSet& set, Format format = Format::gin) const {
    write_graphs(folder_ / name, set, format);
    return path(name);
  }

  /// tyche train on a tiny model, with other options in place of these or beside them.
  RunResult train(const std::string& data, const std::string& out, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> args = {"train", "--recipe", "paper", "--data", data, "--out", path(out), "--quiet"};
    const std::vector<std::pair<std::string, std::string>> tiny = {
        {"--width", "8"}, {"--layers", "2"}, {"--rni", "0.5"}, {"--epochs", "3"}, {"--batch", "4"}, {"--folds", "3"}};
    for (const auto& [name, value] : tiny) {
      if (std::find(more.begin(), more.end(), name) == more.end()) args.insert(args.end(), {name, value});
    }
    args.insert(args.end(), more.begin(), more.end());
    return run_program(args);
  }

  TemporaryFolder folder_;
};

TEST_F(TrainCommand, TrainsAndSaysWhatCameOut) {
  const std::string file = data("small.txt", train::small_dataset().set);
  const RunResult r = run_program({"train", "--recipe", "paper", "--data", file, "--out", path("run"), "--width", "8",
                                   "--layers", "2", "--rni", "0.5", "--epochs", "3", "--folds", "3"});
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_THAT(r.err, AllOf(HasSubstr("24 graphs"), HasSubstr("1118 parameters, 4 of 8 input dimensions random"),
                           HasSubstr("engine  ")));
  EXPECT_THAT(r.out, AllOf(HasSubstr("test acc %"), HasSubstr("over 3 folds")));
  for (const char* name : {"config.toml", "summary.json", "fold-0/metrics.jsonl", "fold-2/last.safetensors"}) {
    EXPECT_TRUE(fs::exists(folder_ / "run" / name)) << name;
  }
}

TEST_F(TrainCommand, AnswersInJson) {
  const RunResult r = train(data("small.txt", train::small_dataset().set), "run", {"--json", "--fold", "1"});
  ASSERT_EQ(r.exit_code, 0) << r.err;
  EXPECT_EQ(r.err, "");
  const auto json = nlohmann::json::parse(r.out);
  EXPECT_EQ(json["folds"].size(), 1u);
  EXPECT_EQ(json["folds"][0]["fold"], 1);
  EXPECT_EQ(json["test_accuracy_mean"], json["folds"][0]["test_accuracy"]);
  EXPECT_EQ(json["complete"], true);
  auto file = nlohmann::json::parse(read_file(folder_ / "run/summary.json"));
  EXPECT_EQ(file.erase("check"), 1u);
  EXPECT_EQ(json, file);
}

TEST_F(TrainCommand, TrainsOnAFolderWithThreeClassesNodeLabelsAndAttributes) {
  GraphSet set = train::small_dataset(36, 3, true).set;
  // What users' data also has: a graph without edges and a graph of one node.
  set.graphs =
      replaced(replaced(set.graphs, 4, Graph::from_edges(4, {}, {0, 1, 1, 0})), 5, Graph::from_edges(1, {}, {1}));
  set.attributes = replaced(replaced(set.attributes, 4, std::vector<float>(8, 0.5f)), 5, std::vector<float>(2, -0.5f));
  const std::string folder = data("THREE", set, Format::tu);
  const RunResult r = train(folder, "run", {"--fold-scheme", "stratified"});
  ASSERT_EQ(r.exit_code, 0) << r.err;
  const train::RunConfig config = train::read_config(folder_ / "run/config.toml");
  EXPECT_EQ(config.model.classes, 3u);
  EXPECT_EQ(config.model.input_features, 4u);
  const RunResult p =
      run_program({"predict", "--checkpoint", path("run/fold-0/last.safetensors"), "--data", folder, "--json"});
  ASSERT_EQ(p.exit_code, 0) << p.err;
  const auto json = nlohmann::json::parse(p.out);
  EXPECT_EQ(json["predictions"].size(), 36u);
  EXPECT_TRUE(json.contains("accuracy"));
}

TEST_F(TrainCommand, RefusesDataItCannotLearnFrom) {
  const auto expect = [&](const std::string& file, const std::string& words) {
    const RunResult r = train(file, "run");
    EXPECT_EQ(r.exit_code, 2) << words;
    EXPECT_THAT(r.err, HasSubstr(words));
    EXPECT_FALSE(fs::exists(folder_ / "run")) << "a folder was made for nothing";
  };
  GraphSet set = train::small_dataset().set;
  expect(path("nowhere.txt"), "nowhere.txt");
  expect(data("plain.g6", set, Format::graph6), "no labels");
  GraphSet one = set;
  one.graphs = one.graphs.first(1), one.labels.resize(1);
  expect(data("one.txt", one), "at least two");
  GraphSet same = set;
  same.labels.assign(same.labels.size(), 1);
  expect(data("same.txt", same), "every graph has the label 1");
  GraphSet two = set;
  two.graphs = two.graphs.first(2), two.labels.resize(2);
  expect(data("two.txt", two), "3 folds asked, but the data set has 2 graphs");
}

TEST_F(TrainCommand, RefusesAnAttributeThatIsNoNumber) {
  GraphSet set = train::small_dataset(24, 2, true).set;
  set.name = "ATTR";
  const std::string folder = data("ATTR", set, Format::tu);
  std::string text = read_file(folder_ / "ATTR/ATTR_node_attributes.txt");
  text.replace(0, text.find_first_of(",\n"), "nan");
  write_file(folder_ / "ATTR/ATTR_node_attributes.txt", text);
  const RunResult r = train(folder, "run");
  EXPECT_EQ(r.exit_code, 2);
  EXPECT_THAT(r.err, HasSubstr("nan"));
}

TEST_F(TrainCommand, RefusesOptionsThatMakeNoSense) {
  const std::string file = data("small.txt", train::small_dataset().set);
  const auto expect = [&](std::vector<std::string> more, const std::string& words) {
    const RunResult r = train(file, "run", more);
    EXPECT_EQ(r.exit_code, 2) << words;
    EXPECT_THAT(r.err, HasSubstr(words));
  };
  expect({"--rni", "50"}, "rni is 50");
  expect({"--lr", "0"}, "--lr must be above 0");
  expect({"--activation", "sigmoid"}, "sigmoid");
  expect({"--engine", "abacus"}, "abacus");
  expect({"--fold", "3"}, "numbered 0 to 2");
  expect({"--epochs", "0"}, "--epochs must be at least 1; came 0");
  expect({"--model", "transformer"}, "transformer");
  expect({"--validation", "1"}, "validation share");
  EXPECT_THAT(run_program({"train", "--out", path("run")}).err, HasSubstr("--data is required"));
  EXPECT_THAT(run_program({"train", "--resume", "--out", path("run")}).err, HasSubstr("no run to resume"));
  EXPECT_FALSE(fs::exists(folder_ / "run"));
}

TEST_F(TrainCommand, RefusesWhatTheModelDoesNotUse) {
  const std::string file = data("small.txt", train::small_dataset().set);
  const auto expect = [&](std::vector<std::string> more, const std::string& words) {
    const RunResult r = train(file, "run", more);
    EXPECT_EQ(r.exit_code, 2) << words;
    EXPECT_THAT(r.err, HasSubstr(words));
  };
  expect({"--mlp-depth", "3"}, "--mlp-depth is 3, but gcn has no use for it: that is for ppgn");
  expect({"--no-compress"}, "--no-compress is false, but gcn has no use for it");
  expect({"--model", "gcn3", "--rni", "0.5"}, "--rni is 0.5, but gcn3 has no use for it: random node features");
  expect({"--model", "gcn3", "--rni", "0", "--two-sets", "all"}, "--two-sets is \"all\", but gcn3");
  expect({"--model", "ppgn", "--rni", "0", "--dropout", "0.1"}, "--dropout is 0.1, but ppgn has no use for it");
  expect({"--width", "5000000000"}, "--width: expected a whole number from 0 to 4294967295, found 5000000000");
  EXPECT_FALSE(fs::exists(folder_ / "run"));
}

TEST_F(TrainCommand, OneFoldTrainsAndTestsOnAllGraphsAndSaysSo) {
  const std::string file = data("small.txt", train::small_dataset().set);
  const RunResult r = train(file, "run", {"--folds", "1"});
  ASSERT_EQ(r.exit_code, 0) << r.err;
  EXPECT_THAT(r.out, AllOf(HasSubstr("train accuracy"), HasSubstr("trained and tested on the same graphs")));
  const auto summary = nlohmann::json::parse(read_file(folder_ / "run/summary.json"));
  EXPECT_EQ(summary["note"], "trained and tested on the same graphs");
  EXPECT_EQ(train::read_config(folder_ / "run/config.toml").folds.validation, 0);
  const RunResult again = run_program({"train", "--resume", "--out", path("run"), "--epochs", "4"});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_THAT(again.err, HasSubstr("folds   one: trained and tested on the same graphs"));
  EXPECT_FALSE(nlohmann::json::parse(train(file, "ten", {"--json"}).out).contains("note"));
  EXPECT_THAT(
      train(file, "aside", {"--folds", "1", "--validation", "0.2"}).err,
      HasSubstr("--validation is 0.2, but one fold trains on all graphs that are not to choose the best epoch"));
  EXPECT_THAT(train(file, "none", {"--folds", "0"}).err, HasSubstr("--folds must be at least 1; came 0"));
}

TEST_F(TrainCommand, LengthensARunToTheBitsOfALongOne) {
  const std::string file = data("small.txt", train::small_dataset().set);
  ASSERT_EQ(train(file, "long", {"--epochs", "6"}).exit_code, 0);
  ASSERT_EQ(train(file, "run").exit_code, 0);
  const RunResult more = run_program({"train", "--resume", "--out", path("run"), "--epochs", "6"});
  EXPECT_EQ(more.exit_code, 0) << more.err;
  EXPECT_THAT(more.err, HasSubstr("resuming: 9 epochs done, 9 to go"));
  EXPECT_EQ(train::run_contents(folder_ / "run"), train::run_contents(folder_ / "long"));
  const RunResult done = run_program({"train", "--resume", "--out", path("run")});
  EXPECT_EQ(done.exit_code, 0);
  EXPECT_THAT(done.err, HasSubstr("complete: nothing is left to train"));
  EXPECT_THAT(done.out, HasSubstr("over 3 folds"));
}

TEST_F(TrainCommand, RefusesToResumeADifferentRun) {
  GraphSet set = train::small_dataset().set;
  const std::string file = data("small.txt", set);
  ASSERT_EQ(train(file, "run").exit_code, 0);
  EXPECT_THAT(train(file, "run").err, HasSubstr("holds a run already; add --resume"));
  const RunResult other = run_program({"train", "--resume", "--out", path("run"), "--lr", "0.5", "--width", "9"});
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_THAT(other.err,
              AllOf(HasSubstr("model.width: the run has 8, asked for 9"), HasSubstr("training.learning_rate")));
  std::swap(set.labels[0], set.labels[1]);
  data("small.txt", set);
  const RunResult changed = run_program({"train", "--resume", "--out", path("run"), "--epochs", "9"});
  EXPECT_EQ(changed.exit_code, 2);
  EXPECT_THAT(changed.err, HasSubstr("the data's content changed"));
}

TEST_F(TrainCommand, GivesTheSameBitsOnAnyNumberOfThreads) {
  const std::string file = data("small.txt", train::small_dataset().set);
  ASSERT_EQ(train(file, "one", {"--threads", "1"}).exit_code, 0);
  for (const char* threads : {"2", "3", "4"}) {
    ASSERT_EQ(train(file, threads, {"--threads", threads}).exit_code, 0);
    EXPECT_EQ(train::run_contents(folder_ / threads), train::run_contents(folder_ / "one")) << threads << " threads";
  }
}

TEST_F(TrainCommand, SaysSoWhereTheDiskIsFullAndGoesOnLater) {
  const std::string file = data("small.txt", train::small_dataset().set);
  ASSERT_EQ(train(file, "whole").exit_code, 0);
  {
    const SmallDisk disk(6000);  // checkpoints are larger
    const RunResult r = train(file, "run");
    EXPECT_EQ(r.exit_code, 2);
    EXPECT_THAT(r.err, AllOf(HasSubstr("last.safetensors: cannot write"), HasSubstr("--resume")));
  }
  EXPECT_EQ(run_program({"train", "--resume", "--out", path("run")}).exit_code, 0);
  EXPECT_EQ(train::run_contents(folder_ / "run"), train::run_contents(folder_ / "whole"));
}

TEST_F(TrainCommand, StopsAtCtrlCAndSaysHowToGoOn) {
  const std::string file = data("small.txt", train::small_dataset().set);
  std::vector<std::string> args = {"train", "--recipe", "paper", "--data",  file, "--out",    path("run"), "--width",
                                   "8",     "--layers", "2",     "--folds", "3",  "--epochs", "100000"};
  StartedProgram child(args);
  while (!fs::exists(folder_ / "run/fold-0/last.safetensors"))
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  child.signal(SIGINT);
  const RunResult r = child.wait();
  EXPECT_EQ(r.exit_code, 130) << r.err;
  EXPECT_THAT(r.err, HasSubstr("go on with 'tyche train --resume --out"));
  EXPECT_EQ(nlohmann::json::parse(read_file(folder_ / "run/summary.json"))["complete"], false);
  const train::Checkpoint checkpoint = train::read_checkpoint(folder_ / "run/fold-0/last.safetensors");
  EXPECT_EQ(train::read_metrics(folder_ / "run/fold-0/metrics.jsonl", checkpoint.state.epoch).bytes,
            fs::file_size(folder_ / "run/fold-0/metrics.jsonl"));
}

TEST_F(TrainCommand, ShowsHelpWithAnExample) {
  for (const char* command : {"train", "predict"}) {
    const RunResult r = run_program({command, "--help"});
    EXPECT_EQ(r.exit_code, 0);
    EXPECT_THAT(r.out, HasSubstr(std::string("  tyche ") + command));
  }
}

class PredictCommand : public TrainCommand {
 protected:
  PredictCommand() : golden_(train::read_golden("gcn_rni50_elu")), set_(train::golden_graphs(golden_)) {
    const train::Checkpoint checkpoint = train::golden_checkpoint(golden_);
    train::CheckpointWriter(checkpoint.config, 0).write(folder_ / "golden.safetensors", checkpoint.state);
    file_ = data("golden.txt", set_);
  }
  RunResult predict(const std::vector<std::string>& more) const {
    std::vector<std::string> args = {"predict", "--checkpoint", path("golden.safetensors"), "--data", file_};
    args.insert(args.end(), more.begin(), more.end());
    return run_program(args);
  }
  TensorFile golden_;
  GraphSet set_;
  std::string file_;
};

TEST_F(PredictCommand, ReproducesPyTorchsLogitsWithPinnedFeatures) {
  const auto& shape = golden_.at("in.random_features").shape;
  write_npy_matrix(folder_ / "x.npy", {shape[0], shape[1], golden_.get<float>("in.random_features")});
  const RunResult r = predict({"--features", path("x.npy"), "--logits", "--json"});
  ASSERT_EQ(r.exit_code, 0) << r.err;
  const auto json = nlohmann::json::parse(r.out);
  const std::vector<float> expected = golden_.get<float>("out.logits");
  float largest = 0;
  for (const float z : expected) largest = std::max(largest, std::abs(z));
  ASSERT_EQ(json["predictions"].size(), 6u);
  std::size_t right = 0;
  for (std::size_t g = 0; g < 6; ++g) {
    const auto& entry = json["predictions"][g];
    for (std::size_t c = 0; c < 2; ++c) {
      EXPECT_NEAR(entry["logits"][c].get<float>(), expected[2 * g + c], 2e-5 * largest) << "graph " << g;
    }
    const int label = expected[2 * g + 1] > expected[2 * g] ? 1 : 0;
    EXPECT_EQ(entry["label"], label);
    EXPECT_EQ(entry["spread"], 0.0);
    right += label == set_.labels[g] ? 1 : 0;
  }
  EXPECT_DOUBLE_EQ(json["accuracy"], static_cast<double>(right) / 6);
}

TEST_F(PredictCommand, PrintsATableAndRepeatsItself) {
  const RunResult r = predict({"--draws", "5", "--seed", "3"});
  EXPECT_EQ(r.exit_code, 0);
  EXPECT_THAT(r.out, AllOf(HasSubstr("probability"), HasSubstr("accuracy")));
  EXPECT_EQ(predict({"--draws", "5", "--seed", "3", "--threads", "3"}).out, r.out);
  EXPECT_NE(predict({"--draws", "5", "--seed", "4"}).out, r.out);
}

TEST_F(PredictCommand, RefusesWhatDoesNotFitInWords) {
  write_npy_matrix(folder_ / "x.npy", {.rows = 3, .columns = 2, .values = std::vector<float>(6, 0.0f)});
  const auto expect = [&](const RunResult& r, const std::string& words) {
    EXPECT_EQ(r.exit_code, 2) << words;
    EXPECT_THAT(r.err, HasSubstr(words));
  };
  expect(predict({"--features", path("x.npy")}), "x.npy: has the shape 3 × 2; expected 48 × 8");
  expect(predict({"--features", path("golden.txt")}), "is not a .npy file");
  expect(predict({"--draws", "0"}), "at least one draw");
  expect(run_program({"predict", "--checkpoint", file_, "--data", file_}), "golden.txt");
  const std::string folder = data("ATTR", train::small_dataset(6, 2, true).set, Format::tu);
  EXPECT_EQ(run_program({"predict", "--checkpoint", path("golden.safetensors"), "--data", folder}).exit_code, 2);
}

}  // namespace
}  // namespace tyche
