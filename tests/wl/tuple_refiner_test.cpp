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

using Rounds = std::vector<std::vector<std::uint32_t>>;

/// The colours of every round; and whether the refiner vouches for them.
template <unsigned K>
std::pair<Rounds, bool> attempt(std::span<const Graph> graphs, const KeyHash& hash, unsigned threads = 1) {
  TupleRefiner<K> refiner(pointers(graphs), threads, hash);
  Rounds out;
  do {
    out.push_back(refiner.colours());
  } while (refiner.step());
  return {out, refiner.confirm()};
}

template <unsigned K>
Rounds all_rounds(std::span<const Graph> graphs, unsigned threads = 1) {
  auto [rounds, exact] = attempt<K>(graphs, {}, threads);
  EXPECT_TRUE(exact);
  return rounds;
}

bool same_partitions(const Rounds& a, const Rounds& b) {
  bool same = a.size() == b.size();
  for (std::size_t r = 0; same && r < a.size(); ++r) same = reference::same_partition(a[r], b[r]);
  return same;
}

template <unsigned K>
void check_against_the_definition(std::span<const Graph> graphs) {
  const auto [rounds, exact] = attempt<K>(graphs, {});
  RC_ASSERT(exact);
  RC_ASSERT(same_partitions(rounds, reference::folklore(graphs, K).rounds));
}

template <unsigned K>
void check_poor_hashes(std::span<const Graph> graphs, std::uint64_t bits) {
  const auto expected = reference::folklore(graphs, K).rounds;
  const auto [rounds, exact] = attempt<K>(graphs, {.tuple_bits = bits});
  RC_ASSERT(exact == same_partitions(rounds, expected));

  const auto classes = refine_exactly<K>(pointers(graphs), 1,
                                         [](TupleRefiner<K>& refiner) {
                                           while (refiner.step()) continue;
                                           return refiner.classes();
                                         },
                                         {.tuple_bits = bits});
  RC_ASSERT(classes == reference::count(expected.back()));
}

template <unsigned K>
void check_that_colours_move(const Graph& graph, const Graph& other, Stream& stream) {
  const auto permutation = random_permutation(graph.num_nodes(), stream);
  const auto before = all_rounds<K>(std::vector<Graph>{graph, other}, 1);
  const auto after = all_rounds<K>(std::vector<Graph>{graph.relabelled(permutation), other}, 2);
  RC_ASSERT(before.size() == after.size());
  const TupleSpace<K> space(std::vector<const Graph*>{&graph, &other}, 1000);  // items are tuples
  for (std::size_t r = 0; r < before.size(); ++r) {
    for (std::uint32_t tuple = 0; tuple < space.items(); ++tuple) {
      const auto& part = space.part_of(tuple);
      auto nodes = space.nodes_of(part, tuple);
      if (&part == &space.parts()[0]) {
        for (Node& v : nodes) v = permutation[v];
      }
      RC_ASSERT(before[r][tuple] == after[r][space.item_of(part, nodes)]);
    }
  }
}

TEST(TupleSpace, NumbersTuplesLexicographicallyGraphByGraphWhereNoAutomorphismIsKnown) {
  const std::vector<Graph> graphs = {path(3), Graph(), path(1), cycle(70)};
  const TupleSpace<2> space(pointers(graphs), 1000);
  EXPECT_EQ(space.items(), 9u + 0 + 1 + 4900);
  EXPECT_EQ(space.cells(), space.items());
  std::uint32_t expected = 0;
  for (const Graph& graph : graphs) {
    for (Node u = 0; u < graph.num_nodes(); ++u) {
      for (Node v = 0; v < graph.num_nodes(); ++v, ++expected) {
        const auto& part = space.part_of(expected);
        EXPECT_EQ(part.nodes, graph.num_nodes());
        EXPECT_EQ(space.nodes_of(part, expected), (std::array<Node, 2>{u, v}));
        EXPECT_EQ(space.item_of(part, {u, v}), expected);
        EXPECT_EQ(space.weight(expected), 1u);
      }
    }
  }
}

