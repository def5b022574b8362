#include "theory/compile.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formula_gen.hpp"
#include "many.hpp"
#include "support/error.hpp"
#include "support/random.hpp"
#include "theory/model_check.hpp"
#include "theory/run_plain.hpp"

namespace tyche::theory {
namespace {

void expect_exact(const std::string& text, const ColouredGraph& g) {
  FormulaPool pool;
  const FormulaId f = parse_formula(pool, text);
  const std::vector<std::uint8_t> truth = satisfying_nodes(pool, f, g);
  EXPECT_EQ(evaluate(compile(pool, f), g), std::vector<double>(truth.begin(), truth.end())) << text;
}

ColouredGraph random_graph(Node nodes, double density, std::uint32_t colours, std::uint32_t index) {
  Stream stream(derive_key(7, Purpose::test, index));
  std::vector<Edge> edges;
  for (Node v = 0; v < nodes; ++v) {
    for (Node u = 0; u < v; ++u) {
      if (stream.uniform() < density) edges.emplace_back(u, v);
    }
  }
  ColouredGraph out(Graph::from_edges(nodes, edges), colours);
  for (Node v = 0; v < nodes; ++v) {
    for (std::uint32_t c = 1; c <= colours; ++c) out.set(v, c, stream.coin());
  }
  return out;
}

const char* const kPhi = "!exists>=3 y. (E(x,y) & exists>=5 z. E(y,z))";
const char* const kPhiPrime = "!exists>=3 y. (E(x,y) & exists>=5 x. E(y,x))";
const char* const kPsi = "exists>=4 y. (E(x,y) & R1(y))";  // RED is R1

TEST(Compile, ThePapersFormulaInThreeVariablesIsRefusedByName) {
  FormulaPool pool;
  const FormulaId phi = parse_formula(pool, kPhi);
  try {
    (void)compile(pool, phi);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("outside C²"));
    EXPECT_THAT(error.what(), testing::HasSubstr("the third is z"));
  }
}

TEST(Compile, ThePapersFormulasWithTwoVariablesAreExactAndPhiPrimeMeansPhi) {
  FormulaPool pool;
  const FormulaId phi = parse_formula(pool, kPhi), phi_prime = parse_formula(pool, kPhiPrime);
  const Compiled net = compile(pool, phi_prime);
  int both[2] = {0, 0};
  for (std::uint32_t i = 0; i < 60; ++i) {
    const ColouredGraph g = random_graph(12, 0.15 + 0.01 * i, 1, i);
    const auto truth = satisfying_nodes(pool, phi, g);
    EXPECT_EQ(satisfying_nodes(pool, phi_prime, g), truth);
    EXPECT_EQ(evaluate(net, g), std::vector<double>(truth.begin(), truth.end()));
    for (const auto t : truth) ++both[t];
    expect_exact(kPsi, g);
  }
  EXPECT_GT(both[0], 50);  // the graphs show both answers
  EXPECT_GT(both[1], 50);
}

TEST(Compile, FullC2NotOnlyGuardedQuantifiers) {
  for (std::uint32_t i = 0; i < 30; ++i) {
    const ColouredGraph g = random_graph(1 + i % 9, 0.03 * i, 3, 100 + i);
    expect_exact("exists>=2 y. !E(x,y)", g);               // the node itself counts
    expect_exact("exists>=3 y. (!E(x,y) & !(x = y))", g);  // non-neighbours
    expect_exact("exists>=2 y. (R1(x) <-> R1(y))", g);     // x and y under one connective
    expect_exact("exists>=2 y. ((R1(x) & R2(y)) | (R2(x) & E(x,y)) | (x = y & R3(x)))", g);
    expect_exact("exists y. (x = y & R1(y))", g);
    expect_exact("exists y. exists x. (E(x,y) & R1(x) & !R1(y))", g);
    expect_exact("forall x. exists=1 y. (E(x,y) & R1(y))", g);
    expect_exact("exists>=4 x. true", g);
    expect_exact("exists>=4 y. R1(x)", g);
    expect_exact("R1(y) -> exists x. (E(x,y) -> exists>=2 y. (R2(y) <-> E(x,y)))", g);
    expect_exact("exists>=3 y. ((R1(x) <-> R1(y)) & (R2(x) <-> R2(y)) & (R3(x) <-> R3(y)))", g);
    expect_exact("true", g);
    expect_exact("exists x. false", g);
    expect_exact("E(x,x) | x = x", g);
  }
}

TEST(Compile, EqualSubformulasShareAUnit) {
  FormulaPool pool;
  const auto units = [&](const char* text) {
    std::size_t sum = 0;
    for (const auto& layer : compile(pool, parse_formula(pool, text)).network.layers) sum += layer.width();
    return sum;
  };
  const std::size_t once = units("exists>=2 y. (E(x,y) & R1(y))");
  EXPECT_EQ(once, 1u);
  EXPECT_EQ(units("(exists>=2 y. (E(x,y) & R1(y))) & exists>=2 y. (R1(y) & E(y,x))"), once);
  // The same formula about y, inside: one count, one conjunction over it.
  EXPECT_EQ(units("exists x. exists>=2 y. (E(x,y) & R1(y))"), units("exists y. exists>=2 x. (E(x,y) & R1(x))"));
}

TEST(Compile, SimplifiesWhatIsAlwaysTrueOrFalse) {
  FormulaPool pool;
  for (const char* text :
       {"exists y. x = y", "R1(x) | !R1(x)", "exists y. (E(x,y) & x = y)", "forall x. (R1(x) -> true)"}) {
    const AcrNetwork net = compile(pool, parse_formula(pool, text)).network;
    EXPECT_TRUE(net.layers.empty()) << text;
  }
}

TEST(Compile, TwoFreeVariablesAreRefused) {
  FormulaPool pool;
  EXPECT_THROW((void)compile(pool, parse_formula(pool, "E(x,y)")), InputError);
}

TEST(Compile, ManyFactsUnderOneQuantifierStaySmallWhereCasesMerge) {
  // Parity of ten facts about x with ten about y: 2^10 paths, but two cases per step.
  FormulaPool pool;
  std::string text = "R1(x)";
  for (int i = 2; i <= 10; ++i) text = "(" + text + " <-> R" + std::to_string(i) + "(x))";
  text = "exists>=2 y. (" + text + " <-> (E(x,y) & R1(y)))";
  const Compiled net = compile(pool, parse_formula(pool, text));
  EXPECT_LT(net.network.parameters(), 400u);
  expect_exact(text, random_graph(9, 0.5, 10, 3));
}

TEST(Compile, TooManyCasesAreAnErrorNotAnExplosion) {
  FormulaPool pool;
  std::string text;
  for (int i = 1; i <= 24; ++i) {
    text += (i == 1 ? "" : " | ") + ("(R" + std::to_string(i) + "(x) & R" + std::to_string(i) + "(y))");
  }
  EXPECT_THROW((void)compile(pool, parse_formula(pool, "exists y. (E(x,y) & (" + text + "))")), InputError);
}

TEST(Compile, NetworkEqualsModelCheckerOnRandomFormulasAndGraphs) {
  test::check_many(20000, [] {
    const int depth = *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(2, 6));
    const test::Tree tree = *test::tree_gen(depth, 2, 3, 6);
    const ColouredGraph g = (*test::coloured_gen(12, 3)).graph(3);
    FormulaPool pool;
    FormulaId f = to_formula(pool, tree);
    const Variable x = pool.variable("x"), y = pool.variable("y");
    if (pool.free_variables(f) == (1u << x | 1u << y)) f = pool.exists(y, f);
    const std::vector<std::uint8_t> truth = satisfying_nodes(pool, f, g);
    const std::vector<double> expected(truth.begin(), truth.end());
    const Compiled net = compile(pool, f);
    RC_ASSERT(evaluate(net, g) == expected);
    RC_ASSERT(run_plain(net.network, g.graph(), colour_input(g, net.network.inputs)) == expected);
    const auto ones = std::count(truth.begin(), truth.end(), 1);
    RC_CLASSIFY(ones == 0, "false everywhere");
    RC_CLASSIFY(ones == static_cast<std::ptrdiff_t>(truth.size()), "true everywhere");
    RC_CLASSIFY(net.network.layers.empty(), "no layer");
    RC_CLASSIFY(net.network.layers.size() >= 4, "four layers or more");
  });
}

}  // namespace
}  // namespace tyche::theory
