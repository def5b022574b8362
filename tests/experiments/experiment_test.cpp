#include "experiments/experiment.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "experiments/plan.hpp"
#include "experiments/records.hpp"
#include "nn/program_text.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "support/temporary_folder.hpp"

namespace tyche::experiments {
namespace {

using testing::HasSubstr;

Experiment parse(const std::string& text, const std::string& profile = "paper") {
  return load_experiments({"mine.toml", text, "/folder"}, profile).front();
}

std::string error_of(const std::string& text) {
  try {
    (void)parse(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

constexpr const char* kSmall = R"(
title = "Small"
[data]
generate = "exp"
pairs = 30
[defaults]
training.epochs = 50
[[models]]
name = "half"
model.rni = 0.5
quick.training.epochs = 5
[[models]]
name = "none"
training.epochs = 70
quick = false
[profiles.quick]
data.pairs = 10
defaults.folds.run = 2
)";

}  // namespace

TEST(Experiment, TakesTheWordsOfARunsConfiguration) {
  const Experiment e = parse(kSmall);
  EXPECT_EQ(e.name, "mine");
  EXPECT_EQ(e.title, "Small");
  EXPECT_EQ(datasets::pairs_of(e.data.recipe), 30u);
  ASSERT_EQ(e.rows.size(), 2u);
  EXPECT_EQ(e.rows[0].config.model.rni, 0.5);
  EXPECT_EQ(e.rows[0].config.training.epochs, 50u);
  EXPECT_EQ(e.rows[1].config.training.epochs, 70u);  // a row's own word beats the default
  EXPECT_EQ(e.rows[1].folds_run, 10u);
}

TEST(Experiment, TakesANetworkFromAFileBesideIt) {
  const TemporaryFolder folder;
  nn::ModelConfig gin;
  gin.kind = "gin";
  gin.layers = 3;
  gin.random = nn::Random::colours;
  write_file(folder / "net.toml", nn::to_toml(nn::program(gin)));
  const std::string text = "[data]\ngenerate = \"exp\"\n[[models]]\nname = \"a\"\nmodel.network = \"net.toml\"\n";
  const Experiment e = load_experiments({"mine.toml", text, folder.path()}, "paper").front();
  ASSERT_EQ(e.rows.size(), 1u);
  EXPECT_EQ(e.rows[0].config.model.kind, "gin");
  EXPECT_EQ(e.rows[0].config.model.layers, 3u);
  EXPECT_EQ(e.rows[0].config.model.random, nn::Random::colours);
  EXPECT_THAT(error_of(text), HasSubstr("/folder/net.toml: there is no such file"));
}

TEST(Experiment, MakesTheLadderAndCircularSkipLinksToo) {
  const Experiment ladder =
      parse("[data]\nunseen = 10\nbase_nodes = \"12,14\"\ngenerate = \"tseitin\"\n[[models]]\nname = \"a\"\n");
  EXPECT_EQ(ladder.data.name(), "tseitin-600-seed1-base12+14-unseen10");
  EXPECT_EQ(ladder.data.graphs(), 1200u);
  EXPECT_EQ(parse("[data]\ngenerate = \"csl\"\n[[models]]\nname = \"a\"\n").data.graphs(), 150u);
  EXPECT_THAT(error_of("[data]\ngenerate = \"csl\"\npairs = 3\n"), HasSubstr("csl has no parameter 'pairs'"));
  EXPECT_THAT(error_of("[data]\ngenerate = \"tseitin\"\nbase_nodes = 5\n"), HasSubstr("even number"));
  EXPECT_THAT(error_of("[data]\ngenerate = \"exp\"\npairs = -3\n"), HasSubstr("whole number"));
}

TEST(Experiment, RandomInputsBringDefaultsThatARowMayChange) {
  const std::string data = "title = \"x\"\n[data]\ngenerate = \"exp\"\n";
  const Experiment e =
      parse(data +
            "[[models]]\nname = \"a\"\nmodel.random = \"marks\"\n"
            "[[models]]\nname = \"b\"\nmodel.layers = 2\nmodel.depth = 3\nmodel.random = \"colours\"\n");
  ASSERT_EQ(e.rows.size(), 2u);
  EXPECT_EQ(e.rows[0].config.model.random, nn::Random::marks);
  EXPECT_EQ(e.rows[0].config.model.depth, 1u);
  EXPECT_EQ(e.rows[0].config.model.layers, 4u);
  EXPECT_EQ(e.rows[1].config.model.depth, 3u);
  EXPECT_EQ(e.rows[1].config.model.layers, 2u);
  EXPECT_THAT(error_of(data + "[[models]]\nname = \"a\"\nmodel.random = \"colors\"\n"),
              testing::HasSubstr("unknown random input 'colors'"));
}

TEST(Experiment, AProfileChangesOrLeavesOutRows) {
  const Experiment e = parse(kSmall, "quick");
  EXPECT_EQ(datasets::pairs_of(e.data.recipe), 10u);
  ASSERT_EQ(e.rows.size(), 1u);
  EXPECT_EQ(e.rows[0].config.training.epochs, 5u);
  EXPECT_EQ(e.rows[0].folds_run, 2u);
}

TEST(Experiment, UnknownKeysAreErrorsThatNameTheNearest) {
  const std::string data = "[data]\ngenerate = \"exp\"\n";
  EXPECT_THAT(error_of("titel = \"x\"\n" + data),
              HasSubstr("mine.toml: line 1: unknown key 'titel'; did you mean 'title'?"));
  EXPECT_THAT(error_of(data + "[defaults]\ntraining.epocs = 3\n"),
              HasSubstr("line 4: unknown key 'training.epocs'; did you mean 'training.epochs'?"));
  EXPECT_THAT(error_of(data + "[[models]]\nmodel.rnii = 0.5\n"), HasSubstr("did you mean 'model.rni'?"));
  EXPECT_THAT(error_of(data + "[[models]]\nquick.model.widht = 5\n"), HasSubstr("did you mean 'model.width'?"));
  EXPECT_THAT(error_of(data + "[profiles.quick]\ndefaults.training.bach = 5\n"),
              HasSubstr("did you mean 'training.batch'?"));
  EXPECT_THAT(error_of("[data]\ngenerate = \"exp\"\npars = 3\n"), HasSubstr("did you mean 'pairs'?"));
  EXPECT_THAT(error_of(data + "[[model]]\nname = \"a\"\n"), HasSubstr("did you mean 'models'?"));
  EXPECT_THAT(error_of(data + "[profiles.quik]\ndefaults.training.batch = 5\n"), HasSubstr("unknown key"));
}

TEST(Experiment, TakesTheNamesOfOptionsToo) {
  const std::string data = "[data]\ngenerate = \"exp\"\n";
  const Experiment e = parse(data +
                                 "[defaults]\ntraining.lr = 0.25\nhidden = 12\n"
                                 "[grid]\ntraining.batch_size = [3, 5]\n"
                                 "[[models]]\nmodel.num-layers = 7\nquick.training.epoch = 9\n",
                             "quick");
  ASSERT_EQ(e.rows.size(), 2u);
  const train::RunConfig& config = e.rows[1].config;
  EXPECT_EQ(config.training.learning_rate, 0.25);
  EXPECT_EQ(config.model.width, 12u);
  EXPECT_EQ(config.training.batch, 5u);
  EXPECT_EQ(config.model.layers, 7u);
  EXPECT_EQ(config.training.epochs, 9u);
  EXPECT_EQ(e.rows[1].name, "gcn, batch 5") << "named as the key is";
}

TEST(Experiment, ValuesOfTheWrongKindAreErrorsWithTheirLine) {
  const std::string data = "[data]\ngenerate = \"exp\"\n";
  EXPECT_THAT(error_of(data + "[defaults]\ntraining.epochs = \"many\"\n"), HasSubstr("line 4"));
  EXPECT_THAT(error_of(data + "[defaults]\nmodel.activation = \"gelu\"\n"), HasSubstr("line 4"));
  EXPECT_THAT(error_of(data + "[defaults]\ntraining.learning_rate = 0\n"),
              HasSubstr("line 4: training.learning_rate: must be above 0"));
  EXPECT_THAT(error_of(data + "[defaults]\nfolds.only = 3\n"), HasSubstr("unknown key 'folds.only'"));
  EXPECT_THAT(error_of(data + "[defaults]\nfolds.run = 11\n"), HasSubstr("folds.run is 11, but folds.count is 10"));
  EXPECT_THAT(error_of("[data]\ngenerate = \"exq\"\n"), HasSubstr("exq"));
  EXPECT_THAT(error_of("[data]\npairs = 3\n"), HasSubstr("either generate"));
  EXPECT_THAT(error_of("show = [\"curve\"]\n" + data), HasSubstr("did you mean 'curves'?"));
  EXPECT_THAT(error_of("= 3"), HasSubstr("mine.toml: line 1"));
  EXPECT_THROW((void)parse(kSmall, "fast"), InputError);
}

TEST(Experiment, APathThatIsTooLongIsLeftToWhoeverOpensIt) {
  const std::string name(5000, 'x');
  const Experiment e = parse(fmt::format("[data]\npath = \"{}\"\n[[models]]\nname = \"gcn\"\n", name));
  EXPECT_EQ(std::filesystem::path(e.data.path).filename(), name);
}

TEST(Experiment, AGridIsTheProductOfItsLists) {
  const Experiment e = parse(R"(
[data]
path = "graphs.txt"
[[models]]
name = "gcn"
[grid]
model.rni = [0.0, 0.5, 1.0]
seed = [1, 2]
)");
  ASSERT_EQ(e.rows.size(), 6u);
  EXPECT_EQ(e.rows[3].name, "gcn, rni 0.5, seed 2");
  EXPECT_EQ(e.rows[3].config.model.rni, 0.5);
  EXPECT_EQ(e.rows[3].config.seed, 2u);
  EXPECT_EQ(e.data.path, "/folder/graphs.txt");
}

TEST(Experiment, TwoRowsOfOneNameAreAnError) {
  EXPECT_THAT(error_of("[data]\ngenerate = \"exp\"\n[[models]]\nname = \"a\"\n[[models]]\nname = \"a\"\n"),
              HasSubstr("two rows are called 'a'"));
}

TEST(Catalogue, EveryExperimentOfThePaperLoadsUnderEveryProfile) {
  const std::vector<std::string> names = paper_experiments();
  EXPECT_THAT(names, testing::ElementsAre("table1", "exp-curves", "exp-deviation", "tanh", "cexp-curves", "cexp-split",
                                          "sparse-exp", "sparse-cexp"));
  for (const std::string& name : names) {
    for (const char* profile : kProfiles) {
      const Experiment e = load_experiments(find_experiment(name), profile).front();
      EXPECT_EQ(e.name, name);
      if (std::string(profile) == "paper") {
        EXPECT_FALSE(e.rows.empty());
        for (const ExperimentRow& row : e.rows) EXPECT_EQ(row.folds_run, 10u);
      }
    }
  }
}

TEST(Catalogue, WhatGoesBeyondThePaperLoadsUnderEveryProfileToo) {
  const std::vector<std::string> names = catalogue();
  EXPECT_THAT(names,
              testing::IsSupersetOf({"story", "initialisers", "ladder-growth", "draws", "tanh-rates", "late-falls"}));
  for (const std::string& name : names) {
    for (const char* profile : kProfiles) {
      for (const Experiment& e : load_experiments(find_experiment(name), profile)) {
        EXPECT_THAT(e.name, testing::StartsWith(name));
        EXPECT_TRUE(std::string(profile) != "paper" || !e.rows.empty()) << e.name;
      }
    }
  }
}

TEST(Experiment, RunsOverSeveralDataSetsWithDefaultsAndModelsOfTheirOwn) {
  const auto all =
      load_experiments({"mine.toml",
                        "title = \"T\"\n[[datasets]]\nname = \"a\"\ngenerate = \"exp\"\n"
                        "[[datasets]]\nname = \"b\"\ntitle = \"B\"\ngenerate = \"csl\"\ndefaults.folds.count = 5\n"
                        "[defaults]\ntraining.epochs = 7\n[[models]]\nname = \"x\"\n"
                        "[[models]]\nname = \"y\"\non = [\"b\"]\nmodel.rni = 0.5\n",
                        "."},
                       "paper");
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].name, "mine-a");
  EXPECT_EQ(all[1].title, "T: B");
  ASSERT_EQ(all[0].rows.size(), 1u);
  ASSERT_EQ(all[1].rows.size(), 2u);
  EXPECT_EQ(all[0].rows[0].config.folds.count, 10u);
  EXPECT_EQ(all[1].rows[1].config.folds.count, 5u);
  EXPECT_EQ(all[1].rows[1].config.training.epochs, 7u);
  EXPECT_THAT(error_of("[[datasets]]\nname = \"a\"\ngenerate = \"exp\"\n[[models]]\nname = \"x\"\non = [\"c\"]\n"),
              HasSubstr("none of [[datasets]] is called 'c'"));
  EXPECT_THAT(error_of("[data]\ngenerate = \"exp\"\n[[datasets]]\nname = \"a\"\ngenerate = \"exp\"\n"),
              HasSubstr("no [data] beside them"));
}

TEST(Catalogue, ThePapersProfileIsThePapersProtocol) {
  const Experiment table = load_experiments(find_experiment("table1"), "paper").front();
  EXPECT_EQ(table.data.name(), "exp-600-seed1");
  for (const ExperimentRow& row : table.rows) {
    if (row.name == "GCN-RNI(N)") {
      EXPECT_EQ(row.config.training.epochs, 500u);
      EXPECT_EQ(row.config.training.learning_rate, 5e-4);
      EXPECT_EQ(row.config.training.batch, 20u);
      EXPECT_EQ(row.config.model.rni, 1);
    }
    if (row.name == "3-GCN") {
      EXPECT_EQ(row.config.training.epochs, 100u);
    }
  }
  const Experiment sparse = load_experiments(find_experiment("sparse-exp"), "paper").front();
  EXPECT_EQ(sparse.data.name(), "sparse-exp-150-seed1");
  EXPECT_EQ(sparse.rows.front().config.training.epochs, 1000u);
}

TEST(Catalogue, AMistypedNameIsAnErrorThatNamesTheNearest) {
  try {
    (void)find_experiment("tabel1");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("did you mean 'table1'?"));
  }
}

