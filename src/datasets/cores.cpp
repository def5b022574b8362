#include "datasets/cores.hpp"

#include <fmt/format.h>

#include "support/error.hpp"

namespace tyche::datasets {

namespace {
void check(std::uint32_t n) {
  if (n < 2 || n > 100000000) throw InputError(fmt::format("a core of n = {} is out of range: at least 2", n));
}

void add_bridge(Formula& formula, Literal n) {
  for (Literal i = 0; i < n; ++i) {
    formula.disjunctions.push_back({i + 1, 2 * n - i});
    formula.disjunctions.push_back({-(i + 1), -(2 * n - i)});
  }
}
}  // namespace

Formula unsat_core(std::uint32_t n) {
  check(n);
  const auto m = static_cast<Literal>(n);
  Formula formula{2 * n, {}};
  for (Literal k = 0; k < 2 * m; ++k) formula.disjunctions.push_back({-(k + 1), (k + 1) % (2 * m) + 1});
  add_bridge(formula, m);
  return formula;
}

Formula sat_core(std::uint32_t n) {
  check(n);
  const auto m = static_cast<Literal>(n);
  Formula formula{2 * n, {}};
  for (Literal k = 0; k < m; ++k) formula.disjunctions.push_back({-(k + 1), (k + 1) % m + 1});
  for (Literal k = m; k < 2 * m; ++k) formula.disjunctions.push_back({k + 1, -(m + (k - m + 1) % m + 1)});
  add_bridge(formula, m);
  return formula;
}

}  // namespace tyche::datasets
