#include "datasets/exp.hpp"

#include <algorithm>

#include "logic/sat.hpp"
#include "support/error.hpp"
#include "support/random.hpp"

namespace tyche::datasets {

namespace {
void check(std::uint32_t n) {
  if (n < 2 || n > 100000000) throw InputError("a core of n = {} is out of range: at least 2", n);
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

std::string_view subset_name(Subset subset) {
  constexpr std::string_view kNames[] = {"EXP",      "CORRUPT", "TSEITIN", "CSL",     "COUNTING",
                                         "TRIANGLE", "LCC",     "ORBITS",  "MATCHING"};
  return kNames[static_cast<std::size_t>(subset)];
}

std::string_view kind_name(Kind kind) {
  constexpr std::string_view kNames[] = {"exp", "cexp", "sparse-exp", "sparse-cexp"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::uint64_t paper_pairs(Kind kind) { return kind == Kind::exp || kind == Kind::cexp ? 600 : 150; }

void check(const ExpParameters& parameters) {
  if (parameters.pairs == 0 || parameters.pairs > 0x7fffffffu) {
    throw InputError("{} pairs are out of range: 1 to 2147483647", parameters.pairs);
  }
  if (parameters.core_min < 2 || parameters.core_max < parameters.core_min || parameters.core_max > 1000) {
    throw InputError("core sizes {} to {} are out of range: 2 <= core-min <= core-max <= 1000", parameters.core_min,
                     parameters.core_max);
  }
  check_planar_sizes(parameters.planar_sizes);
}

namespace {

/// One of every two pairs in a row is CORRUPT, which one a coin decides: any run of pairs, so any fold, holds half of
/// each.
Subset subset_of(const ExpParameters& parameters, std::uint64_t index) {
  if (parameters.kind == Kind::exp || parameters.kind == Kind::sparse_exp) return Subset::exp;
  const auto block = static_cast<std::uint32_t>(index / 2);
  Stream stream(derive_key(parameters.seed, Purpose::exp_pair, block, static_cast<std::uint32_t>(parameters.kind), 1));
  return (index % 2 == 0) == stream.coin() ? Subset::corrupt : Subset::exp;
}

bool contains_variable(const Disjunction& disjunction, Literal variable) {
  return std::ranges::any_of(disjunction, [&](Literal l) { return l == variable || l == -variable; });
}

/// The satisfiable formula of a CORRUPT pair: `unsat` with literals added until it is satisfiable and at least three
/// were added, less those it stays satisfiable without. Returns the number of added literals that stay.
std::uint32_t corrupt(Formula& formula, Stream& stream) {
  struct Added {
    std::size_t disjunction;
    Literal literal;
  };
  std::vector<Added> added;
  while (added.size() < 3 || !satisfiable(formula)) {
    std::vector<std::size_t> open;
    for (std::size_t d = 0; d < formula.disjunctions.size(); ++d) {
      if (formula.disjunctions[d].size() < kMaxWidth) open.push_back(d);
    }
    if (open.empty()) throw Error("a CORRUPT pair ran out of disjunctions to add literals to");
    const std::size_t d = open[stream.below(open.size())];
    std::vector<Literal> choices;
    for (Literal v = 1; v <= static_cast<Literal>(formula.variables); ++v) {
      if (contains_variable(formula.disjunctions[d], v)) continue;
      choices.push_back(v);
      choices.push_back(-v);
    }
    const Literal literal = choices[stream.below(choices.size())];
    formula.disjunctions[d].push_back(literal);
    added.push_back({d, literal});
  }
  std::uint32_t kept = 0;
  for (const Added& a : added) {
    Formula without = formula;
    std::erase(without.disjunctions[a.disjunction], a.literal);
    if (satisfiable(without)) {
      formula = std::move(without);
    } else {
      ++kept;
    }
  }
  return kept;
}

}  // namespace

ExpPair make_pair(const ExpParameters& parameters, std::uint64_t index) {
  const auto pair = static_cast<std::uint32_t>(index);
  Stream stream(derive_key(parameters.seed, Purpose::exp_pair, pair, static_cast<std::uint32_t>(parameters.kind)));
  ExpPair out;
  out.core =
      parameters.core_min + static_cast<std::uint32_t>(stream.below(parameters.core_max - parameters.core_min + 1));
  const Formula part = draw_planar_part(parameters.planar_sizes, parameters.planar_source, index, stream);
  out.unsat = conjunction_of_disjoint(unsat_core(out.core), part);
  out.subset = subset_of(parameters, index);
  if (out.subset == Subset::exp) {
    out.sat = conjunction_of_disjoint(sat_core(out.core), part);
  } else {
    out.sat = out.unsat;
    out.added = corrupt(out.sat, stream);
  }
  return out;
}

}  // namespace tyche::datasets
