// Labels on edges, in every kind of refinement: against the definitions, and against graphs that say the labels with
// nodes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <map>
#include <set>

#include "graph/isomorphism.hpp"
#include "support/error.hpp"
#include "wl/colour_refinement.hpp"
#include "wl/colour_refiner.hpp"
#include "wl/leaf_compare.hpp"
#include "wl/naive_paths.hpp"
#include "wl/naive_sets.hpp"
#include "wl/pair_classes.hpp"
#include "wl/quotient_cache.hpp"
#include "wl/reference.hpp"
#include "wl/sample_graphs.hpp"
#include "wl/set_compare.hpp"
#include "wl/tuple_refiner.hpp"
#include "wl/tuple_space.hpp"
#include "wl/wl.hpp"

namespace tyche::wl {
namespace {

/// A cycle whose edges v - v + 1 have these labels in turn.
Graph ring(Node nodes, std::vector<EdgeLabel> turn) {
  std::vector<EdgeLabel> labels;
  const Graph plain = cycle(nodes);
  for (const auto& [u, v] : plain.edges()) labels.push_back(turn[(v == u + 1 ? u : v) % turn.size()]);
  return Graph::from_edges(nodes, plain.edges(), {}, labels);
}

TEST(EdgeLabels, AreSeenByEveryTest) {
  const Graph one = ring(6, {0, 0, 0, 0, 0, 1}), two = ring(6, {0, 0, 0, 0, 1, 1});
  for (const unsigned dim : {1u, 2u, 3u}) {
    EXPECT_TRUE(compare(one, two, {.dim = dim}).distinguished) << dim;
    EXPECT_TRUE(compare(one, cycle(6), {.dim = dim}).distinguished) << dim;
    EXPECT_FALSE(compare(one, ring(6, {0, 1, 0, 0, 0, 0}), {.dim = dim}).distinguished) << dim;
  }
  EXPECT_EQ(compare(one, two).round, 1u);              // four and two nodes with a labelled edge, or three and one
  EXPECT_EQ(compare(one, two, {.dim = 2}).round, 0u);  // one pair each way, or two
  EXPECT_EQ(compare_leaves(one, two).verdict, LeafVerdict::different);
  EXPECT_EQ(compare_leaves(one, ring(6, {0, 1, 0, 0, 0, 0})).verdict, LeafVerdict::isomorphic);
  EXPECT_TRUE(compare_sets(one, two, {{{2, SetChoice::all}}, false}).distinguished);
  EXPECT_TRUE(compare_sets(one, two, {{{3, SetChoice::all}}, false}).distinguished);
  EXPECT_TRUE(compare_sets(one, two, hierarchy(SetChoice::connected)).distinguished);
  EXPECT_FALSE(isomorphism(one, two).has_value());
}

TEST(EdgeLabels, OfOtherValueTellGraphsApart) {
  for (const unsigned dim : {1u, 2u, 3u}) {
    EXPECT_TRUE(compare(ring(5, {1}), ring(5, {2}), {.dim = dim}).distinguished) << dim;
    EXPECT_TRUE(compare(ring(5, {1}), cycle(5), {.dim = dim}).distinguished) << dim;
  }
  EXPECT_NE(canonical_form(ring(5, {1})), canonical_form(ring(5, {2})));
  EXPECT_FALSE(isomorphism(ring(5, {1}), cycle(5)).has_value());
  EXPECT_EQ(compare_leaves(ring(5, {1}), cycle(5)).verdict, LeafVerdict::different);
}

TEST(EdgeLabels, ThatTakeTurnsHideALongRingFromTwoShortOnes) {
  // Two labels that meet at every node: 1-WL sees one class of nodes whatever the length.
  const Graph whole = ring(12, {1, 2}), halves = disjoint_union(ring(6, {1, 2}), ring(6, {1, 2}));
  EXPECT_FALSE(compare(whole, halves).distinguished);
  EXPECT_TRUE(compare(whole, halves, {.dim = 2}).distinguished);
  EXPECT_EQ(group(std::vector<Graph>{whole, halves, ring(12, {1, 1})}).groups, 2u);
}

TEST(EdgeLabels, BreakTheSymmetryThatPathsChooseIn) {
  // A hexagon has 6 · 2 leaves; one labelled edge leaves a reflection, six different labels nothing at all.
  EXPECT_EQ(make_tree(cycle(6))->leaves(), 12u);
  EXPECT_EQ(make_tree(ring(6, {0, 0, 0, 0, 0, 1}))->leaves(), 2u);
  EXPECT_EQ(make_tree(ring(6, {0, 1, 2, 3, 4, 5}))->leaves(), 1u);
}

TEST(EdgeLabels, OfZeroAreNoLabels) {
  const std::vector<EdgeLabel> zeros(6, 0);
  const Graph labelled = Graph::from_edges(6, cycle(6).edges(), {}, zeros);
  EXPECT_EQ(refine(std::vector<Graph>{labelled}).colours, refine(std::vector<Graph>{cycle(6)}).colours);
  EXPECT_EQ(set_types(std::vector<Graph>{labelled}, {.k = 3}), set_types(std::vector<Graph>{cycle(6)}, {.k = 3}));
  const QuotientOptions options{.kind = {.k = 2}, .rounds = 2};
  const std::vector<Graph> plain = {cycle(6)}, zero = {labelled}, ones = {ring(6, {1})}, twos = {ring(6, {2})};
  EXPECT_EQ(cache_file("f", zero, options), cache_file("f", plain, options));
  EXPECT_NE(cache_file("f", ones, options), cache_file("f", plain, options));
  EXPECT_NE(cache_file("f", ones, options), cache_file("f", twos, options));
}

TEST(EdgeLabels, ShowInTheTypesOfSets) {
  const Graph graph = Graph::from_edges(3, std::vector<Edge>{{0, 1}, {0, 2}}, {5, 1, 1}, std::vector<EdgeLabel>{0, 3});
  EXPECT_EQ(set_type_text(make_set_graph(graph, {.k = 3}).types[0], 3),
            "types 1 1 5, edges 1-3 (label 0) 2-3 (label 3)");
  const SetGraph pairs = make_set_graph(graph, {.k = 2});
  EXPECT_EQ(set_type_text(pairs.types[0], 2), "types 1 5, edges 1-2");  // its only edge has label 0
  EXPECT_EQ(set_type_text(pairs.types[1], 2), "types 1 5, edges 1-2 (label 3)");
  EXPECT_EQ(set_type_text(pairs.types[2], 2), "types 1 1, edges none");
  const auto with = [](EdgeLabel label, NodeType type) {
    return Graph::from_edges(2, std::vector<Edge>{{0, 1}}, {type, 0}, std::vector<EdgeLabel>{label});
  };
  EXPECT_THROW((void)make_set_graph(with(511, 0), {.k = 3}), InputError);
  EXPECT_THROW((void)make_set_graph(with(1, 4096), {.k = 3}), InputError);
  EXPECT_NO_THROW((void)make_set_graph(with(510, 4095), {.k = 3}));
  EXPECT_NO_THROW((void)make_set_graph(with(511, 4096), {.k = 2}));
  EXPECT_THROW((void)make_set_graph(with((1u << 23) - 1, 0), {.k = 2}), InputError);
}

TEST(EdgeLabels, ThatAreTooManyForTuplesAreRefused) {
  // 3-WL numbers types³ · relations³ in 64 bits: 3,000 types and 1,000 labels are too many, 2,000 and 1,000 are not.
  const auto many = [](Node types, EdgeLabel labels) {
    std::vector<Edge> edges;
    std::vector<EdgeLabel> label;
    for (Node v = 0; v < labels; ++v) {
      edges.emplace_back(0, v + 1);
      label.push_back(v);
    }
    std::vector<NodeType> type(types);
    for (Node v = 0; v < types; ++v) type[v] = v;
    return Graph::from_edges(types, edges, type, label);
  };
  const Graph star = many(20, 10);
  const Graph* const small[] = {&star};
  EXPECT_EQ(refine_exactly<3>(small, 1, [](TupleRefiner<3>& refiner) { return refiner.classes(); }), 8000u);
  const Graph large = many(3000, 1000);
  const Graph* const both[] = {&large};
  EXPECT_THROW((void)atomic_types<3>(both, TupleSpace<3>({}, 0)), InputError);
}

RC_GTEST_PROP(EdgeLabelsProperty, EveryRoundOfColourRefinementIsTheDefinitions, ()) {
  Stream stream = chosen_stream();
  const std::vector<Graph> pair = sample_labelled_pair(12, stream);
  const auto plain = reference::colour_refinement(pair);
  const Colouring found = refine(pair, {.keep_rounds = true});
  RC_ASSERT(found.history.size() == plain.rounds.size());
  for (std::size_t r = 0; r < plain.rounds.size(); ++r) {
    RC_ASSERT(reference::same_partition(found.history[r], plain.rounds[r]));
  }
  RC_ASSERT(compare(pair[0], pair[1]) == reference::compare(plain));
}

RC_GTEST_PROP(EdgeLabelsProperty, CollidingHashesChangeNothing, ()) {
  Stream stream = chosen_stream();
  const std::vector<Graph> pair = sample_labelled_pair(12, stream);
  const std::array<const Graph*, 2> both = {&pair[0], &pair[1]};
  ColourRefiner good(both), poor(both, 1, 1);
  while (good.step()) RC_ASSERT(poor.step());
  RC_ASSERT(!poor.step());
  RC_ASSERT(reference::same_partition(good.colours(), poor.colours()));
}

RC_GTEST_PROP(EdgeLabelsProperty, RefinementIsThatOfNodesOnTheEdges, ()) {
  Stream stream = chosen_stream();
  const std::vector<Graph> pair = sample_labelled_pair(12, stream);
  const std::vector<Graph> said = {subdivided(pair[0]), subdivided(pair[1])};
  const Colouring labelled = refine(pair), typed = refine(said);
  std::vector<Colour> own;
  for (std::size_t g = 0; g < 2; ++g) {
    const auto colours = typed.of_graph(g).first(pair[g].num_nodes());
    own.insert(own.end(), colours.begin(), colours.end());
  }
  // Renumbered without gaps, for same_partition.
  RC_ASSERT(reference::same_partition(labelled.colours, reference::number(own)));
  RC_ASSERT(compare(pair[0], pair[1]).distinguished == compare(said[0], said[1]).distinguished);
}

RC_GTEST_PROP(EdgeLabelsProperty, TupleRefinementIsTheDefinitions, ()) {
  Stream stream = chosen_stream();
  const std::vector<Graph> two = sample_labelled_pair(7, stream);
  RC_ASSERT(compare(two[0], two[1], {.dim = 2}) == reference::compare(reference::folklore(two, 2)));
  const std::vector<Graph> three = sample_labelled_pair(4, stream);
  RC_ASSERT(compare(three[0], three[1], {.dim = 3}) == reference::compare(reference::folklore(three, 3)));
}

RC_GTEST_PROP(EdgeLabelsProperty, RenumberingNodesChangesNothing, ()) {
  Stream stream = chosen_stream();
  const Graph graph = sample_labelled_pair(8, stream)[0];
  const std::vector<Node> names = random_permutation(graph.num_nodes(), stream);
  const Graph renamed = graph.relabelled(names);
  const Colouring before = refine(std::vector<Graph>{graph}), after = refine(std::vector<Graph>{renamed});
  for (Node v = 0; v < graph.num_nodes(); ++v) RC_ASSERT(before.colours[v] == after.colours[names[v]]);
  for (const unsigned dim : {1u, 2u, 3u}) RC_ASSERT(!compare(graph, renamed, {.dim = dim}).distinguished);
  RC_ASSERT(canonical_form(graph) == canonical_form(renamed));
  for (const SetKind kind : {SetKind{2, SetChoice::all}, SetKind{3, SetChoice::all}}) {
    RC_ASSERT(!compare_sets(graph, renamed, {{kind}, false}).distinguished);
    RC_ASSERT(count_set_types(graph, kind) == count_set_types(renamed, kind));
  }
}

RC_GTEST_PROP(EdgeLabelsProperty, IsomorphismIsThatOfNodesOnTheEdges, ()) {
  Stream stream = chosen_stream();
  const std::vector<Graph> pair = sample_labelled_pair(8, stream);
  const bool alike = isomorphism(subdivided(pair[0]), subdivided(pair[1])).has_value();
  const auto map = isomorphism(pair[0], pair[1]);
  RC_ASSERT(map.has_value() == alike);
  if (map) RC_ASSERT(pair[0].relabelled(*map) == pair[1]);
  RC_ASSERT((canonical_form(pair[0]) == canonical_form(pair[1])) == alike);
  RC_ASSERT((compare_leaves(pair[0], pair[1]).verdict == LeafVerdict::isomorphic) == alike);
}

RC_GTEST_PROP(EdgeLabelsProperty, PathsGiveTheRanksOfSynchronousRounds, ()) {
  Stream stream = chosen_stream();
  const Graph graph = sample_labelled_pair(10, stream)[0];
  Individualiser walker(graph, Cell::first_largest);
  naive::Colours colours = naive::root(graph);
  std::vector<std::uint32_t> ranks;
  for (;;) {
    walker.ranks(ranks);
    RC_ASSERT(ranks == colours);
    const std::vector<Node> cell = naive::cell(colours, naive::Rule::largest);
    RC_ASSERT(walker.discrete() == cell.empty());
    if (cell.empty()) break;
    RC_ASSERT(walker.members() == cell);
    const Node v = cell[stream.below(cell.size())];
    walker.step(v);
    colours = naive::individualised(colours, v, graph);
  }
}

RC_GTEST_PROP(EdgeLabelsProperty, SetsAreTypedAndColouredAsTheDefinitionSays, ()) {
  Stream stream = chosen_stream();
  const std::vector<Graph> pair = sample_labelled_pair(6, stream);
  for (const unsigned k : {2u, 3u}) {
    for (const SetChoice choice : {SetChoice::all, SetChoice::connected}) {
      std::vector<NaiveSets> naive;
      std::map<SetType, std::vector<std::uint32_t>> types;
      for (const Graph& graph : pair) {
        naive.push_back(naive_sets(graph, k, choice == SetChoice::connected));
        const SetGraph sets = make_set_graph(graph, {k, choice});
        RC_ASSERT(sets.size() == naive.back().sets.size());
        for (std::size_t s = 0; s < sets.size(); ++s) {
          RC_ASSERT(types.emplace(sets.types[s], naive.back().types[s]).first->second == naive.back().types[s]);
        }
      }
      std::set<std::vector<std::uint32_t>> different;
      for (const auto& entry : types) different.insert(entry.second);
      RC_ASSERT(different.size() == types.size());
      const Quotient quotient = make_quotient(pair, {.kind = {k, choice}, .rounds = 3, .keep_sets = true});
      const auto colours =
          naive_set_colours(naive, 3, [](std::size_t, const auto&) { return std::vector<std::uint32_t>{}; });
      RC_ASSERT(quotient.of_set == colours);
    }
  }
}

RC_GTEST_PROP(EdgeLabelsProperty, ClassesOfPairsHoldOneLabel, ()) {
  Stream stream = chosen_stream();
  const Graph graph = sample_labelled_pair(8, stream)[0];
  const PairClasses classes = pair_classes(graph, graph.types());
  const Node n = graph.num_nodes();
  const auto label = [&](Node x, Node y) {
    return graph.has_edge(x, y) ? 1 + static_cast<std::int64_t>(graph.edge_label(graph.arc(x, y))) : 0;
  };
  for (Node x = 0; x < n; ++x) {
    for (Node y = 0; y < n; ++y) {
      const PairClasses::Class& cls = classes.classes[classes.of[std::size_t{x} * n + y]];
      RC_ASSERT(label(x, y) == label(cls.x, cls.y));
    }
  }
}

}  // namespace
}  // namespace tyche::wl
