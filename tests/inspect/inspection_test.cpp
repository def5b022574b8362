#include "inspect/inspection.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "graph/isomorphism.hpp"
#include "inspect/partitions.hpp"
#include "support/error.hpp"
#include "wl/sample_graphs.hpp"
#include "wl/set_compare.hpp"
#include "wl/wl.hpp"

namespace tyche::inspect {
namespace {

using testing::HasSubstr;

datasets::Dataset labelled(std::vector<Graph> graphs, std::vector<int> labels) {
  datasets::Dataset out;
  out.name = out.set.name = "made";
  out.set.graphs = std::move(graphs);
  out.set.labels = std::move(labels);
  return out;
}

/// Two rings of six carbons that share a bond, and two rings of five joined by one: the textbook pair of molecules
/// that 1-WL cannot tell apart.
Graph decalin() {
  return Graph::from_edges(
      10, std::vector<Edge>{{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 0}, {4, 6}, {6, 7}, {7, 8}, {8, 9}, {9, 5}});
}
Graph bicyclopentyl() {
  return Graph::from_edges(
      10, std::vector<Edge>{{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 0}, {5, 6}, {6, 7}, {7, 8}, {8, 9}, {9, 5}, {0, 5}});
}

/// Chain i of 10 atoms: a marked end, and the bits of i as types. Different numbers, different chains.
Graph chain(unsigned i) {
  std::vector<NodeType> types = {7};
  for (unsigned bit = 0; bit < 9; ++bit) types.push_back(i >> bit & 1u);
  return Graph::from_edges(10, wl::path(10).edges(), types);
}

/// 100 molecules: 90 chains with labels by turns; copies (renumbered) of chain 0 twice and of chain 3 once, with their
/// labels; of chain 1 once, and of chain 5 twice, of which one each has the other label; the confused pair twice over.
struct Molecules {
  std::vector<Graph> graphs;
  std::vector<int> labels;

