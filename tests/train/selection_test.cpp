// What the validation part is for: choosing an epoch, stopping early, and a test part that waits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "datasets/split.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "support/progress.hpp"
#include "support/temporary_folder.hpp"
#include "train/metrics.hpp"
#include "train/predict.hpp"
#include "train/run.hpp"
#include "train/run_contents.hpp"
#include "train/samples.hpp"

namespace tyche::train {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;
namespace fs = std::filesystem;

EpochRecord validated(std::uint32_t epoch, double loss, double accuracy = 0.5) {
  EpochRecord record;
  record.epoch = epoch;
  record.metrics.set("validation_loss", loss);
  record.metrics.set("validation_accuracy", accuracy);
  return record;
}

TEST(BestEpoch, IsTheFirstOfTheSmallestLosses) {
  BestEpoch best({.by = "loss", .early_stopping = true, .patience = 2});
  EXPECT_FALSE(best.epoch().has_value());
  EXPECT_TRUE(best.take(validated(1, 0.7)));
  EXPECT_TRUE(best.take(validated(2, 0.5)));
  EXPECT_FALSE(best.take(validated(3, 0.5)));
  EXPECT_EQ(best.epoch(), 2u);
  EXPECT_FALSE(best.given_up(3));
  EXPECT_TRUE(best.given_up(4));
}

TEST(BestEpoch, IsTheFirstOfTheLargestAccuracies) {
  BestEpoch best({.by = "accuracy"});
  EXPECT_TRUE(best.take(validated(1, 0.7, 0.5)));
  EXPECT_TRUE(best.take(validated(2, 0.9, 0.75)));
  EXPECT_FALSE(best.take(validated(3, 0.1, 0.75)));
  EXPECT_EQ(best.epoch(), 2u);
  EXPECT_EQ(best.value(), 0.75);
  EXPECT_FALSE(best.given_up(1000)) << "nobody asked to stop early";
}

TEST(BestEpoch, IsNoneOfThoseThatWereNotValidatedOrNotToANumber) {
  BestEpoch best({.by = "loss", .early_stopping = true, .patience = 3});
  EXPECT_FALSE(best.take(EpochRecord{.epoch = 1, .train_loss = 0, .metrics = {}, .seconds = 0, .eval_seconds = 0}));
  EXPECT_FALSE(best.take(validated(2, std::nan(""))));
  EXPECT_FALSE(best.epoch().has_value());
  EXPECT_TRUE(best.given_up(3)) << "a fold that never has a number ends too";
  BestEpoch off;
  EXPECT_FALSE(off.take(validated(1, 0.1)));
}

class SelectionTest : public testing::Test {
 protected:
  SelectionTest() : dataset_(small_dataset(36)) {
    config_ = small_config(dataset_, 12);
    config_.folds.scheme = datasets::FoldScheme::stratified;
    config_.folds.validation = 0.25;
    config_.training.learning_rate = 0.03;  // too large: the validation loss soon grows
    config_.selection.by = "loss";
  }
  ~SelectionTest() override { set_interrupted(false); }
  Summary train(const fs::path& folder, unsigned threads = 1, const std::string& engine = "auto") {
    const TrainingData data = prepare(dataset_, config_);
    return train::Run::begin(folder, config_, data).train(*engine::make_engine(engine, threads), nullptr);
  }
  std::vector<EpochRecord> records(const fs::path& run, std::uint32_t fold, std::uint32_t epochs) {
    return read_metrics(run / ("fold-" + std::to_string(fold)) / "metrics.jsonl", epochs).records;
  }