TEST(TupleSpace, HasAnItemPerOrbitOfTuples) {
  // Pairs of a cycle by distance; ordered triples of a square: those with equal nodes, and (u, u's neighbour, ...).
  const std::vector<Graph> graphs = {cycle(11), cycle(4)};
  const TupleSpace<2> pairs(pointers(graphs), 0);
  EXPECT_EQ(pairs.items(), 6u + 3);
  EXPECT_EQ(pairs.weight(0), 11u);
  EXPECT_EQ(pairs.weight(1), 22u);
  const TupleSpace<3> triples(pointers(std::span(graphs).subspan(1)), 0);
  std::uint64_t tuples = 0;
  for (std::uint32_t item = 0; item < triples.items(); ++item) tuples += triples.weight(item);
  EXPECT_EQ(tuples, 64u);
  // Burnside: the identity keeps 64, the two reflections through corners keep 2^3 each, all others none.
  EXPECT_EQ(triples.items(), (64u + 8 + 8) / 8);
}

RC_GTEST_PROP(TupleRefinerProperty, AutomorphismsChangeNoPartition, ()) {
  Stream stream = chosen_stream();
  for (const auto& graphs : {sample_pair(9, stream), std::vector<Graph>{random_circulant(8, stream), cycle(8)}}) {
    TupleRefiner<2> plain(pointers(graphs), 1, {}, 1000), quick(pointers(graphs), 1, {}, 0);
    TupleRefiner<3> plain3(pointers(graphs), 1, {}, 1000), quick3(pointers(graphs), 1, {}, 0);
    const auto same_rounds = [](auto& a, auto& b) {
      for (bool more = true; more;) {
        RC_ASSERT(reference::same_partition(a.colours(), b.colours()));
        RC_ASSERT(a.told_apart() == b.told_apart());
        more = a.step();
        RC_ASSERT(b.step() == more);
      }
      RC_ASSERT(a.confirm() && b.confirm());
    };
    same_rounds(plain, quick);
    same_rounds(plain3, quick3);
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
    EXPECT_TRUE(same_partitions(all_rounds<2>(pair), reference::folklore(pair, 2).rounds));
  }
}

RC_GTEST_PROP(TupleRefinerProperty, EveryRoundIsTheDefinitions, ()) {
  Stream stream = chosen_stream();
  auto graphs = sample_pair(9, stream);
  check_against_the_definition<2>(graphs);
  graphs.push_back(random_circulant(7, stream));
  check_against_the_definition<2>(graphs);
  check_against_the_definition<3>(sample_pair(5, stream));
}

RC_GTEST_PROP(TupleRefinerProperty, NoticesCollidingHashesAndTriesAgain, ()) {
  Stream stream = chosen_stream();
  for (const std::uint64_t bits : {0ull, 1ull, 15ull, 255ull}) {
    check_poor_hashes<2>(sample_pair(9, stream), bits);
    check_poor_hashes<3>(sample_pair(5, stream), bits);
  }
}

TEST(TupleRefiner, NoticesACollisionHoweverTheWorkEnds) {
  // Hashes that never differ: round 0 looks stable, and early stops would come too late.
  const std::vector<Graph> graphs = {disjoint_union(cycle(3), cycle(3)), cycle(6)};
  TupleRefiner<2> blind(pointers(graphs), 1, {.tuple_bits = 0});
  EXPECT_FALSE(blind.step());
  EXPECT_FALSE(blind.told_apart());
  EXPECT_FALSE(blind.confirm());
  // Stopped after a round, with nothing wrong; and before any round.
  TupleRefiner<2> good(pointers(graphs));
  EXPECT_TRUE(good.step());
  EXPECT_TRUE(good.told_apart());
  EXPECT_TRUE(good.confirm());
  TupleRefiner<2> unmoved(pointers(graphs), 1, {.tuple_bits = 0});
  EXPECT_TRUE(unmoved.confirm());
}

RC_GTEST_PROP(TupleRefinerProperty, ColoursMoveWithTheNodes, ()) {
  Stream stream = chosen_stream();
  const auto pair = sample_pair(12, stream);
  check_that_colours_move<2>(pair[0], pair[1], stream);
  const auto small = sample_pair(6, stream);
  check_that_colours_move<3>(small[0], small[1], stream);
}

}  // namespace
}  // namespace tyche::wl
