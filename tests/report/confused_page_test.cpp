
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/formats.hpp"
#include "report/viewer.hpp"
#include "support/error.hpp"
#include "wl/sample_graphs.hpp"

namespace tyche::report {
namespace {

TEST(ConfusedPage, HoldsTheSummaryAndThePairs) {
  Json json = confused_page("tyche inspect");
  add_confused(json, {"graph 0", wl::cycle(6)}, {"graph 1", wl::two_triangles()}, "labels 0 and 1");
  EXPECT_EQ(json["shows"], "confused");
  EXPECT_EQ(json["command"], "tyche inspect");
  for (const char* part : {"title", "lead", "notes", "rows"}) EXPECT_TRUE(json.contains(part)) << part;
  ASSERT_EQ(json["pairs"].size(), 1u);
  EXPECT_EQ(json["pairs"][0]["title"], "graph 0, graph 1");
  EXPECT_EQ(json["pairs"][0]["caption"], "labels 0 and 1");
  EXPECT_EQ(json["pairs"][0]["graphs"][0]["title"], "graph 0");
  EXPECT_EQ(json["too_large"], 0);
}

TEST(ConfusedPage, PairsTooLargeToDrawAreLeftOutAndCounted) {
  Json json = confused_page("");
  add_confused(json, {"a", wl::cycle(kMaxPackedNodes + 1)}, {"b", wl::cycle(3)}, "");
  add_confused(json, {"a", wl::cycle(kMaxPackedNodes)}, {"b", wl::cycle(3)}, "");
  EXPECT_EQ(json["too_large"], 1);
  EXPECT_EQ(json["pairs"].size(), 1u);
}

TEST(PackedPair, TakesTheShorterCodeAndTypesWhereThereAreAny) {
  const Graph sparse = wl::cycle(60), dense = wl::rook();
  const auto pair = pack_pair("t", {"a", sparse}, {"b", dense});
  EXPECT_EQ(pair["graphs"][0]["code"], to_sparse6(sparse));
  EXPECT_EQ(pair["graphs"][1]["code"], to_graph6(dense));
  EXPECT_FALSE(pair["graphs"][0].contains("type"));
  const std::vector<Edge> edge = {{0, 1}};
  const auto typed = pack_graph({"c", Graph::from_edges(2, edge, {0, 3})});
  EXPECT_EQ(typed["type"], nlohmann::ordered_json({0, 3}));
  EXPECT_FALSE(typed.contains("edge_label"));
  const std::vector<Edge> path = {{1, 2}, {1, 0}};
  const std::vector<EdgeLabel> labels = {7, 5};
  const auto labelled = pack_graph({"d", Graph::from_edges(3, path, {}, labels)});
  EXPECT_EQ(labelled["edge_label"], nlohmann::ordered_json({5, 7}));  // of 0-1, then of 1-2
  EXPECT_THROW((void)pack_pair("t", {"a", sparse}, {"b", wl::cycle(kMaxPackedNodes + 1)}), InputError);
}

}  // namespace
}  // namespace tyche::report
