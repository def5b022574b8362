#include "datasets/tseitin.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "datasets/folds.hpp"
#include "graph/formats.hpp"
#include "graph/isomorphism.hpp"
#include "support/error.hpp"
#include "support/file.hpp"

namespace tyche::datasets {

void check_base_nodes(Node nodes) {
  if (nodes % 2 != 0) {
    throw InputError("base graphs of {} nodes: a cubic graph has an even number of them", nodes);
  }
  if (nodes < 4 || nodes > kMaxBaseNodes) {
    throw InputError(
        "base graphs of {} nodes are out of range: even numbers from 4 (the smallest simple cubic graph) to {}", nodes,
        kMaxBaseNodes);
  }
}

namespace {

/// The same formula with variables, disjunctions and the literals of variables exchanged at random.
Formula shuffled(const Formula& formula, Stream& stream) {
  std::vector<Literal> name(formula.variables);
  std::iota(name.begin(), name.end(), 1);
  shuffle(name, stream);
  for (Literal& literal : name) literal = stream.coin() ? -literal : literal;
  Formula out = formula;
  for (Disjunction& disjunction : out.disjunctions) {
    for (Literal& literal : disjunction) {
      const Literal renamed = name[static_cast<std::size_t>(std::abs(literal)) - 1];
      literal = literal > 0 ? renamed : -renamed;
    }
  }
  shuffle(out.disjunctions, stream);
  return out;
}

}  // namespace

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

Graph random_cubic(Node nodes, Stream& stream) {
  std::vector<Node> stubs;
  for (Node v = 0; v < nodes; ++v) stubs.insert(stubs.end(), 3, v);
  std::vector<Edge> edges(stubs.size() / 2);
  for (;;) {
    shuffle(stubs, stream);
    for (std::size_t e = 0; e < edges.size(); ++e) edges[e] = std::minmax(stubs[2 * e], stubs[2 * e + 1]);
    std::ranges::sort(edges);
    const bool simple = std::ranges::adjacent_find(edges) == edges.end() &&
                        std::ranges::none_of(edges, [](const Edge& e) { return e.first == e.second; });
    if (!simple) continue;
    Graph graph = Graph::from_edges(nodes, edges);
    if (connected_components(graph).count == 1) return graph;
  }
}

std::string class_of(const Graph& base) { return to_sparse6(canonical_form(base)); }

void check(const TseitinParameters& parameters) {
  if (parameters.pairs == 0 || parameters.pairs > 0x7fffffffu) {
    throw InputError("{} pairs are out of range: 1 to 2147483647", parameters.pairs);
  }
  if (parameters.base_nodes.empty()) throw InputError("no number of base nodes was given");
  for (const Node nodes : parameters.base_nodes) check_base_nodes(nodes);
  if (!parameters.planar_sizes.empty()) check_planar_sizes(parameters.planar_sizes);
  if (parameters.unseen == 1)
    throw InputError("one fold has no base graphs in common with others; ask for two or more");
  if (parameters.unseen > parameters.pairs) {
    throw InputError("{} folds were asked for, but there are {} pairs; ask for fewer folds or more pairs",
                     parameters.unseen, parameters.pairs);
  }
}

TseitinMaker::TseitinMaker(TseitinParameters parameters) : parameters_(std::move(parameters)) {
  check(parameters_);
  const std::uint32_t folds = parameters_.unseen;
  const std::vector<Node>& sizes = parameters_.base_nodes;
  // A census of random base graphs numbers the classes as they are met, and class i belongs to fold i mod `folds`: so
  // where there are few classes, folds have as many each as can be. The rarest class of 10 nodes (Petersen's graph) is
  // one labelled graph in 370, so 4096 draws meet all classes of up to 10 nodes, of which there are few enough (1, 2,
  // 5, 19) for a fold to go without. Enough classes end it sooner.
  const std::uint64_t draws = 4096 + 64 * std::uint64_t{folds};
  const std::uint64_t enough = 16 * std::uint64_t{folds};
  std::map<std::string, std::uint32_t>& met = fold_of_class_;
  for (std::uint64_t i = 0; i < draws && met.size() < enough; ++i) {
    Stream stream(derive_key(parameters_.seed, Purpose::tseitin_pair, static_cast<std::uint32_t>(i), 1));
    const Node nodes = sizes[stream.below(sizes.size())];
    met.try_emplace(class_of(random_cubic(nodes, stream)), static_cast<std::uint32_t>(met.size() % folds));
  }
  if (met.size() >= folds) return;
  throw InputError(
      "{} folds without a base graph in common were asked for, but connected cubic graphs of {} nodes fall "
      "into {} class{} up to isomorphism; ask for at most {} folds, or for larger base graphs",
      folds, fmt::join(sizes, ", "), met.size(), met.size() == 1 ? "" : "es", met.size());
}

std::uint32_t TseitinMaker::fold_of(const std::string& base_class) const {
  const auto at = fold_of_class_.find(base_class);  // of a class that is rarer than those a hash decides
  return at != fold_of_class_.end() ? at->second
                                    : static_cast<std::uint32_t>(hash_bytes(base_class) % parameters_.unseen);
}

TseitinPair TseitinMaker::make(std::uint64_t index) const {
  const TseitinParameters& p = parameters_;
  Stream stream(derive_key(p.seed, Purpose::tseitin_pair, static_cast<std::uint32_t>(index)));
  TseitinPair out;
  Graph base;
  // The rarest fold met in practice has one class in some hundreds; a million draws are minutes, so the end is only for
  // what cannot be.
  for (int draws = 0;; ++draws) {
    out.base_nodes = p.base_nodes[stream.below(p.base_nodes.size())];
    base = random_cubic(out.base_nodes, stream);
    out.base_class = class_of(base);
    if (p.unseen == 0 || fold_of(out.base_class) == contiguous_fold(index, p.pairs, p.unseen)) break;
    if (draws == 1000000) throw Error("no base graph for pair {} in a million draws", index);
  }
  std::vector<bool> charges(base.num_nodes(), false);
  const Formula even = tseitin_formula(base, charges);
  charges[stream.below(charges.size())] = true;
  const Formula odd = tseitin_formula(base, charges);
  out.sat = shuffled(even, stream);
  out.unsat = shuffled(odd, stream);
  if (!p.has_planar_part()) return out;
  const Formula part = draw_planar_part(p.planar_sizes, p.planar_source, index, stream);
  out.sat = conjunction_of_disjoint(out.sat, part);
  out.unsat = conjunction_of_disjoint(out.unsat, part);
  return out;
}

}  // namespace tyche::datasets
