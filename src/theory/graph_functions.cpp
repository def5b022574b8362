#include "theory/graph_functions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "engine/core/inputs.hpp"
#include "graph/formats.hpp"
#include "graph/isomorphism.hpp"
#include "graph/lines.hpp"
#include "graph/planarity.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "wl/refining.hpp"

namespace tyche::theory {
namespace {

/// Whether `colours` colours suffice, by trying all (graphs here are small).
bool colourable(const Graph& g, Node colours, std::vector<Node>& colour) {
  const Node v = static_cast<Node>(colour.size());
  if (v == g.num_nodes()) return true;
  for (Node c = 0; c < colours; ++c) {
    const auto clash = [&](Node u) { return u < v && colour[u] == c; };
    if (std::ranges::any_of(g.neighbours(v), clash)) continue;
    colour.push_back(c);
    const bool done = colourable(g, colours, colour);
    colour.pop_back();
    if (done) return true;
  }
  return false;
}

Node chromatic_number(const Graph& g) {
  std::vector<Node> colour;
  Node colours = 0;
  while (!colourable(g, colours, colour)) ++colours;
  return colours;
}

double diameter(const Graph& g) {
  Node largest = 0;
  std::vector<Node> distance(g.num_nodes());
  for (Node from = 0; from < g.num_nodes(); ++from) {
    engine::distances_from(g, from, g.num_nodes(), distance);
    largest = std::max(largest, std::ranges::max(distance));
  }
  return largest == g.num_nodes() ? -1 : static_cast<double>(largest);
}

/// Whether some walk of `length` different nodes leads from `at` back to the node it began with.
bool on_cycle(const Graph& g, std::vector<Node>& walk, std::size_t length) {
  if (walk.size() == length) return g.has_edge(walk.back(), walk.front());
  for (const Node w : g.neighbours(walk.back())) {
    if (std::find(walk.begin(), walk.end(), w) != walk.end()) continue;
    walk.push_back(w);
    const bool found = on_cycle(g, walk, length);
    walk.pop_back();
    if (found) return true;
  }
  return false;
}

std::vector<double> on_cycles(const Graph& g, std::size_t length) {
  std::vector<double> out;
  for (Node v = 0; v < g.num_nodes(); ++v) {
    std::vector<Node> walk = {v};
    out.push_back(on_cycle(g, walk, length) ? 1 : 0);
  }
  return out;
}

std::vector<double> in_largest(const Graph& g) {
  const Components components = connected_components(g);
  std::vector<Node> size(components.count, 0);
  for (const Node c : components.of_node) ++size[c];
  std::vector<double> out;
  for (const Node c : components.of_node) out.push_back(size[c] == *std::ranges::max_element(size) ? 1 : 0);
  return out;
}

std::vector<double> orbit_numbers(const Graph& g) {
  const std::vector<Node> place = canonical_orbits(g);
  const std::vector<Node> different = wl::distinct(place);
  std::vector<double> out;
  for (const Node p : place) {
    out.push_back(static_cast<double>(std::lower_bound(different.begin(), different.end(), p) - different.begin()));
  }
  return out;
}

double triangle_weight(Node s, std::span<const double> w) {
  double sum = 0;
  for (Node k = 2; k < s; ++k) {
    for (Node j = 1; j < k; ++j) {
      for (Node i = 0; i < j; ++i) sum += w[pair_number(i, j)] * w[pair_number(i, k)] * w[pair_number(j, k)];
    }
  }
  return sum;
}

double min_cut(Node s, std::span<const double> w) {
  double least = s < 2 ? 0 : std::numeric_limits<double>::infinity();
  for (std::uint32_t side = 1; side < 1u << (s - 1); ++side) {  // the last node is on the other side
    double cut = 0;
    for (Node j = 1; j < s; ++j) {
      for (Node i = 0; i < j; ++i) cut += (side >> i & 1) != (side >> j & 1) ? w[pair_number(i, j)] : 0;
    }
    least = std::min(least, cut);
  }
  return least;
}

}  // namespace

std::vector<Graph> graph_classes(Node nodes) {
  if (nodes == 0 || nodes > kMaxClassNodes) {
    throw InputError(fmt::format("graphs of {} nodes are not listed here: 1 to {} nodes are", nodes, kMaxClassNodes));
  }
  // Every graph of n nodes is one of n - 1 nodes and a node joined to some of them.
  using Code = std::pair<std::size_t, std::vector<Edge>>;
  std::map<Code, Graph> found = {{Code{}, Graph::from_edges(1, std::vector<Edge>{})}};
  for (Node n = 2; n <= nodes; ++n) {
    std::map<Code, Graph> next;
    for (const auto& [code, graph] : found) {
      for (std::uint32_t joined = 0; joined < 1u << (n - 1); ++joined) {
        std::vector<Edge> edges = graph.edges();
        for (Node u = 0; u + 1 < n; ++u) {
          if (joined >> u & 1) edges.emplace_back(u, n - 1);
        }
        Graph canonical = canonical_form(Graph::from_edges(n, edges));
        Code key(edges.size(), canonical.edges());
        next.emplace(std::move(key), std::move(canonical));
      }
    }
    found = std::move(next);
  }
  std::vector<Graph> out;
  for (auto& [code, graph] : found) out.push_back(std::move(graph));
  return out;
}

std::vector<std::uint32_t> classes_of_labelled_graphs(Node nodes, const std::vector<Graph>& classes) {
  std::vector<std::uint32_t> out(std::size_t{1} << pair_number(0, nodes));
  std::vector<Node> renaming(nodes);
  for (std::uint32_t c = 0; c < classes.size(); ++c) {
    const std::vector<Edge> edges = classes[c].edges();
    std::iota(renaming.begin(), renaming.end(), 0);
    do {
      std::size_t mask = 0;
      for (const auto& [u, v] : edges) {
        const auto [low, high] = std::minmax(renaming[u], renaming[v]);
        mask |= std::size_t{1} << pair_number(low, high);
      }
      out[mask] = c;
    } while (std::next_permutation(renaming.begin(), renaming.end()));
  }
  return out;
}

const std::vector<GraphFunction>& named_functions() {
  static const std::vector<GraphFunction> all = {
      {"connected", [](const Graph& g) { return connected_components(g).count == 1 ? 1.0 : 0.0; }, {}},
      {"triangle", [](const Graph& g) { return std::ranges::max(on_cycles(g, 3)); }, {}},
      {"bipartite", [](const Graph& g) { return chromatic_number(g) <= 2 ? 1.0 : 0.0; }, {}},
      {"hamiltonian",
       [](const Graph& g) { return g.num_nodes() < 3 ? 0.0 : std::ranges::max(on_cycles(g, g.num_nodes())); },
       {}},
      {"planar", [](const Graph& g) { return planar_embedding(g) ? 1.0 : 0.0; }, {}},
      {"edges", [](const Graph& g) { return static_cast<double>(g.num_edges()); }, {}},
      {"chromatic", [](const Graph& g) { return static_cast<double>(chromatic_number(g)); }, {}},
      {"diameter", diameter, {}},
      {"in-triangle", {}, [](const Graph& g) { return on_cycles(g, 3); }},
      {"on-square", {}, [](const Graph& g) { return on_cycles(g, 4); }},
      {"in-largest", {}, in_largest},
      {"orbit", {}, orbit_numbers},
      {"triangle-weight", {}, {}, {triangle_weight, [](Node n) { return 3 * (n * (n - 1.0) * (n - 2.0) / 6); }}},
      {"min-cut", {}, {}, {min_cut, [](Node n) { return std::floor(n * n / 4.0); }}},
  };
  return all;
}

const GraphFunction& named_function(const std::string& name) {
  std::string names;
  for (const GraphFunction& f : named_functions()) {
    if (f.name == name) return f;
    names += (names.empty() ? "" : ", ") + f.name;
  }
  throw InputError(fmt::format("'{}' is no function known by name ({}) and no file", name, names));
}

GraphFunction function_from_file(const std::filesystem::path& path, Node max_nodes) {
  const std::string text = read_file(path);
  Lines lines(text, path.string());
  NodeBudget budget(text.size());
  std::map<std::pair<Node, std::vector<Edge>>, double> table;
  std::string_view line;
  while (lines.next(line)) {
    line = line.substr(0, line.find('#'));
    line = line.substr(0, line.find_last_not_of(" \t") + 1);
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    if (line.empty()) continue;
    const std::string_view code = line.substr(0, line.find_first_of(" \t"));
    std::string_view number = line.substr(code.size());
    number.remove_prefix(std::min(number.find_first_not_of(" \t"), number.size()));
    double value = 0;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
    if (number.empty() || error != std::errc() || end != number.data() + number.size() || !std::isfinite(value)) {
      lines.here().fail("expected a graph6 code and a number, found {}", shown(line));
    }
    const Graph graph = parse_graph6_line(code, lines.here(), budget);
    if (graph.num_nodes() == 0 || graph.num_nodes() > max_nodes) {
      lines.here().fail("the graph has {} nodes; the function is on graphs of 1 to {}", graph.num_nodes(), max_nodes);
    }
    const auto [at, fresh] = table.emplace(std::pair(graph.num_nodes(), canonical_form(graph).edges()), value);
    if (!fresh && at->second != value) {
      lines.here().fail(
          "an isomorphic graph has value {} on an earlier line, this one {}; an invariant function gives both the same",
          at->second, value);
    }
  }
  return {path.filename().string(),
          [table = std::move(table)](const Graph& g) {
            const auto found = table.find(std::pair(g.num_nodes(), canonical_form(g).edges()));
            return found == table.end() ? 0.0 : found->second;
          },
          {}};
}

std::vector<GraphFunction> functions_of(const std::vector<std::string>& names, Node max_nodes) {
  std::vector<GraphFunction> functions;
  for (const std::string& name : names) {
    if (name == "all" || name == "nodes") {
      std::ranges::copy_if(named_functions(), std::back_inserter(functions), [&](const GraphFunction& f) {
        return name == "all" ? f.value != nullptr : f.node_values != nullptr;
      });
    } else if (std::filesystem::exists(name)) {
      functions.push_back(function_from_file(name, max_nodes));
    } else {
      functions.push_back(named_function(name));
    }
  }
  return functions;
}

}  // namespace tyche::theory
