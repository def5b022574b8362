#include "wl/tuple_refiner.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "wl/reference.hpp"
#include "wl/sample_graphs.hpp"

namespace tyche::wl {
namespace {

std::vector<const Graph*> pointers(std::span<const Graph> graphs) {
  std::vector<const Graph*> out;
  for (const Graph& graph : graphs) out.push_back(&graph);
  return out;
}

template <unsigned K>
std::vector<std::vector<std::uint32_t>> all_rounds(std::span<const Graph> graphs, unsigned threads = 1,
                                                   std::uint64_t mask = ~0ull) {
  TupleRefiner<K> refiner(pointers(graphs), threads, mask);
  std::vector<std::vector<std::uint32_t>> out;
  do {
    out.push_back(refiner.colours());
  } while (refiner.step());
  return out;
}

template <unsigned K>
void check_against_the_definition(std::span<const Graph> graphs, std::uint64_t mask) {
  const auto expected = reference::folklore(graphs, K).rounds;
  const auto rounds = all_rounds<K>(graphs, 1, mask);
  RC_ASSERT(rounds.size() == expected.size());
  for (std::size_t r = 0; r < rounds.size(); ++r) RC_ASSERT(reference::same_partition(rounds[r], expected[r]));
}

template <unsigned K>
void check_that_colours_move(const Graph& graph, const Graph& other, Stream& stream, std::uint64_t mask) {
  const auto permutation = random_permutation(graph.num_nodes(), stream);
  const auto before = all_rounds<K>(std::vector<Graph>{graph, other}, 1, mask);
  const auto after = all_rounds<K>(std::vector<Graph>{graph.relabelled(permutation), other}, 2, mask);
  RC_ASSERT(before.size() == after.size());
  const TupleSpace<K> space(std::vector<const Graph*>{&graph, &other});
  for (std::size_t r = 0; r < before.size(); ++r) {
    for (std::uint32_t tuple = 0; tuple < space.tuples(); ++tuple) {
      const auto& part = space.part_of(tuple);
      auto nodes = space.nodes_of(part, tuple);
      if (tuple < space.parts()[1].first_tuple) {
        for (Node& v : nodes) v = permutation[v];
      }
      RC_ASSERT(before[r][tuple] == after[r][space.tuple_of(part, nodes)]);
    }
  }
}

TEST(TupleSpace, NumbersTuplesLexicographicallyGraphByGraph) {
  const std::vector<Graph> graphs = {path(3), Graph(), path(1), cycle(70)};
  const TupleSpace<2> space(pointers(graphs));
  EXPECT_EQ(space.tuples(), 9u + 0 + 1 + 4900);
  EXPECT_EQ(space.rows(), 3u + 0 + 1 + 70);
  std::uint32_t expected = 0;
  for (const Graph& graph : graphs) {
    for (Node u = 0; u < graph.num_nodes(); ++u) {
      for (Node v = 0; v < graph.num_nodes(); ++v, ++expected) {
        const auto& part = space.part_of(expected);
        EXPECT_EQ(part.nodes, graph.num_nodes());
        EXPECT_EQ(space.nodes_of(part, expected), (std::array<Node, 2>{u, v}));
        EXPECT_EQ(space.tuple_of(part, {u, v}), expected);
        EXPECT_EQ(space.row_of(part, expected), part.first_row + u);
        EXPECT_EQ(space.rows_of(part, {u, v}), (std::array<std::uint32_t, 2>{part.first_row + v, part.first_row + u}));
      }
    }
  }
}

TEST(TupleRefiner, ColoursPairsOfACycleByTheirDistance) {
  const std::vector<Graph> graphs = {cycle(11)};
  TupleRefiner<2> refiner(pointers(graphs));
  while (refiner.step()) continue;
  EXPECT_EQ(refiner.classes(), 6u);
  const auto colours = refiner.colours();
  for (Node u = 0; u < 11; ++u) {
    for (Node v = 0; v < 11; ++v) EXPECT_EQ(colours[u * 11 + v], colours[(v + 11 - u) % 11]);
  }
}

TEST(TupleRefiner, ColoursPairsOfARigidGraphAllDifferently) {
  // The smallest tree without symmetry: legs of 1, 2 and 3 edges.
  const std::vector<Graph> graphs = {
      Graph::from_edges(7, std::vector<Edge>{{0, 1}, {0, 2}, {2, 3}, {0, 4}, {4, 5}, {5, 6}})};
  TupleRefiner<2> two(pointers(graphs));
  while (two.step()) continue;
  EXPECT_EQ(two.classes(), 49u);
  TupleRefiner<3> three(pointers(graphs));
  while (three.step()) continue;
  EXPECT_EQ(three.classes(), 343u);
}

TEST(TupleRefiner, GivesTheSameColoursOnAnyNumberOfThreads) {
  // Large enough that rounds are spread over threads.
  Stream stream(derive_key(6, Purpose::test));
  const Graph sparse = random_graph(90, 0.04, 2, stream);
  const std::vector<Graph> graphs = {sparse, shuffled(sparse, stream)};
  const auto one = all_rounds<2>(graphs, 1);
  for (const unsigned threads : {2u, 5u}) EXPECT_EQ(one, all_rounds<2>(graphs, threads));
  const std::vector<Graph> small = {exp_core(2, true), exp_core(2, false)};
  EXPECT_EQ(all_rounds<3>(small, 1), all_rounds<3>(small, 3));
}

TEST(TupleRefiner, AgreesWithTheDefinitionOnCoresOfExp) {
  for (const Node n : {2u, 3u}) {
    const std::vector<Graph> pair = {exp_core(n, true), exp_core(n, false)};
    const auto expected = reference::folklore(pair, 2).rounds;
    const auto rounds = all_rounds<2>(pair);
    ASSERT_EQ(rounds.size(), expected.size());
    for (std::size_t r = 0; r < rounds.size(); ++r) EXPECT_TRUE(reference::same_partition(rounds[r], expected[r]));
  }
}

RC_GTEST_PROP(TupleRefinerProperty, EveryRoundIsTheDefinitions, ()) {
  Stream stream = chosen_stream();
  auto graphs = sample_pair(9, stream);
  check_against_the_definition<2>(graphs, ~0ull);
  graphs.push_back(random_circulant(7, stream));
  check_against_the_definition<2>(graphs, ~0ull);
  check_against_the_definition<3>(sample_pair(5, stream), ~0ull);
}

RC_GTEST_PROP(TupleRefinerProperty, CollidingHashesChangeNothing, ()) {
  Stream stream = chosen_stream();
  for (const std::uint64_t mask : {0ull, 3ull}) {
    check_against_the_definition<2>(sample_pair(9, stream), mask);
    check_against_the_definition<3>(sample_pair(5, stream), mask);
  }
}

RC_GTEST_PROP(TupleRefinerProperty, ColoursMoveWithTheNodes, ()) {
  Stream stream = chosen_stream();
  for (const std::uint64_t mask : {0ull, ~0ull}) {
    const auto pair = sample_pair(12, stream);
    check_that_colours_move<2>(pair[0], pair[1], stream, mask);
    const auto small = sample_pair(6, stream);
    check_that_colours_move<3>(small[0], small[1], stream, mask);
  }
}

}  // namespace
}  // namespace tyche::wl
