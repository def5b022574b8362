#include "datasets/certificate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "datasets/planar_draw.hpp"
#include "datasets/tseitin_certificate.hpp"
#include "graph/encoding.hpp"
#include "graph/isomorphism.hpp"
#include "graph/planarity.hpp"
#include "logic/sat.hpp"
#include "support/error.hpp"
#include "wl/wl.hpp"

namespace tyche::datasets {

namespace {

/// An exhaustive check tries 2^variables assignments; cores of the paper have at most 8 variables.
constexpr std::uint32_t kExhaustiveVariables = 20;

bool planar(const Graph& graph) {
  const auto rotation = planar_embedding(graph);
  return rotation && is_planar_embedding(graph, *rotation);
}

/// The edges of `larger` that `smaller` lacks, where `larger` is `smaller` plus at least one edge between the same
/// nodes.
std::optional<std::vector<Edge>> added_edges(const Graph& smaller, const Graph& larger) {
  if (!std::equal(smaller.types().begin(), smaller.types().end(), larger.types().begin(), larger.types().end()))
    return std::nullopt;
  const std::vector<Edge> few = smaller.edges();
  const std::vector<Edge> many = larger.edges();
  std::vector<Edge> added;
  std::set_difference(many.begin(), many.end(), few.begin(), few.end(), std::back_inserter(added));
  if (added.empty() || few.size() + added.size() != many.size()) return std::nullopt;
  return added;
}

Graph without_edge(const Graph& graph, const Edge& edge) {
  std::vector<Edge> edges = graph.edges();
  std::erase(edges, edge);
  return Graph::from_edges(graph.num_nodes(), edges, {graph.types().begin(), graph.types().end()});
}

struct ExpExamination : Examination {
  std::vector<Edge> added{};  ///< of a CORRUPT pair

  void find_subset() {
    auto edges = added_edges(unsat, sat);
    out.subset = expectation.subset.value_or(edges ? Subset::corrupt : Subset::exp);
    if (out.subset == Subset::exp) return;
    if (edges) {
      added = *std::move(edges);
    } else {
      fail("corrupt-edges", "the satisfiable graph is not the unsatisfiable one plus edges");
    }
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
      std::vector<Node> rest;
      for (Node v = 0; v < unsat.num_nodes(); ++v) {
        if (!std::binary_search(component.begin(), component.end(), v)) rest.push_back(v);
      }
      const Graph part = incidence_graph(decode(induced_subgraph(unsat, rest)));
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
      fail("encoding", error.what());
      return;
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
      const auto spare = std::find_if(added.begin(), added.end(),
                                      [&](const Edge& e) { return satisfiable(decode(without_edge(sat, e))); });
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

}  // namespace

PairCertificate certify_pair(std::uint64_t pair, const LabelledGraph& first, const LabelledGraph& second,
                             const Expectation& expectation) {
  const bool swapped = first.label == 0 && second.label == 1;
  ExpExamination examination{
      {pair, swapped ? second.graph : first.graph, swapped ? first.graph : second.graph, expectation}};
  if (!swapped && (first.label != 1 || second.label != 0)) {
    examination.fail(
        "label", fmt::format("labels {} and {}; expected one 1 (satisfiable) and one 0", first.label, second.label));
    return std::move(examination.out);
  }
  const bool ladder = expectation.subset ? *expectation.subset == Subset::tseitin
                                         : has_tseitin_core(examination.sat) || has_tseitin_core(examination.unsat);
  if (ladder) return certify_tseitin(pair, examination.sat, examination.unsat, expectation);
  examination.find_subset();
  examination.check_formulas();
  examination.check_graphs();
  return std::move(examination.out);
}

void Certificate::add(PairCertificate pair) {
  const auto count = [](bool yes) { return yes ? std::uint64_t{1} : std::uint64_t{0}; };
  ++pairs;
  std::move(pair.failures.begin(), pair.failures.end(), std::back_inserter(failures));
  if (pair.tseitin) {
    const TseitinFindings& found = *pair.tseitin;
    ++tseitin.pairs;
    tseitin.labels_parity += count(found.parity_ok);
    tseitin.labels_solver += count(found.solver.value_or(false));
    tseitin.solver_tried += count(found.solver.has_value());
    tseitin.wl1_equal += count(pair.wl1_equal);
    tseitin.wl2_equal += count(!pair.wl2_distinct);
    tseitin.non_isomorphic += count(pair.non_isomorphic);
    tseitin.sets3_distinct += count(found.sets3.value_or(false));
    tseitin.sets3_tried += count(found.sets3.has_value());
    tseitin.wl3_distinct += count(found.wl3.value_or(false));
    tseitin.wl3_tried += count(found.wl3.has_value());
    return;
  }
  const bool corrupt = pair.subset == Subset::corrupt;
  labels_ok += count(pair.labels_ok);
  unsat_exhaustive += count(pair.exhaustive);
  planar_pairs += count(pair.planar && !corrupt);
  wl1_equal += count(pair.wl1_equal);
  wl2_distinct += count(pair.wl2_distinct);
  non_isomorphic += count(pair.non_isomorphic);
  corrupt_pairs += count(corrupt);
  corrupt_minimal += count(pair.corrupt_minimal);
  width_violations += pair.wide;
  bridge_violations += count(pair.labels_ok && !pair.bridgeless);
}

nlohmann::json to_json(const Certificate& c) {
  nlohmann::json failures = nlohmann::json::array();
  for (const Failure& f : c.failures)
    failures.push_back({{"pair", f.pair}, {"property", f.property}, {"detail", f.detail}});
  nlohmann::json out = {{"pairs", c.pairs}};
  const TseitinTotals& t = c.tseitin;
  if (t.pairs > 0) {
    out["tseitin"] = {{"pairs", t.pairs},
                      {"labels_parity", t.labels_parity},
                      {"labels_solver", t.labels_solver},
                      {"solver_tried", t.solver_tried},
                      {"wl1_equal", t.wl1_equal},
                      {"wl2_equal", t.wl2_equal},
                      {"non_isomorphic", t.non_isomorphic},
                      {"sets3_distinct", t.sets3_distinct},
                      {"sets3_tried", t.sets3_tried},
                      {"wl3_distinct", t.wl3_distinct},
                      {"wl3_tried", t.wl3_tried}};
    if (c.base_classes) out["tseitin"]["base_classes"] = *c.base_classes;
  }
  if (t.pairs == 0 || t.pairs < c.pairs) {
    out["labels_ok"] = c.labels_ok;
    out["unsat_exhaustive"] = c.unsat_exhaustive;
    out["planar_pairs"] = c.planar_pairs;
    out["wl1_equal"] = c.wl1_equal;
    out["wl2_distinct"] = c.wl2_distinct;
    out["non_isomorphic"] = c.non_isomorphic;
    out["corrupt_pairs"] = c.corrupt_pairs;
    out["corrupt_minimal"] = c.corrupt_minimal;
    out["width_violations"] = c.width_violations;
    out["bridge_violations"] = c.bridge_violations;
  }
  out["failures"] = failures;
  return out;
}

}  // namespace tyche::datasets
