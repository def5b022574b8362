#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "logic/cnf.hpp"
#include "logic/sat.hpp"
#include "support/error.hpp"

namespace tyche {
namespace {

/// Random formulas: up to `most` variables, disjunctions of 0 to 4 literals.
rc::Gen<Formula> formulas(int most) {
  return rc::gen::exec([most] {
    Formula f;
    f.variables = static_cast<std::uint32_t>(*rc::gen::inRange(1, most + 1));
    const int count = *rc::gen::inRange(0, 12);
    for (int d = 0; d < count; ++d) {
      Disjunction disjunction;
      const int width = *rc::gen::inRange(0, 5);
      for (int i = 0; i < width; ++i) {
        const Literal v = *rc::gen::inRange(1, static_cast<int>(f.variables) + 1);
        disjunction.push_back(*rc::gen::arbitrary<bool>() ? v : -v);
      }
      f.disjunctions.push_back(disjunction);
    }
    return f;
  });
}

TEST(Formula, EvaluatesByHand) {
  const Formula f{2, {{1, -2}, {-1, 2}}};  // x1 equals x2
  EXPECT_TRUE(evaluate(f, {true, true}));
  EXPECT_FALSE(evaluate(f, {true, false}));
  EXPECT_TRUE(evaluate(Formula{1, {}}, {false}));
  EXPECT_FALSE(evaluate(Formula{1, {{}}}, {false}));
}

TEST(Formula, DisjointConjunctionRenamesTheSecondPart) {
  const Formula both = conjunction_of_disjoint(Formula{2, {{1, -2}}}, Formula{1, {{-1}}});
  EXPECT_EQ(both, (Formula{3, {{1, -2}, {-3}}}));
}

TEST(Satisfiability, KnowsTheSmallestContradiction) {
  EXPECT_FALSE(satisfiable(Formula{1, {{1}, {-1}}}));
  EXPECT_FALSE(satisfiable(Formula{1, {{}}}));
  EXPECT_TRUE(satisfiable(Formula{3, {}}));
}

RC_GTEST_PROP(Satisfiability, AgreesWithTryingEverything, ()) {
  const Formula f = *formulas(6);
  const auto model = solve(f);
  RC_ASSERT(model.has_value() == satisfiable_exhaustively(f));
  if (model) RC_ASSERT(evaluate(f, *model));
}

RC_GTEST_PROP(Dimacs, RoundTrips, ()) {
  const Formula f = *formulas(9);
  RC_ASSERT(parse_dimacs(to_dimacs(f), "memory") == f);
}

TEST(Dimacs, ReadsCommentsCrlfAndDisjunctionsOverLines) {
  EXPECT_EQ(parse_dimacs("c a comment\r\np cnf 3 2\r\n1 -3\r\n0 2 0\r\nc end\r\n", "f"), (Formula{3, {{1, -3}, {2}}}));
  EXPECT_EQ(parse_dimacs("p cnf 1 1\n1 0\n%\n0\n", "f"), (Formula{1, {{1}}}));
}

void expect_error(std::string_view text, const std::string& part) {
  try {
    (void)parse_dimacs(text, "f.cnf");
    FAIL() << "accepted: " << text;
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), testing::StartsWith("f.cnf: line "));
    EXPECT_THAT(error.what(), testing::HasSubstr(part));
  }
}

TEST(Dimacs, NamesTheLineOfWhatIsWrong) {
  expect_error("", "expected the header");
  expect_error("p cnf x 1\n", "number of variables");
  expect_error("p cnf 2 1\n1 3 0\n", "line 2: literal 3 is out of range");
  expect_error("p cnf 2 1\n1 2\n", "no closing 0");
  expect_error("p cnf 2 2\n1 0\n", "promises 2 disjunctions, the file holds 1");
  expect_error("p cnf 2 1\n1 0 2 0\n", "more disjunctions than the 1");
  expect_error("p cnf 1000000000000000000 1\n1 0\n", "out of range");
  expect_error("p cnf 99999999999999999999999 1\n1 0\n", "number of variables");
  expect_error("p cnf 2 1\n1 two 0\n", "found 'two'");
  expect_error("p cnf 2 -1\n", "negative");
}

}  // namespace
}  // namespace tyche
