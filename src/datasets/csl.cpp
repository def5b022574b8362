#include "datasets/csl.hpp"

#include <numeric>

#include "datasets/tseitin.hpp"
#include "support/error.hpp"
#include "support/random.hpp"
#include "wl/wl.hpp"

namespace tyche::datasets {

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
  CslFacts out{.label = graph.label,
               .nodes = graph.graph.num_nodes(),
               .regular = looks_like_csl(graph.graph),
               .wl1_equal = !wl::compare(graph.graph, compared_with, {.dim = 1}).distinguished};
  if (!out.regular) return out;  // of other graphs nothing is claimed, and a search for symmetries may take for ever
  out.form = class_of(graph.graph);  // structure alone: which number the one type has does not matter
  return out;
}

}  // namespace tyche::datasets
