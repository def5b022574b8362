#include "train/run.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <functional>
#include <memory>

#include "engine/whole_engine.hpp"
#include "support/error.hpp"
#include "support/small_disk.hpp"
#include "support/temporary_folder.hpp"
#include "train/checkpoint.hpp"
#include "train/run_contents.hpp"
#include "train/samples.hpp"

namespace tyche::train {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;
namespace fs = std::filesystem;

/// An engine that lets another do the work and calls `before` ahead of every epoch's record.
class Watched : public engine::WholeEngine {
 public:
  Watched(unsigned threads, std::function<void(std::uint32_t)> before)
      : inner_(engine::make_engine("auto", threads)), before_(std::move(before)) {}
  std::string description() const override { return inner_->description(); }
  void train(const engine::Job& job, std::span<engine::Trial> trials, engine::Observer& observer) override {
    struct Between : engine::Observer {
      engine::Observer* next;
      Watched* self;
      bool on_begin(std::size_t t) override { return next->on_begin(t); }
      bool on_epoch(std::size_t t, const engine::EpochResult& r, const engine::State* s) override {
        self->before_(++self->seen_);
        return next->on_epoch(t, r, s);
      }
    } between;
    between.next = &observer;
    between.self = this;
    inner_->train(job, trials, between);
  }
  engine::Logits predict(const engine::Job& job, std::span<const float> parameters,
                         std::span<const std::uint32_t> which, const engine::Draw& draw) override {
    return inner_->predict(job, parameters, which, draw);
  }
  double gradient(const engine::Job& job, std::span<const float> parameters, std::span<const std::uint32_t> which,
                  const engine::Draw& draw, std::vector<float>& gradient_out, engine::Logits& logits_out) override {
    return inner_->gradient(job, parameters, which, draw, gradient_out, logits_out);
  }

 private:
  std::unique_ptr<engine::Engine> inner_;
  std::function<void(std::uint32_t)> before_;
  std::atomic<std::uint32_t> seen_ = 0;
};

class RunTest : public testing::Test {
 protected:
  RunTest() : dataset_(small_dataset()), config_(small_config(dataset_)), data_(prepare(dataset_, config_)) {}
  ~RunTest() override { set_interrupted(false); }

  Summary train_whole(const fs::path& folder, unsigned threads = 1, const std::string& name = "auto") {
    return train::Run::begin(folder, config_, data_).train(*engine::make_engine(name, threads), nullptr);
  }

