#include "wl/set_graph.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <numeric>

#include "support/error.hpp"
#include "wl/naive_sets.hpp"
#include "wl/sample_graphs.hpp"

namespace tyche::wl {
namespace {

std::vector<Node> flat(const std::vector<std::vector<Node>>& sets) {
  std::vector<Node> out;
  for (const auto& s : sets) out.insert(out.end(), s.begin(), s.end());
  return out;
}

TEST(SetGraph, TriplesOfAPathOfFour) {
  // 012, 013, 023, 123; from 012 the node 2 can become 3 (013), nothing else leaves the set.
  const SetGraph triples = make_set_graph(path(4), {.k = 3});
  EXPECT_EQ(triples.nodes, (std::vector<Node>{0, 1, 2, 0, 1, 3, 0, 2, 3, 1, 2, 3}));
  const auto neighbours = [&](std::size_t s) {
    const auto list = triples.neighbours(s);
    return std::vector<std::uint32_t>(list.begin(), list.end());
  };
  EXPECT_EQ(neighbours(0), (std::vector<std::uint32_t>{1}));
  EXPECT_EQ(neighbours(1), (std::vector<std::uint32_t>{0, 2}));
  EXPECT_EQ(neighbours(2), (std::vector<std::uint32_t>{1, 3}));
  EXPECT_EQ(neighbours(3), (std::vector<std::uint32_t>{2}));
  EXPECT_EQ(triples.types[0], triples.types[3]);
  EXPECT_EQ(triples.types[1], triples.types[2]);
  EXPECT_NE(triples.types[0], triples.types[1]);
  EXPECT_EQ(make_set_graph(path(4), {.k = 3, .choice = SetChoice::connected}).size(), 2u);
  EXPECT_EQ(make_set_graph(path(4), {.k = 2, .choice = SetChoice::connected}).size(), 3u);
  EXPECT_EQ(make_set_graph(path(2), {.k = 3}).size(), 0u);
  EXPECT_EQ(make_set_graph(Graph(), {.k = 2}).size(), 0u);
}

TEST(SetGraph, TypesAreReadable) {
  const Graph graph = Graph::from_edges(3, std::vector<Edge>{{0, 1}, {0, 2}}, {5, 1, 1});
  EXPECT_EQ(set_type_text(make_set_graph(graph, {.k = 3}).types[0], 3), "types 1 1 5, edges 1-3 2-3");
  EXPECT_EQ(set_type_text(make_set_graph(graph, {.k = 2}).types[2], 2), "types 1 1, edges none");
  EXPECT_EQ(set_types(std::vector<Graph>{graph}, {.k = 2}).size(), 2u);
}

TEST(SetGraph, RefusesWhatItCannotHold) {
  EXPECT_THROW((void)make_set_graph(path(3), {.k = 4}), InputError);
  EXPECT_THROW((void)make_set_graph(path(3), {.k = 0}), InputError);
  EXPECT_THROW((void)make_set_graph(path(1900), {.k = 3}), InputError);
  EXPECT_THROW((void)make_set_graph(Graph::from_edges(1, {}, {kMostNodeTypes}), {.k = 1}), InputError);
}

RC_GTEST_PROP(SetGraph, IsWhatTheDefinitionSays, ()) {
  Stream stream = chosen_stream();
  const Graph graph = random_graph(static_cast<Node>(stream.below(9)), stream.uniform(), 3, stream);
  for (unsigned k = 1; k <= 3; ++k) {
    for (const SetChoice choice : {SetChoice::all, SetChoice::connected}) {
      const NaiveSets naive = naive_sets(graph, k, choice == SetChoice::connected);
      const SetGraph sets = make_set_graph(graph, {k, choice}, 1 + static_cast<unsigned>(stream.below(3)));
      RC_ASSERT(sets.nodes == flat(naive.sets));
      for (std::size_t s = 0; s < sets.size(); ++s) {
        const auto list = sets.neighbours(s);
        RC_ASSERT(std::vector<std::size_t>(list.begin(), list.end()) == naive.neighbours[s]);
        for (std::size_t t = 0; t < s; ++t) {  // the same order of types, not only the same types
          RC_ASSERT((sets.types[s] < sets.types[t]) == (naive.types[s] < naive.types[t]));
          RC_ASSERT((sets.types[s] == sets.types[t]) == (naive.types[s] == naive.types[t]));
        }
      }
      std::vector<SetType> types = sets.types;
      std::sort(types.begin(), types.end());
      types.erase(std::unique(types.begin(), types.end()), types.end());
      RC_ASSERT(set_types(std::vector<Graph>{graph}, {k, choice}) == types);
    }
  }
}

RC_GTEST_PROP(SetGraph, RenamingNodesRenamesSets, ()) {
  Stream stream = chosen_stream();
  const Graph graph = random_graph(3 + static_cast<Node>(stream.below(6)), stream.uniform(), 2, stream);
  const std::vector<Node> permutation = random_permutation(graph.num_nodes(), stream);
  const SetGraph before = make_set_graph(graph, {.k = 3}),
                 after = make_set_graph(graph.relabelled(permutation), {.k = 3});
  std::map<std::vector<Node>, std::size_t> place;
  const auto renamed = [&](const SetGraph& sets, std::size_t s, bool rename) {
    std::vector<Node> nodes;
    for (const Node v : sets.set(s)) nodes.push_back(rename ? permutation[v] : v);
    std::sort(nodes.begin(), nodes.end());
    return nodes;
  };
  for (std::size_t s = 0; s < after.size(); ++s) place[renamed(after, s, false)] = s;
  for (std::size_t s = 0; s < before.size(); ++s) {
    const std::size_t t = place.at(renamed(before, s, true));
    RC_ASSERT(before.types[s] == after.types[t]);
    std::vector<std::uint32_t> there;
    for (const std::uint32_t n : before.neighbours(s)) {
      there.push_back(static_cast<std::uint32_t>(place.at(renamed(before, n, true))));
    }
    std::sort(there.begin(), there.end());
    RC_ASSERT(std::equal(there.begin(), there.end(), after.neighbours(t).begin(), after.neighbours(t).end()));
  }
}

}  // namespace
}  // namespace tyche::wl
