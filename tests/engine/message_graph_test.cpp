#include "engine/core/message_graph.hpp"

#include <gtest/gtest.h>

#include "support/error.hpp"

namespace tyche::engine {
namespace {

// 0 - 1 - 2 and a node of its own, 3.
Graph path_and_loner() {
  const std::vector<Edge> edges = {{0, 1}, {1, 2}};
  return Graph::from_edges(4, edges);
}

TEST(NodeMessages, AMeanHasScalesAndItsTransposeWeights) {
  const MessageGraph m = node_messages(path_and_loner(), nn::Aggregation::mean);
  EXPECT_EQ(m.rows_in, 4u);
  EXPECT_EQ(m.rows_out, 4u);
  EXPECT_EQ(m.gather.columns, (std::vector<std::uint32_t>{1, 0, 2, 1}));
  EXPECT_TRUE(m.gather.weights.empty());
  EXPECT_EQ(m.gather.scales, (std::vector<float>{1, 0.5f, 1, 0}));
  EXPECT_EQ(m.scatter.columns, (std::vector<std::uint32_t>{1, 0, 2, 1}));
  EXPECT_EQ(m.scatter.weights, (std::vector<float>{0.5f, 1, 1, 0.5f}));
  EXPECT_TRUE(m.roots.empty());
}

TEST(NodeMessages, ASumHasNeither) {
  const MessageGraph m = node_messages(path_and_loner(), nn::Aggregation::sum);
  EXPECT_TRUE(m.gather.weights.empty());
  EXPECT_TRUE(m.gather.scales.empty());
  EXPECT_TRUE(m.scatter.weights.empty());
}

TEST(MakeMessages, TurnsRectanglesToo) {
  SparseRows gather;  // two classes over three of the round before
  gather.offsets = {0, 2, 3};
  gather.columns = {0, 2, 2};
  gather.weights = {3, 1, 2};
  gather.scales = {0.25f, 0.5f};
  const MessageGraph m = make_messages(3, gather, {1, 2}, {5, 7});
  EXPECT_EQ(m.rows_out, 2u);
  EXPECT_EQ(m.scatter.offsets, (std::vector<std::uint64_t>{0, 1, 1, 3}));
  EXPECT_EQ(m.scatter.columns, (std::vector<std::uint32_t>{0, 0, 1}));
  EXPECT_EQ(m.scatter.weights, (std::vector<float>{0.75f, 0.25f, 1}));
  EXPECT_EQ(m.root_scatter.offsets, (std::vector<std::uint64_t>{0, 0, 1, 2}));
  EXPECT_EQ(m.root_scatter.columns, (std::vector<std::uint32_t>{0, 1}));
  EXPECT_FLOAT_EQ(m.gather.value(0, 0), 0.75f);
}

TEST(MakeMessages, RefusesWhatDoesNotFit) {
  SparseRows gather;
  gather.offsets = {0, 1};
  gather.columns = {3};
  EXPECT_THROW((void)make_messages(1, gather), InputError);  // column out of range
  gather.columns = {0};
  EXPECT_THROW((void)make_messages(2, gather), InputError);  // roots wanted: 2 rows in, 1 out
  EXPECT_THROW((void)make_messages(1, gather, {1}), InputError);
  EXPECT_THROW((void)make_messages(1, gather, {}, {1, 1}), InputError);
  gather.weights = {1, 2};
  EXPECT_THROW((void)make_messages(1, gather), InputError);
  gather.weights = {};
  gather.offsets = {0, 2};
  EXPECT_THROW((void)make_messages(1, gather), InputError);
}

}  // namespace
}  // namespace tyche::engine
