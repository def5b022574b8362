#pragma once
/// One call that takes bytes for a formula and checks that what parses prints back to itself, and that the network made
/// from it and the model checker agree on a small graph. The fuzz target and the test that replays the corpus share it.
#include <stdexcept>
#include <string_view>
#include <vector>

#include "support/error.hpp"
#include "theory/compile.hpp"
#include "theory/model_check.hpp"
#include "theory/syntax.hpp"

namespace tyche::fuzz {

/// An InputError is the right answer to nonsense, and to what would be too large a network; anything else is a finding.
inline void read_formula(std::string_view text) {
  using namespace theory;
  FormulaPool pool;
  FormulaId f = 0;
  try {
    f = parse_formula(pool, text);
  } catch (const InputError&) {
    return;
  }
  if (parse_formula(pool, print_formula(pool, f)) != f) throw std::logic_error("printed and read again it is another");
  const std::vector<Edge> edges = {{0, 1}, {1, 2}, {2, 0}, {2, 3}};
  ColouredGraph graph(Graph::from_edges(5, edges), 3);
  for (const auto& [node, colour] : {std::pair(0u, 1u), {1u, 2u}, {3u, 1u}, {3u, 3u}}) graph.set(node, colour);
  try {
    const std::vector<std::uint8_t> truth = satisfying_nodes(pool, f, graph);
    CompileOptions options;
    options.max_units = 10'000;
    if (evaluate(compile(pool, f, options), graph) != std::vector<double>(truth.begin(), truth.end())) {
      throw std::logic_error("network and model checker disagree");
    }
  } catch (const InputError&) {
  }
}

}  // namespace tyche::fuzz
