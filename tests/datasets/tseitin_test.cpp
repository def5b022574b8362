#include "datasets/tseitin.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>

#include "datasets/certificate.hpp"
#include "datasets/dataset.hpp"
#include "datasets/folds.hpp"
#include "datasets/generate.hpp"
#include "datasets/recipe.hpp"
#include "graph/encoding.hpp"
#include "graph/isomorphism.hpp"
#include "logic/sat.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "support/temporary_folder.hpp"
#include "wl/colour_refinement.hpp"
#include "wl/set_compare.hpp"
#include "wl/wl.hpp"

namespace tyche::datasets {
namespace {

using testing::Contains;
using testing::HasSubstr;

Graph k4() {
  const std::vector<Edge> edges = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
  return Graph::from_edges(4, edges);
}

/// Isomorphism by trying all injections node by node: shares no code with bliss. For a dozen nodes.
bool isomorphic_by_search(const Graph& a, const Graph& b) {
  if (a.num_nodes() != b.num_nodes() || a.num_edges() != b.num_edges()) return false;
  std::vector<Node> image;
  std::vector<bool> used(b.num_nodes(), false);
  const std::function<bool()> extend = [&]() -> bool {
    const auto v = static_cast<Node>(image.size());
    if (v == a.num_nodes()) return true;
    for (Node w = 0; w < b.num_nodes(); ++w) {
      if (used[w]) continue;
      bool fits = true;
      for (Node u = 0; u < v && fits; ++u) fits = a.has_edge(u, v) == b.has_edge(image[u], w);
      if (!fits) continue;
      used[w] = true;
      image.push_back(w);
      if (extend()) return true;
      image.pop_back();
      used[w] = false;
    }
    return false;
  };
  return extend();
}

TEST(CubicGraphs, AreSimpleConnectedAndUniform) {
  std::set<std::string> classes;
  int prisms = 0;
  constexpr int kDraws = 700;
  for (std::uint32_t i = 0; i < kDraws; ++i) {
    Stream stream(derive_key(5, Purpose::test, i));
    const Graph graph = random_cubic(6, stream);
    ASSERT_EQ(graph.num_edges(), 9u);
    for (Node v = 0; v < 6; ++v) ASSERT_EQ(graph.degree(v), 3u);
    ASSERT_EQ(connected_components(graph).count, 1u);
    classes.insert(class_of(graph));
    prisms += is_bipartite(graph) ? 0 : 1;
  }
  // K_{3,3} has 10 numberings, the prism 60.
  EXPECT_EQ(classes.size(), 2u);
  EXPECT_NEAR(prisms, kDraws * 60 / 70, 40);
}

TEST(TseitinFormula, OverK4IsWhatTheCountsSay) {
  const Formula even = tseitin_formula(k4(), {false, false, false, false});
  const Formula odd = tseitin_formula(k4(), {false, false, true, false});
  EXPECT_EQ(even.variables, 6u);
  ASSERT_EQ(even.disjunctions.size(), 16u);
  // Node 0 has edges 1, 2, 3; its charge is even, so 100, 010, 001 and 111 are forbidden.
  EXPECT_EQ((std::vector<Disjunction>{even.disjunctions.begin(), even.disjunctions.begin() + 4}),
            (std::vector<Disjunction>{{-1, 2, 3}, {1, -2, 3}, {1, 2, -3}, {-1, -2, -3}}));
  EXPECT_TRUE(satisfiable_exhaustively(even));
  EXPECT_FALSE(satisfiable_exhaustively(odd));
  const Graph a = encode(even);
  const Graph b = encode(odd);
  EXPECT_EQ(a.num_nodes(), 28u);
  for (const Graph* graph : {&a, &b}) {
    for (Node v = 0; v < 28; ++v) EXPECT_EQ(graph->degree(v), graph->type(v) == kLiteralType ? 5u : 3u);
  }
  const std::vector<Graph> both = {a, b};
  EXPECT_EQ(wl::refine(both).classes, 2u);
  EXPECT_FALSE(wl::compare(a, b, {.dim = 1}).distinguished);
  EXPECT_FALSE(wl::compare(a, b, {.dim = 2}).distinguished);
  EXPECT_TRUE(wl::compare(a, b, {.dim = 3}).distinguished);
  EXPECT_TRUE(wl::compare_sets(a, b, {.levels = {{.k = 3}}}).distinguished);
  EXPECT_FALSE(isomorphism(a, b));
}

TEST(TseitinFormula, IsSatisfiableWhereItsChargesAreEven) {
  for (unsigned bits = 0; bits < 16; ++bits) {
    std::vector<bool> charges;
    for (unsigned v = 0; v < 4; ++v) charges.push_back(((bits >> v) & 1) != 0);
    const Formula formula = tseitin_formula(k4(), charges);
    const bool even = std::count(charges.begin(), charges.end(), true) % 2 == 0;
    EXPECT_EQ(satisfiable_exhaustively(formula), even);
    const auto reading = read_tseitin(formula);
    ASSERT_TRUE(reading);
    EXPECT_EQ(reading->charges, charges);
    EXPECT_EQ(reading->odd(), !even);
    if (even) {
      EXPECT_TRUE(evaluate(formula, reading->assignment()));
    }
  }
}

TEST(TseitinFormula, IsReadBackFromItsGraphHoweverNumbered) {
  for (std::uint32_t i = 0; i < 50; ++i) {
    Stream stream(derive_key(6, Purpose::test, i));
    const Graph base = random_cubic(10, stream);
    std::vector<bool> charges(10);
    for (std::size_t v = 0; v < 10; ++v) charges[v] = stream.coin();
    const Formula formula = tseitin_formula(base, charges);
    const Graph graph = encode(formula);
    std::vector<Node> place(graph.num_nodes());
    for (Node v = 0; v < place.size(); ++v) place[v] = v;
    shuffle(place, stream);
    const Formula moved = decode(graph.relabelled(place));
    const auto reading = read_tseitin(moved);
    ASSERT_TRUE(reading);
    EXPECT_TRUE(isomorphic_by_search(reading->base, base));
    EXPECT_EQ(!reading->odd(), satisfiable(formula));
    if (!reading->odd()) {
      EXPECT_TRUE(evaluate(moved, reading->assignment()));
    }
  }
}

TEST(TseitinFormula, OtherFormulasAreNotReadAsOne) {
  const Formula good = tseitin_formula(k4(), {false, false, false, false});
  ASSERT_TRUE(read_tseitin(good));
  Formula fewer = good;
  fewer.disjunctions.pop_back();
  EXPECT_FALSE(read_tseitin(fewer));
  Formula turned = good;
  turned.disjunctions[0][0] *= -1;
  EXPECT_FALSE(read_tseitin(turned));
  Formula longer = good;
  longer.disjunctions[0].push_back(6);
  EXPECT_FALSE(read_tseitin(longer));
  EXPECT_FALSE(read_tseitin(conjunction_of_disjoint(good, good)));
  EXPECT_FALSE(read_tseitin(Formula{1, {{1}}}));
  EXPECT_FALSE(read_tseitin(Formula{0, {}}));
}

TEST(TseitinPair, IsAFunctionOfSeedAndIndexAndRightByTheSolver) {
  const TseitinMaker maker({.base_nodes = {4, 8, 12}, .pairs = 40, .seed = 3});
  TseitinParameters other = maker.parameters();
  other.seed = 4;
  std::set<Node> sizes;
  for (std::uint64_t i = 0; i < 40; ++i) {
    const TseitinPair pair = maker.make(i);
    EXPECT_EQ(pair.sat, maker.make(i).sat);
    EXPECT_NE(pair.sat, TseitinMaker(other).make(i).sat);
    sizes.insert(pair.base_nodes);
    EXPECT_EQ(pair.sat.variables, 3 * pair.base_nodes / 2);
    EXPECT_EQ(pair.unsat.disjunctions.size(), 4 * pair.base_nodes);
    EXPECT_TRUE(satisfiable(pair.sat));
    EXPECT_FALSE(satisfiable(pair.unsat));
    EXPECT_TRUE(isomorphic_by_search(read_tseitin(pair.sat)->base, read_tseitin(pair.unsat)->base));
  }
  EXPECT_EQ(sizes, (std::set<Node>{4, 8, 12}));
}

TEST(TseitinPair, NamesOfLiteralsSayNothingOfTheLabel) {
  // Without the random turns of literals all charges of a satisfiable formula would be even, and positive literals in
  // disjunctions would count it out.
  const TseitinMaker maker({.base_nodes = {8}, .pairs = 200, .seed = 1});
  double even[2] = {0, 0};
  for (std::uint64_t i = 0; i < 200; ++i) {
    const TseitinPair pair = maker.make(i);
    for (const int label : {1, 0}) {
      const auto reading = read_tseitin(label == 1 ? pair.sat : pair.unsat);
      even[label] += static_cast<double>(std::count(reading->charges.begin(), reading->charges.end(), false));
    }
  }
  EXPECT_NEAR(even[0] / 1600, 0.5, 0.06);
  EXPECT_NEAR(even[1] / 1600, 0.5, 0.06);
}

TEST(TseitinPair, SharesAPlanarPartWhereOneIsAsked) {
  const TseitinMaker maker({.base_nodes = {6}, .pairs = 3, .seed = 1, .planar_sizes = {{12, 1}}});
  for (std::uint64_t i = 0; i < 3; ++i) {
    const TseitinPair pair = maker.make(i);
    EXPECT_GT(pair.sat.variables, 9u);
    ASSERT_EQ(pair.sat.disjunctions.size(), pair.unsat.disjunctions.size());
    for (std::size_t d = 24; d < pair.sat.disjunctions.size(); ++d) {
      EXPECT_EQ(pair.sat.disjunctions[d], pair.unsat.disjunctions[d]);
    }
    const PairCertificate c = certify_pair(i, {encode(pair.sat), 1}, {encode(pair.unsat), 0}, {});
    EXPECT_TRUE(c.failures.empty()) << c.failures[0].detail;
    EXPECT_EQ(c.subset, Subset::tseitin);
    EXPECT_EQ(c.core, 6u);
  }
}

TEST(TseitinParameters, BaseNodesParseAndRefuse) {
  EXPECT_EQ(parse_base_nodes("4,6,8"), (std::vector<Node>{4, 6, 8}));
  EXPECT_EQ(parse_base_nodes("4:10"), (std::vector<Node>{4, 6, 8, 10}));
  EXPECT_EQ(parse_base_nodes("12:12"), (std::vector<Node>{12}));
  for (const char* bad : {"", "5", "2", "0", "4,", ",4", "4:", ":8", "4:7", "10:4", "4:6:8", "1002", "-4", "x", "4 6",
                          "99999999999999999999"}) {
    EXPECT_THROW((void)parse_base_nodes(bad), InputError) << bad;
  }
  EXPECT_THROW(check(TseitinParameters{.base_nodes = {}}), InputError);
  EXPECT_THROW(check(TseitinParameters{.pairs = 0}), InputError);
  EXPECT_THROW(check(TseitinParameters{.pairs = 5, .unseen = 6}), InputError);
  EXPECT_THROW(check(TseitinParameters{.unseen = 1}), InputError);
}

TEST(UnseenFolds, ShareNoBaseGraphByASearchThatKnowsNothingOfClasses) {
  // 47 pairs in 5 folds: folds of 9 and 10 pairs, so boundaries matter; five classes of base graphs for five folds.
  const TseitinMaker maker({.base_nodes = {8}, .pairs = 47, .seed = 2, .unseen = 5});
  std::vector<Graph> bases;
  std::vector<int> labels;
  std::vector<std::uint32_t> pairs;
  for (std::uint32_t i = 0; i < 47; ++i) {
    bases.push_back(read_tseitin(maker.make(i).sat)->base);
    labels.insert(labels.end(), {1, 0});
    pairs.insert(pairs.end(), {i, i});
  }
  const std::vector<Fold> folds = make_folds(labels, pairs, {.folds = 5});
  for (const Fold& fold : folds) {
    EXPECT_FALSE(fold.test.empty());
    for (const std::uint32_t test : fold.test) {
      for (const auto* others : {&fold.train, &fold.validation}) {
        for (const std::uint32_t other : *others) {
          ASSERT_FALSE(isomorphic_by_search(bases[test / 2], bases[other / 2])) << test << " " << other;
        }
      }
    }
  }
}

TEST(UnseenFolds, AreRefusedWhereThereAreFewerBaseGraphsThanFolds) {
  const auto error_of = [](std::vector<Node> sizes, std::uint32_t folds) -> std::string {
    try {
      const TseitinMaker maker({.base_nodes = std::move(sizes), .pairs = 100, .seed = 1, .unseen = folds});
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(error_of({4}, 2), HasSubstr("1 class up to isomorphism"));
  EXPECT_THAT(error_of({4, 6, 8}, 10), HasSubstr("8 classes up to isomorphism; ask for at most 8 folds"));
  EXPECT_EQ(error_of({4, 6, 8}, 8), "");
  EXPECT_EQ(error_of({10}, 19), "");  // all connected cubic graphs of ten nodes
  EXPECT_THAT(error_of({10}, 20), HasSubstr("19 classes"));
}

TEST(ContiguousFold, IsTheFoldThatMakeFoldsTestsIn) {
  for (const std::uint32_t units : {10u, 47u, 600u}) {
    for (const std::uint32_t count : {2u, 7u, 10u}) {
      const std::vector<int> labels(units, 0);
      const std::vector<Fold> folds = make_folds(labels, {}, {.folds = count});
      for (std::uint32_t f = 0; f < count; ++f) {
        for (const std::uint32_t unit : folds[f].test) EXPECT_EQ(contiguous_fold(unit, units, count), f);
      }
    }
  }
}

std::vector<std::string> properties(const std::vector<Failure>& failures) {
  std::vector<std::string> out;
  for (const Failure& f : failures) out.push_back(f.property);
  return out;
}

TEST(TseitinCertificate, SeesWhatIsWrong) {
  const TseitinMaker maker({.base_nodes = {6}, .pairs = 2, .seed = 1});
  const TseitinPair pair = maker.make(0);
  const LabelledGraph sat{encode(pair.sat), 1}, unsat{encode(pair.unsat), 0};
  const auto failures = [](const LabelledGraph& a, const LabelledGraph& b, const Expectation& e = {}) {
    return properties(certify_pair(0, a, b, e).failures);
  };
  EXPECT_TRUE(failures(sat, unsat).empty());
  EXPECT_THAT(failures({sat.graph, 0}, {unsat.graph, 1}), Contains("label"));
  EXPECT_THAT(failures(sat, {sat.graph, 0}), testing::IsSupersetOf({"label", "isomorphic"}));
  // Another base graph: the other class of six nodes.
  Graph k33 =
      Graph::from_edges(6, std::vector<Edge>{{0, 3}, {0, 4}, {0, 5}, {1, 3}, {1, 4}, {1, 5}, {2, 3}, {2, 4}, {2, 5}});
  if (class_of(k33) == pair.base_class) {
    k33 =
        Graph::from_edges(6, std::vector<Edge>{{0, 1}, {1, 2}, {0, 2}, {3, 4}, {4, 5}, {3, 5}, {0, 3}, {1, 4}, {2, 5}});
  }
  EXPECT_THAT(failures(sat, {encode(tseitin_formula(k33, {true, false, false, false, false, false})), 0}),
              Contains("base"));
  // Unequal planar parts.
  const Formula part{2, {{1, 2}, {-1, -2}}};
  EXPECT_THAT(failures({encode(conjunction_of_disjoint(pair.sat, part)), 1}, unsat), Contains("part"));
  // A manifest that says otherwise.
  Expectation wrong;
  wrong.subset = Subset::tseitin;
  wrong.core = 8;
  wrong.base_class = ":nonsense";
  EXPECT_THAT(failures(sat, unsat, wrong), testing::UnorderedElementsAre("core", "base"));
  EXPECT_THAT(failures({encode(part), 1}, {encode(part), 0}, wrong), testing::ElementsAre("tseitin"));
}

TEST(TseitinCertificate, SaysWhatThreeSetsAndThreeDimensionsSee) {
  const TseitinMaker maker({.base_nodes = {4}, .pairs = 2, .seed = 1});
  const TseitinPair pair = maker.make(1);
  Expectation e;
  const auto found = [&] { return *certify_pair(0, {encode(pair.sat), 1}, {encode(pair.unsat), 0}, e).tseitin; };
  EXPECT_FALSE(found().wl3);
  e.higher = Higher::cheap;
  EXPECT_EQ(found().sets3, true);
  EXPECT_EQ(found().wl3, true);
  e.memory_limit = 1000;  // 3-WL does not fit
  e.higher = Higher::all;
  EXPECT_EQ(found().sets3, true);
  EXPECT_FALSE(found().wl3);
}

GenerateOptions ladder(TseitinParameters parameters, unsigned threads) {
  GenerateOptions options;
  options.recipe = std::move(parameters);
  options.threads = threads;
  return options;
}

TEST(GenerateTseitin, WritesTheSameBytesOnAnyNumberOfThreads) {
  const TemporaryFolder folder;
  const TseitinParameters parameters{.base_nodes = {8, 10}, .pairs = 25, .seed = 7, .unseen = 5};
  GenerateOptions one = ladder(parameters, 1);
  one.certify = false;
  (void)generate(one, folder / "one");
  for (const unsigned threads : {2u, 5u}) {
    GenerateOptions options = ladder(parameters, threads);
    options.certify = false;
    options.replace = true;
    (void)generate(options, folder / "more");
    for (const char* name : {"graphs.txt", "manifest.json"}) {
      EXPECT_EQ(read_file(folder / "one" / name), read_file(folder / "more" / name)) << name;
    }
  }
}

TEST(GenerateTseitin, WritesADataSetThatLoadsAndCertifies) {
  const TemporaryFolder folder;
  const TseitinParameters parameters{.base_nodes = {8}, .pairs = 20, .seed = 1, .unseen = 4};
  const GenerateResult made = generate(ladder(parameters, 2), folder / "d");
  ASSERT_TRUE(made.certificate);
  EXPECT_EQ(std::get<Certificate>(*made.certificate).tseitin.pairs, 20u);
  const Dataset data = load_dataset(folder / "d");
  ASSERT_EQ(data.set.graphs.size(), 40u);
  EXPECT_EQ(data.set.labels[0], 1);
  EXPECT_EQ(data.set.labels[1], 0);
  EXPECT_EQ(data.pair[39], 19u);
  EXPECT_EQ(data.subset[0], Subset::tseitin);
  const Certificate c = certify(folder / "d", {});
  EXPECT_TRUE(c.failures.empty());
  EXPECT_EQ(c.tseitin.labels_parity, 20u);
  EXPECT_EQ(c.tseitin.labels_solver, 20u);
  EXPECT_EQ(c.tseitin.wl1_equal, 20u);
  EXPECT_EQ(c.tseitin.wl2_equal, 20u);
  EXPECT_EQ(c.tseitin.non_isomorphic, 20u);
  EXPECT_EQ(c.tseitin.sets3_tried, kHigherPairs);
  EXPECT_GE(*c.base_classes, 4u);
  // From the file alone, without the manifest.
  EXPECT_EQ(to_json(certify(folder / "d/graphs.txt", {})), to_json(c));
}

TEST(CertifyTseitin, SeesABaseGraphThatTwoFoldsShare) {
  const TemporaryFolder folder;
  (void)generate(ladder({.base_nodes = {6}, .pairs = 10, .seed = 1, .unseen = 2}, 1), folder / "d");
  EXPECT_TRUE(certify(folder / "d", {}).failures.empty());
  // The promise of two folds become one of five.
  std::string manifest = read_file(folder / "d/manifest.json");
  const std::string before = "\"unseen\":2";
  ASSERT_NE(manifest.find(before), std::string::npos);
  manifest.replace(manifest.find(before), before.size(), "\"unseen\":5");
  manifest.erase(manifest.rfind(",\n  \"check\""), 31);
  write_file(folder / "d/manifest.json", manifest);
  EXPECT_THAT(properties(certify(folder / "d", {}).failures), testing::Each(testing::Eq("unseen")));
  EXPECT_FALSE(certify(folder / "d", {}).failures.empty());
}

}  // namespace
}  // namespace tyche::datasets
