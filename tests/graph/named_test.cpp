// Graphs by the names people type.
#include "graph/named.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/graph_samples.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "support/temporary_folder.hpp"

namespace tyche {
namespace {

using testing::HasSubstr;

class NamedGraphs : public testing::Test {
 protected:
  void SetUp() override {
    write_file(folder_ / "two.g6", "Bw\nBW\n");  // a triangle; a path whose middle is node 2
    write_file(folder_ / "labelled.txt", "2\n1 7\n3 0\n2 8\n0 1 1\n0 1 0\n");
  }
  std::string at(const std::string& name) const { return (folder_ / name).string(); }
  static void expect_refused(const std::string& text, const std::string& because) {
    try {
      (void)read_named_graph(text);
      ADD_FAILURE() << text;
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), HasSubstr(because)) << text;
    }
  }

  TemporaryFolder folder_;
};

TEST_F(NamedGraphs, ACodeIsAGraph) {
  EXPECT_EQ(read_named_graph("g6:Bw").num_edges(), 3u);
  EXPECT_TRUE(parse_graph_name("g6:Bw").one_graph());
  EXPECT_EQ(parse_graph_name("g6:Bw").in_words(), "g6:Bw");
}

TEST_F(NamedGraphs, ANumberBehindAColonPicksAGraphOfAFile) {
  EXPECT_EQ(read_named_graph(at("two.g6:0")).num_edges(), 3u);
  EXPECT_EQ(read_named_graph(at("two.g6:1")), Graph::from_edges(3, std::vector<Edge>{{0, 2}, {1, 2}}));
  EXPECT_EQ(parse_graph_name(at("two.g6:1")).in_words(), "graph 1 of " + at("two.g6"));
}

TEST_F(NamedGraphs, AFileIsAllItsGraphsAndTheOneGraphKeepsItsLabel) {
  EXPECT_EQ(read_graphs_of(parse_graph_name(at("labelled.txt"))).graphs.size(), 2u);
  const GraphSet one = read_graphs_of(parse_graph_name(at("labelled.txt:1")));
  ASSERT_EQ(one.graphs.size(), 1u);
  EXPECT_EQ(one.graphs[0], path(2));
  EXPECT_EQ(one.labels, std::vector<int>{8});
  EXPECT_FALSE(parse_graph_name(at("labelled.txt")).one_graph());
  EXPECT_EQ(parse_graph_name("a.txt").in_words(4), "graph 4 of a.txt");
}

TEST_F(NamedGraphs, AFileWithAColonInItsNameIsThatFile) {
  write_file(folder_ / "two.g6:1", "B?\n");
  EXPECT_EQ(read_named_graph(at("two.g6:1")).num_edges(), 0u);
  EXPECT_EQ(parse_graph_name(at("other:one")).path, at("other:one"));  // no number: all of it is the name
}

TEST_F(NamedGraphs, WhatNamesNoGraphIsRefusedWithAWordWhy) {
  expect_refused("g6:", "as in g6:Bw");
  expect_refused("g6:Bw\nBw", "the code of one graph was expected, not 2");
  expect_refused("g6:\n", "g6:");
  expect_refused("g6:B", "g6:B");
  expect_refused(at("two.g6"), "holds 2 graphs; say which one, as " + at("two.g6") + ":0");
  expect_refused(at("two.g6:2"), "there is no graph 2: it holds 2 (from 0)");
}

}  // namespace
}  // namespace tyche
