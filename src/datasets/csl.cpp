#include "datasets/csl.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "datasets/base_classes.hpp"
#include "support/error.hpp"
#include "support/random.hpp"
#include "wl/wl.hpp"

namespace tyche::datasets {

namespace {

Node least_skip(const std::string& form, Node nodes) {
  for (Node skip = 2; 2 * skip < nodes; ++skip) {
    if (class_of(csl_graph(nodes, skip)) == form) return skip;
  }
  return 0;
}

}  // namespace

bool looks_like_csl(const Graph& graph) {
  if (graph.num_nodes() > kMaxCslNodes) return false;
  for (Node v = 0; v < graph.num_nodes(); ++v) {
    if (graph.degree(v) != 4 || graph.type(v) != graph.type(0)) return false;
  }
  return graph.num_nodes() > 0 && connected_components(graph).count == 1;
}

void check(const CslParameters& parameters) {
  if (parameters.copies == 0 || parameters.copies > 100000000) {
    throw InputError("{} copies are out of range: 1 to 100000000", parameters.copies);
  }
}

Graph csl_graph(Node nodes, Node skip) {
  std::vector<Edge> edges;
  for (Node v = 0; v < nodes; ++v) {
    edges.emplace_back(v, (v + 1) % nodes);
    edges.emplace_back(v, (v + skip) % nodes);
  }
  return Graph::from_edges(nodes, edges);
}

LabelledGraph make_csl(const CslParameters& parameters, std::uint64_t index) {
  Stream stream(derive_key(parameters.seed, Purpose::csl, static_cast<std::uint32_t>(index)));
  std::vector<Node> place(kCslNodes);
  std::iota(place.begin(), place.end(), Node{0});
  shuffle(place, stream);
  const std::size_t label = index % kCslSkips.size();
  return {csl_graph(kCslNodes, kCslSkips[label]).relabelled(place), static_cast<int>(label)};
}

CslFacts examine_csl(const LabelledGraph& graph, const Graph& compared_with) {
  CslFacts out;
  out.label = graph.label;
  out.nodes = graph.graph.num_nodes();
  out.regular = looks_like_csl(graph.graph);
  out.wl1_equal = !wl::compare(graph.graph, compared_with, {.dim = 1}).distinguished;
  if (!out.regular) return out;  // of other graphs nothing is claimed, and a search for symmetries may take for ever
  out.form = class_of(graph.graph);  // structure alone: which number the one type has does not matter
  return out;
}

void CslCertificate::add(const CslFacts& facts, std::optional<Node> skip) {
  const std::uint64_t graph = graphs++;
  const auto fail = [&](const char* property, std::string detail) {
    failures.push_back({graph, property, std::move(detail)});
  };
  regular += facts.regular ? 1 : 0;
  wl1_equal += facts.wl1_equal ? 1 : 0;
  if (!facts.wl1_equal) fail("1-wl", "1-WL tells this graph from the first");
  if (!facts.regular) {
    fail("regular", fmt::format("expected one piece of at most {} nodes, one node type and four neighbours per node",
                                kMaxCslNodes));
    return;
  }
  const auto [at, fresh] = classes.try_emplace(facts.label);
  Class& own = at->second;
  ++own.copies;
  if (!fresh) {
    copies_ok += facts.form == own.form ? 1 : 0;
    if (facts.form != own.form)
      fail("copy", fmt::format("not isomorphic to the first graph with label {}", facts.label));
  } else {
    ++copies_ok;
    own.form = facts.form;
    own.skip = least_skip(facts.form, facts.nodes);
    for (const auto& [label, other] : classes) {
      if (label != facts.label && other.form == own.form) {
        fail("class", fmt::format("isomorphic to the graphs with label {}, but has label {}", label, facts.label));
      }
    }
    if (own.skip == 0) fail("skip", "no cycle with chords of one length is isomorphic to this graph");
  }
  if (skip && own.skip != 0 && *skip != own.skip) {
    fail("skip", fmt::format("the manifest says skip {}, but this graph has skip {}", *skip, own.skip));
  }
}

nlohmann::json to_json(const CslCertificate& c) {
  nlohmann::json classes = nlohmann::json::array();
  for (const auto& [label, own] : c.classes) {
    classes.push_back({{"label", label}, {"skip", own.skip}, {"copies", own.copies}});
  }
  return {{"graphs", c.graphs},       {"regular", c.regular}, {"wl1_equal", c.wl1_equal},
          {"copies_ok", c.copies_ok}, {"classes", classes},   {"failures", to_json(c.failures)}};
}

}  // namespace tyche::datasets
