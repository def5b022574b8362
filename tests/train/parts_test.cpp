// Which part of a run a graph was in, and the scores of each part.
#include "train/parts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/error.hpp"
#include "train/samples.hpp"

namespace tyche::train {
namespace {

using testing::HasSubstr;

struct Parts : testing::Test {
  datasets::Dataset dataset = small_dataset();
  RunConfig config = small_config(dataset);
  OwnGraphs own = own_graphs(dataset, config);

  /// A file of its own with some of the run's graphs.
  datasets::Dataset slice(const std::vector<std::uint32_t>& graphs) const {
    datasets::Dataset out;
    for (const std::uint32_t g : graphs) {
      out.set.graphs.push_back(dataset.set.graphs[g]);
      out.set.labels.push_back(dataset.set.labels[g]);
    }
    out.hash = 1;
    return out;
  }
};

TEST_F(Parts, AreThoseOfTheFoldForTheRunsOwnData) {
  for (std::uint32_t fold = 0; fold < 3; ++fold) {
    const std::vector<Part> parts = parts_of(own, dataset, config, fold);
    ASSERT_EQ(parts.size(), 24u);
    for (const std::uint32_t g : own.folds[fold].test) EXPECT_EQ(parts[g], Part::test);
    for (const std::uint32_t g : own.folds[fold].validation) EXPECT_EQ(parts[g], Part::validation);
    for (const std::uint32_t g : own.folds[fold].train) EXPECT_EQ(parts[g], Part::train);
    EXPECT_EQ(std::count(parts.begin(), parts.end(), Part::fresh), 0);
  }
}

TEST_F(Parts, OfAnotherFileAreThoseOfTheGraphsThatItCopies) {
  const std::uint32_t tested = own.folds[0].test.front(), trained = own.folds[0].train.front();
  datasets::Dataset other = slice({tested, trained});
  other.set.graphs.push_back(Graph::from_edges(11, {}, std::vector<NodeType>(11, 0)));
  other.set.labels.push_back(3);
  const std::vector<Part> parts = parts_of(own, other, config, 0);
  EXPECT_THAT(parts, testing::ElementsAre(Part::test, Part::train, Part::fresh));
  other.set.labels.clear();
  EXPECT_EQ(parts_of(own, other, config, 0), parts) << "labels are no part of a graph";
}

TEST_F(Parts, OfOneFoldOfAllGraphsAreTraining) {
  RunConfig all = config;
  all.folds.count = 1;
  all.folds.validation = 0;
  const std::vector<Part> parts = parts_of(own_graphs(dataset, all), dataset, all, 0);
  EXPECT_EQ(std::count(parts.begin(), parts.end(), Part::train), 24);
}

Answered said_of(std::uint32_t graph, std::uint32_t fold, Part part, int label) {
  Answered own{graph, fold, part};
  own.said.label = label;
  return own;
}

TEST(PartScores, TheHeadlineIsOfGraphsThatTrainingDidNotSee) {
  GraphSet set;
  set.labels = {1, 1, 1, 1, 1, 1};
  std::vector<Answered> answered;
  const Part parts[] = {Part::train, Part::train, Part::train, Part::test, Part::test, Part::validation};
  const int said[] = {1, 1, 1, 1, 0, 0};
  for (std::uint32_t g = 0; g < 6; ++g) answered.push_back(said_of(g, 0, parts[g], said[g]));
  const std::vector<PartScores> scores = part_scores(answered, set);
  const auto json = to_json(scores);
  EXPECT_EQ(json["headline"], "test");
  EXPECT_EQ(json["accuracy"], 0.5) << "not the 4 of 6 over all graphs";
  EXPECT_EQ(json["parts"]["train"], nlohmann::ordered_json({{"graphs", 3}, {"accuracy", 1.0}}));
  EXPECT_EQ(json["parts"]["validation"], nlohmann::ordered_json({{"graphs", 1}, {"accuracy", 0.0}}));
  RunConfig config;
  config.selection.by = "loss";
  EXPECT_EQ(to_text(scores, config, 4, true),
            "test part of fold 4: accuracy 50.00 % of 2 graphs\n"
            "validation part of fold 4: accuracy 0.00 % of 1 graph (they chose the epoch)\n"
            "training part of fold 4: accuracy 100.00 % of 3 graphs (the model was trained on them)\n");
  EXPECT_THAT(to_text(scores, config, 4, false), HasSubstr("copies of the run's training graphs: accuracy 100.00 %"));
  for (Answered& own : answered) own.part = own.part == Part::test ? Part::fresh : Part::train;
  EXPECT_EQ(to_json(part_scores(answered, set))["headline"], "new");
  set.labels.clear();
  EXPECT_FALSE(to_json(part_scores(answered, set)).contains("accuracy"));
}

TEST(PartScores, OfClassesGoBeyondAccuracyAndWantClassesThatTheModelKnows) {
  GraphSet set;
  set.labels = {4, 4, 4, 7};
  std::vector<Answered> answered;
  const double of_seven[] = {0.1, 0.6, 0.2, 0.4};  // one pair of three in the wrong order
  for (std::uint32_t g = 0; g < 4; ++g) {
    answered.push_back(said_of(g, 0, Part::test, of_seven[g] > 0.5 ? 7 : 4));
    answered.back().said.probabilities = {1 - of_seven[g], of_seven[g]};
  }
  const auto json = to_json(part_scores(answered, set, std::vector<int>{4, 7}));
  EXPECT_EQ(json["accuracy"], 0.5);
  EXPECT_NEAR(json["balanced_accuracy"], (2.0 / 3 + 0) / 2, 1e-12);
  EXPECT_NEAR(json["roc_auc"], 2.0 / 3, 1e-12);
  EXPECT_EQ(json["f1"], 0.0);
  EXPECT_EQ(json["average_precision"], 0.5);
  set.labels[0] = 9;
  EXPECT_FALSE(to_json(part_scores(answered, set, std::vector<int>{4, 7})).contains("roc_auc"));
}

TEST(PartScores, OfSeveralFoldsAreTheirMeanAsInTheSummary) {
  GraphSet set;
  set.labels = {1, 1, 1};
  // Fold 0 has one test graph, fold 1 two: their mean is 0.75, the share over graphs 2/3.
  const std::vector<Answered> answered = {said_of(0, 0, Part::test, 1), said_of(1, 1, Part::test, 1),
                                          said_of(2, 1, Part::test, 0)};
  const auto json = to_json(part_scores(answered, set));
  EXPECT_EQ(json["accuracy"], 0.75);
  EXPECT_EQ(json["parts"]["test"],
            nlohmann::ordered_json({{"graphs", 3}, {"accuracy", 0.75}, {"accuracy_std", 0.25}, {"folds", 2}}));
  EXPECT_THAT(to_text(part_scores(answered, set), {}, 0, true),
              HasSubstr("test parts of 2 folds, each graph by the fold that tested it: accuracy 75.00 ± 25.00 % of 3 "
                        "graphs"));
}

TEST(PartNames, AreKnownAndOthersRefused) {
  for (const char* name : {"train", "validation", "test", "new"}) EXPECT_EQ(part_name(parse_part(name)), name);
  EXPECT_THROW((void)parse_part("fresh"), InputError);
}

}  // namespace
}  // namespace tyche::train
