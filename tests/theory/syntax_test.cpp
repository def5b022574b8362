#include "theory/syntax.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formula_gen.hpp"
#include "many.hpp"
#include "support/error.hpp"

namespace tyche::theory {
namespace {

std::string round_trip(const std::string& text) {
  FormulaPool pool;
  return print_formula(pool, parse_formula(pool, text));
}

std::string error_of(const std::string& text) {
  FormulaPool pool;
  try {
    (void)parse_formula(pool, text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Syntax, PrintsThePapersFormulaAsItIsWritten) {
  const std::string text = "!exists>=3 y. (E(x,y) & exists>=5 x. E(y,x))";
  EXPECT_EQ(round_trip(text), text);
}

TEST(Syntax, BindsTightestNotThenAndThenOrThenArrows) {
  EXPECT_EQ(round_trip("!R1(x)&R2(x)|R3(x)->R4(x)<->R5(x)"), round_trip("((((!R1(x))&R2(x))|R3(x))->R4(x))<->R5(x)"));
  EXPECT_EQ(round_trip("R1(x) -> R2(x) -> R3(x)"), "R1(x) -> R2(x) -> R3(x)");
  EXPECT_EQ(round_trip("(R1(x) -> R2(x)) -> R3(x)"), "(R1(x) -> R2(x)) -> R3(x)");
  EXPECT_EQ(round_trip("(R1(x) & R2(x)) & R3(x)"), "(R1(x) & R2(x)) & R3(x)");
}

TEST(Syntax, QuantifiersReachAsFarRightAsTheyCan) {
  EXPECT_EQ(round_trip("exists y. E(x,y) & R1(y)"), "exists y. (E(x,y) & R1(y))");
  EXPECT_EQ(round_trip("(exists y. E(x,y)) & R1(x)"), "(exists y. E(x,y)) & R1(x)");
  EXPECT_EQ(round_trip("(R1(x) & !forall y. E(x,y)) | R2(x)"), "(R1(x) & !forall y. E(x,y)) | R2(x)");
}

TEST(Syntax, ShortFormsAreWhatTheyStandFor) {
  EXPECT_EQ(round_trip("exists=2 y. R1(y)"), "exists=2 y. R1(y)");
  EXPECT_EQ(round_trip("(exists>=2 y. R1(y)) & !exists>=3 y. R1(y)"), "exists=2 y. R1(y)");
  EXPECT_EQ(round_trip("(exists>=2 y. R1(y)) & !exists>=4 y. R1(y)"), "(exists>=2 y. R1(y)) & !exists>=4 y. R1(y)");
  EXPECT_EQ(round_trip("(exists>=2 y. R1(y)) & !exists>=3 y. R2(y)"), "(exists>=2 y. R1(y)) & !exists>=3 y. R2(y)");
  EXPECT_EQ(round_trip("!exists=2 y. (R1(y) & exists=1 x. E(x,y))"), "!exists=2 y. (R1(y) & exists=1 x. E(x,y))");
  EXPECT_EQ(round_trip("(exists=2 y. R1(y)) & R2(x)"), "(exists=2 y. R1(y)) & R2(x)");
  EXPECT_EQ(round_trip("exists<=2 y. R1(y)"), "!exists>=3 y. R1(y)");
  EXPECT_EQ(round_trip("exists>=1 y. x != y"), "exists y. !(x = y)");
}

TEST(Syntax, ErrorsPointAtTheColumn) {
  EXPECT_EQ(error_of("exists x. (R1(x) & R2(x)"),
            "formula, column 25: expected ')' for the '(' at column 11, found the end of the formula\n"
            "  exists x. (R1(x) & R2(x)\n"
            "                          ^");
  EXPECT_THAT(error_of("R1(x))"), testing::StartsWith("formula, column 6: this ')' closes nothing\n"));
  EXPECT_THAT(error_of("R1(x) & & R2(x)"), testing::StartsWith("formula, column 9: expected a formula"));
  EXPECT_THAT(error_of("R1(x) R2(x)"), testing::HasSubstr("expected an operator"));
  EXPECT_THAT(error_of(""), testing::StartsWith("formula, column 1: expected a formula"));
  EXPECT_THAT(error_of("F(x,y)"), testing::HasSubstr("'F' is no relation"));
  EXPECT_THAT(error_of("E(x y)"), testing::HasSubstr("column 5: expected ','"));
  EXPECT_THAT(error_of("exists Y. E(x,y)"), testing::HasSubstr("column 8: expected a variable"));
  EXPECT_THAT(error_of("exists x E(x,x)"), testing::HasSubstr("column 10: expected '.'"));
  EXPECT_THAT(error_of("forall>=2 x. true"), testing::HasSubstr("column 7: 'forall' takes no count"));
  EXPECT_THAT(error_of("∃x. true"), testing::HasSubstr("column 1: expected a formula"));
  EXPECT_THAT(error_of("x"), testing::HasSubstr("expected '=' or '!=' after a variable"));
}

TEST(Syntax, CountsOfZeroOrAMillionAreRefused) {
  EXPECT_THAT(error_of("exists>=0 x. true"), testing::HasSubstr("column 9: 0 is out of range: a count goes from 1"));
  EXPECT_THAT(error_of("exists>=1000000 x. true"), testing::HasSubstr("1000000 is out of range"));
  EXPECT_THAT(error_of("exists>=99999999999999999999 x. true"), testing::HasSubstr("is out of range"));
  EXPECT_THAT(error_of("R0(x)"), testing::HasSubstr("column 2: 0 is out of range"));
}

TEST(Syntax, DeepNestingIsAnErrorAndNotACrash) {
  EXPECT_THAT(error_of(std::string(100000, '(')), testing::HasSubstr("nested deeper than 500"));
  EXPECT_THAT(error_of(std::string(100000, '!')), testing::HasSubstr("nested deeper than 500"));
  std::string arrows;
  for (int i = 0; i < 50000; ++i) arrows += "true->";
  EXPECT_THAT(error_of(arrows + "true"), testing::HasSubstr("nested deeper than 500"));
}

// Printing adds parentheses, and writes `exists<=1 x.` in two levels and `x != y` likewise.
TEST(Syntax, WhatIsReadCanBeReadFromItsOwnText) {
  const std::string end = "x != y";
  for (const std::string level :
       {"!", "exists y. ", "exists<=1 y. ", "forall y. true & ", "true -> ", "exists=2 y. x = y <-> "}) {
    std::string text = end;
    int levels = 0;
    std::string refusal;
    for (; levels <= 500; ++levels, text.insert(0, level)) {
      FormulaPool pool;
      FormulaId f = 0;
      try {
        f = parse_formula(pool, text);
      } catch (const InputError& error) {
        refusal = error.what();
        break;
      }
      ASSERT_EQ(parse_formula(pool, print_formula(pool, f)), f) << levels << " times " << level;
    }
    EXPECT_THAT(refusal, testing::HasSubstr("nested deeper than 500 levels")) << level;
    EXPECT_GE(levels, 160) << level;
  }
}

TEST(Syntax, LongTextIsCutWhereAsked) {
  FormulaPool pool;
  EXPECT_EQ(print_formula(pool, parse_formula(pool, "R1(x) & R2(x) & R3(x)"), 9), "R1(x) & R …");
}

TEST(Syntax, PrintedTextParsesBackToTheSameFormula) {
  test::check_many(3000, [] {
    const test::Tree tree = *test::tree_gen(5, 3, 4, 6);
    FormulaPool pool;
    const FormulaId f = to_formula(pool, tree);
    RC_ASSERT(parse_formula(pool, print_formula(pool, f)) == f);
  });
}

// In full the text of each is twice that of the one inside it.
TEST(Syntax, CountsInsideCountsAreNoLongerThanTheyWereWritten) {
  std::string text;
  for (int i = 0; i < 200; ++i) text += i % 2 == 0 ? "exists=3 y. " : "exists=3 x. ";
  text += "E(x,y)";
  EXPECT_EQ(round_trip(text), text);
}

TEST(Syntax, AnyTextEitherParsesOrThrowsInputError) {
  test::check_many(3000, [] {
    static const std::vector<std::string> pieces = {"exists", "forall", ">=", "=", "3",  "x", "y",  ".",   "E(x,y)",
                                                    "R1(x)",  "(",      ")",  "&", "|",  "!", "->", "<->", " ",
                                                    "true",   ",",      "R",  "E", "<=", "0", "\n", "\xc3"};
    const auto picks = *rc::gen::container<std::vector<std::size_t>>(rc::gen::inRange<std::size_t>(0, pieces.size()));
    std::string text;
    for (const std::size_t i : picks) text += pieces[i];
    FormulaPool pool;
    try {
      const FormulaId f = parse_formula(pool, text);
      RC_ASSERT(parse_formula(pool, print_formula(pool, f)) == f);
    } catch (const InputError&) {
    }
  });
}

}  // namespace
}  // namespace tyche::theory