TEST(Paper, HoldsTheTablesAndEveryCurve) {
  const Paper paper = load_paper();
  const Printed* normal = paper.accuracy({"EXP", "all", "GCN-RNI(N)"});
  ASSERT_NE(normal, nullptr);
  EXPECT_EQ(normal->mean, 98.0);
  EXPECT_EQ(normal->deviation, 1.85);
  EXPECT_EQ(paper.accuracy({"CEXP", "CORRUPT", "GCN"})->mean, 98.5);
  EXPECT_EQ(paper.accuracy({"CEXP", "CORRUPT", "3-GCN"}), nullptr);
  EXPECT_EQ(paper.curves.size(), 23u);
  const Curve* curve = paper.curve({"SparseEXP", "all", "GCN-RNI"});
  ASSERT_NE(curve, nullptr);
  EXPECT_EQ(curve->epoch.size(), 100u);
  EXPECT_NE(paper.curve({"EXP-stdev", "all", "GCN-50%RNI"}), nullptr);
}

TEST(Paper, EveryRowOfThePapersTablesFindsItsNumber) {
  const Paper paper = load_paper();
  for (const char* name : {"table1", "tanh", "exp-curves", "cexp-curves"}) {
    const Experiment e = load_experiments(find_experiment(name), "paper").front();
    for (const ExperimentRow& row : e.rows) {
      const Printed* printed = paper.accuracy({e.paper_data, "all", row.paper});
      ASSERT_NE(printed, nullptr) << row.name;
      EXPECT_EQ(row.config.training.epochs, printed->epochs) << row.name;  // as printed, so compared at the end
    }
  }
}

