#include "theory/draw.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/error.hpp"
#include "theory/syntax.hpp"

namespace tyche::theory {
namespace {

std::size_t times(const std::string& text, const std::string& what) {
  std::size_t count = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

Compiled example() {
  FormulaPool pool;
  CompileOptions options;
  options.labels = true;
  return compile(pool, parse_formula(pool, "R1(x) & exists>=2 y. (!E(x,y) & R2(y))"), options);
}

TEST(Draw, SvgHasABoxAUnitAndALineAWeight) {
  const Compiled net = example();
  const std::string svg = to_svg(net, "a < b & c");
  std::size_t boxes = net.network.inputs + 1, weights = net.network.head.values.size();
  for (const auto& layer : net.network.layers) {
    boxes += layer.width();
    weights += layer.self.values.size() + layer.neighbour.values.size() + layer.readout.values.size();
  }
  EXPECT_EQ(times(svg, "<g>"), boxes);
  EXPECT_EQ(times(svg, "<path "), weights);
  EXPECT_EQ(times(svg, "<g>"), times(svg, "</g>"));
  EXPECT_THAT(svg, testing::HasSubstr(">a &lt; b &amp; c</text>"));
  EXPECT_THAT(svg, testing::HasSubstr("exists&gt;=2 y. (!E(x,y) &amp; R2(y))"));
}

TEST(Draw, DotNamesUnitsByWhatTheySay) {
  const std::string dot = to_dot(example(), "say \"hello\"");
  EXPECT_THAT(dot, testing::HasSubstr("label=\"say \\\"hello\\\"\""));
  EXPECT_THAT(dot, testing::HasSubstr("[label=\"exists>=2 y. (!E(x,y) & R2(y))\\nbias -1\"]"));
  EXPECT_EQ(times(dot, "{"), times(dot, "}"));
}

TEST(Draw, WhatIsTooLargeToBeSeenIsRefused) {
  FormulaPool pool;
  std::string text = "R1(x)";
  for (int i = 2; i <= 400; ++i) text += " & R" + std::to_string(i) + "(x)";
  const Compiled net = compile(pool, parse_formula(pool, text));
  EXPECT_THROW((void)to_svg(net, ""), InputError);
  EXPECT_NO_THROW((void)to_dot(net, ""));
}

}  // namespace
}  // namespace tyche::theory
