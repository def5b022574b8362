#include "datasets/folds.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "support/error.hpp"

namespace tyche::datasets {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

/// n graphs labelled 1, 0, 1, 0, …, in pairs (0,1), (2,3), … like EXP.
struct Paired {
  explicit Paired(std::uint32_t graphs) {
    for (std::uint32_t g = 0; g < graphs; ++g) {
      labels.push_back(g % 2 == 0 ? 1 : 0);
      pairs.push_back(g / 2);
    }
  }
  std::vector<int> labels;
  std::vector<std::uint32_t> pairs;
};

std::vector<std::uint32_t> range(std::uint32_t begin, std::uint32_t end) {
  std::vector<std::uint32_t> out(end - begin);
  std::iota(out.begin(), out.end(), begin);
  return out;
}

TEST(ContiguousFolds, AreThePublishedOnesOnExp) {
  const Paired exp(1200);
  const auto folds = make_folds(exp.labels, exp.pairs, {});
  ASSERT_EQ(folds.size(), 10u);
  for (std::uint32_t i = 0; i < 10; ++i) {
    // The published loop, in words: cut out test slice i of 120, then slice i of 108 from what remains.
    std::vector<std::uint32_t> rest = range(0, 120 * i);
    for (const std::uint32_t g : range(120 * (i + 1), 1200)) rest.push_back(g);
    const std::vector<std::uint32_t> aside(rest.begin() + 108 * i, rest.begin() + 108 * (i + 1));
    rest.erase(rest.begin() + 108 * i, rest.begin() + 108 * (i + 1));
    EXPECT_EQ(folds[i].test, range(120 * i, 120 * (i + 1)));
    EXPECT_EQ(folds[i].validation, aside);
    EXPECT_EQ(folds[i].train, rest);
    EXPECT_EQ(folds[i].train.size(), 972u);
  }
}

TEST(ContiguousFolds, WithoutValidationTrainOnAllTheRest) {
  const Paired exp(1200);
  const auto folds = make_folds(exp.labels, exp.pairs, {.validation = 0});
  EXPECT_EQ(folds[0].train, range(120, 1200));
  EXPECT_TRUE(folds[0].validation.empty());
}

TEST(ContiguousFolds, OfAnAwkwardNumberDifferByOneGraph) {
  const std::vector<int> labels(7, 0);
  const auto folds = make_folds(labels, {}, {.folds = 3, .validation = 0});
  EXPECT_THAT(folds[0].test, ElementsAre(0, 1));
  EXPECT_THAT(folds[1].test, ElementsAre(2, 3));
  EXPECT_THAT(folds[2].test, ElementsAre(4, 5, 6));
}

TEST(ContiguousFolds, MaySetAsideMoreThanAFoldth) {
  const std::vector<int> labels(10, 0);  // 9 remain, 4 set aside, and fold 9 begins at 36 modulo 9
  const auto folds = make_folds(labels, {}, {.folds = 10, .validation = 0.5});
  EXPECT_THAT(folds[9].validation, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(folds[1].validation, ElementsAre(5, 6, 7, 8));
}

TEST(OneFold, TrainsAndTestsOnAllGraphsButThoseSetAside) {
  std::vector<int> labels(30, 4);
  std::fill(labels.begin() + 10, labels.begin() + 20, 7);
  const auto all = make_folds(labels, {}, {.folds = 1, .validation = 0});
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].train, range(0, 30));
  EXPECT_EQ(all[0].test, range(0, 30));
  const auto some =
      make_folds(labels, {}, {.folds = 1, .scheme = FoldScheme::stratified, .validation = 0.2, .seed = 3});
  EXPECT_EQ(some[0].validation.size(), 6u);
  const auto& part = some[0].validation;
  EXPECT_EQ(std::count_if(part.begin(), part.end(), [&](auto g) { return labels[g] == 7; }), 2);
  EXPECT_EQ(some[0].train.size(), 24u);
  EXPECT_EQ(some[0].test, some[0].train) << "no score mixes graphs that were trained on with others";
}

