#include "train/features.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "graph/sets.hpp"
#include "support/error.hpp"
#include "support/replaced.hpp"
#include "train/data.hpp"
#include "train/samples.hpp"

namespace tyche::train {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

/// An edge and a lone node, with these node types (all 0 if none).
GraphSet two_graphs(std::vector<NodeType> first = {}, std::vector<NodeType> second = {}) {
  const std::vector<Edge> edge = {{0, 1}};
  GraphSet set;
  set.name = "two";
  set.graphs = {Graph::from_edges(2, edge, std::move(first)), Graph::from_edges(1, {}, std::move(second))};
  set.labels = {0, 1};
  return set;
}

TEST(Features, AreNodeTypesOneHot) {
  const GraphSet set = two_graphs({0, 1}, {1});
  const FeatureSpec spec = feature_spec(set);
  EXPECT_THAT(spec.types, ElementsAre(0, 1));
  EXPECT_EQ(spec.columns(), 2u);
  EXPECT_THAT(make_features(set, spec).all(), ElementsAre(ElementsAre(1, 0, 0, 1), ElementsAre(0, 1)));
}

TEST(Features, HaveOneColumnForEachTypeThatOccurs) {
  const GraphSet set = two_graphs({7, 1000000}, {7});
  EXPECT_THAT(make_features(set, feature_spec(set)).all(), ElementsAre(ElementsAre(1, 0, 0, 1), ElementsAre(1, 0)));
}

TEST(Features, AreAConstantWhereNodesHaveNothing) {
  const GraphSet set = two_graphs();
  const FeatureSpec spec = feature_spec(set);
  EXPECT_THAT(spec.types, IsEmpty());
  EXPECT_EQ(spec.columns(), 1u);
  EXPECT_THAT(make_features(set, spec).all(), ElementsAre(ElementsAre(1, 1), ElementsAre(1)));
}

/// A path of three nodes whose edges have these labels, and an edge whose label is 0.
GraphSet labelled_edges(std::vector<EdgeLabel> labels) {
  const std::vector<Edge> path = {{0, 1}, {1, 2}}, edge = {{0, 1}};
  GraphSet set;
  set.name = "labelled";
  set.graphs = {Graph::from_edges(3, path, {}, labels), Graph::from_edges(2, edge)};
  set.labels = {0, 1};
  return set;
}

TEST(EdgeFeatures, AreLabelsOneHotAndAttributesBehindThem) {
  GraphSet set = labelled_edges({7, 0});
  FeatureSpec spec = feature_spec(set);
  EXPECT_THAT(spec.edge_labels, ElementsAre(0, 7));
  EXPECT_EQ(spec.edge_columns(), 2u);
  EXPECT_THAT(make_edge_features(set, spec).all(), ElementsAre(ElementsAre(0, 1, 1, 0), ElementsAre(1, 0)));
  set.edge_attribute_dim = 1;
  set.edge_attributes = {{0.5f, -2}, {3}};
  spec = feature_spec(set);
  EXPECT_THAT(make_edge_features(set, spec).all(),
              ElementsAre(ElementsAre(0, 1, 0.5f, 1, 0, -2), ElementsAre(1, 0, 3)));
  std::vector<float> infinite = set.edge_attributes.all()[0];
  infinite[1] = std::numeric_limits<float>::infinity();
  set.edge_attributes = replaced(set.edge_attributes, 0, infinite);
  EXPECT_THAT([&] { (void)make_edge_features(set, spec); },
              ThrowsMessage<InputError>(HasSubstr("labelled: graph 0, edge 1-2: attribute 0 is inf")));
}

TEST(EdgeFeatures, AreNoneWhereEdgesSayNothingOrAreNotLookedAt) {
  const GraphSet plain = labelled_edges({0, 0});
  EXPECT_EQ(feature_spec(plain).edge_columns(), 0u);
  EXPECT_THAT(make_edge_features(plain, feature_spec(plain)), IsEmpty());
  const GraphSet set = labelled_edges({7, 0});
  const FeatureSpec spec = feature_spec(set, false);
  EXPECT_EQ(spec.edge_columns(), 0u);
  EXPECT_THAT(make_edge_features(set, spec), IsEmpty());
  EXPECT_EQ(seen_graphs(set, spec), plain.graphs);
  EXPECT_EQ(seen_graphs(set, feature_spec(set)), set.graphs);
}

TEST(EdgeFeatures, OfOtherLabelsThanAModelsAreOthers) {
  const GraphSet set = labelled_edges({7, 0}), other = labelled_edges({7, 3}), plain = labelled_edges({0, 0});
  FeatureSpec spec = feature_spec(set);
  EXPECT_THAT(make_edge_features(other, spec)[0], ElementsAre(0, 1, 0, 0));
  EXPECT_THAT(unseen(other, spec, {0, 1}), ElementsAre("1 of 2 graphs has edge labels that training did not see (3: 1 "
                                                       "edge): all their columns are 0"));
  spec.other = true;
  EXPECT_THAT(make_edge_features(other, spec)[0], ElementsAre(0, 1, 0, 0, 0, 1));
  EXPECT_THAT(make_edge_features(set, feature_spec(plain)), IsEmpty());
  EXPECT_THAT(unseen(set, feature_spec(plain), {0, 1}), ElementsAre(HasSubstr("edges have several labels, but all")));
}

datasets::Dataset labelled_data() {
  datasets::Dataset data;
  data.name = "labelled";
  data.set = labelled_edges({7, 0});
  data.hash = content_hash(data.set);
  return data;
}

TEST(EdgeFeatures, AreColumnsOfTheModelUnlessTheyAreToBeLeftOut) {
  const datasets::Dataset data = labelled_data();
  RunConfig config = default_config("gin");
  config.folds.count = 1;
  resolve(config, data, "labelled");
  EXPECT_EQ(config.model.edge_features, 2u);
  EXPECT_EQ(prepare(data, config).view().edge_features.size(), 2u);
  config.data.features.edges = false;
  resolve(config, data, "labelled");
  EXPECT_EQ(config.model.edge_features, 0u);
  const TrainingData prepared = prepare(data, config);
  EXPECT_FALSE(prepared.view().graphs[0].has_edge_labels());
}

TEST(EdgeFeatures, DoNotChangeTheHashOfDataThatIsKnownWithoutThem) {
  const datasets::Dataset data = labelled_data();
  datasets::Dataset plain = data;
  plain.set = labelled_edges({0, 0});
  plain.hash = content_hash(plain.set);
  ASSERT_NE(data.hash, plain.hash);
  const auto hash_of = [](const datasets::Dataset& from, const char* version, bool edges) {
    RunConfig config = default_config("gin");
    config.folds.count = 1;
    config.version = version;
    config.data.features.edges = edges;
    resolve(config, from, "labelled");
    return config.data.hash;
  };
  const std::string known = hash_of(plain, "0.2.0", true);
  EXPECT_EQ(hash_of(data, "0.2.0", false), known);
  EXPECT_EQ(hash_of(data, "0.1.0", false), known);  // as 0.1.0 wrote it
  EXPECT_NE(hash_of(data, "0.2.0", true), known);
  // Targets beside the labels, which 0.1.0 did not read either.
  datasets::Dataset targets = data;
  targets.set.targets = {1, 2};
  targets.set.target_dim = 1;
  EXPECT_EQ(hash_of(targets, "0.1.0", false), known);
  EXPECT_NE(hash_of(targets, "0.2.0", false), known);
}

TEST(EdgeFeatures, AreRefusedByModelsThatHaveNoUseForThem) {
  const datasets::Dataset data = labelled_data();
  for (const char* kind : {"gcn2", "gcn3", "gcn123", "ppgn"}) {
    RunConfig config = default_config(kind);
    config.folds.count = 1;
    EXPECT_THAT([&] { resolve(config, data, "labelled"); },
                ThrowsMessage<InputError>(HasSubstr(std::string("for which ") + kind + " has no use")));
    config.data.features.edges = false;
    EXPECT_NO_THROW(resolve(config, data, "labelled"));
  }
}

TEST(Features, AreAttributesAsTheyAreBehindTheTypes) {
  GraphSet set = two_graphs();
  set.attribute_dim = 1;
  set.attributes = {{0.5f, -2}, {3}};
  EXPECT_THAT(make_features(set, feature_spec(set)).all(), ElementsAre(ElementsAre(0.5f, -2), ElementsAre(3)));
  GraphSet both = two_graphs({0, 1}, {0});
  both.attribute_dim = 1;
  both.attributes = set.attributes;
  EXPECT_THAT(make_features(both, feature_spec(both)).all(),
              ElementsAre(ElementsAre(1, 0, 0.5f, 0, 1, -2), ElementsAre(1, 0, 3)));
}

TEST(Features, RefuseAnAttributeThatIsNoNumberNamingItsPlace) {
  GraphSet set = two_graphs();
  set.attribute_dim = 2;
  set.attributes = {{0, 0, 0, 0}, {0, std::numeric_limits<float>::quiet_NaN()}};
  EXPECT_THAT([&] { (void)make_features(set, feature_spec(set)); },
              ThrowsMessage<InputError>(HasSubstr("two: graph 1, node 0: attribute 1 is nan")));
  std::vector<float> infinite = set.attributes.all()[1];
  infinite[1] = std::numeric_limits<float>::infinity();
  set.attributes = replaced(set.attributes, 1, infinite);
  EXPECT_THAT([&] { (void)make_features(set, feature_spec(set)); }, ThrowsMessage<InputError>(HasSubstr("inf")));
}

TEST(Features, RefuseGraphsWithoutNodes) {
  GraphSet set = two_graphs();
  set.graphs = replaced(set.graphs, 1, Graph());
  EXPECT_THAT([&] { (void)make_features(set, feature_spec(set)); },
              ThrowsMessage<InputError>(HasSubstr("graph 1 has no nodes")));
}

TEST(Features, RefuseDataThatDoesNotFitTheModel) {
  const FeatureSpec typed{.types = {0, 1}, .attributes = 0};
  const FeatureSpec plain;
  const FeatureSpec attributed{.types = {}, .attributes = 3};
  EXPECT_THAT(make_features(two_graphs({0, 2}), typed)[0], ElementsAre(1, 0, 0, 0));
  EXPECT_THAT(make_features(two_graphs({0, 2}), plain)[0], ElementsAre(1, 1));
  EXPECT_THAT(unseen(two_graphs({0, 2}), plain, {0, 1}), ElementsAre(HasSubstr("nodes have several types, but all")));
  EXPECT_THAT([&] { (void)make_features(two_graphs(), attributed); },
              ThrowsMessage<InputError>(HasSubstr("nodes have 0 attributes; the model was made for 3")));
  // A set of one type fits a model of several: its columns are the model's, not its own.
  EXPECT_THAT(make_features(two_graphs({1, 1}, {1}), typed).all(),
              ElementsAre(ElementsAre(0, 1, 0, 1), ElementsAre(0, 1)));
}

TEST(Features, RefuseTypesThatAreReallyNames) {
  std::vector<NodeType> types(5000);
  for (NodeType v = 0; v < types.size(); ++v) types[v] = v;
  GraphSet set;
  set.name = "names";
  set.graphs = {Graph::from_edges(5000, {}, types)};
  EXPECT_THAT([&] { (void)feature_spec(set); }, ThrowsMessage<InputError>(HasSubstr("different node types")));
}

TEST(Labels, BecomeClassesInAscendingOrder) {
  GraphSet set = two_graphs();
  set.labels = {5, -1};
  EXPECT_THAT(label_values(set, set), ElementsAre(-1, 5));
  EXPECT_THAT(classes_of(set, set, {-1, 5}), ElementsAre(1, 0));
  EXPECT_THAT(
      [&] {
        (void)classes_of(set, set, {0, 5});
      },
      ThrowsMessage<InputError>(HasSubstr("graph 1 has the label -1")));
}

TEST(Labels, MustBeThereAndDiffer) {
  GraphSet set = two_graphs();
  set.labels = {1, 1};
  EXPECT_THAT([&] { (void)label_values(set, set); },
              ThrowsMessage<InputError>(HasSubstr("every graph has the label 1")));
  set.labels.clear();
  EXPECT_THAT([&] { (void)label_values(set, set); }, ThrowsMessage<InputError>(HasSubstr("no labels")));
}

TEST(FoldWarnings, NameClassesThatAreMissing) {
  // Sorted by label, contiguous halves: each half trains on one label alone.
  datasets::Dataset dataset = small_dataset(8);
  dataset.set.labels = {3, 3, 3, 3, 5, 5, 5, 5};
  RunConfig config;
  config.version = "0.2.0";  // which began such runs; today they are refused
  config.folds.count = 2;
  config.folds.validation = 0;
  resolve(config, dataset, "small");
  EXPECT_THAT(fold_warnings(prepare(dataset, config), config),
              ElementsAre(HasSubstr("fold 0 has no training graphs with label 3"),
                          HasSubstr("fold 1 has no training graphs with label 5"),
                          HasSubstr("test graphs of fold 0, 1; the stratified scheme")));
  config.folds.scheme = datasets::FoldScheme::stratified;
  EXPECT_THAT(fold_warnings(prepare(dataset, config), config), IsEmpty());
}

TEST(Features, AreCategoriesOneHotColumnByColumnBehindTheTypes) {
  GraphSet set = two_graphs({6, 8}, {6});
  set.attribute_dim = 3;
  set.categories = 2;  // the second has one value alone
  set.attributes = {{0, 4, 0.5f, 2, 4, 1.5f}, {5, 4, -1}};
  FeatureSpec spec = feature_spec(set);
  EXPECT_THAT(spec.categories, ElementsAre(ElementsAre(0, 2, 5), ElementsAre(4)));
  EXPECT_EQ(spec.attributes, 1u);
  EXPECT_THAT(make_features(set, spec).all(),
              ElementsAre(ElementsAre(1, 0, 1, 0, 0, 0.5f, 0, 1, 0, 1, 0, 1.5f), ElementsAre(1, 0, 0, 0, 1, -1)));
  const InputScale scale = input_scale(make_features(set, spec), {}, spec, std::vector<std::uint32_t>{0});
  EXPECT_THAT(scale.nodes.mean, ElementsAre(1)) << "of attributes alone";
  spec.other = true;
  set.attributes = replaced(set.attributes, 1, std::vector<float>{7, 3, -1});
  EXPECT_THAT(make_features(set, spec)[1], ElementsAre(1, 0, 0, 0, 0, 0, 1, -1));
  const std::vector<std::string> lines = unseen(set, spec, {0, 1});
  EXPECT_THAT(lines,
              ElementsAre(HasSubstr("1 of 2 graphs has values of node category 1 that training did not see (7: 1 "
                                    "node): they count as 'other'"),
                          HasSubstr("node category 2")));
  set.categories = 1;
  EXPECT_THAT([&] { (void)make_features(set, spec); },
              ThrowsMessage<InputError>(HasSubstr("nodes have 2 columns of categories; the model was made for 3")));
}

TEST(EdgeFeatures, AreCategoriesBehindTheLabels) {
  GraphSet set;
  set.name = "path";
  set.graphs = {Graph::from_edges(3, std::vector<Edge>{{0, 1}, {1, 2}}, {}, std::vector<EdgeLabel>{1, 2})};
  set.edge_attribute_dim = set.edge_categories = 1;
  set.edge_attributes = {{0, 3}};
  const FeatureSpec spec = feature_spec(set);
  EXPECT_THAT(make_edge_features(set, spec).all(), ElementsAre(ElementsAre(1, 0, 1, 0, 0, 1, 0, 1)));
  const Categorical category = categorical(set, spec).back();
  EXPECT_EQ(category.what, "edge category 1");
  EXPECT_THAT(category.known, ElementsAre(0, 3));
  EXPECT_THAT(category.values(0), ElementsAre(0, 3));
  EXPECT_THAT(used_columns(set, spec, true, std::vector<std::uint32_t>{0}), ElementsAre(true, true, true, true));
}

}  // namespace
}  // namespace tyche::train
