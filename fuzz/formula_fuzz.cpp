// libFuzzer target over formulas: what parses prints back to itself, and network and model checker agree.
//   cmake --preset fuzz && cmake --build --preset fuzz --target formula_fuzz
//   build-fuzz/fuzz/formula_fuzz -max_total_time=300 -max_len=300
#include <bit>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "support/error.hpp"
#include "theory/compile.hpp"
#include "theory/model_check.hpp"
#include "theory/syntax.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tyche;
  using namespace tyche::theory;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  FormulaPool pool;
  FormulaId f = 0;
  try {
    f = parse_formula(pool, text);
  } catch (const InputError&) {
    return 0;
  }
  if (parse_formula(pool, print_formula(pool, f)) != f) std::abort();
  const std::vector<Edge> edges = {{0, 1}, {1, 2}, {2, 0}, {2, 3}};
  ColouredGraph graph(Graph::from_edges(5, edges), 3);
  for (const auto& [node, colour] : {std::pair(0u, 1u), {1u, 2u}, {3u, 1u}, {3u, 3u}}) graph.set(node, colour);
  try {
    const std::vector<std::uint8_t> truth = satisfying_nodes(pool, f, graph);
    CompileOptions options;
    options.max_units = 10'000;
    if (evaluate(compile(pool, f, options), graph) != std::vector<double>(truth.begin(), truth.end())) std::abort();
  } catch (const InputError&) {
  }
  return 0;
}
