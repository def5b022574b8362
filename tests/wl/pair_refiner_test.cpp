#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "support/error.hpp"
#include "wl/reference.hpp"
#include "wl/sample_graphs.hpp"

namespace tyche::wl {
namespace {

/// The definition: pairs of both graphs, round by round, graphs pooled over v and then over u.
Comparison pairs_by_definition(const std::vector<Graph>& graphs, bool both, std::optional<std::uint32_t> cut) {
  std::vector<std::vector<std::uint32_t>> types;
  std::vector<std::size_t> first = {0};
  for (const Graph& graph : graphs) {
    const Node n = graph.num_nodes();
    for (Node u = 0; u < n; ++u) {
      std::vector<std::uint32_t> distance(n, 1000);  // Bellman and Ford's
      distance[u] = 0;
      for (Node pass = 0; pass < n; ++pass) {
        for (const auto& [a, b] : graph.edges()) {
          distance[a] = std::min(distance[a], distance[b] + 1);
          distance[b] = std::min(distance[b], distance[a] + 1);
        }
      }
      for (Node v = 0; v < n; ++v) {
        std::uint32_t relation = u == v ? 0 : graph.has_edge(u, v) ? 1 + graph.edge_label(graph.arc(u, v)) : 999;
        if (cut) relation = std::min(distance[v], *cut + 1);
        types.push_back({graph.type(u), graph.type(v), relation});
      }
    }
    first.push_back(types.size());
  }
  reference::Rounds rounds;
  rounds.rounds.push_back(reference::number(types));
  reference::run_to_stability(rounds, [&](const reference::Colours& colours) {
    using Around = std::multiset<std::pair<EdgeLabel, std::uint32_t>>;
    std::vector<std::tuple<std::uint32_t, Around, Around>> signatures;
    for (std::size_t g = 0; g < graphs.size(); ++g) {
      const Graph& graph = graphs[g];
      const Node n = graph.num_nodes();
      for (Node u = 0; u < n; ++u) {
        for (Node v = 0; v < n; ++v) {
          Around second, by_first;
          for (const Node w : graph.neighbours(v)) {
            second.emplace(graph.edge_label(graph.arc(v, w)), colours[first[g] + u * n + w]);
          }
          for (const Node w : graph.neighbours(u)) {
            if (both) by_first.emplace(graph.edge_label(graph.arc(u, w)), colours[first[g] + w * n + v]);
          }
          signatures.emplace_back(colours[first[g] + u * n + v], second, by_first);
        }
      }
    }
    return reference::number(signatures);
  });
  Comparison out;
  for (std::uint32_t r = 0; r < rounds.rounds.size() && !out.distinguished; ++r) {
    const auto pooled = [&](std::size_t g) {
      std::multiset<std::multiset<std::uint32_t>> graph;
      const Node n = graphs[g].num_nodes();
      for (Node u = 0; u < n; ++u) {
        std::multiset<std::uint32_t> root;
        for (Node v = 0; v < n; ++v) root.insert(rounds.rounds[r][first[g] + u * n + v]);
        graph.insert(root);
      }
      return graph;
    };
    if (pooled(0) == pooled(1)) continue;
    out.distinguished = true;
    out.round = r;
  }
  out.stable_after = static_cast<std::uint32_t>(rounds.rounds.size() - 1);
  out.classes = reference::count(rounds.rounds.back());
  return out;
}

TEST(PairRefiner, RootsTellTwoTrianglesFromAHexagon) {
  // From a root of a hexagon three distances are seen, from one of a triangle one, and three nodes never.
  const Graph triangles = disjoint_union(cycle(3), cycle(3));
  const Comparison rooted = compare(triangles, cycle(6), space_test("rooted"));
  EXPECT_TRUE(rooted.distinguished);
  EXPECT_EQ(rooted.round, 1u);  // next to the root: two nodes next to each other, or not
  const Comparison far = compare(triangles, cycle(6), space_test("rooted", 5));
  EXPECT_EQ(far.round, 0u);  // distances alone
  EXPECT_EQ(far.classes, 3u + 4);
}

TEST(PairRefiner, NeitherRootsNorLocalPairsTellStronglyRegularGraphsApart) {
  for (const char* space : {"rooted", "pairs", "folklore"}) {
    EXPECT_FALSE(compare(rook(), shrikhande(), space_test(space)).distinguished) << space;
  }
}

TEST(PairRefiner, RefusesWhatItDoesNotKnowOrCannotHold) {
  EXPECT_THROW((void)space_test("root"), InputError);
  EXPECT_THROW((void)space_test("folklore", 5), InputError);
  Options small = space_test("pairs");
  small.memory_limit = 1000;
  EXPECT_THROW((void)compare(cycle(6), cycle(6), small), InputError);
}

TEST(PairRefiner, GroupsGraphsByTheColoursOfTheirRoots) {
  const std::vector<Graph> graphs = {cycle(6), disjoint_union(cycle(3), cycle(3)), cycle(6), Graph(), path(1)};
  for (const char* space : {"rooted", "pairs"}) {
    EXPECT_EQ(group(graphs, space_test(space)).group, (std::vector<std::uint32_t>{0, 1, 0, 2, 3}));
  }
}

RC_GTEST_PROP(PairRefinerProperty, AgreesWithTheDefinition, ()) {
  Stream stream = chosen_stream();
  for (const auto& pair : {sample_pair(7, stream), sample_labelled_pair(6, stream)}) {
    for (const char* space : {"rooted", "pairs"}) {
      for (const std::optional<std::uint32_t> cut :
           {std::optional<std::uint32_t>(), std::optional(1u), std::optional(5u)}) {
        RC_ASSERT(compare(pair[0], pair[1], space_test(space, cut)) == pairs_by_definition(pair, space[0] == 'p', cut));
      }
    }
  }
}

RC_GTEST_PROP(PairRefinerProperty, EachTestTellsApartWhatTheOneBeforeDoesAndCutsDoNotMatter, ()) {
  Stream stream = chosen_stream();
  const auto pair = sample_pair(9, stream);
  bool before = compare(pair[0], pair[1]).distinguished;
  for (const char* space : {"rooted", "pairs", "folklore"}) {
    const bool now = compare(pair[0], pair[1], space_test(space)).distinguished;
    RC_ASSERT(before <= now);
    before = now;
    if (space[0] == 'f') continue;
    RC_ASSERT(compare(pair[0], pair[1], space_test(space, 3)).distinguished == now);
  }
}

}  // namespace
}  // namespace tyche::wl
