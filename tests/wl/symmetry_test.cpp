#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "wl/sample_graphs.hpp"
#include "wl/tuple_space.hpp"

namespace tyche::wl {
namespace {

/// All automorphisms, by trying every permutation.
std::set<Permutation> every_automorphism(const Graph& graph) {
  Permutation map(graph.num_nodes());
  std::iota(map.begin(), map.end(), 0u);
  std::set<Permutation> out;
  do {
    if (graph.relabelled(map) == graph) out.insert(map);
  } while (std::next_permutation(map.begin(), map.end()));
  return out;
}

/// What they generate.
std::set<Permutation> closure(Node nodes, std::span<const Permutation> generators) {
  Permutation identity(nodes);
  std::iota(identity.begin(), identity.end(), 0u);
  std::set<Permutation> out = {identity};
  std::vector<Permutation> queue = {identity};
  while (!queue.empty()) {
    const Permutation map = queue.back();
    queue.pop_back();
    for (const Permutation& generator : generators) {
      Permutation next(nodes);
      for (Node v = 0; v < nodes; ++v) next[v] = generator[map[v]];
      if (out.insert(next).second) queue.push_back(next);
    }
  }
  return out;
}

TEST(Symmetry, FindsTheWholeGroupOfGraphsWhoseCellsAreOrbits) {
  for (const Graph& graph :
       {cycle(7), cycle(8), path(6), disjoint_union(cycle(4), cycle(4)), Graph::from_edges(5, {})}) {
    const auto found = find_automorphisms(graph);
    EXPECT_EQ(closure(graph.num_nodes(), found), every_automorphism(graph));
  }
}

RC_GTEST_PROP(SymmetryProperty, WhatIsFoundAreAutomorphismsAndWaysLeadToTheFirstOfAnOrbit, ()) {
  Stream stream = chosen_stream();
  const auto pair = sample_pair(7, stream);
  for (const Graph& graph : {pair[0], pair[1], random_circulant(7, stream)}) {
    const auto found = find_automorphisms(graph);
    const auto all = every_automorphism(graph);
    const auto group = closure(graph.num_nodes(), found);
    RC_ASSERT(std::includes(all.begin(), all.end(), group.begin(), group.end()));
    const Symmetry symmetry(graph.num_nodes(), found);
    for (Node v = 0; v < graph.num_nodes(); ++v) {
      const auto way = symmetry.way(v);
      RC_ASSERT(way[v] == symmetry.first[symmetry.home[v]]);
      RC_ASSERT(group.contains(Permutation(way.begin(), way.end())));
    }
    for (std::size_t orbit = 0; orbit < symmetry.first.size(); ++orbit) {
      std::set<Permutation> keeping;
      for (const Permutation& map : group) {
        if (map[symmetry.first[orbit]] == symmetry.first[orbit]) keeping.insert(map);
      }
      const auto some = closure(graph.num_nodes(), symmetry.stabiliser(orbit, found, 4));
      RC_ASSERT(std::includes(keeping.begin(), keeping.end(), some.begin(), some.end()));
    }
  }
}

}  // namespace
}  // namespace tyche::wl
