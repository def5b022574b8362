#include "wl/individualise.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <numeric>

#include "measure/measure.hpp"
#include "support/error.hpp"
#include "wl/colour_refinement.hpp"
#include "wl/naive_paths.hpp"
#include "wl/reference.hpp"
#include "wl/sample_graphs.hpp"

namespace tyche::wl {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Choices choices(std::uint32_t draw, std::uint32_t graph = 0) {
  return {derive_key(7, Purpose::individualise, draw), graph};
}

Graph star(Node nodes) {
  std::vector<Edge> edges;
  for (Node v = 1; v < nodes; ++v) edges.emplace_back(0, v);
  return Graph::from_edges(nodes, edges);
}

const std::pair<Cell, naive::Rule> kRules[] = {{Cell::first_largest, naive::Rule::largest},
                                               {Cell::first_smallest, naive::Rule::smallest},
                                               {Cell::first_non_singleton, naive::Rule::any}};

/// The path by the plain version, and with it the choices' definition.
Path naive_path(const Graph& graph, const Choices& with, std::uint32_t depth, naive::Rule rule) {
  Path out;
  out.ranks = naive::root(graph);
  for (std::uint32_t level = 0; level < depth; ++level) {
    const std::vector<Node> cell = naive::cell(out.ranks, rule);
    if (cell.empty()) break;
    const std::uint64_t word = philox(with.key, {with.graph, level / 4, 0, kChoiceTag})[level % 4];
    out.chosen.push_back(cell[(word * cell.size()) >> 32]);
    out.ranks = naive::individualised(out.ranks, out.chosen.back(), graph);
  }
  out.classes = naive::classes(out.ranks);
  out.discrete = out.classes == graph.num_nodes();
  return out;
}

TEST(Individualise, RanksAPathFromItsEndsAndTheChosenEndFirst) {
  // Round 1 puts the two ends (one neighbour) before the inner nodes, whose tuples are longer.
  const Graph graph = path(5);
  Individualiser paths(graph);
  EXPECT_EQ(paths.draw(choices(0), 0).ranks, (std::vector<std::uint32_t>{0, 1, 2, 1, 0}));
  const std::vector<Node> end = {4};
  const Path leaf = paths.follow(end);
  EXPECT_TRUE(leaf.discrete);
  EXPECT_EQ(leaf.ranks, (std::vector<std::uint32_t>{1, 3, 4, 2, 0}));
}

TEST(Individualise, GivesAnEmptyPathWhereNothingIsLeftToChoose) {
  const Graph nothing;
  EXPECT_EQ(Individualiser(nothing).draw(choices(0)), (Path{{}, {}, 0, true}));
  const Graph typed = Graph::from_edges(3, {}, {7, 3, 5});
  EXPECT_EQ(Individualiser(typed).draw(choices(0)), (Path{{}, {2, 0, 1}, 3, true}));
  const Graph one = Graph::from_edges(1, {});
  EXPECT_EQ(Individualiser(one).draw(choices(0)), (Path{{}, {0}, 1, true}));
}

TEST(Individualise, StopsAtTheDepthOrAtTheLeaf) {
  const Graph graph = Graph::from_edges(6, {});
  Individualiser paths(graph);
  EXPECT_EQ(paths.draw(choices(1), 2).chosen.size(), 2u);
  EXPECT_FALSE(paths.draw(choices(1), 2).discrete);
  const Path leaf = paths.draw(choices(1), 1000000);
  EXPECT_EQ(leaf, paths.draw(choices(1), kLeaf));
  EXPECT_EQ(leaf.chosen.size(), 5u);
  EXPECT_TRUE(leaf.discrete);
}

TEST(Individualise, SelectsTheCellByItsRule) {
  // Cells by rank: types 0 (one node), 1 (two), 2 (three), 3 (three), 4 (two).
  const Graph graph = Graph::from_edges(11, {}, {4, 3, 3, 3, 2, 2, 2, 1, 1, 0, 4});
  const auto first_from = [&](Cell cell) {
    return graph.type(Individualiser(graph, cell).draw(choices(0), 1).chosen[0]);
  };
  EXPECT_EQ(first_from(Cell::first_largest), 2u);
  EXPECT_EQ(first_from(Cell::first_smallest), 1u);
  EXPECT_EQ(first_from(Cell::first_non_singleton), 1u);
  const Graph more = Graph::from_edges(5, {}, {0, 0, 0, 1, 1});
  EXPECT_EQ(more.type(Individualiser(more, Cell::first_non_singleton).draw(choices(0), 1).chosen[0]), 0u);
  EXPECT_EQ(more.type(Individualiser(more, Cell::first_smallest).draw(choices(0), 1).chosen[0]), 1u);
}

TEST(Individualise, NamesItsRulesAndRefusesOthers) {
  for (const auto& rule : kRules) EXPECT_EQ(parse_cell(name(rule.first)), rule.first);
  EXPECT_EQ(name(Cell::first_non_singleton), "first-non-singleton");
  try {
    (void)parse_cell("first-larges");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("did you mean 'first-largest'?"));
  }
}