  Molecules() {
    Stream stream(derive_key(5, Purpose::test));
    const auto add = [&](const Graph& graph, int label) {
      graphs.push_back(wl::shuffled(graph, stream));
      labels.push_back(label);
    };
    for (unsigned i = 0; i < 90; ++i) add(chain(i), static_cast<int>(i % 2));
    for (const int label : {0, 0}) add(chain(0), label);  // 90, 91
    add(chain(3), 1);                                     // 92
    add(chain(1), 0);                                     // 93: chain 1 has label 1
    for (const int label : {1, 0}) add(chain(5), label);  // 94, 95: chain 5 has label 1
    add(decalin(), 0);                                    // 96
    add(bicyclopentyl(), 1);                              // 97
    add(decalin(), 0);                                    // 98
    add(bicyclopentyl(), 1);                              // 99
  }
};

TEST(Inspect, FindsThePlantedNumbersOfAMoleculeLikeSet) {
  Molecules made;
  const Inspection found = examine(labelled(made.graphs, made.labels));
  // Copies: {0, 90, 91}, {3, 92}, {1, 93}, {5, 94, 95}, {96, 98}, {97, 99}.
  EXPECT_EQ(found.isomorphic_groups, 6u);
  EXPECT_EQ(found.isomorphic_copies, 14u);
  EXPECT_EQ(found.isomorphism_classes, 92u);
  EXPECT_EQ(found.contradictions, 5u);
  EXPECT_THAT(found.contradicting, testing::ElementsAre(std::pair(1u, 93u), std::pair(5u, 95u)));
  // One of chain 1 and its copy is wrong for everyone, and one of chain 5 and its two. 1-WL takes two more wrong.
  EXPECT_DOUBLE_EQ(*found.all.everyone.score, 0.98);
  EXPECT_DOUBLE_EQ(*found.all.one_wl.score, 0.96);
  EXPECT_DOUBLE_EQ(*found.all.two_wl->score, 0.98);
  EXPECT_DOUBLE_EQ(*found.all.two_sets->score, 0.98);
  EXPECT_DOUBLE_EQ(*found.all.three_sets->score, 0.98);
  EXPECT_EQ(found.confused_groups, 1u);
  ASSERT_EQ(found.confused.size(), 1u);
  EXPECT_EQ(found.confused[0].first, 96u);
  EXPECT_EQ(found.confused[0].second, 97u);
  EXPECT_TRUE(found.confused[0].answers_differ);
  EXPECT_EQ(found.one_wl_groups, 91u);
  // Without types all 96 chains are one: 45 + 2 + 2 with label 0, 45 + 1 + 1 with label 1.
  EXPECT_DOUBLE_EQ(*found.untyped.score, 0.51);
  EXPECT_DOUBLE_EQ(*found.baseline.score, 0.51);
  EXPECT_FALSE(found.without_attributes);
  EXPECT_THAT(found.verdict, HasSubstr("Random inputs can win 2.0 points"));
  EXPECT_THAT(found.notes, testing::IsEmpty());
  EXPECT_FALSE(found.leaks);
}

TEST(Inspect, CountsTestGraphsWithACopyInTheTrainingPartOfTheirFold) {
  Molecules made;
  Options options;
  datasets::Fold one, other;
  for (std::uint32_t g = 0; g < 100; ++g) (g < 50 ? one.test : one.train).push_back(g);
  other.train = {0, 1, 2, 97};
  other.validation = {3};
  other.test = {90, 91, 92, 93, 96, 98, 99};
  // Fold 0: 0, 1, 3, 5 have copies among graphs from 50 on. Fold 1: 90, 91 and 93, and 99 of 97; 3 does not train.
  options.folds = {one, other};
  EXPECT_EQ(examine(labelled(made.graphs, made.labels), options).leaks, 8u);
  options.folds = {one};
  EXPECT_EQ(examine(labelled(made.graphs, made.labels), options).leaks, 4u);
}

// Labels in order: a contiguous fold tests one of them alone, training would not.
TEST(Inspect, LeaksAreCountedBetweenTheFoldsThatTrainingWouldMake) {
  datasets::Dataset dataset = labelled(std::vector<Graph>(40, wl::path(4)), std::vector<int>(40, 0));
  for (std::size_t g = 20; g < 40; ++g) dataset.set.labels[g] = 1;
  std::vector<std::string> notes;
  const auto leak_folds = [&](const std::map<std::string, nlohmann::json>& wanted) {
    Said said;
    for (const char* name : {"target", "folds", "fold_scheme", "validation", "seed", "all", "threads"}) said.know(name);
    for (const auto& [name, value] : wanted) said.set(name, value);
    Options options = options_of(said, dataset);
    notes.insert(notes.end(), options.notes.begin(), options.notes.end());
    return options.folds;
  };
  const auto labels = [&](const std::map<std::string, nlohmann::json>& wanted) {
    std::set<int> found;
    const std::vector<datasets::Fold> folds = leak_folds(wanted);
    for (const std::uint32_t g : folds.front().test) found.insert(dataset.set.labels[g]);
    return found.size();
  };
  EXPECT_EQ(labels({}), 2u);
  EXPECT_EQ(labels({{"fold_scheme", "contiguous"}}), 1u);
  dataset.subset.assign(40, datasets::Subset::exp);
  EXPECT_EQ(labels({}), 1u) << "tyche made this set";
  EXPECT_THAT(notes, testing::IsEmpty());
  EXPECT_THAT(leak_folds({{"folds", 1u}}), testing::IsEmpty());
  EXPECT_THAT(notes, testing::ElementsAre(HasSubstr("one fold trains and tests on all graphs")));
  dataset = labelled({wl::path(3), wl::path(4)}, {0, 1});
  EXPECT_THAT(leak_folds({}), testing::IsEmpty());
  EXPECT_EQ(notes.size(), 2u);
  EXPECT_THROW((void)leak_folds({{"folds", 3u}}), InputError);
}

TEST(Inspect, FindsTheCeilingsOfExp) {
  std::vector<Graph> graphs;
  std::vector<int> labels;
  for (const Node n : {2u, 3u, 4u, 5u}) {
    for (const bool satisfiable : {true, false}) {
      graphs.push_back(wl::exp_core(n, satisfiable));
      labels.push_back(satisfiable ? 1 : 0);
    }
  }
  const Inspection found = examine(labelled(graphs, labels));
  EXPECT_EQ(found.all.one_wl.score, 0.5);
  EXPECT_EQ(found.all.two_wl->score, 1.0);
  EXPECT_EQ(found.all.two_sets->score, 1.0);
  EXPECT_EQ(found.all.three_sets->score, 1.0);
  EXPECT_EQ(found.all.everyone.score, 1.0);
  EXPECT_EQ(found.isomorphic_groups, 0u);
  EXPECT_EQ(found.confused_groups, 4u);
  EXPECT_THAT(found.verdict, HasSubstr("Random inputs can win 50.0 points"));
}

TEST(Inspect, SeesWhatTwoWlCannotTellApart) {
  const Inspection found = examine(labelled({wl::rook(), wl::shrikhande()}, {0, 1}));
  EXPECT_EQ(found.all.one_wl.score, 0.5);
  EXPECT_EQ(found.all.two_wl->score, 0.5);
  EXPECT_EQ(found.all.everyone.score, 1.0);
}

TEST(Inspect, CountsSquaresOfRealTargets) {
  Stream stream(derive_key(6, Purpose::test));
  const float missing = std::numeric_limits<float>::quiet_NaN();
  datasets::Dataset data;
  data.set.graphs = {decalin(), bicyclopentyl(), chain(1), wl::shuffled(chain(1), stream), chain(2), chain(3)};
  data.set.target_dim = 1;
  data.set.targets = {0, 4, 1, 3, 2, missing};
  const Inspection found = examine(data);
  EXPECT_EQ(found.task, Task::targets);
  // The mean is 2, the squares around it 4 + 4 + 1 + 1; copies leave 1 + 1, and 1-WL another 4 + 4.
  EXPECT_DOUBLE_EQ(*found.all.everyone.score, 0.8);
  EXPECT_DOUBLE_EQ(*found.all.everyone.mse, 0.4);
  EXPECT_DOUBLE_EQ(*found.all.one_wl.score, 0.0);
  EXPECT_DOUBLE_EQ(*found.all.one_wl.mse, 2.0);
  EXPECT_DOUBLE_EQ(*found.all.two_wl->score, 0.8);
  EXPECT_EQ(found.contradictions, 2u);
  EXPECT_EQ(found.contents.targets[0].missing, 1u);
  EXPECT_DOUBLE_EQ(found.contents.targets[0].deviation, std::sqrt(2.0));
  const nlohmann::ordered_json json = to_json(found);
  EXPECT_DOUBLE_EQ(json["ceiling_everyone"], 0.8);
  EXPECT_DOUBLE_EQ(json["floor_mse_everyone"], 0.4);
  EXPECT_DOUBLE_EQ(json["floor_mse_1wl"], 2.0);
}

TEST(Inspect, AveragesTargetsThatHaveSomethingToTell) {
  datasets::Dataset data;
  data.set.graphs = {decalin(), bicyclopentyl()};
  data.set.target_dim = 3;
  data.set.targets = {0, 5, 1, 4, 5, 1};  // two graphs, three columns, of which two say nothing
  const Inspection found = examine(data);
  EXPECT_DOUBLE_EQ(*found.all.one_wl.score, 0.0);
  EXPECT_DOUBLE_EQ(*found.all.one_wl.mse, 8.0 / 6);
  EXPECT_DOUBLE_EQ(*found.all.everyone.score, 1.0);
  EXPECT_FALSE(found.all.everyone.columns[1].r2);
  data.set.targets = {1, 1, 1, 1, 1, 1};
  EXPECT_FALSE(examine(data).all.one_wl.score);
}

TEST(Inspect, TakesLabelsWhereThereAreBothUnlessTold) {
  datasets::Dataset data = labelled({decalin(), bicyclopentyl()}, {0, 0});
  data.set.target_dim = 1;
  data.set.targets = {0, 1};
  EXPECT_EQ(examine(data).all.one_wl.score, 1.0);
  Options options;
  options.task = Task::targets;
  EXPECT_EQ(examine(data, options).all.one_wl.score, 0.0);
  data.set.targets.clear();
  EXPECT_THROW((void)examine(data, options), InputError);
}

TEST(Inspect, CountsAttributesByExactValueWithAndWithout) {
  datasets::Dataset data = labelled({wl::path(3), wl::path(3), wl::path(3)}, {0, 1, 1});
  data.set.attribute_dim = 1;
  data.set.attributes = {{0.5f, 0, 0}, {0, 0.5f, 0}, {-0.0f, 0, 0.5f}};  // the third is the first, the other way round
  const Inspection found = examine(data);
  EXPECT_DOUBLE_EQ(*found.all.one_wl.score, 2.0 / 3);
  EXPECT_EQ(found.isomorphic_groups, 1u);
  EXPECT_EQ(found.contradictions, 2u);
  data.set.labels = {0, 1, 0};
  const Inspection other = examine(data);
  EXPECT_EQ(other.all.one_wl.score, 1.0);
  EXPECT_DOUBLE_EQ(*other.without_attributes->one_wl.score, 2.0 / 3);
  EXPECT_DOUBLE_EQ(*other.without_attributes->everyone.score, 2.0 / 3);
  EXPECT_DOUBLE_EQ(*other.untyped.score, 2.0 / 3);
}

TEST(Inspect, CountsWhatIsOnEdges) {
  const std::vector<Edge> edges = {{0, 1}, {1, 2}, {0, 2}};
  const auto triangle = [&](EdgeLabel label) {
    return Graph::from_edges(3, edges, {}, std::vector<EdgeLabel>{label, 0, 0});
  };
  const Inspection by_label = examine(labelled({triangle(0), triangle(1), triangle(2)}, {0, 1, 2}));
  EXPECT_EQ(by_label.all.one_wl.score, 1.0);
  EXPECT_EQ(by_label.all.two_wl->score, 1.0);
  EXPECT_EQ(by_label.all.two_sets->score, 1.0);
  EXPECT_EQ(by_label.all.three_sets->score, 1.0);
  EXPECT_EQ(by_label.isomorphic_groups, 0u);
  EXPECT_EQ(by_label.untyped.score, 1.0);
  EXPECT_DOUBLE_EQ(*by_label.structure->score, 1.0 / 3);
  EXPECT_EQ(by_label.contents.edge_labels, 3u);

  datasets::Dataset data = labelled({triangle(0), triangle(0)}, {0, 1});
  data.set.edge_attribute_dim = 2;
  data.set.edge_attributes = {{1, 1, 2, 2, 3, 3}, {1, 1, 2, 2, 3, 4}};
  const Inspection found = examine(data);
  EXPECT_EQ(found.all.everyone.score, 1.0);
  EXPECT_EQ(found.without_attributes->everyone.score, 0.5);
  data.set.edge_attributes = {{1, 1, 2, 2, 3, 3}, {3, 3, 1, 1, 2, 2}};
  EXPECT_EQ(examine(data).all.everyone.score, 0.5);
}

TEST(Inspect, SaysWhatIsInTheData) {
  const Inspection found =
      examine(labelled({wl::path(4), Graph(), disjoint_union(wl::path(1), wl::cycle(3))}, {5, -1, 5}));
  EXPECT_EQ(found.contents.graphs, 3u);
  EXPECT_EQ(found.contents.nodes.least, 0);
  EXPECT_EQ(found.contents.nodes.most, 4);
  EXPECT_DOUBLE_EQ(found.contents.nodes.mean, 8.0 / 3);
  EXPECT_EQ(found.contents.edges.most, 3);
  EXPECT_EQ(found.contents.degree.least, 0);
  EXPECT_DOUBLE_EQ(found.contents.degree.mean, 12.0 / 8);
  EXPECT_EQ(found.contents.connected, 1u);
  EXPECT_EQ(found.contents.empty, 1u);
  EXPECT_EQ(found.contents.node_types, 1u);
  EXPECT_THAT(found.contents.labels, testing::ElementsAre(std::pair(-1, 1u), std::pair(5, 2u)));
  EXPECT_EQ(found.all.one_wl.score, 1.0);
  EXPECT_THAT(found.verdict, HasSubstr("Nothing is hidden from message passing here"));
  EXPECT_THAT(found.verdict, HasSubstr("only training tells"));
}

TEST(Inspect, HasNothingToTellOfOneClassOrOfNone) {
  const Inspection one = examine(labelled({wl::path(3), wl::cycle(3), wl::cycle(3)}, {1, 1, 1}));
  EXPECT_EQ(one.all.one_wl.score, 1.0);
  EXPECT_EQ(one.contradictions, 0u);
  EXPECT_EQ(one.isomorphic_groups, 1u);
  EXPECT_THAT(one.verdict, HasSubstr("All graphs have the same label"));
  const Inspection none = examine(labelled({wl::path(3), wl::path(3)}, {}));
  EXPECT_EQ(none.task, Task::none);
  EXPECT_FALSE(none.all.one_wl.score);
  EXPECT_EQ(none.isomorphic_groups, 1u);
  EXPECT_EQ(to_json(none)["ceiling_1wl"], nullptr);
  EXPECT_THROW((void)examine(labelled({}, {})), InputError);
}

TEST(Inspect, LeavesATestOutThatWouldTakeTooLongAndSaysSo) {
  const datasets::Dataset data = labelled({decalin(), bicyclopentyl()}, {0, 1});
  Options options;
  options.limits = {.tuples = 1999, .sets = 100, .refined = 89};  // 2-WL: 2 · 10³; 2 · 45 pairs, 2 · 120 triples
  const Inspection found = examine(data, options);
  EXPECT_EQ(found.all.one_wl.score, 0.5);
  EXPECT_FALSE(found.all.two_wl);
  EXPECT_FALSE(found.all.two_sets);
  EXPECT_FALSE(found.all.three_sets);
  EXPECT_EQ(found.all.everyone.score, 1.0);
  EXPECT_THAT(found.notes,
              testing::ElementsAre(HasSubstr("rooted pairs was left out"),
                                   HasSubstr("local refinement of pairs was left out"), HasSubstr("2-WL was left out"),
                                   HasSubstr("2-sets were left out"), HasSubstr("3-sets were left out")));
  EXPECT_EQ(to_json(found)["ceiling_2wl"], nullptr);
  options.limits = Limits::none();
  EXPECT_EQ(examine(data, options).all.two_wl->score, 1.0);
  options.limits = {.bytes = 1000};
  EXPECT_FALSE(examine(data, options).all.two_wl);
}

/// The share of graphs that the commonest label of their group gets right, groups by a relation of pairs.
template <class Same>
double plain_ceiling(const std::vector<Graph>& graphs, const std::vector<int>& labels, const Same& same) {
  std::vector<std::size_t> group(graphs.size());
  for (std::size_t g = 0; g < graphs.size(); ++g) {
    group[g] = g;
    for (std::size_t h = 0; h < g; ++h) {
      if (same(graphs[h], graphs[g])) {
        group[g] = group[h];
        break;
      }
    }
  }
  std::map<std::size_t, std::map<int, int>> counts;
  for (std::size_t g = 0; g < graphs.size(); ++g) ++counts[group[g]][labels[g]];
  int right = 0;
  for (const auto& entry : counts) {
    int most = 0;
    for (const auto& label : entry.second) most = std::max(most, label.second);
    right += most;
  }
  return right / static_cast<double>(graphs.size());
}

RC_GTEST_PROP(InspectProperty, CeilingsAreThoseOfPairwiseComparison, ()) {
  Stream stream = wl::chosen_stream();
  std::vector<Graph> graphs;
  std::vector<int> labels;
  for (int i = 0; i < 4; ++i) {
    for (const Graph& graph : wl::sample_pair(6, stream)) graphs.push_back(graph);
  }
  graphs.insert(graphs.end(), {wl::cycle(6), disjoint_union(wl::cycle(3), wl::cycle(3))});
  for (std::size_t g = 0; g < graphs.size(); ++g) labels.push_back(static_cast<int>(stream.below(2)));
  const Inspection found = examine(labelled(graphs, labels));
  const auto ceiling = [&](const auto& same) { return plain_ceiling(graphs, labels, same); };
  const auto by_wl = [&](unsigned dim) {
    return ceiling([&](const Graph& a, const Graph& b) { return !wl::compare(a, b, {.dim = dim}).distinguished; });
  };
  const auto by_set = [&](unsigned k) {
    return ceiling([&](const Graph& a, const Graph& b) {
      return !wl::compare_sets(a, b, {{{k, wl::SetChoice::all}}, false}).distinguished;
    });
  };
  RC_ASSERT(*found.all.one_wl.score == by_wl(1));
  RC_ASSERT(*found.all.two_wl->score == by_wl(2));
  RC_ASSERT(*found.all.two_sets->score == by_set(2));
  RC_ASSERT(*found.all.three_sets->score == by_set(3));
  RC_ASSERT(*found.all.everyone.score ==
            ceiling([](const Graph& a, const Graph& b) { return isomorphism(a, b).has_value(); }));
}

}  // namespace
}  // namespace tyche::inspect
