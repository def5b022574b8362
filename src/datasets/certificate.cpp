#include "datasets/certificate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "datasets/planar_draw.hpp"
#include "datasets/tseitin.hpp"
#include "graph/encoding.hpp"
#include "graph/isomorphism.hpp"
#include "graph/planarity.hpp"
#include "logic/sat.hpp"
#include "support/error.hpp"
#include "wl/set_compare.hpp"
#include "wl/wl.hpp"

namespace tyche::datasets {

namespace {

/// One pair under examination: checks fill `out` one after another.
struct Examination {
  std::uint64_t pair;
  const Graph& sat;
  const Graph& unsat;
  const Expectation& expectation;
  PairCertificate& out;

  void fail(const char* property, std::string detail) { out.failures.push_back({pair, property, std::move(detail)}); }
};

// ---- pairs of EXP and CEXP

/// An exhaustive check tries 2^variables assignments; cores of the paper have at most 8 variables.
constexpr std::uint32_t kExhaustiveVariables = 20;

bool planar(const Graph& graph) {
  const auto rotation = planar_embedding(graph);
  return rotation && is_planar_embedding(graph, *rotation);
}

/// The graph without some of its nodes, which ascend.
Graph without(const Graph& graph, const std::vector<Node>& nodes) {
  std::vector<Node> all(graph.num_nodes()), rest;
  std::iota(all.begin(), all.end(), Node{0});
  std::ranges::set_difference(all, nodes, std::back_inserter(rest));
  return induced_subgraph(graph, rest);
}

/// The edges of `larger` that `smaller` lacks; none where `larger` is not `smaller` plus edges between the same nodes.
std::vector<Edge> added_edges(const Graph& smaller, const Graph& larger) {
  if (!std::ranges::equal(smaller.types(), larger.types())) return {};
  const std::vector<Edge> few = smaller.edges();
  const std::vector<Edge> many = larger.edges();
  std::vector<Edge> added;
  std::set_difference(many.begin(), many.end(), few.begin(), few.end(), std::back_inserter(added));
  if (few.size() + added.size() != many.size()) added.clear();
  return added;
}

Graph without_edge(const Graph& graph, const Edge& edge) {
  std::vector<Edge> edges = graph.edges();
  std::erase(edges, edge);
  return Graph::from_edges(graph.num_nodes(), edges, {graph.types().begin(), graph.types().end()});
}

struct ExpExamination : Examination {
  std::vector<Edge> added{};  ///< of a CORRUPT pair

  void run() {
    added = added_edges(unsat, sat);
    out.subset = expectation.subset.value_or(added.empty() ? Subset::exp : Subset::corrupt);
    if (out.subset == Subset::exp) {
      added.clear();
    } else if (added.empty()) {
      fail("corrupt-edges", "the satisfiable graph is not the unsatisfiable one plus edges");
    }
    check_formulas();
    check_graphs();
  }

  /// Whether the unsatisfiable graph's verdict holds: the solver on the whole, and all assignments of the component
  /// that decides. That component is the core, the rest the planar part, which must be one piece without bridges.
  bool check_unsat(const Formula& formula) {
    if (satisfiable(formula)) {
      fail("label", "the graph labelled 0 encodes a satisfiable formula");
      return false;
    }
    std::vector<std::vector<Node>> nodes = connected_components(unsat).members();
    std::stable_sort(nodes.begin(), nodes.end(), [](const auto& a, const auto& b) { return a.size() < b.size(); });
    for (const std::vector<Node>& component : nodes) {
      const Formula core = decode(induced_subgraph(unsat, component));
      if (satisfiable(core)) continue;
      out.core = core.variables / 2;
      if (core.variables <= kExhaustiveVariables) {
        out.exhaustive = !satisfiable_exhaustively(core);
        if (!out.exhaustive) {
          fail("label", "the solver calls the core unsatisfiable, but an assignment satisfies it");
          return false;
        }
      }
      const Graph part = incidence_graph(decode(without(unsat, component)));
      const bool pieces = connected_components(part).count > 1;
      out.bridgeless = !pieces && bridges(part).empty();
      if (!out.bridgeless && !expectation.published)
        fail("bridges", pieces ? "the planar part is in pieces" : "the planar part has a bridge");
      break;
    }
    if (expectation.core && out.core != *expectation.core) {
      fail("core", fmt::format("the manifest says n = {}, the core found has n = {}", *expectation.core, out.core));
    }
    return true;
  }