  datasets::Dataset dataset_;
  RunConfig config_;
  TemporaryFolder folder_;
};

TEST_F(SelectionTest, RecordsWhatPredictSaysOfTheValidationPart) {
  const Summary summary = train(folder_ / "run");
  const TrainingData data = prepare(dataset_, config_);
  for (std::uint32_t fold = 0; fold < 3; ++fold) {
    const fs::path in = folder_ / ("run/fold-" + std::to_string(fold));
    const EpochRecord last = records(folder_ / "run", fold, 12).back();
    const Checkpoint checkpoint = read_checkpoint(in / "last.safetensors");
    // The loss by hand, from the logits of the draw that the evaluation used.
    const auto& graphs = data.folds[fold].validation;
    const engine::Logits logits =
        engine::make_engine("auto", 1)->predict(data.job(config_), checkpoint.state.parameters, graphs,
                                                {.seed = 1, .index = 0, .fold = fold, .epoch = 12, .pinned = {}});
    double loss = 0, right = 0;
    for (std::size_t i = 0; i < graphs.size(); ++i) {
      const double a = logits.values[2 * i], b = logits.values[2 * i + 1];
      const bool second = data.classes[graphs[i]] == 1;
      loss += std::log(std::exp(a) + std::exp(b)) - (second ? b : a);
      right += (b > a) == second ? 1 : 0;
    }
    const auto count = static_cast<double>(graphs.size());
    EXPECT_NEAR(last.metrics.find("validation_loss").value(), loss / count, 1e-5);
    EXPECT_NEAR(last.metrics.find("validation_accuracy").value(), right / count, 1e-12);
  }
  EXPECT_TRUE(summary.complete);
}

TEST_F(SelectionTest, ChangesNoBitOfTraining) {
  train(folder_ / "chosen");
  config_.selection.by = "none";
  train(folder_ / "plain");
  for (std::uint32_t fold = 0; fold < 3; ++fold) {
    const auto with = records(folder_ / "chosen", fold, 12), without = records(folder_ / "plain", fold, 12);
    for (std::size_t e = 0; e < 12; ++e) {
      EXPECT_EQ(with[e].train_loss, without[e].train_loss);
      EXPECT_EQ(with[e].metrics.find("test_accuracy"), without[e].metrics.find("test_accuracy"));
      EXPECT_FALSE(without[e].metrics.find("validation_loss").has_value()) << "nobody asked";
    }
    EXPECT_FALSE(fs::exists(folder_ / ("plain/fold-" + std::to_string(fold) + "/best.safetensors")));
  }
}

TEST_F(SelectionTest, KeepsTheBestCheckpointBesideTheLast) {
  const Summary summary = train(folder_ / "run");
  bool earlier = false;
  for (std::uint32_t fold = 0; fold < 3; ++fold) {
    const auto all = records(folder_ / "run", fold, 12);
    std::uint32_t best = 1;
    for (std::uint32_t e = 2; e <= 12; ++e) {
      if (*all[e - 1].metrics.find("validation_loss") < *all[best - 1].metrics.find("validation_loss")) best = e;
    }
    earlier = earlier || best < 12;
    const fs::path in = folder_ / ("run/fold-" + std::to_string(fold));
    EXPECT_EQ(read_checkpoint(in / "best.safetensors").state.epoch, best);
    EXPECT_EQ(read_checkpoint(in / "last.safetensors").state.epoch, 12u);
    EXPECT_EQ(summary.folds[fold].best->epoch, best);
    EXPECT_EQ(summary.folds[fold].reported->epoch, best);
  }
  EXPECT_TRUE(earlier) << "a test in which the last epoch is always the best shows nothing";
  const auto json = nlohmann::json::parse(read_file(folder_ / "run/summary.json"));
  EXPECT_EQ(json["folds"][0]["best_epoch"], summary.folds[0].best->epoch);
  EXPECT_TRUE(json["folds"][0].contains("validation_loss"));
}

TEST_F(SelectionTest, StopsWhereTheLongRunWouldHaveGivenUp) {
  train(folder_ / "long");
  config_.selection.early_stopping = true;
  config_.selection.patience = 2;
  const Summary summary = train(folder_ / "short");
  EXPECT_TRUE(summary.complete);
  bool stopped = false;
  for (std::uint32_t fold = 0; fold < 3; ++fold) {
    const auto all = records(folder_ / "long", fold, 12);
    BestEpoch best(config_.selection);
    std::uint32_t end = 0;
    while (end < 12 && !best.given_up(end)) best.take(all[end++]);
    stopped = stopped || end < 12;
    EXPECT_EQ(summary.folds[fold].epochs, end);
    EXPECT_EQ(read_checkpoint(folder_ / ("short/fold-" + std::to_string(fold)) / "last.safetensors").state.epoch, end);
  }
  EXPECT_TRUE(stopped);
  // And it is over: resuming changes nothing.
  const auto before = run_contents(folder_ / "short");
  const TrainingData data = prepare(dataset_, config_);
  train::Run again = train::Run::resume(folder_ / "short", config_, data);
  EXPECT_EQ(again.epochs_left(), 0u);
  again.train(*engine::make_engine("auto", 1), nullptr);
  EXPECT_EQ(run_contents(folder_ / "short"), before);
}

TEST_F(SelectionTest, HasTheSameBitsOnThreadsAndAfterStops) {
  config_.selection = {.by = "accuracy", .early_stopping = true, .patience = 4, .test = "end"};
  config_.training.schedule = {
      .kind = engine::ScheduleKind::plateau, .warm_up = 1, .plateau_factor = 0.5, .patience = 0};
  config_.training.optimiser = {.clip_norm = 0.5, .weight_decay = 0.01};
  config_.training.eval_every = 2;
  const TrainingData data = prepare(dataset_, config_);
  train(folder_ / "whole");
  const auto whole = run_contents(folder_ / "whole");
  train(folder_ / "threads", 3);
  EXPECT_EQ(run_contents(folder_ / "threads"), whole);
  struct Counting : Progress {
    explicit Counting(std::uint32_t most) : Progress("epochs", 36, nullptr), left(most) {}
    void add(std::uint64_t count, const std::string& note) override {
      Progress::add(count, note);
      if (--left == 0) set_interrupted(true);
    }
    std::uint32_t left;
  };
  for (const std::uint32_t epochs : {1u, 3u, 6u}) {
    const fs::path path = folder_ / ("stopped" + std::to_string(epochs));
    Counting counting(epochs);
    EXPECT_FALSE(train::Run::begin(path, config_, data).train(*engine::make_engine("auto", 1), &counting).complete);
    set_interrupted(false);
    EXPECT_TRUE(train::Run::resume(path, config_, data).train(*engine::make_engine("auto", 2), nullptr).complete);
    EXPECT_EQ(run_contents(path), whole) << "stopped after " << epochs;
  }
}

TEST_F(SelectionTest, ATestPartThatWaitsIsNotSeenBeforeTheEnd) {
  config_.selection.test = "end";
  train(folder_ / "end");
  config_.selection.test = "epochs";
  const Summary seen = train(folder_ / "epochs");
  for (std::uint32_t fold = 0; fold < 3; ++fold) {
    const fs::path in = folder_ / ("end/fold-" + std::to_string(fold));
    EXPECT_EQ(read_file(in / "metrics.jsonl").find("test_"), std::string::npos);
    const auto json = nlohmann::json::parse(read_file(in / "test.json"));
    EXPECT_EQ(json["epoch"], seen.folds[fold].best->epoch);
    EXPECT_EQ(json["test_accuracy"], seen.folds[fold].best->metrics.find("test_accuracy").value());
  }
  config_.selection.test = "never";
  const Summary blind = train(folder_ / "never");
  EXPECT_TRUE(blind.complete);
  EXPECT_EQ(blind.find("test_accuracy"), nullptr);
  EXPECT_FALSE(fs::exists(folder_ / "never/fold-0/test.json"));
}

TEST_F(SelectionTest, PermutingTheTestLabelsChangesTheTestAlone) {
  const datasets::Fold fold = prepare(dataset_, config_).folds[1];
  const nlohmann::json split = {{"train", fold.train}, {"validation", fold.validation}, {"test", fold.test}};
  write_file(folder_ / "split.json", split.dump());
  for (const char* name : {"plain", "permuted"}) {
    if (name == std::string("permuted")) {
      // The data's hash, which knows labels, is left as it was.
      for (const std::uint32_t g : fold.test) dataset_.set.labels[g] = dataset_.set.labels[g] == 3 ? 5 : 3;
    }
    RunConfig own = config_;
    own.selection.test = "end";
    own.folds = {};
    own.folds.split = (folder_ / "split.json").string();
    resolve(own, dataset_, "small");
    const TrainingData parts = prepare(dataset_, own);
    (void)train::Run::begin(folder_ / name, own, parts).train(*engine::make_engine("auto", 1), nullptr);
  }
  auto plain = run_contents(folder_ / "plain"), permuted = run_contents(folder_ / "permuted");
  const auto accuracy = [](const std::string& text) {
    return nlohmann::json::parse(text)["test_accuracy"].get<double>();
  };
  EXPECT_NEAR(accuracy(plain["fold-0/test.json"]) + accuracy(permuted["fold-0/test.json"]), 1, 1e-12);
  for (const char* file : {"fold-0/test.json", "summary.json"}) {
    plain.erase(file);
    permuted.erase(file);
  }
  EXPECT_EQ(plain, permuted);
}

TEST_F(SelectionTest, WantsAValidationPartWithEveryClass) {
  config_.folds.validation = 0;
  EXPECT_THAT([&] { (void)prepare(dataset_, config_); },
              ThrowsMessage<InputError>(HasSubstr("fold 0 has no validation")));
  config_.folds.validation = 0.25;
  config_.folds.scheme = datasets::FoldScheme::contiguous;
  std::sort(dataset_.set.labels.begin(), dataset_.set.labels.end());
  config_.version = "0.2.0";  // which took sorted labels
  config_.selection.by = "roc_auc";
  EXPECT_THAT([&] { (void)prepare(dataset_, config_); },
              ThrowsMessage<InputError>(HasSubstr("the validation part has no graph with label 5")));
  config_.selection.by = "loss";
  EXPECT_NO_THROW((void)prepare(dataset_, config_)) << "a loss takes what is there";
}

TEST_F(SelectionTest, ChoosesByAnyScoreOfTheValidationPart) {
  for (const char* measure : {"balanced_accuracy", "f1", "roc_auc", "average_precision"}) {
    config_.selection.by = measure;
    validate(config_);
    const Summary summary = train(folder_ / measure);
    const auto all = records(folder_ / measure, 0, 12);
    const std::string name = std::string("validation_") + measure;
    double best = -1;
    for (const EpochRecord& record : all) best = std::max(best, record.metrics.find(name).value_or(-1));
    EXPECT_EQ(summary.folds[0].best->metrics.find(name), best) << measure;
  }
  config_.selection.by = "mae";
  EXPECT_THAT([&] { validate(config_); }, ThrowsMessage<InputError>(HasSubstr("must be one of none, loss, accuracy")));
}

// Real targets have no classes to look for, and may be missing.
TEST_F(SelectionTest, OfRealTargetsWantsOneThatIsThere) {
  dataset_.set.labels.clear();
  dataset_.set.target_dim = 1;
  for (std::size_t g = 0; g < dataset_.set.graphs.size(); ++g) {
    dataset_.set.targets.push_back(static_cast<float>(dataset_.set.graphs[g].num_nodes()));
  }
  RunConfig config;
  config.model = config_.model;
  config.training = config_.training;
  config.training.loss.reset();
  config.folds = config_.folds;
  config.selection.by = "mae";
  resolve(config, dataset_, "small");
  const TrainingData data = prepare(dataset_, config);
  const Summary summary =
      train::Run::begin(folder_ / "real", config, data).train(*engine::make_engine("auto", 1), nullptr);
  EXPECT_TRUE(summary.folds[0].best->metrics.find("validation_mae").has_value());
  EXPECT_TRUE(summary.folds[0].reported->metrics.find("test_mae").has_value());
  for (const std::uint32_t g : data.folds[0].validation) dataset_.set.targets[g] = std::nanf("");
  EXPECT_THAT([&] { (void)prepare(dataset_, config); },
              ThrowsMessage<InputError>(HasSubstr("every target of the validation part is missing")));
}

TEST_F(SelectionTest, ASplitIsKnownAgainByWhatItSays) {
  const TemporaryFolder files;
  const char* text = R"([{"train": [0, 1, 2, 3], "validation": [4, 5], "test": [6, 7]}])";
  write_file(files / "a.json", text);
  write_file(files / "b.json", std::string(text) + "\n\n");
  write_file(files / "c.json", R"([{"train": [0, 1, 2], "validation": [4, 5], "test": [6, 7]}])");
  RunConfig config = small_config(dataset_);
  config.folds = {};
  config.folds.split = (files / "a.json").string();
  resolve(config, dataset_, "small");
  EXPECT_EQ(config.folds.count, 1u);
  EXPECT_FALSE(config.folds.all_graphs());
  EXPECT_EQ(prepare(dataset_, config).folds[0].train.size(), 4u);
  EXPECT_THAT(fold_warnings(prepare(dataset_, config), config),
              testing::Contains(HasSubstr("28 graphs are in no part")));
  RunConfig moved = config;
  moved.folds.split = (files / "b.json").string();
  resolve(moved, dataset_, "small");
  EXPECT_NO_THROW((void)resumed_config(config, moved));
  RunConfig other = config;
  other.folds.split = (files / "c.json").string();
  resolve(other, dataset_, "small");
  EXPECT_THAT([&] { (void)resumed_config(config, other); }, ThrowsMessage<InputError>(HasSubstr("folds.split_hash")));
  other.folds.count = 3;
  EXPECT_THAT([&] { resolve(other, dataset_, "small"); }, ThrowsMessage<InputError>(HasSubstr("folds.count is 3")));
}

TEST_F(SelectionTest, ARunsCheckpointsAreFoundByName) {
  train(folder_ / "run");
  const fs::path run = folder_ / "run";
  EXPECT_EQ(checkpoint_in(run, 1, ""), run / "fold-1/best.safetensors");
  EXPECT_EQ(checkpoint_in(run, 1, "last"), run / "fold-1/last.safetensors");
  EXPECT_THAT([&] { (void)checkpoint_in(run, {}, "best"); }, ThrowsMessage<InputError>(HasSubstr("has 3 folds")));
  EXPECT_THAT([&] { (void)checkpoint_in(run, 7, ""); }, ThrowsMessage<InputError>(HasSubstr("fold 7")));
  EXPECT_THAT([&] { (void)checkpoint_in(run, 0, "first"); },
              ThrowsMessage<InputError>(HasSubstr("best, average or last")));
  EXPECT_THAT([&] { (void)checkpoint_in(folder_ / "none", 0, ""); }, ThrowsMessage<InputError>(HasSubstr("no run")));
  fs::remove(run / "fold-1/best.safetensors");
  EXPECT_EQ(checkpoint_in(run, 1, ""), run / "fold-1/last.safetensors");
  EXPECT_THAT([&] { (void)checkpoint_in(run, 1, "best"); }, ThrowsMessage<InputError>(HasSubstr("there is none")));
}

}  // namespace
}  // namespace tyche::train