TEST(Paper, EveryRandomRowOfTheStoryEndsWhereThePapersCurveHasAPoint) {
  const Paper paper = load_paper();
  const Experiment story = load_experiments(find_experiment("story"), "quick").front();
  std::size_t compared = 0;
  for (const ExperimentRow& row : story.rows) {
    const Curve* curve = paper.curve({story.paper_data, "all", row.curve});
    if (curve == nullptr) continue;  // the plain GCN, and what is not in the paper
    ++compared;
    EXPECT_THAT(curve->epoch, testing::Contains(row.config.training.epochs)) << row.name;
  }
  EXPECT_EQ(compared, 3u);
}

TEST(Paper, TheStorysTrialsAreThoseOfTheLearningCurves) {
  // One call of reproduce for both trains them once.
  const Experiment story = load_experiments(find_experiment("story"), "quick").front();
  const Experiment curves = load_experiments(find_experiment("exp-curves"), "quick").front();
  EXPECT_EQ(story.data.name(), curves.data.name());
  std::size_t shared = 0;
  for (const ExperimentRow& row : story.rows) {
    for (const ExperimentRow& other : curves.rows) {
      if (row.name != other.name) continue;
      ++shared;
      EXPECT_EQ(trial_key(row.config), trial_key(other.config)) << row.name;
    }
  }
  EXPECT_EQ(shared, 4u);
}

}  // namespace tyche::experiments
