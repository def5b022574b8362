// The planar sampler against the exhaustive enumeration at sizes that take a while.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "datasets/planar_draw.hpp"
#include "datasets/plane_enumeration.hpp"
#include "graph/isomorphism.hpp"

namespace tyche::datasets {
namespace {

TEST(PlaneEnumerationSlow, ReproducesTheKnownCountsAtElevenAndTwelveNodes) {
  const std::size_t embeddings[] = {3309, 21633};
  const std::size_t abstract[] = {2026, 11514};
  for (Node n = 11; n <= 12; ++n) {
    const std::vector<Rotation> all = plane_graphs(n);
    std::set<std::vector<Edge>> graphs;
    std::size_t with_bridge = 0;
    for (const Rotation& map : all) {
      const Graph graph = graph_of(map);
      graphs.insert(canonical_form(graph).edges());
      with_bridge += bridges(graph).empty() ? 0u : 1u;
    }
    EXPECT_EQ(all.size(), embeddings[n - 11]);
    EXPECT_EQ(graphs.size(), abstract[n - 11]);
    if (n == 12) {
      EXPECT_EQ(with_bridge, 550u);
    }
  }
}

TEST(PlanarSamplerSlow, AtTenNodesDrawsEveryClassInProportion) {
  std::map<std::string, double> weight;
  std::map<std::string, int> drawn;
  double total = 0;
  for (const Rotation& map : plane_graphs(10)) {
    if (!bridges(graph_of(map)).empty()) continue;
    const Canonical c = canonical(map);
    weight[c.code] = (c.mirror ? 1.0 : 2.0) / c.automorphisms;
    total += weight[c.code];
  }
  const int count = 200000;
  for (int i = 0; i < count; ++i) {
    Stream stream(derive_key(6, Purpose::planar_sample, static_cast<std::uint32_t>(i)));
    ++drawn[canonical(sample_planar(10, stream).rotation).code];
  }
  double chi = 0;
  for (const auto& [code, w] : weight) {
    const double expected = count * w / total;
    chi += (drawn[code] - expected) * (drawn[code] - expected) / expected;
  }
  EXPECT_EQ(drawn.size(), weight.size());
  // Over 500 degrees of freedom: mean 1, deviation 0.06.
  EXPECT_LT(chi / static_cast<double>(weight.size() - 1), 1.3);
}

}  // namespace
}  // namespace tyche::datasets
