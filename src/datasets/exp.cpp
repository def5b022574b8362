#include "datasets/exp.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "datasets/cores.hpp"
#include "datasets/planar_sampler.hpp"
#include "logic/sat.hpp"
#include "support/error.hpp"
#include "support/random.hpp"

namespace tyche::datasets {

std::string_view subset_name(Subset subset) { return subset == Subset::exp ? "EXP" : "CORRUPT"; }

std::string_view kind_name(Kind kind) {
  switch (kind) {
    case Kind::exp:
      return "exp";
    case Kind::cexp:
      return "cexp";
    case Kind::sparse_exp:
      return "sparse-exp";
    case Kind::sparse_cexp:
      return "sparse-cexp";
  }
  return "";
}

Kind parse_kind(std::string_view name) {
  for (const Kind kind : {Kind::exp, Kind::cexp, Kind::sparse_exp, Kind::sparse_cexp}) {
    if (kind_name(kind) == name) return kind;
  }
  throw InputError(fmt::format("unknown data set '{}': expected exp, cexp, sparse-exp or sparse-cexp", name));
}

std::uint64_t paper_pairs(Kind kind) { return kind == Kind::exp || kind == Kind::cexp ? 600 : 150; }

std::vector<PlanarSize> parse_planar_sizes(std::string_view text) {
  const auto fail = [&] {
    return InputError(fmt::format("planar sizes '{}': expected NODES:WEIGHT[,NODES:WEIGHT...], say 12:5,15:1", text));
  };
  const auto number = [&](std::string_view part) {
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    if (error != std::errc() || end != part.data() + part.size()) throw fail();
    return value;
  };
  std::vector<PlanarSize> out;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string_view entry = text.substr(begin, end - begin);
    const std::size_t colon = entry.find(':');
    if (colon == std::string_view::npos) throw fail();
    out.push_back({number(entry.substr(0, colon)), number(entry.substr(colon + 1))});
    begin = end + 1;
  }
  return out;
}

std::string planar_sizes_text(const std::vector<PlanarSize>& sizes) {
  std::string out;
  for (const PlanarSize& size : sizes) out += fmt::format("{}{}:{}", out.empty() ? "" : ",", size.nodes, size.weight);
  return out;
}

void check(const ExpParameters& parameters) {
  if (parameters.pairs == 0 || parameters.pairs > 0x7fffffffu) {
    throw InputError(fmt::format("{} pairs are out of range: 1 to 2147483647", parameters.pairs));
  }
  if (parameters.core_min < 2 || parameters.core_max < parameters.core_min || parameters.core_max > 1000) {
    throw InputError(fmt::format("core sizes {} to {} are out of range: 2 <= core-min <= core-max <= 1000",
                                 parameters.core_min, parameters.core_max));
  }
  std::uint64_t total = 0;
  for (const PlanarSize& size : parameters.planar_sizes) {
    if (size.nodes < 4 || size.nodes > 1000) {
      throw InputError(fmt::format("planar graphs of {} nodes are out of range: 4 to 1000", size.nodes));
    }
    total += size.weight;
  }
  if (total == 0) throw InputError("the weights of the planar sizes add up to 0");
}

namespace {

Node planar_nodes(const ExpParameters& parameters, std::uint64_t index) {
  std::uint64_t total = 0;
  for (const PlanarSize& size : parameters.planar_sizes) total += size.weight;
  std::uint64_t place = index % total;
  for (const PlanarSize& size : parameters.planar_sizes) {
    if (place < size.weight) return size.nodes;
    place -= size.weight;
  }
  return parameters.planar_sizes.back().nodes;
}

/// Of every two pairs in a row one is CORRUPT, which one a coin decides: any run of pairs, so any fold, holds half of
/// each.
Subset subset_of(const ExpParameters& parameters, std::uint64_t index) {
  if (parameters.kind == Kind::exp || parameters.kind == Kind::sparse_exp) return Subset::exp;
  const auto block = static_cast<std::uint32_t>(index / 2);
  Stream stream(derive_key(parameters.seed, Purpose::exp_pair, block, static_cast<std::uint32_t>(parameters.kind), 1));
  return (index % 2 == 0) == stream.coin() ? Subset::corrupt : Subset::exp;
}

Formula draw_planar_part(const ExpParameters& parameters, std::uint64_t index, Stream& stream) {
  // Signs that fail once may work the next time, so a source graph gets several tries before its successor has its
  // turn; a source without one usable graph must end all the same.
  constexpr int kTriesPerGraph = 20;
  const std::size_t source = parameters.planar_source.size();
  if (source > 0) {
    for (std::size_t i = 0; i < source; ++i) {
      const PlaneGraph& plane = parameters.planar_source[(index + i) % source];
      for (int attempt = 0; attempt < kTriesPerGraph; ++attempt) {
        if (auto part = planar_part(plane, stream)) return *std::move(part);
      }
    }
    throw InputError("no graph of the planar source yields a satisfiable planar formula without bridges");
  }
  const Node nodes = planar_nodes(parameters, index);
  for (int attempt = 0; attempt < 10000; ++attempt) {
    const PlaneMap map = sample_planar(nodes, stream);
    if (auto part = planar_part({map.graph(), map.rotation()}, stream)) return *std::move(part);
  }
  throw InputError(fmt::format("no usable planar part in 10000 random graphs of {} nodes; try a smaller size", nodes));
}

bool contains_variable(const Disjunction& disjunction, Literal variable) {
  return std::any_of(disjunction.begin(), disjunction.end(),
                     [&](Literal l) { return l == variable || l == -variable; });
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
  const Formula part = draw_planar_part(parameters, index, stream);
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
