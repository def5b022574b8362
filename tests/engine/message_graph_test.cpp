#include "engine/core/message_graph.hpp"

#include <gtest/gtest.h>

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

TEST(Transpose, TurnsRectanglesAndMultipliesScalesIn) {
  SparseRows rows;  // two rows, three columns
  rows.offsets = {0, 2, 3};
  rows.columns = {0, 2, 2};
  rows.weights = {3, 1, 2};
  rows.scales = {0.25f, 0.5f};
  EXPECT_FLOAT_EQ(rows.value(0, 0), 0.75f);
  const SparseRows turned = transpose(rows, 3);
  EXPECT_EQ(turned.offsets, (std::vector<std::uint64_t>{0, 1, 1, 3}));
  EXPECT_EQ(turned.columns, (std::vector<std::uint32_t>{0, 0, 1}));
  EXPECT_EQ(turned.weights, (std::vector<float>{0.75f, 0.25f, 1}));
  EXPECT_TRUE(turned.scales.empty());
}

}  // namespace
}  // namespace tyche::engine
