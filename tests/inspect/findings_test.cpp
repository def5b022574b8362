// What a data set's make-up means for training.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "inspect/inspection.hpp"
#include "report/viewer.hpp"
#include "support/replaced.hpp"
#include "wl/sample_graphs.hpp"

namespace tyche::inspect {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// Paths of 3 to 7 nodes, whose types and labels take turns.
datasets::Dataset paths(std::size_t graphs) {
  datasets::Dataset data;
  data.name = "paths";
  for (std::size_t g = 0; g < graphs; ++g) {
    const auto nodes = static_cast<Node>(3 + g % 5);
    std::vector<NodeType> types(nodes, 0);
    types[0] = 1;
    data.set.graphs.push_back(Graph::from_edges(nodes, wl::path(nodes).edges(), types));
    data.set.labels.push_back(static_cast<int>(g % 2));
  }
  return data;
}

std::vector<std::string> kinds(const datasets::Dataset& data, Task task = Task::classes) {
  std::vector<std::string> out;
  for (const Finding& finding : findings_of(data, task)) out.push_back(finding.kind);
  return out;
}

std::string text(const datasets::Dataset& data, const std::string& kind, Task task = Task::classes) {
  for (const Finding& finding : findings_of(data, task)) {
    if (finding.kind == kind) return finding.text;
  }
  return "";
}

void give_attributes(datasets::Dataset& data, const std::vector<float>& scales) {
  data.set.attribute_dim = scales.size();
  float value = 0;
  for (const Graph& graph : data.set.graphs) {
    std::vector<float> block;
    for (Node v = 0; v < graph.num_nodes(); ++v) {
      value = value > 0.9f ? 0.0f : value + 0.1f;
      for (const float scale : scales) block.push_back(scale == 0 ? 5.0f : value * scale);
    }
    data.set.attributes.push_back(block);
  }
}

TEST(Findings, AnEvenSetHasNone) { EXPECT_THAT(kinds(paths(60)), IsEmpty()); }

TEST(Findings, AttributesOfVeryDifferentScaleAndConstantOnes) {
  datasets::Dataset even = paths(60), far = paths(60), large = paths(60);
  give_attributes(even, {1, 2});
  EXPECT_THAT(kinds(even), IsEmpty());
  give_attributes(far, {1e-3f, 0, 1e3f});
  EXPECT_THAT(text(far, "scales"), AllOf(HasSubstr("attribute 2 varies by"), HasSubstr("attribute 0 by")));
  EXPECT_THAT(text(far, "scales"), AllOf(HasSubstr("training standardises them"), HasSubstr("--no-standardise")));
  EXPECT_THAT(text(far, "constant attributes"), HasSubstr("Node attribute 1 is the same everywhere"));
  give_attributes(large, {5000});
  EXPECT_THAT(text(large, "scales"), HasSubstr("goes up to 4500"));
}

TEST(Findings, NodesThatAllLookAlike) {
  datasets::Dataset data = paths(60);
  std::vector<Graph> untyped = data.set.graphs.all();
  for (Graph& graph : untyped) graph = Graph::from_edges(graph.num_nodes(), graph.edges());
  data.set.graphs = untyped;
  EXPECT_THAT(text(data, "alike"), AllOf(HasSubstr("mean over neighbours"), HasSubstr("gin")));
  // Edges that differ tell even a mean something.
  datasets::Dataset edges = data;
  std::vector<EdgeLabel> labels(edges.set.graphs[3].num_edges(), 0);
  labels[0] = 4;
  const Graph third = edges.set.graphs[3];
  edges.set.graphs = replaced(edges.set.graphs, 3, Graph::from_edges(third.num_nodes(), third.edges(), {}, labels));
  EXPECT_THAT(text(edges, "alike"), AllOf(HasSubstr("by their edges alone"), Not(HasSubstr("the same answer"))));
  give_attributes(data, {1});
  EXPECT_THAT(kinds(data), Not(Contains("alike")));
}

TEST(Findings, LabelsThatAreSortedUnlessPairsStayTogether) {
  datasets::Dataset data = paths(60);
  std::sort(data.set.labels.begin(), data.set.labels.end());
  EXPECT_THAT(text(data, "sorted"), AllOf(HasSubstr("sorted by label"), HasSubstr("Stratified")));
  std::rotate(data.set.labels.begin(), data.set.labels.begin() + 10, data.set.labels.end());
  EXPECT_THAT(text(data, "sorted"), "") << "three blocks of 60 are few";
  datasets::Dataset many = paths(600);
  std::sort(many.set.labels.begin(), many.set.labels.end());
  std::rotate(many.set.labels.begin(), many.set.labels.begin() + 100, many.set.labels.end());
  EXPECT_THAT(text(many, "sorted"), HasSubstr("of one label stand together in the file"));
  for (std::size_t g = 0; g < 600; ++g) many.set.labels[g] = g % 50 == 7 ? 1 : 0;
  EXPECT_THAT(text(many, "sorted"), "") << "a label that is rare makes few blocks wherever its graphs stand";
  datasets::Dataset targets = paths(60);
  targets.set.labels.clear();
  targets.set.target_dim = 1;
  for (int g = 0; g < 60; ++g) targets.set.targets.push_back(static_cast<float>(g));
  EXPECT_THAT(kinds(targets, Task::targets), Contains("sorted"));
  std::swap(targets.set.targets[0], targets.set.targets[59]);
  for (int g = 0; g < 60; ++g) targets.set.targets[static_cast<std::size_t>(g)] = static_cast<float>((g * 37) % 60);
  EXPECT_THAT(kinds(targets, Task::targets), Not(Contains("sorted")));
}

TEST(Findings, ImbalanceWithTheShareThatProvesNothing) {
  datasets::Dataset data = paths(60);
  for (std::size_t g = 0; g < 60; ++g) data.set.labels[g] = g % 12 == 0 ? 1 : 0;
  EXPECT_THAT(text(data, "imbalance"), AllOf(HasSubstr("55 graphs have label 0, 5 label 1"), HasSubstr("91.67 %"),
                                             HasSubstr("balanced accuracy")));
  EXPECT_THAT(text(data, "rare labels"), HasSubstr("Label 1 has 5 graphs: of ten folds, some have none"));
}

TEST(Findings, ARareNodeTypeAndATargetThatGrowsWithTheGraph) {
  datasets::Dataset data = paths(60);
  data.set.graphs = replaced(data.set.graphs, 7, Graph::from_edges(3, wl::path(3).edges(), {0, 1, 9}));
  EXPECT_THAT(text(data, "rare types"),
              HasSubstr("Node type 9 occurs in fewer than 10 graphs: a training part may lack it"));
  data.set.target_dim = 1;
  for (const Graph& graph : data.set.graphs) data.set.targets.push_back(2.0f * static_cast<float>(graph.num_nodes()));
  EXPECT_THAT(text(data, "grows", Task::targets), HasSubstr("The target grows with the number of nodes"));
  EXPECT_THAT(kinds(data), Not(Contains("grows"))) << "labels are asked for";
}

TEST(Findings, StandInTextJsonAndPage) {
  datasets::Dataset data = paths(60);
  std::sort(data.set.labels.begin(), data.set.labels.end());
  const Inspection found = examine(data);
  ASSERT_EQ(found.findings.size(), 1u);
  EXPECT_THAT(to_text(found), HasSubstr("\nFor training\n  - Graphs are sorted by label"));
  EXPECT_EQ(to_json(found)["findings"][0]["kind"], "sorted");
  EXPECT_EQ(to_json(found)["findings"][0]["text"], found.findings[0].text);
  EXPECT_EQ(confused_page(found, data.set, "c")["notes"].at(0), found.findings[0].text);
}

}  // namespace
}  // namespace tyche::inspect
