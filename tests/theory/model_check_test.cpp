#include "theory/model_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formula_gen.hpp"
#include "many.hpp"
#include "support/error.hpp"

namespace tyche::theory {
namespace {

const std::vector<Edge> kStar = {{0, 1}, {0, 2}, {0, 3}};

ColouredGraph star() {  // centre 0 is R1, leaves 1 and 2 are R2
  ColouredGraph g(Graph::from_edges(4, kStar), 2);
  g.set(0, 1);
  g.set(1, 2);
  g.set(2, 2);
  return g;
}

std::vector<std::uint8_t> nodes(const std::string& text, const ColouredGraph& g) {
  FormulaPool pool;
  return satisfying_nodes(pool, parse_formula(pool, text), g);
}

TEST(ModelCheck, CountsNeighboursOfAStar) {
  using V = std::vector<std::uint8_t>;
  EXPECT_EQ(nodes("exists>=3 y. E(x,y)", star()), (V{1, 0, 0, 0}));
  EXPECT_EQ(nodes("exists>=2 y. (E(x,y) & R2(y))", star()), (V{1, 0, 0, 0}));
  EXPECT_EQ(nodes("exists y. (E(x,y) & R1(y)) & !R2(x)", star()), (V{0, 0, 0, 1}));
  EXPECT_EQ(nodes("exists>=2 y. (!E(x,y) & !(x = y))", star()), (V{0, 1, 1, 1}));
  EXPECT_EQ(nodes("forall y. (E(x,y) | x = y)", star()), (V{1, 0, 0, 0}));
}

TEST(ModelCheck, ASentenceIsTheSameAtEveryNode) {
  EXPECT_EQ(nodes("exists x. forall y. (x = y | E(x,y))", star()), std::vector<std::uint8_t>(4, 1));
}

TEST(ModelCheck, ColoursThatTheGraphLacksAreNamed) {
  FormulaPool pool;
  try {
    (void)holds(pool, parse_formula(pool, "exists x. R7(x)"), star());
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "the formula speaks of R7, but this graph's colours are R1 to R2");
  }
}

TEST(ModelCheck, FreeVariablesAreNamed) {
  FormulaPool pool;
  try {
    (void)satisfying_nodes(pool, parse_formula(pool, "E(x,y) & R1(x)"), star());
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("x, y are free"));
  }
  EXPECT_THROW((void)holds(pool, parse_formula(pool, "R1(x)"), star()), InputError);
}

TEST(ModelCheck, TheGraphWithoutNodesIsRefused) {
  FormulaPool pool;
  EXPECT_THROW((void)holds(pool, parse_formula(pool, "forall x. false"), ColouredGraph(Graph(), 0)), InputError);
}

TEST(ModelCheck, TablesTooLargeForMemoryAreRefused) {
  FormulaPool pool;
  std::string text = "E(x1,x1)";
  for (int i = 2; i <= 9; ++i) text += " & E(x1,x" + std::to_string(i) + ")";
  const ColouredGraph g(Graph::from_edges(40, std::vector<Edge>{}), 0);
  EXPECT_THROW((void)model_check(pool, parse_formula(pool, text), g), InputError);
}

TEST(ModelCheck, ColoursFromTypesCountFromOne) {
  const ColouredGraph g = ColouredGraph::from_types(Graph::from_edges(4, kStar, {0, 1, 1, 2}));
  EXPECT_EQ(g.num_colours(), 3u);
  EXPECT_EQ(nodes("R2(x)", g), (std::vector<std::uint8_t>{0, 1, 1, 0}));
  EXPECT_EQ(nodes("R3(x)", g), (std::vector<std::uint8_t>{0, 0, 0, 1}));
}

TEST(ModelCheck, AgreesWithPlainRecursionInThreeVariables) {
  test::check_many(1000, [] {
    const test::Tree tree = *test::tree_gen(4, 3, 2, 4);
    const ColouredGraph g = (*test::coloured_gen(5, 2)).graph(2);
    FormulaPool pool;
    for (int v = 0; v < 3; ++v) (void)pool.variable(test::variable_name(v));
    const Relation r = model_check(pool, to_formula(pool, tree), g);
    const std::size_t n = g.num_nodes();
    std::vector<Node> value(3);
    for (value[0] = 0; value[0] < n; ++value[0]) {
      for (value[1] = 0; value[1] < n; ++value[1]) {
        for (value[2] = 0; value[2] < n; ++value[2]) {
          std::size_t index = 0, stride = 1;
          for (const Variable v : r.free) {
            index += stride * value[v];
            stride *= n;
          }
          std::vector<Node> copy = value;
          RC_ASSERT((r.table[index] != 0) == test::meaning(tree, g, copy));
        }
      }
    }
  });
}

}  // namespace
}  // namespace tyche::theory
