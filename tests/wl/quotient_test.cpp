#include "wl/quotient.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "support/error.hpp"
#include "wl/naive_sets.hpp"
#include "wl/sample_graphs.hpp"

namespace tyche::wl {
namespace {

// The same partition, both numbered by first occurrence over the graphs in order.
std::vector<std::vector<std::uint32_t>> by_first_occurrence(const std::vector<std::vector<std::uint32_t>>& colours) {
  std::map<std::uint32_t, std::uint32_t> ids;
  auto out = colours;
  for (auto& graph : out) {
    for (auto& c : graph) c = ids.emplace(c, static_cast<std::uint32_t>(ids.size())).first->second;
  }
  return out;
}

TEST(Quotient, OfACycleHasOneClassOfEdgesAndCountsNeighbours) {
  const std::vector<Graph> graphs = {cycle(7)};
  const Quotient q = make_quotient(graphs, {.kind = {.k = 2, .choice = SetChoice::connected}, .rounds = 3});
  EXPECT_EQ(q.sets, 7u);
  for (std::size_t l = 0; l <= 3; ++l) EXPECT_EQ(q.size(l), 1u);
  // An edge's neighbours: an end moves on to the next node, and the result must be an edge; no such edge in a cycle
  // longer than 3.
  EXPECT_EQ(q.steps[0].columns.size(), 0u);
  EXPECT_EQ(q.multiplicity, std::vector<std::uint32_t>{7});

  const Quotient triangle =
      make_quotient(std::vector<Graph>{cycle(3)}, {.kind = {.k = 2, .choice = SetChoice::connected}, .rounds = 1});
  EXPECT_EQ(triangle.steps[0].columns, std::vector<std::uint32_t>{0});
  EXPECT_EQ(triangle.steps[0].counts, std::vector<std::uint16_t>{2});
}

TEST(Quotient, PairsOfAPathShareClassesByReflection) {
  const Quotient q = make_quotient(std::vector<Graph>{path(5)}, {.kind = {.k = 2}, .rounds = 8, .keep_sets = true});
  // 01 02 03 04 12 13 14 23 24 34: reflections 01-34, 02-24, 03-14, 12-23; 04 and 13 are their own.
  const auto& c = q.of_set[0];
  EXPECT_EQ(c[0], c[9]);
  EXPECT_EQ(c[1], c[8]);
  EXPECT_EQ(c[2], c[6]);
  EXPECT_EQ(c[4], c[7]);
  EXPECT_EQ(q.size(8), 6u);
}

TEST(Quotient, ACoreOfExpIsToldFromItsTwinByPairsButNotByNodes) {
  const std::vector<Graph> twins = {exp_core(3, true), exp_core(3, false)};
  const auto alike = [&](SetKind kind) {
    const Quotient q = make_quotient(twins, {.kind = kind, .rounds = 8});
    std::map<std::uint32_t, std::int64_t> balance;
    for (std::size_t g = 0; g < 2; ++g) {
      for (std::uint64_t i = q.first[g]; i < q.first[g + 1]; ++i) {
        balance[q.classes[i]] += (g == 0 ? 1 : -1) * std::int64_t{q.multiplicity[i]};
      }
    }
    return std::all_of(balance.begin(), balance.end(), [](const auto& entry) { return entry.second == 0; });
  };
  EXPECT_TRUE(alike({.k = 1}));
  EXPECT_FALSE(alike({.k = 2}));
  EXPECT_FALSE(alike({.k = 3}));
  EXPECT_TRUE(alike({.k = 2, .choice = SetChoice::connected}));
  EXPECT_TRUE(alike({.k = 3, .choice = SetChoice::connected}));
}

RC_GTEST_PROP(Quotient, IsColourRefinementOfTheSetGraphs, ()) {
  Stream stream = chosen_stream();
  std::vector<Graph> graphs = sample_pair(8, stream);
  graphs.push_back(shuffled(graphs[0], stream));
  const auto k = static_cast<unsigned>(1 + stream.below(3));
  const SetChoice choice = stream.coin() ? SetChoice::all : SetChoice::connected;
  const bool coloured = stream.coin();
  std::vector<std::vector<std::uint32_t>> node_colours;
  for (const Graph& graph : graphs) {
    auto& colours = node_colours.emplace_back();
    for (Node v = 0; v < graph.num_nodes(); ++v) colours.push_back(static_cast<std::uint32_t>(stream.below(2)));
  }
  std::vector<NaiveSets> naive;
  for (const Graph& graph : graphs) naive.push_back(naive_sets(graph, k, choice == SetChoice::connected));
  for (unsigned rounds = 0; rounds <= 4; ++rounds) {
    QuotientOptions options{.kind = {k, choice}, .rounds = rounds, .keep_sets = true};
    if (coloured) options.node_colours = node_colours;
    const Quotient q = make_quotient(graphs, options);
    const auto expected = naive_set_colours(naive, rounds, [&](std::size_t g, const std::vector<Node>& s) {
      std::vector<std::uint32_t> start;
      if (coloured) {
        for (const Node v : s) start.push_back(node_colours[g][v]);
      }
      std::sort(start.begin(), start.end());
      return start;
    });
    RC_ASSERT(by_first_occurrence(q.of_set) == expected);
    RC_ASSERT(q.of_set == expected);

    // Multiplicities count sets, and every class says what its neighbours are.
    std::uint64_t sets = 0;
    for (const std::uint32_t m : q.multiplicity) sets += m;
    RC_ASSERT(sets == q.sets);
    options.threads = 3;
    RC_ASSERT(make_quotient(graphs, options) == q);
  }
}

RC_GTEST_PROP(Quotient, RowsAreTheNeighbourhoodsOfTheirSets, ()) {
  Stream stream = chosen_stream();
  const std::vector<Graph> graphs = sample_pair(8, stream);
  const auto k = static_cast<unsigned>(1 + stream.below(3));
  const Quotient last = make_quotient(graphs, {.kind = {.k = k}, .rounds = 3, .keep_sets = true});
  const Quotient before = make_quotient(graphs, {.kind = {.k = k}, .rounds = 2, .keep_sets = true});
  for (std::size_t g = 0; g < graphs.size(); ++g) {
    const SetGraph sets = make_set_graph(graphs[g], {.k = k});
    for (std::size_t s = 0; s < sets.size(); ++s) {
      const std::uint32_t c = last.of_set[g][s];
      RC_ASSERT(last.steps[2].roots[c] == before.of_set[g][s]);
      std::map<std::uint32_t, std::uint32_t> counts;
      for (const std::uint32_t t : sets.neighbours(s)) ++counts[before.of_set[g][t]];
      std::map<std::uint32_t, std::uint32_t> stored;
      for (std::uint64_t e = last.steps[2].offsets[c]; e < last.steps[2].offsets[c + 1]; ++e) {
        stored[last.steps[2].columns[e]] = last.steps[2].counts[e];
      }
      RC_ASSERT(counts == stored);
    }
  }
}

TEST(Quotient, RefusesColoursThatDoNotFit) {
  const std::vector<Graph> graphs = {cycle(6)};
  const std::vector<std::vector<std::uint32_t>> none(2), few(1, std::vector<std::uint32_t>(3));
  EXPECT_THROW((void)make_quotient(graphs, {.node_colours = none}), InputError);
  EXPECT_THROW((void)make_quotient(graphs, {.node_colours = few}), InputError);
}

}  // namespace
}  // namespace tyche::wl
