#include "wl/pair_classes.hpp"

#include <gtest/gtest.h>

#include <map>

#include "wl/sample_graphs.hpp"

namespace tyche::wl {
namespace {

std::vector<NodeType> plain(Node nodes) { return std::vector<NodeType>(nodes, 0); }

// In a hexagon pairs differ by their distance alone.
TEST(PairClasses, OfACycleAreItsDistances) {
  const PairClasses classes = pair_classes(cycle(6), plain(6));
  ASSERT_EQ(classes.classes.size(), 4u);
  EXPECT_EQ(classes.diagonal, 1u);
  const std::uint32_t sizes[] = {6, 12, 12, 6};
  for (Node distance = 0; distance < 4; ++distance) {
    EXPECT_EQ(classes.classes[distance].x, 0u);
    EXPECT_EQ(classes.classes[distance].y, distance);
    EXPECT_EQ(classes.classes[distance].size, sizes[distance]);
  }
  for (Node x = 0; x < 6; ++x) {
    for (Node y = 0; y < 6; ++y) {
      const Node around = (y + 6 - x) % 6;
      EXPECT_EQ(classes.of[x * 6 + y], std::min(around, 6 - around));
    }
  }
}

// A path of three: its ends are alike, and a pair is another one than its reverse.
TEST(PairClasses, OfAPathAreItsSymmetrysOrbits) {
  const PairClasses classes = pair_classes(path(3), plain(3));
  EXPECT_EQ(classes.diagonal, 2u);
  EXPECT_EQ(classes.of, (std::vector<std::uint32_t>{0, 2, 3, 4, 1, 4, 3, 2, 0}));
}

TEST(PairClasses, ColoursTellNodesApart) {
  EXPECT_EQ(pair_classes(cycle(4), std::vector<NodeType>{7, 7, 7, 7}).classes.size(), 3u);
  // One marked node leaves the reflection through it.
  const PairClasses marked = pair_classes(cycle(4), std::vector<NodeType>{7, 7, 9, 7});
  EXPECT_EQ(marked.diagonal, 3u);
  EXPECT_EQ(pair_classes(cycle(4), std::vector<NodeType>{1, 2, 3, 4}).classes.size(), 16u);
}

TEST(PairClasses, OfNothingAndOfSinglePairs) {
  EXPECT_TRUE(pair_classes(Graph(), {}).classes.empty());
  const PairClasses all = single_pairs(3);
  EXPECT_EQ(all.classes.size(), 9u);
  EXPECT_EQ(all.diagonal, 3u);
  EXPECT_EQ(all.of, (std::vector<std::uint32_t>{0, 3, 4, 5, 1, 6, 7, 8, 2}));
}

// What makes one row per class enough: products and transposes of matrices that are constant on classes are so again.
TEST(PairClasses, AreClosedUnderProductsAndTransposes) {
  for (const bool satisfiable : {false, true}) {
    const Graph graph = exp_core(3, satisfiable);
    const Node n = graph.num_nodes();
    const PairClasses classes = pair_classes(graph, graph.types());
    EXPECT_LT(classes.classes.size(), std::size_t{n} * n / 3);
    const auto of = [&](Node x, Node y) { return classes.of[std::size_t{x} * n + y]; };
    std::map<std::uint32_t, std::uint32_t> transposed;
    std::map<std::uint32_t, std::map<std::pair<std::uint32_t, std::uint32_t>, int>> paths;
    for (Node x = 0; x < n; ++x) {
      for (Node y = 0; y < n; ++y) {
        EXPECT_EQ(transposed.emplace(of(x, y), of(y, x)).first->second, of(y, x));
        std::map<std::pair<std::uint32_t, std::uint32_t>, int> through;
        for (Node z = 0; z < n; ++z) ++through[{of(x, z), of(z, y)}];
        EXPECT_EQ(paths.emplace(of(x, y), through).first->second, through);
        // What kernels rely on: a class's first pair begins with the first node of a class of nodes.
        EXPECT_EQ(classes.classes[of(classes.classes[of(x, y)].x, classes.classes[of(x, y)].x)].x,
                  classes.classes[of(x, y)].x);
      }
    }
  }
}

}  // namespace
}  // namespace tyche::wl
