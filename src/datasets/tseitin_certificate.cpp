#include "datasets/tseitin_certificate.hpp"

#include <fmt/format.h>

#include <array>

#include "datasets/base_classes.hpp"
#include "datasets/tseitin_formula.hpp"
#include "graph/encoding.hpp"
#include "graph/isomorphism.hpp"
#include "logic/sat.hpp"
#include "support/error.hpp"
#include "wl/set_compare.hpp"
#include "wl/wl.hpp"

namespace tyche::datasets {

namespace {

constexpr Node kSearchBaseNodes = 40;  ///< CaDiCaL and bliss are asked up to here
constexpr Node kCheapNodes = 56;       ///< n = 8: a third of a second for both tests

/// A graph of the ladder taken apart.
struct Parts {
  TseitinReading core;
  Formula core_formula;
  Graph rest;  ///< the planar part; empty where there is none
};

/// Nothing where no component is a Tseitin formula. Throws InputError where the graph encodes no formula.
std::optional<Parts> take_apart(const Graph& graph) {
  const Components components = connected_components(graph);
  const std::vector<std::vector<Node>> nodes = components.members();
  for (std::size_t c = 0; c < nodes.size(); ++c) {
    Formula formula = decode(induced_subgraph(graph, nodes[c]));
    auto core = read_tseitin(formula);
    if (!core) continue;
    std::vector<Node> rest;
    for (Node v = 0; v < graph.num_nodes(); ++v) {
      if (components.of_node[v] != c) rest.push_back(v);
    }
    return Parts{*std::move(core), std::move(formula), induced_subgraph(graph, rest)};
  }
  return std::nullopt;
}

struct TseitinExamination : Examination {
  bool small = false;  ///< few enough base nodes for searches

  bool check_cores(const Parts& even, const Parts& odd) {
    TseitinFindings& found = *out.tseitin;
    out.core = even.core.base.num_nodes();
    small = out.core <= kSearchBaseNodes;
    found.base_class = class_of(even.core.base);
    if (found.base_class != class_of(odd.core.base)) {
      fail("base", "the base graphs of the two formulas are not isomorphic");
      return false;
    }
    if (expectation.core && *expectation.core != out.core) {
      fail("core", fmt::format("the manifest says {} base nodes, the core found has {}", *expectation.core, out.core));
    }
    if (expectation.base_class && *expectation.base_class != found.base_class) {
      fail("base", fmt::format("the manifest says base graph {}, found {}", *expectation.base_class, found.base_class));
    }
    if (!isomorphism(even.rest, odd.rest)) {
      fail("part", "what stands beside the core (the planar part) is not the same in both graphs");
      return false;
    }
    return true;
  }

  void check_labels(const Parts& even, const Parts& odd) {
    TseitinFindings& found = *out.tseitin;
    const bool part = satisfiable(decode(even.rest));
    if (!part) fail("part", "the planar part is not satisfiable");
    const bool sat_ok = !even.core.odd() && evaluate(even.core_formula, even.core.assignment());
    const bool unsat_ok = odd.core.odd();
    if (!sat_ok) fail("label", "the graph labelled 1 has odd charges, so its formula is unsatisfiable");
    if (!unsat_ok) fail("label", "the graph labelled 0 has even charges, so its formula is satisfiable");
    found.parity_ok = part && sat_ok && unsat_ok;
    if (small) {
      found.solver = satisfiable(decode(sat)) && !satisfiable(decode(unsat));
      if (*found.solver != found.parity_ok) fail("label", "parity and CaDiCaL disagree");
    }
    out.labels_ok = found.parity_ok && found.solver.value_or(true);
  }

  void check_graphs() {
    out.wl1_equal = !wl::compare(sat, unsat, {.dim = 1}).distinguished;
    out.wl2_distinct = wl::compare(sat, unsat, {.dim = 2, .stop_when_distinguished = true}).distinguished;
    out.non_isomorphic = small ? !isomorphism(sat, unsat) : out.labels_ok;
    if (!out.wl1_equal) fail("1-wl", "1-WL tells the graphs apart");
    if (out.wl2_distinct) fail("2-wl", "2-WL tells the graphs apart");
    if (!out.non_isomorphic) fail("isomorphic", "the two graphs are isomorphic");
  }

  void look_higher() {
    if (expectation.higher == Higher::none) return;
    const bool all = expectation.higher == Higher::all;
    const Node nodes = sat.num_nodes();
    TseitinFindings& found = *out.tseitin;
    constexpr double kMostSets = 0x1p27;  // half a gigabyte of ranks alone
    if (nodes <= kCheapNodes || (all && wl::subsets(nodes, 3) <= kMostSets)) {
      found.sets3 = wl::compare_sets(sat, unsat, {.levels = {{.k = 3}}}).answer.distinguished;
    }
    const std::array<Node, 2> both = {nodes, unsat.num_nodes()};
    const bool fits = wl::memory_needed(3, both) <= static_cast<double>(expectation.memory_limit);
    if (fits && (all || nodes <= kCheapNodes)) {
      found.wl3 = wl::compare(sat, unsat, {.dim = 3, .stop_when_distinguished = true}).distinguished;
    }
  }
};

}  // namespace

bool has_tseitin_core(const Graph& graph) {
  try {
    return take_apart(graph).has_value();
  } catch (const InputError&) {
    return false;
  }
}

PairCertificate certify_tseitin(std::uint64_t pair, const Graph& sat, const Graph& unsat,
                                const Expectation& expectation) {
  TseitinExamination examination{{pair, sat, unsat, expectation}};
  examination.out.subset = Subset::tseitin;
  examination.out.tseitin.emplace();
  examination.out.wl2_distinct = true;  // until it is seen that they are not
  std::optional<Parts> even, odd;
  try {
    even = take_apart(sat);
    odd = take_apart(unsat);
  } catch (const InputError& error) {
    examination.fail("encoding", error.what());
    return std::move(examination.out);
  }
  if (!even || !odd) {
    examination.fail("tseitin",
                     fmt::format("no component of the graph labelled {} is a Tseitin formula over a connected "
                                 "cubic graph",
                                 even ? 0 : 1));
    return std::move(examination.out);
  }
  if (examination.check_cores(*even, *odd)) {
    examination.check_labels(*even, *odd);
    examination.check_graphs();
    examination.look_higher();
  }
  return std::move(examination.out);
}

}  // namespace tyche::datasets
