#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "datasets/planar_draw.hpp"
#include "datasets/plane_enumeration.hpp"
#include "graph/isomorphism.hpp"
#include "support/error.hpp"

namespace tyche::datasets {
namespace {

bool two_connected(const Graph& graph) {
  for (Node v = 0; v < graph.num_nodes(); ++v) {
    std::vector<Node> rest;
    for (Node u = 0; u < graph.num_nodes(); ++u) {
      if (u != v) rest.push_back(u);
    }
    if (connected_components(induced_subgraph(graph, rest)).count != 1) return false;
  }
  return true;
}

std::string key(const Graph& graph) {
  const Graph form = canonical_form(graph);
  std::string out;
  for (const auto& [u, v] : form.edges()) {
    out.push_back(static_cast<char>(u));
    out.push_back(static_cast<char>(v));
  }
  return out;
}

TEST(PlaneEnumeration, ReproducesTheKnownCountsToTenNodes) {
  // Embeddings, embeddings that are 2-connected, abstract graphs: n = 4 … 10, as plantri and nauty count them.
  const std::size_t embeddings[] = {1, 1, 4, 7, 33, 108, 608};
  const std::size_t connected[] = {1, 1, 4, 6, 30, 92, 521};
  const std::size_t abstract[] = {1, 1, 4, 7, 31, 90, 439};
  for (Node n = 4; n <= 10; ++n) {
    const std::vector<Rotation> all = plane_graphs(n);
    std::set<std::string> graphs;
    std::size_t blocks = 0;
    for (const Rotation& map : all) {
      const Graph graph = graph_of(map);
      ASSERT_TRUE(is_planar_embedding(graph, map));
      graphs.insert(key(graph));
      blocks += two_connected(graph) ? 1u : 0u;
    }
    EXPECT_EQ(all.size(), embeddings[n - 4]) << n << " nodes";
    EXPECT_EQ(blocks, connected[n - 4]) << n << " nodes";
    EXPECT_EQ(graphs.size(), abstract[n - 4]) << n << " nodes";
  }
}

/// Draws `count` graphs on n nodes and compares how often each embedding comes with the uniform measure on labelled
/// plane graphs. Returns chi-square over its degrees of freedom; fails if a draw is outside the enumerated classes or a
/// class is never drawn.
double chi_square_per_degree(Node n, int count) {
  std::map<std::string, double> weight;
  std::map<std::string, int> drawn;
  double total = 0;
  for (const Rotation& map : plane_graphs(n)) {
    if (!bridges(graph_of(map)).empty()) continue;
    const Canonical c = canonical(map);
    const double w = (c.mirror ? 1.0 : 2.0) / c.automorphisms;
    weight[c.code] = w;
    total += w;
  }
  for (int i = 0; i < count; ++i) {
    Stream stream(derive_key(5, Purpose::planar_sample, static_cast<std::uint32_t>(i)));
    const PlaneGraph map = sample_planar(n, stream);
    const std::string code = canonical(map.rotation).code;
    EXPECT_TRUE(weight.contains(code)) << "a draw that is not simple, connected, bridgeless, bipartite and planar";
    ++drawn[code];
  }
  EXPECT_EQ(drawn.size(), weight.size()) << "classes never drawn";
  double chi = 0;
  for (const auto& [code, w] : weight) {
    const double expected = count * w / total;
    chi += (drawn[code] - expected) * (drawn[code] - expected) / expected;
  }
  return chi / static_cast<double>(weight.size() - 1);
}

TEST(PlanarSampler, AtEightNodesDrawsEveryBridgelessClassAndNothingElseInProportion) {
  // 31 or so classes: chi-square per degree of freedom has mean 1 and deviation 0.26.
  EXPECT_LT(chi_square_per_degree(8, 20000), 2.0);
}

TEST(PlanarSampler, DrawsAreSimpleConnectedBridgelessBipartiteAndPlanar) {
  for (const Node n : {4u, 5u, 6u, 12u, 15u, 40u}) {
    for (std::uint32_t i = 0; i < 20; ++i) {
      Stream stream(derive_key(11, Purpose::planar_sample, i, n));
      const PlaneGraph map = sample_planar(n, stream);
      const Graph graph = map.graph;
      ASSERT_EQ(graph.num_nodes(), n);
      ASSERT_EQ(connected_components(graph).count, 1u);
      ASSERT_TRUE(bridges(graph).empty());
      ASSERT_TRUE(is_planar_embedding(graph, map.rotation));
      std::vector<int> side(n, -1);  // bipartite: a walk over the edges never meets its own colour
      std::vector<Node> queue = {0};
      side[0] = 0;
      for (std::size_t k = 0; k < queue.size(); ++k) {
        for (const Node u : graph.neighbours(queue[k])) {
          if (side[u] < 0) {
            side[u] = 1 - side[queue[k]];
            queue.push_back(u);
          }
          ASSERT_NE(side[u], side[queue[k]]);
        }
      }
    }
  }
}

TEST(PlanarSampler, TheSameKeyGivesTheSameGraph) {
  Stream a(derive_key(2, Purpose::planar_sample));
  Stream b(derive_key(2, Purpose::planar_sample));
  EXPECT_EQ(sample_planar(12, a).rotation, sample_planar(12, b).rotation);
}

TEST(PlanarSampler, RefusesFewerThanFourNodes) {
  Stream stream(derive_key(2, Purpose::planar_sample));
  EXPECT_THROW((void)sample_planar(3, stream), InputError);
}

}  // namespace
}  // namespace tyche::datasets
