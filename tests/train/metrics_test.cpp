#include "train/metrics.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/error.hpp"
#include "support/file.hpp"
#include "support/temporary_folder.hpp"
#include "train/summary.hpp"

namespace tyche::train {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::ThrowsMessage;

EpochRecord record(std::uint32_t epoch) {
  EpochRecord r;
  r.epoch = epoch;
  r.train_loss = 0.1 + 0.2 * epoch;
  r.metrics.set("train_accuracy", 0.5);
  if (epoch % 2 == 0) r.metrics.set("test_accuracy", 1.0 / 3);
  r.seconds = 0.25;
  r.eval_seconds = 0.125;
  return r;
}

TEST(EpochRecord, IsOneLineOfJson) {
  EpochRecord r = record(2);
  r.metrics.set("test_accuracy_exp", 0.25);
  r.metrics.set("test_accuracy_corrupt", 0.75);
  EXPECT_EQ(to_line(r),
            R"({"epoch":2,"train_loss":0.5,"train_accuracy":0.5,"test_accuracy":0.3333333333333333,)"
            R"("test_accuracy_exp":0.25,"test_accuracy_corrupt":0.75,"seconds":0.25,"eval_seconds":0.125})");
  EXPECT_EQ(parse_record(to_line(r), "x", 1), r);
  EXPECT_EQ(to_line(record(1)).find("test_accuracy"), std::string::npos);
}

TEST(EpochRecord, KeepsALossThatIsNoNumber) {
  EpochRecord r = record(1);
  r.train_loss = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(to_line(r), HasSubstr("\"train_loss\":null"));
  EXPECT_TRUE(std::isnan(parse_record(to_line(r), "x", 1).train_loss));
}

TEST(EpochRecord, ReadsALineOfVersion010AndWritesItAgain) {
  const std::string line =
      R"({"epoch":3,"train_loss":0.6931,"train_accuracy":0.515,"test_accuracy":0.5,"test_accuracy_exp":0.25,)"
      R"("test_accuracy_corrupt":0.75,"seconds":0.193,"eval_seconds":0.012})";
  const EpochRecord r = parse_record(line, "x", 1);
  EXPECT_EQ(r.epoch, 3u);
  EXPECT_EQ(r.train_loss, 0.6931);
  EXPECT_EQ(r.metrics.find("train_accuracy"), 0.515);
  EXPECT_EQ(r.metrics.find("test_accuracy_corrupt"), 0.75);
  EXPECT_EQ(r.eval_seconds, 0.012);
  EXPECT_EQ(to_line(r), line);
}

TEST(EpochRecord, CarriesAMetricThatNobodyForesaw) {
  EpochRecord r = record(2);
  r.metrics.set("test_mean_absolute_error", 0.125);
  const EpochRecord back = parse_record(to_line(r), "x", 1);
  EXPECT_EQ(back, r);
  EXPECT_EQ(back.metrics.find("test_mean_absolute_error"), 0.125);
  EXPECT_FALSE(back.metrics.find("test_f1"));
  EXPECT_THAT([] { (void)parse_record(R"({"epoch":1,"train_loss":1,"x":"y","seconds":1,"eval_seconds":1})", "x", 7); },
              ThrowsMessage<InputError>(HasSubstr("line 7: expected the record of an epoch")));
}

// Found by fuzzing: what a number beyond the field's range becomes is undefined.
TEST(EpochRecord, RefusesANumberOfAnEpochThatIsNone) {
  for (const char* epoch : {"155555555555555555555", "1e51", "1.5", "-1", "4294967296", "\"1\""}) {
    const std::string line = fmt::format(R"({{"epoch":{},"train_loss":1,"seconds":1,"eval_seconds":1}})", epoch);
    EXPECT_THAT([&] { (void)parse_record(line, "x", 7); },
                ThrowsMessage<InputError>(HasSubstr("expected a whole number from 0 to 4294967295")))
        << epoch;
  }
}

TEST(Metrics, ReadsTheRecordsThatCountAndNoMore) {
  const TemporaryFolder folder;
  const auto path = folder / "metrics.jsonl";
  const std::string two = to_line(record(1)) + "\n" + to_line(record(2)) + "\n";
  write_file(path, two + to_line(record(3)) + "\n{\"epoch\":4,\"tr");
  const Metrics metrics = read_metrics(path, 2);
  EXPECT_EQ(metrics.records.size(), 2u);
  EXPECT_EQ(metrics.records[1], record(2));
  EXPECT_EQ(metrics.bytes, two.size());
  EXPECT_EQ(read_metrics(path, 0).bytes, 0u);
  EXPECT_THAT([&] { (void)read_metrics(path, 4); },
              ThrowsMessage<InputError>(HasSubstr("the record of epoch 4 is missing")));
}

TEST(Metrics, ComplainAboutDamageWithItsLine) {
  const TemporaryFolder folder;
  const auto path = folder / "metrics.jsonl";
  write_file(path, to_line(record(1)) + "\n" + to_line(record(3)) + "\n");
  EXPECT_THAT([&] { (void)read_metrics(path, 2); },
              ThrowsMessage<InputError>(HasSubstr("line 2: expected the record of epoch 2")));
  write_file(path, to_line(record(1)) + "\nnot json\n");
  EXPECT_THAT([&] { (void)read_metrics(path, 2); },
              ThrowsMessage<InputError>(HasSubstr("metrics.jsonl: line 2: expected")));
}

TEST(Summary, AveragesTheFoldsLastTestsWithThePopulationsDeviation) {
  RunConfig config;
  config.training.epochs = 3;
  std::vector<FoldSummary> folds;
  for (const double accuracy : {0.5, 1.0}) {
    std::vector<EpochRecord> records = {record(1), record(2), record(3)};
    records[1].metrics.set("test_accuracy", accuracy);
    folds.push_back(summarise_fold(static_cast<std::uint32_t>(folds.size()), records, config));
  }
  const Summary summary = summarise(config, folds);
  EXPECT_TRUE(summary.complete);
  EXPECT_DOUBLE_EQ(summary.find("test_accuracy")->over.mean, 0.75);
  EXPECT_DOUBLE_EQ(summary.find("test_accuracy")->over.deviation, 0.25);
  EXPECT_DOUBLE_EQ(summary.seconds, 2 * 3 * 0.375);
  EXPECT_EQ(summary.folds[0].reported->epoch, 2u);
  const auto json = to_json(summary, config);
  EXPECT_EQ(json["folds"][1]["test_accuracy"], 1.0);
  EXPECT_THAT(to_table(summary),
              HasSubstr("test accuracy 75.00 ± 25.00 %\n(mean ± population standard deviation over 2 folds)"));
  folds[1].done = false;
  EXPECT_FALSE(summarise(config, folds).complete);
}

TEST(Summary, OneFoldHasNoDeviationAndIsOne) {
  RunConfig config;
  config.training.epochs = 2;
  const Summary summary = summarise(config, {summarise_fold(0, {record(1), record(2)}, config)});
  EXPECT_THAT(to_table(summary),
              testing::AllOf(HasSubstr("test accuracy 33.33 %\n"), Not(HasSubstr("±")), Not(HasSubstr("1 folds"))));
}

/// Three epochs: validation likes the second best, the test part the third.
std::vector<EpochRecord> chosen_second() {
  std::vector<EpochRecord> records;
  for (std::uint32_t epoch = 1; epoch <= 3; ++epoch) {
    EpochRecord& own = records.emplace_back();
    own.epoch = epoch;
    own.train_loss = 1.0 / epoch;
    own.metrics.set("train_accuracy", 0.1 * epoch);
    own.metrics.set("validation_accuracy", epoch == 2 ? 0.9 : 0.5);
    own.metrics.set("test_accuracy", 0.25 * epoch);
  }
  return records;
}

TEST(Summary, TheEpochThatValidationChoseStandsForAFold) {
  RunConfig config;
  config.training.epochs = 3;
  config.selection.by = "accuracy";
  const Summary summary = summarise(config, {summarise_fold(0, chosen_second(), config)});
  EXPECT_EQ(summary.folds[0].reported->epoch, 2u);
  EXPECT_EQ(summary.find("test_accuracy")->over.mean, 0.5);
  const auto json = to_json(summary, config);
  EXPECT_EQ(json["chosen_by"], "validation_accuracy");
  EXPECT_EQ(json["folds"][0]["tested_epoch"], 2);
  EXPECT_EQ(json["folds"][0]["train_loss"], 0.5) << "of the same epoch";
  // The table shows that epoch, and what training was like then.
  EXPECT_THAT(to_table(summary), testing::AllOf(HasSubstr("chosen"), HasSubstr("   0       3       2      0.5000"),
                                                HasSubstr("(of the epoch with the best validation accuracy)")));
}

TEST(Summary, ATestAtTheEndStandsForAFoldWithWhatItsEpochMeasured) {
  RunConfig config;
  config.training.epochs = 3;
  config.selection.by = "accuracy";
  config.selection.test = "end";
  std::vector<EpochRecord> records = chosen_second();
  for (EpochRecord& own : records) {
    NamedValues without;
    for (const auto& metric : own.metrics) {
      if (metric.first != "test_accuracy") without.set(metric.first, metric.second);
    }
    own.metrics = without;
  }
  EXPECT_FALSE(summarise_fold(0, records, config).reported) << "not tested yet";
  EXPECT_FALSE(summarise_fold(0, records, config).done);
  EpochRecord tested;
  tested.epoch = 2;
  tested.metrics.set("test_accuracy", 0.75);
  const FoldSummary fold = summarise_fold(0, records, config, tested);
  EXPECT_TRUE(fold.done);
  EXPECT_EQ(fold.reported->metrics.find("test_accuracy"), 0.75);
  EXPECT_EQ(fold.reported->metrics.find("train_accuracy"), 0.2);
  EXPECT_EQ(fold.reported->train_loss, 0.5);
}

TEST(Summary, ScoresOfTrainingGraphsAreCalledSo) {
  EpochRecord own;
  own.epoch = 1;
  own.metrics.set("train_accuracy", 0.5);
  own.metrics.set("test_accuracy", 0.75);
  own.metrics.set("test_f1", 0.25);
  RunConfig config;
  config.training.epochs = 1;
  config.folds.count = 1;
  const EpochRecord called = called_training(own);
  EXPECT_EQ(called.metrics.find("train_accuracy"), 0.75);
  EXPECT_EQ(called.metrics.find("train_f1"), 0.25);
  EXPECT_EQ(called.metrics.find("test_f1"), std::nullopt);
  const Summary summary = summarise(config, {summarise_fold(0, {called}, config)});
  const auto json = to_json(summary, config);
  EXPECT_EQ(json["train_accuracy_mean"], 0.75);
  EXPECT_EQ(json["train_f1_mean"], 0.25);
  EXPECT_EQ(json.dump().find("test_accuracy"), std::string::npos) << json;
  EXPECT_THAT(to_table(summary), testing::AllOf(HasSubstr("train accuracy 75.00 %"), Not(HasSubstr("test acc")),
                                                HasSubstr("trained and tested on the same graphs")));
}

TEST(ScoreText, WritesAScoreInOneWay) {
  EXPECT_EQ(score_text("test_accuracy", 0.74213), "74.21");
  EXPECT_EQ(score_text("validation_balanced_accuracy", 0.5), "50.00");
  EXPECT_EQ(score_in_words("test_accuracy_exp", 1.0), "100.00 %");
  EXPECT_EQ(score_text("test_roc_auc", 0.8), "0.8000");
  EXPECT_EQ(score_text("test_r2_0", -0.73), "-0.7300");
  EXPECT_EQ(score_text("test_mae", 1234.567), "1235");
  EXPECT_EQ(score_text("test_mae", std::nullopt), "–");
  EXPECT_EQ(score_in_words("test_accuracy", Spread{0.5, 0.1, 2}), "50.00 ± 10.00 %");
  EXPECT_EQ(score_in_words("test_accuracy", Spread{0.5, 0, 1}), "50.00 %");
  EXPECT_EQ(score_title("test_roc_auc"), "test ROC AUC");
  EXPECT_EQ(score_title("test_accuracy"), "test accuracy, %");
  EXPECT_EQ(score_title("test_mae_0"), "test MAE 0");
  EXPECT_EQ(counted(1, "fold") + ", " + counted(2, "fold"), "1 fold, 2 folds");
}

}  // namespace
}  // namespace tyche::train