TEST(StratifiedFolds, SpreadEachClassEvenly) {
  std::vector<int> labels(30, 4);
  std::fill(labels.begin() + 10, labels.begin() + 15, 7);
  const auto folds = make_folds(labels, {}, {.folds = 5, .scheme = FoldScheme::stratified, .validation = 0.25});
  for (const Fold& fold : folds) {
    EXPECT_EQ(fold.test.size(), 6u);
    EXPECT_EQ(fold.validation.size(), 6u);
    EXPECT_EQ(std::count_if(fold.test.begin(), fold.test.end(), [&](auto g) { return labels[g] == 7; }), 1);
    EXPECT_EQ(std::count_if(fold.validation.begin(), fold.validation.end(), [&](auto g) { return labels[g] == 7; }), 1);
  }
}

TEST(StratifiedFolds, AreDecidedByTheSeed) {
  const Paired data(40);
  const FoldOptions one{.folds = 4, .scheme = FoldScheme::stratified, .seed = 1};
  const FoldOptions two{.folds = 4, .scheme = FoldScheme::stratified, .seed = 2};
  EXPECT_EQ(make_folds(data.labels, data.pairs, one)[0].test, make_folds(data.labels, data.pairs, one)[0].test);
  EXPECT_NE(make_folds(data.labels, data.pairs, one)[0].test, make_folds(data.labels, data.pairs, two)[0].test);
}

TEST(Folds, ComplainInWords) {
  const Paired data(6);
  const std::vector<int> three = {0, 1, 0};
  EXPECT_THAT([&] { (void)make_folds(data.labels, data.pairs, {.folds = 4}); },
              ThrowsMessage<InputError>(HasSubstr("4 folds asked, but the data set has 3 pairs")));
  EXPECT_THAT([&] { (void)make_folds(three, {}, {.folds = 10}); },
              ThrowsMessage<InputError>(HasSubstr("10 folds asked, but the data set has 3 graphs")));
  EXPECT_THAT([&] { (void)make_folds(three, {}, {.folds = 0}); }, ThrowsMessage<InputError>(HasSubstr("at least 1")));
  EXPECT_THAT([&] { (void)make_folds(three, {}, {.folds = 3, .validation = 1.0}); },
              ThrowsMessage<InputError>(HasSubstr("validation share")));
  EXPECT_THAT([] { (void)parse_fold_scheme("random"); },
              ThrowsMessage<InputError>(HasSubstr("there are contiguous, strat")));
}

RC_GTEST_PROP(Folds, PartitionTheGraphsAndNeverPartAPair, ()) {
  const auto units = *rc::gen::inRange<std::uint32_t>(2, 60);
  const bool paired = *rc::gen::arbitrary<bool>();
  const auto folds_asked = *rc::gen::inRange<std::uint32_t>(2, units + 1);
  const auto scheme = *rc::gen::element(FoldScheme::contiguous, FoldScheme::stratified);
  const double validation = *rc::gen::element(0.0, 0.1, 0.3);
  const std::uint32_t graphs = paired ? 2 * units : units;
  std::vector<int> labels;
  std::vector<std::uint32_t> pairs;
  for (std::uint32_t g = 0; g < graphs; ++g) {
    labels.push_back(*rc::gen::inRange(0, 3));
    if (paired) pairs.push_back(g / 2);
  }
  const auto folds =
      make_folds(labels, pairs, {.folds = folds_asked, .scheme = scheme, .validation = validation, .seed = 5});
  std::vector<int> tested(graphs, 0);
  for (const Fold& fold : folds) {
    std::vector<int> role(graphs, -1);
    const std::vector<std::uint32_t>* lists[] = {&fold.train, &fold.validation, &fold.test};
    for (int r = 0; r < 3; ++r) {
      RC_ASSERT(std::is_sorted(lists[r]->begin(), lists[r]->end()));
      for (const std::uint32_t g : *lists[r]) {
        RC_ASSERT(role[g] == -1);
        role[g] = r;
      }
    }
    RC_ASSERT(std::find(role.begin(), role.end(), -1) == role.end());
    for (const std::uint32_t g : fold.test) ++tested[g];
    if (paired) {
      for (std::uint32_t g = 0; g < graphs; g += 2) RC_ASSERT(role[g] == role[g + 1]);
    }
    const std::size_t least = units / folds_asked * (paired ? 2 : 1);
    RC_ASSERT(fold.test.size() >= least);
    RC_ASSERT(fold.test.size() <= least + (paired ? 2 : 1));
  }
  RC_ASSERT(std::all_of(tested.begin(), tested.end(), [](int count) { return count == 1; }));
}

}  // namespace
}  // namespace tyche::datasets
