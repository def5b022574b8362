#include "theory/universal.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>

#include "graph/io.hpp"
#include "support/error.hpp"
#include "support/random.hpp"
#include "support/temporary_folder.hpp"
#include "theory/acr_io.hpp"
#include "theory/compile.hpp"
#include "theory/model_check.hpp"
#include "theory/run_plain.hpp"
#include "theory/syntax.hpp"

namespace tyche::theory {
namespace {

/// Node v has colours R1 … R<cells[v]>.
ColouredGraph individualised(const Graph& g, const std::vector<std::uint32_t>& cells, std::uint32_t colours) {
  ColouredGraph out(g, colours);
  for (Node v = 0; v < g.num_nodes(); ++v) {
    for (std::uint32_t j = 1; j <= cells[v]; ++j) out.set(v, j);
  }
  return out;
}

double value_by_sentences(const FormulaPool& pool, const ValueSentences& sentences, const ColouredGraph& g) {
  double value = 0;
  int holding = 0;
  for (std::size_t i = 0; i < sentences.values.size(); ++i) {
    if (!holds(pool, sentences.sentences[i], g)) continue;
    value += sentences.values[i];
    ++holding;
  }
  EXPECT_LE(holding, 1);
  return value;
}

TEST(Universal, BothKindsOfSentencesSayTheValueOfEveryIndividualisedGraph) {
  constexpr std::uint32_t kColours = 5;
  for (const char* name : {"connected", "chromatic", "diameter"}) {
    const GraphFunction& f = named_function(name);
    FormulaPool pool;
    const ValueSentences paper = paper_sentences(pool, f, 3, kColours), order = order_sentences(pool, f, 3, kColours);
    for (Node s = 1; s <= 3; ++s) {
      for (const Graph& g : graph_classes(s)) {
        std::vector<std::uint32_t> cells(s, 1);
        for (;;) {  // all cells from {1, …, 5}
          std::vector<std::uint32_t> sorted = cells;
          std::sort(sorted.begin(), sorted.end());
          if (std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end()) {
            const ColouredGraph coloured = individualised(g, cells, kColours);
            EXPECT_EQ(value_by_sentences(pool, paper, coloured), f.value(g)) << name;
            EXPECT_EQ(value_by_sentences(pool, order, coloured), f.value(g)) << name;
          }
          Node at = 0;
          while (at < s && ++cells[at] > kColours) cells[at++] = 1;
          if (at == s) break;
        }
      }
    }
  }
}

TEST(Universal, FormulasOfNodesSayTheValueAtEveryNodeOfEveryIndividualisedGraph) {
  constexpr std::uint32_t kColours = 5;
  for (const GraphFunction& f : functions_of({"nodes"}, kMaxClassNodes)) {
    FormulaPool pool;
    const ValueSentences order = order_sentences(pool, f, 4, kColours);
    const ValueSentences paper = paper_sentences(pool, f, 3, kColours);
    for (Node s = 1; s <= 4; ++s) {
      for (const Graph& g : graph_classes(s)) {
        std::vector<std::uint32_t> cells(s);
        for (Node v = 0; v < s; ++v) cells[v] = 1 + (2 * v + s) % kColours;  // all different
        const ColouredGraph coloured = individualised(g, cells, kColours);
        const auto by_formulas = [&](const ValueSentences& of) {
          std::vector<double> out(s, 0);
          for (std::size_t i = 0; i < of.values.size(); ++i) {
            const auto truth = satisfying_nodes(pool, of.sentences[i], coloured);
            for (Node v = 0; v < s; ++v) out[v] += truth[v] ? of.values[i] : 0;
          }
          return out;
        };
        EXPECT_EQ(by_formulas(order), f.at_nodes(g)) << f.name;
        if (s <= 3) {
          EXPECT_EQ(by_formulas(paper), f.at_nodes(g)) << f.name;
        }
      }
    }
  }
}

TEST(Universal, NetworksOfNodesAreRightAtEveryNodeAsOftenAsTheTheoremSays) {
  for (const GraphFunction& f : functions_of({"nodes"}, kMaxClassNodes)) {
    const Universal u = build_universal(f, 4, 0.2, Construction::order);
    const UniversalReport report = measure_universal(u, {.trials = 200, .threads = 2});
    EXPECT_GE(report.worst_success(), 0.8) << f.name;
    EXPECT_EQ(report.classes.size(), 18u);
  }
}

TEST(Universal, TheNumberOfNodesBelowIsTheOneDefinedByComparingColours) {
  // y < x: some colour x has and y lacks. The direct definition counts such y; the sentences use ⋁_j (R_j(x) & ∃≥i y
  // ¬R_j(y)).
  FormulaPool pool;
  const FormulaId direct =
      parse_formula(pool, "exists>=2 y. ((R1(x) & !R1(y)) | (R2(x) & !R2(y)) | (R3(x) & !R3(y)) | (R4(x) & !R4(y)))");
  const FormulaId used = parse_formula(pool,
                                       "(R1(x) & exists>=2 y. !R1(y)) | (R2(x) & exists>=2 y. !R2(y)) | "
                                       "(R3(x) & exists>=2 y. !R3(y)) | (R4(x) & exists>=2 y. !R4(y))");
  const Compiled net = compile(pool, direct);
  Stream stream(derive_key(3, Purpose::test));
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<std::uint32_t> cells(1 + stream.below(6));
    for (auto& cell : cells) cell = static_cast<std::uint32_t>(stream.below(5));
    const ColouredGraph g =
        individualised(Graph::from_edges(static_cast<Node>(cells.size()), std::vector<Edge>{}), cells, 4);
    const auto truth = satisfying_nodes(pool, direct, g);
    EXPECT_EQ(satisfying_nodes(pool, used, g), truth);
    EXPECT_EQ(evaluate(net, g), std::vector<double>(truth.begin(), truth.end()));
  }
}

TEST(Universal, OrderConstructionIsRightAsOftenAsPromisedOnEveryClass) {
  for (const char* name : {"connected", "chromatic"}) {
    const Universal u = build_universal(named_function(name), 4, 0.1, Construction::order);
    const UniversalReport report = measure_universal(u, {.trials = 600, .seed = 5, .threads = 2});
    EXPECT_EQ(report.classes.size(), 1u + 2 + 4 + 11);
    EXPECT_GE(report.worst_success(), 0.9) << name;
    EXPECT_EQ(u.network.outputs(), 1u);
  }
}

TEST(Universal, PaperConstructionIsRightAsOftenAsPromisedOnEveryClass) {
  const Universal two = build_universal(named_function("edges"), 2, 0.1, Construction::paper);
  EXPECT_GE(measure_universal(two, {.trials = 500, .seed = 5}).worst_success(), 0.9);
  const Universal three = build_universal(named_function("connected"), 3, 0.5, Construction::paper);
  EXPECT_GE(measure_universal(three, {.trials = 200, .seed = 5}).worst_success(), 0.5);
}

TEST(Universal, TheSameSeedGivesTheSameCountsOnAnyNumberOfThreads) {
  const Universal u = build_universal(named_function("triangle"), 3, 0.4, Construction::order);
  const UniversalReport one = measure_universal(u, {.trials = 300, .seed = 9, .threads = 1});
  const UniversalReport three = measure_universal(u, {.trials = 300, .seed = 9, .threads = 3});
  for (std::size_t c = 0; c < one.classes.size(); ++c) EXPECT_EQ(one.classes[c].right, three.classes[c].right);
  EXPECT_LT(one.worst_success(), 1);  // at this delta some draws do fail
}

TEST(Universal, WhatDoesNotFitInMemoryIsRefusedBeforeItIsMade) {
  const auto message = [](Node n, Construction construction) {
    try {
      (void)build_universal(named_function("planar"), n, 0.1, construction);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_THAT(message(8, Construction::order), testing::HasSubstr("n = 8 is too large for the order construction"));
  EXPECT_THAT(message(4, Construction::paper), testing::HasSubstr("individualised coloured graphs"));
  EXPECT_THAT(message(1000000, Construction::order), testing::HasSubstr("fit in memory"));
  EXPECT_THAT(message(0, Construction::order), testing::HasSubstr("at least 1"));
}

TEST(Universal, WeightedGraphsAreWithinTheStepOfTheGrid) {
  for (const GraphFunction& f : functions_of({"triangle-weight", "min-cut"}, kMaxClassNodes)) {
    double before = 0;
    for (const std::uint32_t grid : {2u, 8u}) {
      const Universal u = build_universal(f, 3, 0.2, Construction::order, 4e9, grid);
      const UniversalReport report = measure_universal(u, {.trials = 300, .seed = 3, .threads = 2});
      EXPECT_GE(report.worst_success(), 0.8) << f.name;
      EXPECT_LE(report.largest_error, u.error_bound()) << f.name;
      if (f.name != "triangle-weight") continue;  // min-cut is linear where the grid is
      EXPECT_GT(report.largest_error, 0) << "interpolated, not computed";
      if (grid == 8) {
        EXPECT_LT(report.largest_error, before / 4) << "a finer grid is nearer";
      }
      before = report.largest_error;
    }
  }
}

TEST(Universal, OnTheGridWeightedFunctionsAreExact) {
  // Hat functions are 1 at their own point: there the network gives the function itself, whichever way it is run.
  const GraphFunction& f = named_function("triangle-weight");
  const Universal u = build_universal(f, 3, 0.2, Construction::order, 4e9, 4);
  const std::vector<Edge> edges = {{0, 1}, {0, 2}, {1, 2}};
  const std::vector<EdgeLabel> labels = {label_of_weight(0.25f), label_of_weight(1.0f), label_of_weight(0.75f)};
  const Graph graph = Graph::from_edges(3, edges, {}, labels);
  const std::vector<double> numbers = {0.912345, 0.112345, 0.512345};
  ASSERT_FALSE(individualise(u.thresholds, numbers).failed());
  std::vector<double> output(3);
  AcrRunner(u.network).run(graph, numbers, output);
  for (const double value : output) EXPECT_NEAR(value, 0.25 * 1.0 * 0.75, 1e-12);
  const std::vector<double> plain = run_plain(u.network, graph, numbers);
  for (std::size_t v = 0; v < 3; ++v) EXPECT_NEAR(plain[v], output[v], 1e-12);
  const TemporaryFolder folder;
  save_acr(folder / "net.safetensors", u.network, {});
  EXPECT_EQ(load_acr(folder / "net.safetensors"), u.network) << "and it still takes weights";
}

TEST(Universal, AGridIsOfWeightedGraphs) {
  EXPECT_THROW((void)build_universal(named_function("planar"), 3, 0.1, Construction::order, 4e9, 4), InputError);
  const GraphFunction& cut = named_function("min-cut");
  EXPECT_THROW((void)build_universal(cut, 3, 0.1, Construction::paper), InputError);
  EXPECT_THROW((void)build_universal(cut, 3, 0.1, Construction::order, 4e9, 0), InputError);
  EXPECT_THAT([&] { (void)build_universal(cut, 7, 0.1, Construction::order); },
              testing::ThrowsMessage<InputError>(testing::HasSubstr("too large for a grid of 4")));
}

}  // namespace
}  // namespace tyche::theory
