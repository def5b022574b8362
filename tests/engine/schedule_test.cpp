#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "engine/core/adam.hpp"
#include "support/error.hpp"

namespace tyche::engine {
namespace {

Job job_with(ScheduleKind kind, std::uint32_t epochs, std::uint32_t warm_up = 0) {
  Job job;
  job.epochs = epochs;
  job.schedule.kind = kind;
  job.schedule.warm_up = warm_up;
  return job;
}

TEST(Schedule, AConstantRateIsTheTrials) {
  Trial trial;
  trial.learning_rate = 3e-4;
  const Job job = job_with(ScheduleKind::constant, 5);
  for (std::uint32_t epoch = 1; epoch <= 5; ++epoch) EXPECT_EQ(learning_rate(job, trial, epoch), 3e-4);
}

TEST(Schedule, WarmingUpTakesEqualStepsAndEndsAtTheWholeRate) {
  Trial trial;
  trial.learning_rate = 0.4;
  const Job job = job_with(ScheduleKind::constant, 10, 4);
  EXPECT_DOUBLE_EQ(learning_rate(job, trial, 1), 0.1);
  EXPECT_DOUBLE_EQ(learning_rate(job, trial, 3), 0.3);
  EXPECT_EQ(learning_rate(job, trial, 4), 0.4);
  EXPECT_EQ(learning_rate(job, trial, 5), 0.4);
}

TEST(Schedule, ACosineBeginsAtTheRateAndIsHalfwayDownInTheMiddle) {
  Trial trial;
  trial.learning_rate = 1;
  const Job job = job_with(ScheduleKind::cosine, 12, 2);
  EXPECT_DOUBLE_EQ(learning_rate(job, trial, 1), 0.5);
  EXPECT_DOUBLE_EQ(learning_rate(job, trial, 3), 1);  // the first of ten
  EXPECT_NEAR(learning_rate(job, trial, 8), 0.5, 1e-12);
  EXPECT_NEAR(learning_rate(job, trial, 12), (1 + std::cos(0.9 * 3.14159265358979)) / 2, 1e-12);
}

TEST(Schedule, APlateauLowersTheRateAfterMoreThanItsPatienceOfEpochs) {
  Plateau plateau{.rate = 1};
  plateau.step(0.5);
  for (int i = 0; i < 10; ++i) plateau.step(0.5);
  EXPECT_EQ(plateau.rate, 1);
  plateau.step(0.5);
  EXPECT_NEAR(plateau.rate, 0.1, 1e-12);
  plateau.step(0.4);
  for (int i = 0; i < 10; ++i) plateau.step(0.3999999);  // not better by one part in 10,000
  EXPECT_NEAR(plateau.rate, 0.1, 1e-12);
  plateau.step(0.3999999);
  EXPECT_NEAR(plateau.rate, 0.01, 1e-12);
}

TEST(Schedule, ALossThatIsNotANumberIsNoProgress) {
  Plateau plateau{.rate = 1};
  for (int i = 0; i < 3; ++i) plateau.step(std::numeric_limits<double>::quiet_NaN(), 0.5, 2);
  EXPECT_EQ(plateau.rate, 0.5);
}

TEST(Schedule, ARateHardlyAboveNothingStays) {
  Plateau plateau{.rate = 1e-8};
  for (int i = 0; i < 5; ++i) plateau.step(1, 0.1, 1);
  EXPECT_EQ(plateau.rate, 1e-8);  // PyTorch's eps: a change below 1e-8 is none
}

TEST(Schedule, ATrialsPlateauFollowsTheTrainingLossBehindTheWarmUp) {
  Trial trial;
  trial.learning_rate = 0.1;
  Job job = job_with(ScheduleKind::plateau, 20, 2);
  job.schedule.patience = 1;
  job.schedule.plateau_factor = 0.5;
  EpochResult result;
  result.train_loss = 1;
  for (std::uint32_t epoch = 1; epoch <= 4; ++epoch) {
    result.epoch = epoch;
    follow(job, trial, result);
  }
  EXPECT_DOUBLE_EQ(learning_rate(job, trial, 1), 0.05);
  EXPECT_EQ(learning_rate(job, trial, 5), 0.1);  // epoch 3 was the best, 4 the first that was not better
  result.epoch = 5;
  follow(job, trial, result);
  EXPECT_EQ(learning_rate(job, trial, 6), 0.05);
}

TEST(Schedule, WithAValidationPartAPlateauFollowsItsLossAndNoOther) {
  Job job = job_with(ScheduleKind::plateau, 20);
  job.schedule.patience = 1;
  job.schedule.plateau_factor = 0.5;
  const auto rate_after = [&](const std::vector<double>& train, const std::vector<double>& validation) {
    Trial trial;
    trial.learning_rate = 0.1;
    trial.validation = 3;
    for (std::uint32_t epoch = 1; epoch <= train.size(); ++epoch) {
      EpochResult result;
      result.epoch = epoch;
      result.train_loss = train[epoch - 1];
      result.evaluated = !std::isnan(validation[epoch - 1]);
      if (result.evaluated) result.metrics.set("validation_loss", validation[epoch - 1]);
      follow(job, trial, result);
    }
    return learning_rate(job, trial, static_cast<std::uint32_t>(train.size()) + 1);
  };
  const std::vector<double> falls = {4, 3, 2, 1}, stays = {1, 1, 1, 1};
  EXPECT_EQ(rate_after(falls, stays), 0.05) << "training still learns, validation does not";
  EXPECT_EQ(rate_after(stays, falls), 0.1);
  const double none = std::nan("");  // epochs that are not evaluated are none that were not better
  EXPECT_EQ(rate_after({1, 1, 1, 1, 1, 1, 1}, {1, none, none, 1, none, none, none}), 0.1);
  EXPECT_EQ(rate_after({1, 1, 1, 1, 1, 1, 1}, {1, none, none, 1, none, none, 1}), 0.05);
}

TEST(Schedule, ValuesThatMakeNoSenseAreRefusedByName) {
  const auto message = [](Optimiser optimiser, Schedule schedule, std::uint32_t epochs) -> std::string {
    try {
      validate(optimiser, schedule, epochs);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message({}, {}, 1), "");
  EXPECT_NE(message({.clip_norm = -1}, {}, 1).find("clip_norm is -1"), std::string::npos);
  EXPECT_NE(message({.weight_decay = std::nan("")}, {}, 1).find("weight_decay"), std::string::npos);
  EXPECT_NE(message({.beta2 = 1}, {}, 1).find("beta2 is 1"), std::string::npos);
  EXPECT_NE(message({.epsilon = 0}, {}, 1).find("epsilon is 0"), std::string::npos);
  EXPECT_NE(message({}, {.plateau_factor = 1}, 1).find("plateau_factor is 1"), std::string::npos);
  EXPECT_NE(message({}, {.kind = ScheduleKind::cosine, .warm_up = 5}, 5).find("warm_up is 5"), std::string::npos);
}

}  // namespace
}  // namespace tyche::engine