  datasets::Dataset dataset_;
  RunConfig config_;
  TrainingData data_;
  TemporaryFolder folder_;
};

TEST_F(RunTest, LeavesTheFilesItPromises) {
  const Summary summary = train_whole(folder_ / "run");
  EXPECT_TRUE(summary.complete);
  EXPECT_EQ(summary.folds.size(), 3u);
  EXPECT_TRUE(differences(read_config(folder_ / "run/config.toml"), config_).empty());
  for (std::uint32_t fold = 0; fold < 3; ++fold) {
    const fs::path in = folder_ / ("run/fold-" + std::to_string(fold));
    const Metrics metrics = read_metrics(in / "metrics.jsonl", 4);
    EXPECT_EQ(metrics.bytes, fs::file_size(in / "metrics.jsonl"));
    EXPECT_TRUE(metrics.records[3].metrics.find("test_accuracy").has_value());
    EXPECT_EQ(read_checkpoint(in / "last.safetensors").state.epoch, 4u);
    EXPECT_EQ(std::distance(fs::directory_iterator(in), {}), 2);
  }
  const auto json = nlohmann::json::parse(read_file(folder_ / "run/summary.json"));
  EXPECT_EQ(json["complete"], true);
  EXPECT_EQ(json["folds"].size(), 3u);
  EXPECT_EQ(json["parameters"], nn::layout(config_.model).size);
}

TEST_F(RunTest, GivesTheSameBitsOnAnyNumberOfThreads) {
  for (const char* engine : {"auto", "reference"}) {
    const fs::path one = folder_ / (std::string(engine) + "1");
    train_whole(one, 1, engine);
    for (unsigned threads = 2; threads <= 4; ++threads) {
      const fs::path many = folder_ / (engine + std::to_string(threads));
      train_whole(many, threads, engine);
      EXPECT_EQ(run_contents(many), run_contents(one)) << engine << " on " << threads << " threads";
    }
  }
}

TEST_F(RunTest, GivesTheSameBitsHoweverOftenItIsStopped) {
  train_whole(folder_ / "whole");
  const std::uint32_t all = 3 * config_.training.epochs;
  // Two folds train side by side: when one is stopped, the other may end an epoch yet.
  for (std::uint32_t stop = 1; stop + 1 < all; stop += 2) {
    const fs::path path = folder_ / ("stopped" + std::to_string(stop));
    Watched first(2, [&](std::uint32_t seen) {
      if (seen >= stop) set_interrupted(true);
    });
    EXPECT_FALSE(train::Run::begin(path, config_, data_).train(first, nullptr).complete);
    EXPECT_EQ(nlohmann::json::parse(read_file(path / "summary.json"))["complete"], false);
    set_interrupted(false);
    train::Run run = train::Run::resume(path, config_, data_);
    EXPECT_GE(run.epochs_done(), stop);
    EXPECT_EQ(run.epochs_done() + run.epochs_left(), all);
    EXPECT_TRUE(run.train(*engine::make_engine("auto", 1), nullptr).complete);
    EXPECT_EQ(run_contents(path), run_contents(folder_ / "whole")) << "stopped after " << stop;
  }
}

TEST_F(RunTest, FoldsThatWaitForAThreadAreNotBegunOnceItIsStopped) {
  Watched engine(1, [&](std::uint32_t) { set_interrupted(true); });
  EXPECT_FALSE(train::Run::begin(folder_ / "run", config_, data_).train(engine, nullptr).complete);
  set_interrupted(false);
  EXPECT_EQ(train::Run::resume(folder_ / "run", config_, data_).epochs_done(), 1u);
}

TEST_F(RunTest, CutsOffLinesThatHaveNoCheckpoint) {
  train_whole(folder_ / "whole");
  config_.training.epochs = 2;
  train_whole(folder_ / "run");
  // As a kill between a metrics line and its checkpoint, or within the line, would leave it.
  {
    LineLog(folder_ / "run/fold-0/metrics.jsonl", 1 << 20).append(R"({"epoch":3,"train_loss":9})");
    LineLog(folder_ / "run/fold-1/metrics.jsonl", 1 << 20).append("{\"epo");
    fs::resize_file(folder_ / "run/fold-1/metrics.jsonl", fs::file_size(folder_ / "run/fold-1/metrics.jsonl") - 1);
    write_file(folder_ / "run/fold-2/last.safetensors.tmp-77", "half a checkpoint");
  }
  config_.training.epochs = 4;
  train::Run::resume(folder_ / "run", config_, data_).train(*engine::make_engine("auto", 1), nullptr);
  EXPECT_EQ(run_contents(folder_ / "run"), run_contents(folder_ / "whole"));
}

TEST_F(RunTest, StartsAFoldAgainThatWasKilledInItsFirstEpoch) {
  train_whole(folder_ / "whole");
  train_whole(folder_ / "run");
  fs::remove(folder_ / "run/fold-1/last.safetensors");
  fs::remove_all(folder_ / "run/fold-2");
  train::Run::resume(folder_ / "run", config_, data_).train(*engine::make_engine("auto", 1), nullptr);
  EXPECT_EQ(run_contents(folder_ / "run"), run_contents(folder_ / "whole"));
}

TEST_F(RunTest, NeverOverwrites) {
  train_whole(folder_ / "run");
  const auto before = run_contents(folder_ / "run");
  EXPECT_THAT([&] { (void)train::Run::begin(folder_ / "run", config_, data_); },
              ThrowsMessage<InputError>(HasSubstr("holds a run already")));
  EXPECT_EQ(run_contents(folder_ / "run"), before);
  fs::create_directory(folder_ / "other");
  write_file(folder_ / "other/thesis.tex", "years of work");
  EXPECT_THAT([&] { (void)train::Run::begin(folder_ / "other", config_, data_); },
              ThrowsMessage<InputError>(HasSubstr("is not empty")));
}

TEST_F(RunTest, IsTrainedByOneProcessAtATime) {
  const train::Run run = train::Run::begin(folder_ / "run", config_, data_);
  EXPECT_THAT([&] { (void)train::Run::resume(folder_ / "run", config_, data_); },
              ThrowsMessage<InputError>(HasSubstr("in use by another process")));
}

TEST_F(RunTest, ThatIsFinishedStaysAsItIs) {
  train_whole(folder_ / "run");
  const auto stamp = fs::last_write_time(folder_ / "run/summary.json");
  const std::string text = read_file(folder_ / "run/summary.json");
  train::Run run = train::Run::resume(folder_ / "run", config_, data_);
  EXPECT_EQ(run.epochs_left(), 0u);
  Watched engine(1, [](std::uint32_t) { FAIL() << "an epoch was trained"; });
  EXPECT_TRUE(run.train(engine, nullptr).complete);
  EXPECT_EQ(read_file(folder_ / "run/summary.json"), text);
  EXPECT_EQ(fs::last_write_time(folder_ / "run/summary.json"), stamp);
}

TEST_F(RunTest, KeepsEarlierCheckpointsWhereTheDiskFills) {
  train_whole(folder_ / "whole");
  const fs::path path = folder_ / "run";
  std::unique_ptr<SmallDisk> disk;
  Watched engine(1, [&](std::uint32_t seen) {
    // One thread trains fold after fold: 6 is the second epoch of fold 1. Checkpoints take some 20 kB, lines far less.
    if (seen == 6) disk = std::make_unique<SmallDisk>(2000);
  });
  EXPECT_THAT([&] { (void)train::Run::begin(path, config_, data_).train(engine, nullptr); },
              ThrowsMessage<IoError>(HasSubstr("fold-1/last.safetensors: cannot write")));
  disk.reset();
  EXPECT_EQ(read_checkpoint(path / "fold-0/last.safetensors").state.epoch, 4u);
  EXPECT_EQ(read_checkpoint(path / "fold-1/last.safetensors").state.epoch, 1u);
  train::Run::resume(path, config_, data_).train(*engine::make_engine("auto", 1), nullptr);
  EXPECT_EQ(run_contents(path), run_contents(folder_ / "whole"));
}

TEST_F(RunTest, TakesBackAMetricsLineThatDoesNotFit) {
  train_whole(folder_ / "whole");
  const fs::path path = folder_ / "run";
  std::unique_ptr<SmallDisk> disk;
  Watched engine(1, [&](std::uint32_t seen) {
    if (seen == 2) disk = std::make_unique<SmallDisk>(fs::file_size(path / "fold-0/metrics.jsonl") + 10);
  });
  EXPECT_THAT([&] { (void)train::Run::begin(path, config_, data_).train(engine, nullptr); },
              ThrowsMessage<IoError>(HasSubstr("fold-0/metrics.jsonl: cannot write")));
  disk.reset();
  EXPECT_EQ(read_metrics(path / "fold-0/metrics.jsonl", 1).bytes, fs::file_size(path / "fold-0/metrics.jsonl"));
  train::Run::resume(path, config_, data_).train(*engine::make_engine("auto", 1), nullptr);
  EXPECT_EQ(run_contents(path), run_contents(folder_ / "whole"));
}

TEST_F(RunTest, RefusesADamagedOrForeignCheckpointAndSaysWhatToDo) {
  train_whole(folder_ / "run");
  const fs::path one = folder_ / "run/fold-1/last.safetensors";
  const auto resuming = [&] { (void)train::Run::resume(folder_ / "run", config_, data_); };
  const std::string good = read_file(one);
  write_file(one, good.substr(0, 100));
  EXPECT_THAT(resuming, ThrowsMessage<InputError>(HasSubstr("fold 1 cannot be taken up; move ")));
  fs::copy_file(folder_ / "run/fold-0/last.safetensors", one, fs::copy_options::overwrite_existing);
  EXPECT_THAT(resuming, ThrowsMessage<InputError>(HasSubstr("is of fold 0")));
  RunConfig other = config_;
  other.seed = 99;
  CheckpointWriter(other, 1).write(one, read_checkpoint(one).state);
  EXPECT_THAT(resuming, ThrowsMessage<InputError>(HasSubstr("is of another run: seed is 99")));
  write_file(one, good);
  fs::resize_file(folder_ / "run/fold-1/metrics.jsonl", 10);
  EXPECT_THAT(resuming, ThrowsMessage<InputError>(HasSubstr("record of epoch 1 is missing")));
}

TEST_F(RunTest, TrainsOneFoldAloneToTheSameBits) {
  train_whole(folder_ / "whole");
  config_.folds.only = 1;
  const Summary summary = train_whole(folder_ / "alone");
  ASSERT_EQ(summary.folds.size(), 1u);
  EXPECT_EQ(summary.folds[0].fold, 1u);
  EXPECT_FALSE(fs::exists(folder_ / "alone/fold-0"));
  EXPECT_EQ(run_contents(folder_ / "alone").at("fold-1/metrics.jsonl"),
            run_contents(folder_ / "whole").at("fold-1/metrics.jsonl"));
  EXPECT_EQ(read_checkpoint(folder_ / "alone/fold-1/last.safetensors").state.parameters,
            read_checkpoint(folder_ / "whole/fold-1/last.safetensors").state.parameters);
}

TEST_F(RunTest, SeveralRunsTrainAsOneGroupToTheBitsOfEachAlone) {
  std::vector<RunConfig> configs;
  for (const auto& [seed, fold] : {std::pair<std::uint64_t, std::uint32_t>{1, 0}, {1, 2}, {7, 1}}) {
    configs.push_back(config_);
    configs.back().seed = seed;
    configs.back().folds.only = fold;
    configs.back().training.learning_rate = 1e-3 * static_cast<double>(seed);
  }
  const auto engine = engine::make_engine("auto", 2);
  std::vector<train::Run> runs;
  std::vector<train::Run*> group;
  for (std::size_t i = 0; i < configs.size(); ++i) {
    runs.push_back(train::Run::begin(folder_ / ("group-" + std::to_string(i)), configs[i], data_));
  }
  for (train::Run& run : runs) group.push_back(&run);
  for (const Summary& summary : train::Run::train_together(group, *engine, nullptr)) EXPECT_TRUE(summary.complete);
  for (std::size_t i = 0; i < configs.size(); ++i) {
    const fs::path alone = folder_ / ("alone-" + std::to_string(i));
    (void)train::Run::begin(alone, configs[i], data_).train(*engine, nullptr);
    EXPECT_EQ(run_contents(folder_ / ("group-" + std::to_string(i))), run_contents(alone));
  }
}

TEST_F(RunTest, RunsOfDifferentShapesDoNotTrainAsOneGroup) {
  RunConfig other = config_;
  other.training.batch = 5;
  train::Run one = train::Run::begin(folder_ / "one", config_, data_),
             two = train::Run::begin(folder_ / "two", other, data_);
  train::Run* const group[] = {&one, &two};
  EXPECT_THAT([&] { (void)train::Run::train_together(group, *engine::make_engine("auto", 1), nullptr); },
              ThrowsMessage<InputError>(HasSubstr("training.batch")));
}

TEST_F(RunTest, LeavesEveryGraphOutOnceWhereThereAreAsManyFoldsAsGraphs) {
  // More folds than a process may have open files (as a rule 1024; 64 here).
  dataset_ = small_dataset(100);
  config_ = small_config(dataset_, 1);
  config_.folds.count = 100;
  data_ = prepare(dataset_, config_);
  rlimit before{};
  getrlimit(RLIMIT_NOFILE, &before);
  rlimit few = before;
  few.rlim_cur = 64;
  setrlimit(RLIMIT_NOFILE, &few);
  const Summary summary = train_whole(folder_ / "run", 2);
  setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_TRUE(summary.complete);
  EXPECT_EQ(summary.folds.size(), 100u);
}

TEST_F(RunTest, EvaluatesAsOftenAsAskedAndAfterTheLastEpoch) {
  config_.training.eval_every = 3;
  train_whole(folder_ / "run");
  const auto records = read_metrics(folder_ / "run/fold-0/metrics.jsonl", 4).records;
  EXPECT_FALSE(records[0].metrics.find("test_accuracy"));
  EXPECT_FALSE(records[1].metrics.find("test_accuracy"));
  EXPECT_TRUE(records[2].metrics.find("test_accuracy"));
  EXPECT_TRUE(records[3].metrics.find("test_accuracy"));
}

TEST_F(RunTest, SplitsTheTestAccuracyWhereTheDataHasSubsets) {
  dataset_.subset.assign(24, datasets::Subset::exp);
  for (std::size_t g = 0; g < 24; g += 4) dataset_.subset[g] = datasets::Subset::corrupt;
  data_ = prepare(dataset_, config_);
  engine::EpochResult result;
  result.evaluated = true;
  // Fold 0 tests graphs 0 to 7: CORRUPT are 0 and 4. All right but graph 4.
  ASSERT_EQ(data_.folds[0].test.size(), 8u);
  for (std::uint32_t g = 0; g < 8; ++g)
    result.test_predictions.push_back(g == 4 ? 1 - data_.classes[g] : data_.classes[g]);
  const EpochRecord record = record_of(data_, 0, result);
  EXPECT_DOUBLE_EQ(*record.metrics.find("test_accuracy"), 7.0 / 8);
  EXPECT_DOUBLE_EQ(*record.metrics.find("test_accuracy_exp"), 1);
  EXPECT_DOUBLE_EQ(*record.metrics.find("test_accuracy_corrupt"), 0.5);
  dataset_.subset.assign(24, datasets::Subset::exp);
  EXPECT_FALSE(record_of(prepare(dataset_, config_), 0, result).metrics.find("test_accuracy_exp"))
      << "EXP alone has no subsets";
}

TEST_F(RunTest, LearnsToTellPathsFromCycles) {
  config_.training.epochs = 60;
  config_.folds.scheme = datasets::FoldScheme::stratified;
  config_.model.rni = 0;
  config_.model.aggregation = nn::Aggregation::sum;  // the mean over neighbours cannot see where a path ends
  config_.model.dropout = 0;
  resolve(config_, dataset_, "small");
  data_ = prepare(dataset_, config_);
  EXPECT_GE(train_whole(folder_ / "run", 2).find("test_accuracy")->over.mean, 0.9);
}

TEST(ResumedConfig, ListsEverythingThatDiffers) {
  const RunConfig stored = small_config(small_dataset());
  RunConfig asked = stored;
  asked.model.rni = 1;
  asked.training.epochs = 3;
  asked.data.hash = "0000000000000000";
  asked.data.path = "my/graphs.txt";
  asked.folds.split_hash = "1111111111111111";
  asked.folds.split = "my/split.json";
  EXPECT_THAT([&] { (void)resumed_config(stored, asked); },
              ThrowsMessage<InputError>(testing::AllOf(
                  HasSubstr("model.rni: the run has 0.5, asked for 1.0"),
                  HasSubstr("training.epochs: the run has 4, asked for 3 (a run can be lengthened, not shortened)"),
                  HasSubstr("data.hash: the run has"), HasSubstr("(the data's content changed: my/graphs.txt)"),
                  HasSubstr("(the split's content changed: my/split.json)"))));
}

TEST(ResumedConfig, AllowsMoreEpochsAndDataThatMoved) {
  const RunConfig stored = small_config(small_dataset());
  RunConfig asked = stored;
  asked.training.epochs = 9;
  asked.data.path = "/elsewhere";
  asked.version = "9.9";
  const RunConfig config = resumed_config(stored, asked);
  EXPECT_EQ(config.training.epochs, 9u);
  EXPECT_EQ(config.data.path, "/elsewhere");
  EXPECT_EQ(config.version, stored.version);
}

TEST(Run, WhatAnEngineRefusesLeavesNoFolder) {
  const TemporaryFolder folder;
  const datasets::Dataset dataset = small_dataset();
  const RunConfig config = small_config(dataset);
  const TrainingData data = prepare(dataset, config);
  Watched refusing(1, [](std::uint32_t) { throw InputError("this engine has no such step"); });
  train::Run begun = train::Run::begin(folder / "run", config, data);
  EXPECT_THROW((void)begun.train(refusing, nullptr), InputError);
  EXPECT_FALSE(std::filesystem::exists(folder / "run"));
  // Another engine may begin it there; a run that was trained stays whoever refuses it.
  const auto engine = engine::make_engine("cpu", 1);
  (void)train::Run::begin(folder / "run", config, data).train(*engine, nullptr);
  RunConfig longer = config;
  longer.training.epochs = 9;
  train::Run resumed = train::Run::resume(folder / "run", longer, data);
  EXPECT_THROW((void)resumed.train(refusing, nullptr), InputError);
  EXPECT_TRUE(holds_run(folder / "run"));
}

}  // namespace
}  // namespace tyche::train
