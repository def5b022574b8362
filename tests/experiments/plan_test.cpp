#include "experiments/plan.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/choice.hpp"
#include "engine/engine.hpp"
#include "experiments/records.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "support/temporary_folder.hpp"
#include "train/fields.hpp"

namespace tyche::experiments {
namespace {

using testing::HasSubstr;

Experiment planned(const std::string& models, const std::string& name = "mine.toml") {
  const std::string text = "[data]\ngenerate = \"exp\"\npairs = 6\n[defaults]\nmodel.width = 8\n" +
                           std::string(models.starts_with("folds.") ? "" : "folds.count = 3\n") + models;
  return load_experiments({name, text, "."}, "paper").front();
}

}  // namespace

TEST(Plan, ATrialThatTwoExperimentsNeedStandsInItOnce) {
  const TemporaryFolder folder;
  const std::string half = "[[models]]\nname = \"half\"\nmodel.rni = 0.5\n";
  const Plan plan =
      make_plan({planned(half), planned(half + "[[models]]\nname = \"all\"\nmodel.rni = 1.0\n", "other.toml")},
                folder.path(), {.threads = 1});
  ASSERT_EQ(plan.rows.size(), 3u);
  EXPECT_EQ(plan.trials.size(), 6u);
  EXPECT_EQ(plan.rows[0].trials, plan.rows[1].trials);
  EXPECT_NE(plan.rows[1].trials, plan.rows[2].trials);
  EXPECT_EQ(plan.data.size(), 1u);
  ASSERT_EQ(plan.groups.size(), 2u);  // the three folds of a model train as one group
  EXPECT_EQ(plan.groups[0].size(), 3u);
}

TEST(Plan, SeedsAndLearningRatesOfOneShapeTrainAsOneGroup) {
  const TemporaryFolder folder;
  const Plan plan = make_plan({planned("[grid]\nseed = [1, 2]\ntraining.learning_rate = [1e-3, 1e-4]\n")},
                              folder.path(), {.threads = 1});
  EXPECT_EQ(plan.trials.size(), 12u);
  EXPECT_EQ(plan.groups.size(), 1u);
}

TEST(Plan, ARowThatCannotBeTrainedIsNamed) {
  const TemporaryFolder folder;
  try {
    (void)make_plan({planned("[[models]]\nname = \"odd\"\nmodel.rni = 1.5\n")}, folder.path(), {.threads = 1});
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("experiment mine, row 'odd': "));
  }
}

TEST(TrialKey, DependsOnWhatDecidesTheResultAndOnNothingElse) {
  train::RunConfig config;
  const std::string key = trial_key(config);
  config.data.path = "/elsewhere";
  config.version = "9";
  config.engine.name = "another";
  config.engine.description = "another machine";
  EXPECT_EQ(trial_key(config), key);
  config.seed = 2;
  EXPECT_NE(trial_key(config), key);
}

TEST(TrialKey, IsTheOneThatVersion010Gave) {
  // The folders under tests/data/v0.1.0/reproduce/trials, which its program named.
  const std::filesystem::path old = std::filesystem::path(TYCHE_TEST_DATA) / "v0.1.0";
  const TemporaryFolder folder;
  const Plan plan =
      make_plan({load_experiments(find_experiment(old / "tiny.toml"), "paper").front()}, folder.path(), {.threads = 1});
  std::vector<std::string> keys;
  for (const PlannedTrial& trial : plan.trials) keys.push_back(trial.key);
  EXPECT_THAT(keys, testing::ElementsAre("gcn-66b89ae896b330cb", "gcn-1c9b7214e22145de", "gcn3-e1859007336d7f81",
                                         "gcn123-5d7eb7c8dbd36404", "ppgn-a1e8677aa74b9ec8"));
}

TEST(TrialKey, IsTheOneThatVersion020Gave) {
  const std::filesystem::path old = std::filesystem::path(TYCHE_TEST_DATA) / "v0.2.0";
  const TemporaryFolder folder;
  const Plan plan =
      make_plan({load_experiments(find_experiment(old / "tiny.toml"), "paper").front()}, folder.path(), {.threads = 1});
  std::vector<std::string> keys;
  for (const PlannedTrial& trial : plan.trials) keys.push_back(trial.key);
  EXPECT_THAT(keys, testing::ElementsAre("gin-8cfe458b2d77b2d5", "gcn-4ab22b1fa117e000", "gcn2-9d30ac61757112e1"));
}

TEST(TrialKey, APpgnWithAnotherReadoutIsNotTheOneOfVersion010) {
  // That one was named after its readout and trained with the maximum.
  train::RunConfig config = train::default_config("ppgn");
  config.model.readout = nn::Readout::sum;
  EXPECT_NE(trial_key(config), fmt::format("ppgn-{:016x}", hash_bytes(train::identity(config, {}))));
}

TEST(Plan, OneFoldIsATrialOnAllGraphs) {
  const TemporaryFolder folder;
  const Plan plan = make_plan({planned("folds.count = 1\n")}, folder.path(), {.threads = 1});
  ASSERT_EQ(plan.trials.size(), 1u);
  EXPECT_EQ(plan.data_of(plan.trials[0]).folds[0].train.size(), 12u);
  EXPECT_EQ(plan.data_of(plan.trials[0]).folds[0].test.size(), 12u);
}

TEST(EngineOfDevice, AutoIsTheGpuWhereThereIsOne) {
  const std::vector<std::string> names = engine::engine_names();
  const bool gpu = std::find(names.begin(), names.end(), "cuda") != names.end();
  EXPECT_EQ(engine_of_device("auto"), gpu ? "cuda" : "auto");
  EXPECT_EQ(engine_of_device("cpu"), "cpu");
}

TEST(TrainsInLockstep, AGpuDoes) {
  EXPECT_TRUE(engine::EngineChoice("cuda").on_gpu());
  EXPECT_FALSE(engine::EngineChoice("cpu").on_gpu());
}

TEST(TrainCommand, NamesWhatDiffersFromTheDefaultsOfTheModel) {
  train::RunConfig config = train::default_config("gcn");
  config.data.path = "data/my graphs";
  config.model.rni = 0.5;
  config.training.learning_rate = 2e-4;
  EXPECT_EQ(train_command(config), "tyche train --data 'data/my graphs' --rni 0.5 --lr 0.0002");
  config = train::default_config("gcn3");
  config.data.path = "d";
  config.engine.compress = false;
  EXPECT_EQ(train_command(config), "tyche train --data d --model gcn3 --no-compress");
  config = train::default_config("ppgn");
  config.data.path = "d";
  config.data.format = "tu";
  config.seed = 2;
  config.folds.count = 1;
  config.model.mlp_depth = 3;
  EXPECT_EQ(train_command(config), "tyche train --data d --model ppgn --seed 2 --format tu --mlp-depth 3 --folds 1");
}

}  // namespace tyche::experiments