  void check_formulas() {
    Formula sat_formula;
    Formula unsat_formula;
    try {
      sat_formula = decode(sat);
      unsat_formula = decode(unsat);
    } catch (const InputError& error) {
      return fail("encoding", error.what());
    }
    for (const Formula* formula : {&sat_formula, &unsat_formula}) {
      for (const Disjunction& disjunction : formula->disjunctions) out.wide += disjunction.size() > kMaxWidth ? 1u : 0u;
    }
    if (out.wide > 0 && !expectation.published)
      fail("width", fmt::format("{} disjunctions of more than {} literals", out.wide, kMaxWidth));
    const bool sat_ok = satisfiable(sat_formula);  // with an assignment that solve() has evaluated
    if (!sat_ok) fail("label", "the graph labelled 1 encodes an unsatisfiable formula");
    const bool unsat_ok = check_unsat(unsat_formula);
    out.labels_ok = sat_ok && unsat_ok;
    if (!added.empty()) {
      const auto spare =
          std::ranges::find_if(added, [&](const Edge& e) { return satisfiable(decode(without_edge(sat, e))); });
      out.corrupt_minimal = spare == added.end();
      if (!out.corrupt_minimal) {
        fail("corrupt-minimal",
             fmt::format("the added edge ({}, {}) is not needed for satisfiability", spare->first, spare->second));
      }
    }
  }

  void check_graphs() {
    out.planar = planar(sat) && planar(unsat);
    out.non_isomorphic = !isomorphism(sat, unsat);
    const wl::Comparison one = wl::compare(sat, unsat, {.dim = 1});
    out.wl1_equal = !one.distinguished;
    out.wl2_distinct = wl::compare(sat, unsat, {.dim = 2, .stop_when_distinguished = true}).distinguished;
    if (!out.non_isomorphic) fail("isomorphic", "the two graphs are isomorphic");
    if (!out.wl2_distinct) fail("2-wl", "2-WL does not tell the graphs apart");
    if (out.subset == Subset::corrupt) {
      if (out.wl1_equal) fail("1-wl", "1-WL does not tell the graphs of this CORRUPT pair apart");
      return;
    }
    if (!out.planar) fail("planar", "a graph of the pair is not planar");
    if (!out.wl1_equal) fail("1-wl", fmt::format("1-WL tells the graphs apart at round {}", one.round.value_or(0)));
  }
};

// ---- pairs of the ladder

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
  for (const std::vector<Node>& nodes : connected_components(graph).members()) {
    Formula formula = decode(induced_subgraph(graph, nodes));
    if (auto core = read_tseitin(formula)) return Parts{*std::move(core), std::move(formula), without(graph, nodes)};
  }
  return std::nullopt;
}

struct TseitinExamination : Examination {
  bool small = false;  ///< few enough base nodes for searches

  /// Labels are checked by parity (the charges read back from the graph; for the satisfiable one an assignment is
  /// evaluated) and by CaDiCaL, which is not asked over base graphs of more than 40 nodes: refuting a Tseitin formula
  /// takes a solver time exponential in the width of the base graph. Nor is bliss then, for which these graphs are the
  /// hard ones; that one formula is satisfiable and the other is not says that their graphs are not isomorphic.
  void run() {
    out.subset = Subset::tseitin;
    out.tseitin.emplace();
    out.wl2_distinct = true;  // until it is seen that they are not
    std::optional<Parts> even, odd;
    try {
      even = take_apart(sat);
      odd = take_apart(unsat);
    } catch (const InputError& error) {
      return fail("encoding", error.what());
    }
    if (!even || !odd) {
      return fail("tseitin", fmt::format("no component of the graph labelled {} is a Tseitin formula over a connected "
                                         "cubic graph",
                                         even ? 0 : 1));
    }
    if (!check_cores(*even, *odd)) return;
    check_labels(*even, *odd);
    check_graphs();
    look_higher();
  }

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
      found.sets3 = wl::compare_sets(sat, unsat, {.levels = {{.k = 3}}}).distinguished;
    }
    const std::array<Node, 2> both = {nodes, unsat.num_nodes()};
    const bool fits = wl::memory_needed(3, both) <= static_cast<double>(expectation.memory_limit);
    if (fits && (all || nodes <= kCheapNodes)) {
      found.wl3 = wl::compare(sat, unsat, {.dim = 3, .stop_when_distinguished = true}).distinguished;
    }
  }
};

/// Whether a component of the graph encodes a Tseitin formula over a connected simple cubic graph.
bool has_tseitin_core(const Graph& graph) {
  try {
    return take_apart(graph).has_value();
  } catch (const InputError&) {
    return false;
  }
}

}  // namespace

PairCertificate certify_pair(std::uint64_t pair, const LabelledGraph& first, const LabelledGraph& second,
                             const Expectation& expectation) {
  const bool swapped = first.label == 0 && second.label == 1;
  const Graph &sat = swapped ? second.graph : first.graph, &unsat = swapped ? first.graph : second.graph;
  PairCertificate out;
  Examination begun{pair, sat, unsat, expectation, out};
  if (!swapped && (first.label != 1 || second.label != 0)) {
    begun.fail("label",
               fmt::format("labels {} and {}; expected one 1 (satisfiable) and one 0", first.label, second.label));
  } else if (expectation.subset ? *expectation.subset == Subset::tseitin
                                : has_tseitin_core(sat) || has_tseitin_core(unsat)) {
    TseitinExamination{begun}.run();
  } else {
    ExpExamination{begun}.run();
  }
  return out;
}

}  // namespace tyche::datasets
