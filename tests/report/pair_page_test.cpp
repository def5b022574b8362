#include <gtest/gtest.h>

#include "report/viewer.hpp"
#include "support/error.hpp"
#include "wl/sample_graphs.hpp"

namespace tyche::report {
namespace {

NamedGraph hexagon() { return {"hexagon", wl::cycle(6)}; }
NamedGraph triangles() { return {"two triangles", wl::two_triangles()}; }

Json view_two(const NamedGraph& first, const NamedGraph& second) {
  return pair_page_data(first, second, "")["data"][0]["pairs"][0];
}

TEST(PairPage, HoldsBothGraphsUnderTheirNamesAndWhatIsTrueOfThem) {
  const auto page = pair_page_data(hexagon(), triangles(), "tyche wl a b --page c");
  EXPECT_EQ(page["shows"], "pair");
  EXPECT_EQ(page["command"], "tyche wl a b --page c");
  EXPECT_TRUE(page["experiments"].empty());
  ASSERT_EQ(page["data"][0]["pairs"].size(), 1u);
  const auto& pair = page["data"][0]["pairs"][0];
  EXPECT_EQ(pair["graphs"][0]["title"], "hexagon");
  EXPECT_EQ(pair["graphs"][1]["title"], "two triangles");
  EXPECT_EQ(pair["graphs"][0]["edges"].size(), 12u);
  EXPECT_EQ(pair["graphs"][0]["label"], -1);  // encodes no formula
  EXPECT_EQ(pair["wl1"]["distinguished"], false);
  EXPECT_EQ(pair["wl1"]["rounds"], nlohmann::ordered_json::parse("[[0,0,0,0,0,0,0,0,0,0,0,0]]"));
  EXPECT_EQ(pair["wl2"]["distinguished"], true);
  EXPECT_EQ(pair["isomorphic"], false);
}

TEST(PairPage, AGraphIsIsomorphicToItsCopyInAnotherOrder) {
  const Graph grid = wl::rook();
  std::vector<Node> back(grid.num_nodes());
  for (Node v = 0; v < grid.num_nodes(); ++v) back[v] = grid.num_nodes() - 1 - v;
  EXPECT_EQ(view_two({"a", grid}, {"b", grid.relabelled(back)})["isomorphic"], true);
  EXPECT_EQ(view_two({"a", grid}, {"b", wl::shrikhande()})["isomorphic"], false);
}

TEST(PairPage, FormulasAreSolved) {
  const auto pair = view_two({"yes", wl::exp_core(2, true)}, {"no", wl::exp_core(2, false)});
  EXPECT_EQ(pair["graphs"][0]["label"], 1);
  EXPECT_EQ(pair["graphs"][1]["label"], 0);
  EXPECT_EQ(pair["graphs"][0]["name"].size(), pair["graphs"][0]["nodes"]);
}

TEST(PairPage, GraphsOfDifferentSizesAndWithoutNodesAreDrawnToo) {
  const auto pair = view_two({"nothing", Graph()}, {"hexagon", wl::cycle(6)});
  EXPECT_TRUE(pair["graphs"][0]["x"].is_array());
  EXPECT_TRUE(pair["graphs"][0]["x"].empty());
  EXPECT_EQ(pair["wl1"]["round"], 0);
  EXPECT_EQ(pair["wl1"]["rounds"][0].size(), 6u);
}

TEST(PairPage, AGraphTooLargeToLookAtIsRefusedByName) {
  EXPECT_NO_THROW((void)view_two({"most", wl::cycle(kMaxDrawnNodes)}, {"most", wl::cycle(kMaxDrawnNodes)}));
  try {
    (void)view_two(hexagon(), {"graph 3 of large.txt", wl::cycle(kMaxDrawnNodes + 1)});
    ADD_FAILURE();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "graph 3 of large.txt has 161 nodes; the page draws graphs of up to 160");
  }
}

}  // namespace
}  // namespace tyche::report