TEST(Individualise, RefusesToFollowNodesOutsideTheCell) {
  const Graph graph = path(4);
  Individualiser paths(graph);
  const auto message = [&](std::vector<Node> chosen) -> std::string {
    try {
      (void)paths.follow(chosen);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(message({1}), HasSubstr("step 0 individualises node 1, which is not among the 2 nodes of the cell"));
  EXPECT_THAT(message({0, 3}), HasSubstr("step 1 individualises node 3: every node has a colour of its own"));
  EXPECT_THAT(message({9}), HasSubstr("the graph has 4 nodes"));
  EXPECT_EQ(message({3}), "");
}

TEST(Individualise, PinsTheWordsOfChoices) {
  // What kernels repeat; a change here changes every run with random paths.
  const Choices with{{1, 2}, 3};
  for (std::uint32_t level = 0; level < 9; ++level) {
    const Block words = philox({1, 2}, {3, level / 4, 0, 0x696e6469});
    EXPECT_EQ(with.below(level, 1000), static_cast<std::uint32_t>((std::uint64_t{words[level % 4]} * 1000) >> 32));
  }
  EXPECT_EQ(with.below(5, 1), 0u);
  EXPECT_EQ(with.below(0, 1000000), 325745u);
  EXPECT_EQ(with.below(6, 1000000), 448540u);
  EXPECT_EQ(static_cast<std::uint32_t>(Purpose::individualise), 10u);
}

TEST(Individualise, AgreesWithThePrototype) {
  // Paths and ranks printed by the Python script whose order this is.
  struct Sample {
    Graph graph;
    std::vector<Node> chosen;
    std::vector<std::uint32_t> ranks;
  };
  const Sample samples[] = {{rook(), {4, 2, 8, 5}, {1, 9, 7, 10, 0, 5, 2, 6, 3, 12, 8, 13, 4, 14, 11, 15}},
                            {shrikhande(), {1, 4, 0}, {1, 0, 6, 8, 7, 2, 4, 11, 10, 9, 13, 14, 3, 5, 15, 12}},
                            {exp_core(2, true), {11, 12}, {12, 14, 15, 13, 11, 9, 8, 10, 7, 6, 3, 0, 1, 4, 5, 2}},
                            {exp_core(2, false), {11, 13}, {9, 10, 12, 14, 15, 13, 11, 8, 3, 7, 4, 0, 2, 1, 5, 6}},
                            {path(7), {0}, {0, 2, 4, 6, 5, 3, 1}}};
  for (const Sample& sample : samples)
    EXPECT_EQ(Individualiser(sample.graph).follow(sample.chosen).ranks, sample.ranks);
}

RC_GTEST_PROP(IndividualiseProperty, GivesTheRanksOfSynchronousRounds, ()) {
  Stream stream = chosen_stream();
  const auto graphs = sample_pair(24, stream);
  for (const Graph& graph : graphs) {
    for (const auto& rule : kRules) {
      Individualiser paths(graph, rule.first);
      for (const std::uint32_t depth : {0u, 1u, 2u, kLeaf}) {
        const Choices with = choices(static_cast<std::uint32_t>(stream.below(1000)), 5);
        RC_ASSERT(paths.draw(with, depth) == naive_path(graph, with, depth, rule.second));
      }
    }
  }
}

RC_GTEST_PROP(IndividualiseProperty, MovesWithTheNamesOfNodes, ()) {
  Stream stream = chosen_stream();
  const Graph graph = sample_pair(40, stream)[0];
  const std::vector<Node> names = random_permutation(graph.num_nodes(), stream);
  const Graph renamed = graph.relabelled(names);
  for (const auto& rule : kRules) {
    const Path drawn = Individualiser(graph, rule.first).draw(choices(3));
    std::vector<Node> chosen;
    for (const Node v : drawn.chosen) chosen.push_back(names[v]);
    const Path followed = Individualiser(renamed, rule.first).follow(chosen);
    RC_ASSERT(followed.chosen == chosen);
    RC_ASSERT(followed.classes == drawn.classes);
    for (Node v = 0; v < graph.num_nodes(); ++v) RC_ASSERT(followed.ranks[names[v]] == drawn.ranks[v]);
  }
}

RC_GTEST_PROP(IndividualiseProperty, BeginsWithTheStableColouring, ()) {
  Stream stream = chosen_stream();
  const std::vector<Graph> graphs = {sample_pair(60, stream)[0]};
  const Path root = Individualiser(graphs[0]).draw(choices(0), 0);
  const Colouring colouring = refine(graphs);
  RC_ASSERT(root.classes == colouring.classes);
  RC_ASSERT(reference::same_partition(root.ranks, colouring.colours));
}

RC_GTEST_PROP(IndividualiseProperty, GivesTheSamePathFromItsTree, ()) {
  Stream stream = chosen_stream();
  const Graph graph = sample_pair(10, stream)[0];
  for (const std::uint32_t depth : {0u, 1u, 2u, kLeaf}) {
    for (const auto& rule : kRules) {
      const auto tree = make_tree(graph, depth, rule.first);
      if (!tree) continue;
      Individualiser paths(graph, rule.first);
      for (std::uint32_t draw = 0; draw < 20; ++draw) {
        RC_ASSERT(tree->path(tree->leaf(choices(draw))) == paths.draw(choices(draw), depth));
      }
      const double sum = std::accumulate(tree->probability.begin(), tree->probability.end(), 0.0);
      RC_ASSERT(std::abs(sum - 1) < 1e-9);
      for (std::uint32_t leaf = 0; leaf < tree->leaves(); ++leaf) {
        RC_ASSERT(tree->path(leaf) == paths.follow(tree->chosen_of(leaf)));
      }
    }
  }
}

TEST(Individualise, LaysOutTheTreeOfASmallGraph) {
  // A triangle and a lone node: three nodes to choose from, then two.
  const std::vector<Edge> edges = {{0, 1}, {1, 3}, {0, 3}};
  const auto tree = make_tree(Graph::from_edges(4, edges));
  ASSERT_TRUE(tree);
  using Fork = Tree::Fork;
  EXPECT_THAT(tree->forks, ElementsAre(Fork{3, 1}, Fork{2, 4}, Fork{2, 6}, Fork{2, 8}, Fork{0, 0}, Fork{0, 1},
                                       Fork{0, 2}, Fork{0, 3}, Fork{0, 4}, Fork{0, 5}));
  EXPECT_EQ(tree->leaves(), 6u);
  EXPECT_THAT(tree->chosen_of(0), ElementsAre(0, 1));
  EXPECT_THAT(tree->chosen_of(3), ElementsAre(1, 3));
  EXPECT_THAT(tree->ranks_of(3), ElementsAre(3, 1, 0, 2));  // the lone node's tuple is the shortest
  EXPECT_DOUBLE_EQ(tree->probability[5], 1.0 / 6);
  EXPECT_EQ(tree->bytes(), 10 * 8 + 6 * 8 + 4 * (7 + 12 + 6 + 24));
}

TEST(Individualise, GivesNoTreeBeyondItsLimits) {
  const Graph graph = Graph::from_edges(5, {});  // 5 * 4 * 3 * 2 leaves
  EXPECT_EQ(make_tree(graph, kLeaf, Cell::first_largest, {.leaves = 120})->leaves(), 120u);
  EXPECT_FALSE(make_tree(graph, kLeaf, Cell::first_largest, {.leaves = 119}));
  EXPECT_FALSE(make_tree(graph, kLeaf, Cell::first_largest, {.leaves = 1000, .bytes = 3000}));
  EXPECT_EQ(make_tree(graph, 1)->leaves(), 5u);
  EXPECT_EQ(make_tree(graph, 0)->leaves(), 1u);
  EXPECT_EQ(make_tree(Graph())->leaves(), 1u);
  // Deep and large ones are given up at once, not after their leaves.
  EXPECT_FALSE(make_tree(star(100000)));
  std::vector<Edge> matching;
  for (Node v = 0; v < 20000; v += 2) matching.emplace_back(v, v + 1);
  EXPECT_FALSE(make_tree(Graph::from_edges(20000, matching), kLeaf, Cell::first_smallest, {.leaves = 1000000}));
}

TEST(Individualise, DrawsPathsAsOftenAsTheTreeSays) {
  // A path of three nodes beside a square: cells of unlike sizes, so leaves of unlike probability.
  const Graph graph = disjoint_union(path(3), cycle(4));
  const auto tree = make_tree(graph, kLeaf, Cell::first_smallest);
  ASSERT_TRUE(tree);
  std::map<std::vector<Node>, double> expected;
  for (std::uint32_t leaf = 0; leaf < tree->leaves(); ++leaf) {
    const auto chosen = tree->chosen_of(leaf);
    expected[{chosen.begin(), chosen.end()}] = tree->probability[leaf];
  }
  ASSERT_EQ(expected.size(), tree->leaves());
  const std::uint32_t draws = 20000;
  std::map<std::vector<Node>, double> seen;
  Individualiser paths(graph, Cell::first_smallest);
  for (std::uint32_t draw = 0; draw < draws; ++draw) ++seen[paths.draw(choices(draw, draw % 3)).chosen];
  double chi_square = 0;
  for (const auto& entry : expected) {
    const double mean = entry.second * draws;
    chi_square += (seen[entry.first] - mean) * (seen[entry.first] - mean) / mean;
  }
  EXPECT_EQ(seen.size(), expected.size());
  const double freedom = static_cast<double>(expected.size() - 1);
  EXPECT_LT(chi_square, freedom + 4 * std::sqrt(2 * freedom));  // beyond it: 1 in 10,000 or so
}

// Near-linear however many rounds (cycle, path), however large the fragments (cubic), however many steps (star, where
// the cell is found and its members are counted 99,998 times). Quadratic work would take minutes.
TEST(Individualise, ReachesALeafOfALargeGraph) {
  const Node nodes = 100000;
  const std::pair<Graph, std::size_t> cases[] = {{cycle(nodes), 2}, {path(nodes), 1}, {star(nodes), nodes - 2}};
  for (const auto& sample : cases) {
    const Path leaf = Individualiser(sample.first).draw(choices(0));
    EXPECT_TRUE(leaf.discrete);
    EXPECT_EQ(leaf.chosen.size(), sample.second);
  }
  const Graph cubic = measure::random_cubic_graph(nodes, 1);
  for (Node v = 0; v < nodes; ++v) ASSERT_EQ(cubic.degree(v), 3u);
  Individualiser paths(cubic);
  EXPECT_EQ(paths.draw(choices(0), 0).classes, 1u);
  EXPECT_TRUE(paths.draw(choices(0)).discrete);
}

TEST(Individualise, CountsTheMembersOfLargeCellsAsThoseOfSmallOnes) {
  // Two cells of 3,000 and 2,000 twins, and the rule goes back and forth between them once they are equal.
  std::vector<NodeType> types(5000, 0);
  for (Node v = 0; v < 5000; ++v) types[v] = v % 5 < 2 ? 1 : 0;
  const Graph graph = Graph::from_edges(5000, {}, types);
  const Path leaf = Individualiser(graph).draw(choices(0));
  ASSERT_EQ(leaf.chosen.size(), 4998u);
  std::vector<std::vector<Node>> cells(2);
  for (Node v = 0; v < 5000; ++v) cells[types[v]].push_back(v);
  for (std::uint32_t level = 0; level < leaf.chosen.size(); ++level) {
    auto& cell = cells[cells[1].size() > cells[0].size() ? 1 : 0];
    const auto at = cell.begin() + choices(0).below(level, static_cast<std::uint32_t>(cell.size()));
    ASSERT_EQ(leaf.chosen[level], *at) << "at level " << level;
    cell.erase(at);
  }
}

TEST(Individualise, IsCheckedAndMeasuredByItsBenchmark) {
  const std::vector<Graph> graphs = {exp_core(2, true), exp_core(2, false), path(3), Graph()};
  const measure::PathBench bench = measure::bench_paths(graphs, kLeaf, Cell::first_largest, 0.01);
  EXPECT_EQ(bench.graphs, 4u);
  EXPECT_EQ(bench.tables, 4u);
  EXPECT_GT(bench.draws_per_second, 0);
  EXPECT_GT(bench.refinements_per_second, 0);
  EXPECT_THROW((void)measure::bench_paths({}, kLeaf, Cell::first_largest, 0.01), InputError);
  const auto large = measure::bench_large_paths(101);
  ASSERT_EQ(large.size(), 4u);
  EXPECT_EQ(large[3].depth, 99u);
}

}  // namespace
}  // namespace tyche::wl
