#include "graph/encoding.hpp"

#include <algorithm>
#include <limits>

#include "support/error.hpp"

namespace tyche {

Graph encode(const Formula& formula) {
  const std::uint64_t nodes = 2 * std::uint64_t{formula.variables} + formula.disjunctions.size();
  if (nodes >= std::numeric_limits<Node>::max()) throw InputError("a formula graph of {} nodes is too large", nodes);
  std::vector<Edge> edges;
  for (Node v = 0; v < formula.variables; ++v) edges.emplace_back(2 * v, 2 * v + 1);
  for (std::size_t d = 0; d < formula.disjunctions.size(); ++d) {
    const Node node = 2 * formula.variables + static_cast<Node>(d);
    Disjunction sorted = formula.disjunctions[d];
    std::sort(sorted.begin(), sorted.end());
    if (const auto twin = std::adjacent_find(sorted.begin(), sorted.end()); twin != sorted.end()) {
      throw InputError("disjunction {} contains the literal {} twice", d + 1, *twin);
    }
    for (const Literal literal : sorted) {
      const auto variable = static_cast<Node>(literal > 0 ? literal : -literal);
      edges.emplace_back(node, 2 * (variable - 1) + (literal > 0 ? 0 : 1));
    }
  }
  std::vector<NodeType> types(nodes, kDisjunctionType);
  std::fill(types.begin(), types.begin() + std::ptrdiff_t{2} * formula.variables, kLiteralType);
  return Graph::from_edges(static_cast<Node>(nodes), edges, std::move(types));
}

Formula decode(const Graph& graph) {
  Formula formula;
  std::vector<Literal> literal_of(graph.num_nodes(), 0);
  for (Node v = 0; v < graph.num_nodes(); ++v) {
    if (graph.type(v) == kDisjunctionType) continue;
    if (graph.type(v) != kLiteralType) {
      throw InputError("not a formula graph: node {} has type {}; expected 0 (disjunction) or 1 (literal)", v,
                       graph.type(v));
    }
    Node partner = v;
    std::size_t partners = 0;
    for (const Node u : graph.neighbours(v)) {
      if (graph.type(u) == kLiteralType) {
        partner = u;
        ++partners;
      }
    }
    if (partners != 1) {
      throw InputError("not a formula graph: literal node {} has {} literal neighbours; expected 1, its negation", v,
                       partners);
    }
    if (v < partner) {
      ++formula.variables;
      literal_of[v] = static_cast<Literal>(formula.variables);
      literal_of[partner] = -literal_of[v];
    }
  }
  for (Node v = 0; v < graph.num_nodes(); ++v) {
    if (graph.type(v) != kDisjunctionType) continue;
    Disjunction disjunction;
    for (const Node u : graph.neighbours(v)) {
      if (graph.type(u) == kDisjunctionType) {
        throw InputError("not a formula graph: the disjunction nodes {} and {} are adjacent", v, u);
      }
      disjunction.push_back(literal_of[u]);
    }
    formula.disjunctions.push_back(std::move(disjunction));
  }
  return formula;
}

}  // namespace tyche
