#include "datasets/planar_part.hpp"

#include <algorithm>
#include <set>

#include "graph/encoding.hpp"
#include "logic/sat.hpp"

namespace tyche::datasets {

namespace {

/// The rotation of a wide disjunction cut into the fewest runs of at most kMaxWidth, lengths as equal as can be.
std::vector<std::vector<Node>> runs(const std::vector<Node>& around, Stream& stream) {
  const std::size_t width = around.size();
  if (width <= kMaxWidth) return {around};
  const std::size_t count = (width + kMaxWidth - 1) / kMaxWidth;
  const auto start = static_cast<std::size_t>(stream.below(width));
  std::vector<std::vector<Node>> out(count);
  for (std::size_t i = 0; i < width; ++i) out[i * count / width].push_back(around[(start + i) % width]);
  return out;
}

}  // namespace

Graph incidence_graph(const Formula& formula) {
  std::vector<Edge> edges;
  for (std::size_t d = 0; d < formula.disjunctions.size(); ++d) {
    std::set<Node> variables;  // a disjunction that holds both literals of a variable is still joined to it once
    for (const Literal literal : formula.disjunctions[d]) variables.insert(static_cast<Node>(std::abs(literal)) - 1);
    for (const Node v : variables) edges.emplace_back(v, formula.variables + static_cast<Node>(d));
  }
  return Graph::from_edges(formula.variables + static_cast<Node>(formula.disjunctions.size()), edges);
}

std::optional<Formula> planar_part(const PlaneGraph& plane, Stream& stream) {
  const auto& rotation = plane.rotation;
  const std::vector<int> side = bipartition(plane.graph).value();
  const auto ones = static_cast<std::size_t>(std::count(side.begin(), side.end(), 1));
  const std::size_t zeros = side.size() - ones;
  const int variable_side = ones > zeros || (ones == zeros && stream.coin()) ? 1 : 0;

  Formula formula;
  std::vector<Literal> variable_of(side.size(), 0);
  for (Node v = 0; v < side.size(); ++v) {
    if (side[v] == variable_side) variable_of[v] = static_cast<Literal>(++formula.variables);
  }
  std::set<Disjunction> seen;
  for (Node v = 0; v < side.size(); ++v) {
    if (side[v] == variable_side) continue;
    for (const std::vector<Node>& run : runs(rotation[v], stream)) {
      Disjunction disjunction;
      for (const Node u : run) disjunction.push_back(stream.coin() ? variable_of[u] : -variable_of[u]);
      std::sort(disjunction.begin(), disjunction.end());
      if (seen.insert(disjunction).second) formula.disjunctions.push_back(std::move(disjunction));
    }
  }
  const Graph incidence = incidence_graph(formula);
  if (connected_components(incidence).count != 1 || !bridges(incidence).empty()) return std::nullopt;
  if (!planar_embedding(encode(formula)) || !satisfiable(formula)) return std::nullopt;
  return formula;
}

}  // namespace tyche::datasets
