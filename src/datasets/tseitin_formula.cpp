#include "datasets/tseitin_formula.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>

namespace tyche::datasets {

Formula tseitin_formula(const Graph& base, const std::vector<bool>& charges) {
  const std::vector<Edge> edges = base.edges();
  Formula formula{static_cast<std::uint32_t>(edges.size()), {}};
  std::vector<std::vector<Literal>> incident(base.num_nodes());
  for (std::size_t e = 0; e < edges.size(); ++e) {
    incident[edges[e].first].push_back(static_cast<Literal>(e) + 1);
    incident[edges[e].second].push_back(static_cast<Literal>(e) + 1);
  }
  for (Node v = 0; v < base.num_nodes(); ++v) {
    for (unsigned values = 0; values < 8; ++values) {
      const bool odd = ((values ^ (values >> 1) ^ (values >> 2)) & 1) != 0;
      if (odd == charges[v]) continue;
      Disjunction not_these_values;
      for (unsigned i = 0; i < 3; ++i) {
        not_these_values.push_back(((values >> i) & 1) != 0 ? -incident[v][i] : incident[v][i]);
      }
      formula.disjunctions.push_back(std::move(not_these_values));
    }
  }
  return formula;
}

bool TseitinReading::odd() const { return std::count(charges.begin(), charges.end(), true) % 2 != 0; }

std::vector<bool> TseitinReading::assignment() const {
  const std::vector<Edge> edges = base.edges();
  const auto variable_of = [&](Node a, Node b) {
    const Edge edge = std::minmax(a, b);
    return variable[static_cast<std::size_t>(std::lower_bound(edges.begin(), edges.end(), edge) - edges.begin())];
  };
  // Edges outside the tree are false. Each node, from the leaves on, leaves what its charge still lacks to the edge
  // towards the root; at the root nothing is lacking where the charges are even.
  std::vector<Node> order{0};
  std::vector<Node> parent(base.num_nodes(), base.num_nodes());
  parent[0] = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (const Node u : base.neighbours(order[i])) {
      if (parent[u] != base.num_nodes()) continue;
      parent[u] = order[i];
      order.push_back(u);
    }
  }
  std::vector<bool> lacking = charges;
  std::vector<bool> out(edges.size(), false);
  for (std::size_t i = order.size(); i-- > 1;) {
    const Node v = order[i];
    if (!lacking[v]) continue;
    out[variable_of(v, parent[v]) - 1] = true;
    lacking[parent[v]] = !lacking[parent[v]];
  }
  return out;
}

std::optional<TseitinReading> read_tseitin(const Formula& formula) {
  // Disjunctions over the same three variables belong to one base node.
  struct BaseNode {
    std::array<std::uint32_t, 3> variables{};
    std::vector<unsigned> signs;  // one bit per negated literal, in the order of the variables
  };
  std::vector<BaseNode> nodes;
  std::map<std::array<std::uint32_t, 3>, std::size_t> place;
  for (const Disjunction& disjunction : formula.disjunctions) {
    if (disjunction.size() != 3) return std::nullopt;
    Disjunction sorted = disjunction;
    std::sort(sorted.begin(), sorted.end(), [](Literal a, Literal b) { return std::abs(a) < std::abs(b); });
    BaseNode node;
    unsigned signs = 0;
    for (unsigned i = 0; i < 3; ++i) {
      node.variables[i] = static_cast<std::uint32_t>(std::abs(sorted[i]));
      signs |= sorted[i] < 0 ? 1u << i : 0u;
    }
    if (node.variables[0] == node.variables[1] || node.variables[1] == node.variables[2]) return std::nullopt;
    const auto [at, fresh] = place.try_emplace(node.variables, nodes.size());
    if (fresh) nodes.push_back(node);
    nodes[at->second].signs.push_back(signs);
  }

  TseitinReading out;
  std::vector<std::vector<Node>> ends(formula.variables);
  for (Node v = 0; v < nodes.size(); ++v) {
    std::vector<unsigned>& signs = nodes[v].signs;
    std::sort(signs.begin(), signs.end());
    // Even charge: the disjunctions rule out odd sums, so each has an odd number of negated literals.
    const bool odd = signs == std::vector<unsigned>{0, 3, 5, 6};
    if (!odd && signs != std::vector<unsigned>{1, 2, 4, 7}) return std::nullopt;
    out.charges.push_back(odd);
    for (const std::uint32_t x : nodes[v].variables) ends[x - 1].push_back(v);
  }
  std::vector<std::pair<Edge, std::uint32_t>> edges;
  for (std::uint32_t x = 0; x < formula.variables; ++x) {
    if (ends[x].size() != 2) return std::nullopt;
    edges.push_back({std::minmax(ends[x][0], ends[x][1]), x + 1});
  }
  std::sort(edges.begin(), edges.end());
  std::vector<Edge> plain;
  for (const auto& [edge, variable] : edges) {
    if (!plain.empty() && plain.back() == edge) return std::nullopt;  // two nodes that share two variables
    plain.push_back(edge);
    out.variable.push_back(variable);
  }
  out.base = Graph::from_edges(static_cast<Node>(nodes.size()), plain);
  if (connected_components(out.base).count != 1) return std::nullopt;
  return out;
}

}  // namespace tyche::datasets
