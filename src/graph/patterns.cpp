#include "graph/patterns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <optional>
#include <set>

#include "graph/graph6.hpp"
#include "graph/io.hpp"
#include "support/error.hpp"
#include "support/parallel.hpp"
#include "support/progress.hpp"
#include "support/words.hpp"

namespace tyche {

namespace {

struct Family {
  std::string_view name;
  Node least, most;
  std::vector<Edge> (*edges)(Node nodes);
};

std::vector<Edge> path(Node nodes) {
  std::vector<Edge> out;
  for (Node v = 1; v < nodes; ++v) out.emplace_back(v - 1, v);
  return out;
}

std::vector<Edge> cycle(Node nodes) {
  std::vector<Edge> out = path(nodes);
  out.emplace_back(0, nodes - 1);
  return out;
}

std::vector<Edge> chordal(Node nodes) {
  std::vector<Edge> out = cycle(nodes);
  out.emplace_back(0, 2);
  return out;
}

std::vector<Edge> clique(Node nodes) {
  std::vector<Edge> out;
  for (Node v = 0; v < nodes; ++v) {
    for (Node u = 0; u < v; ++u) out.emplace_back(u, v);
  }
  return out;
}

std::vector<Edge> star(Node nodes) {
  std::vector<Edge> out;
  for (Node v = 1; v < nodes; ++v) out.emplace_back(0, v);
  return out;
}

constexpr std::array<Family, 5> kFamilies = {{{"cycle", 3, 6, cycle},
                                              {"path", 2, 6, path},
                                              {"clique", 3, 6, clique},
                                              {"star", 3, 6, star},
                                              {"chordal", 4, 5, chordal}}};

void check_pattern(const Graph& graph, const std::string& name) {
  if (graph.num_nodes() == 0 || graph.num_nodes() > kMostPatternNodes) {
    throw InputError("pattern {}: expected 1 to {} nodes, found {}", name, kMostPatternNodes, graph.num_nodes());
  }
  const bool typed = std::any_of(graph.types().begin(), graph.types().end(), [](NodeType t) { return t != 0; });
  if (typed || graph.has_edge_labels()) {
    throw InputError("pattern {}: expected nodes and edges without types: structure alone is counted", name);
  }
}

/// All permutations of the nodes that keep edges edges.
std::vector<std::vector<Node>> automorphisms(const Graph& graph) {
  std::vector<std::vector<Node>> out;
  std::vector<Node> image(graph.num_nodes());
  std::iota(image.begin(), image.end(), Node{0});
  const std::vector<Edge> edges = graph.edges();
  do {
    if (std::all_of(edges.begin(), edges.end(),
                    [&](const Edge& e) { return graph.has_edge(image[e.first], image[e.second]); })) {
      out.push_back(image);
    }
  } while (std::next_permutation(image.begin(), image.end()));
  return out;
}

std::optional<Pattern> known_pattern(std::string_view name) {
  for (const Family& family : kFamilies) {
    if (!name.starts_with(family.name)) continue;
    const std::string_view digits = name.substr(family.name.size());
    const std::optional<Node> nodes = number_of<Node>(digits);
    if (!nodes || digits.starts_with('0') || *nodes < family.least || *nodes > family.most) break;
    return Pattern{std::string(name), Graph::from_edges(*nodes, family.edges(*nodes))};
  }
  return std::nullopt;
}

/// "bow=D{c". What a path has behind a '=' is no graph6 where it has a '.' or a '/'.
std::optional<Pattern> said_pattern(const std::string& text) {
  const std::size_t at = text.find('=');
  const auto of_graph6 = [](char c) { return c >= '?' && c <= '~'; };
  if (at == std::string::npos || at == 0 ||
      !std::all_of(text.begin() + static_cast<std::ptrdiff_t>(at) + 1, text.end(), of_graph6)) {
    return std::nullopt;
  }
  GraphSet set = parse_graph6(std::string_view(text).substr(at + 1), fmt::format("pattern {}", text));
  if (set.graphs.size() != 1) throw InputError("pattern {}: expected NAME=GRAPH in graph6", text);
  check_pattern(set.graphs[0], text.substr(0, at));
  return Pattern{text.substr(0, at), set.graphs[0]};
}

}  // namespace

Pattern named_pattern(std::string_view name) {
  if (auto known = known_pattern(name)) return *std::move(known);
  std::string known;
  for (const Family& family : kFamilies) {
    known += fmt::format("{0}{1} to {0}{2}, ", family.name, family.least, family.most);
  }
  throw InputError("unknown pattern '{}': expected {}or a file of graphs", name, known);
}

std::vector<Pattern> parse_patterns(const std::string& text) {
  std::vector<Pattern> out;
  for (const std::string_view piece : split(text, ',')) {
    const std::string one(piece);
    if (one.empty()) throw InputError("patterns '{}': expected names or files between commas", text);
    std::optional<Pattern> known = known_pattern(one);
    if (!known) known = said_pattern(one);
    if (std::error_code error; known || !std::filesystem::exists(one, error)) {
      out.push_back(known ? *std::move(known) : named_pattern(one));
      continue;
    }
    GraphSet set = read_graphs(one);
    const std::string stem = std::filesystem::path(one).stem().string();
    for (std::size_t g = 0; g < set.graphs.size(); ++g) {
      std::string name = set.graphs.size() == 1 ? stem : fmt::format("{}.{}", stem, g);
      std::replace_if(
          name.begin(), name.end(), [](char c) { return c == ',' || c == '='; }, '_');
      check_pattern(set.graphs[g], fmt::format("{} of {}", g, one));
      out.push_back({name, set.graphs[g]});
    }
  }
  std::set<std::string> names;
  for (const Pattern& pattern : out) {
    if (!names.insert(pattern.name).second) {
      throw InputError("patterns '{}': {} is there twice", text, pattern.name);
    }
  }
  return out;
}

std::string patterns_text(std::span<const Pattern> patterns) {
  std::string text;
  for (const Pattern& pattern : patterns) {
    const std::optional<Pattern> known = known_pattern(pattern.name);
    text += fmt::format("{}{}", text.empty() ? "" : ",", pattern.name);
    if (!known || known->graph != pattern.graph) text += fmt::format("={}", to_graph6(pattern.graph));
  }
  return text;
}

PatternCounter::PatternCounter(const Graph& pattern) {
  check_pattern(pattern, "to be counted");
  const Node nodes = pattern.num_nodes();
  // An order in which each node has as many neighbours as can be before it.
  std::vector<std::size_t> place(nodes, nodes);
  const auto before = [&](Node v) {
    return std::count_if(pattern.neighbours(v).begin(), pattern.neighbours(v).end(),
                         [&](Node u) { return place[u] < nodes; });
  };
  for (std::size_t p = 0; p < nodes; ++p) {
    std::optional<Node> best;
    for (Node v = 0; v < nodes; ++v) {
      if (place[v] < nodes) continue;
      if (!best || std::pair(before(v), pattern.degree(v)) > std::pair(before(*best), pattern.degree(*best))) best = v;
    }
    Place next{.node = *best, .joined = {}, .above = {}};
    for (const Node u : pattern.neighbours(*best)) {
      if (place[u] < nodes) next.joined.push_back(place[u]);
    }
    place[*best] = p;
    places_.push_back(std::move(next));
  }
  // Of a node and those that symmetries put in its place it has the smallest number; then symmetries that leave it
  // where it is are looked at.
  std::vector<std::vector<Node>> group = automorphisms(pattern);
  for (std::size_t p = 0; p < nodes; ++p) {
    const Node v = places_[p].node;
    std::set<Node> orbit;
    for (const std::vector<Node>& image : group) orbit.insert(image[v]);
    for (const Node u : orbit) {
      if (u != v) places_[place[u]].above.push_back(p);
    }
    std::erase_if(group, [&](const std::vector<Node>& image) { return image[v] != v; });
  }
}

struct PatternCounter::Search {
  const Graph& graph;
  std::vector<std::uint64_t> edge_of_arc;
  std::array<Node, kMostPatternNodes> at{};
  PatternCounts out{};
  std::uint64_t steps = 0;
};

void PatternCounter::extend(Search& search, std::size_t p) const {
  if (p == places_.size()) {
    ++search.out.in_all;
    for (std::size_t q = 0; q < places_.size(); ++q) {
      ++search.out.of_nodes[search.at[q]];
      for (const std::size_t r : places_[q].joined) {
        ++search.out.of_edges[search.edge_of_arc[search.graph.arc(search.at[r], search.at[q])]];
      }
    }
    return;
  }
  if ((++search.steps & 0xfffff) == 0 && interrupted()) throw Interrupted("stopped while counting subgraphs");
  const Place& place = places_[p];
  Node least = 0;  // symmetric placings are found once
  for (const std::size_t q : place.above) least = std::max(least, search.at[q] + 1);
  const auto fits = [&](Node v) {
    for (std::size_t q = 0; q < p; ++q) {
      if (search.at[q] == v) return false;
    }
    return std::all_of(place.joined.begin(), place.joined.end(),
                       [&](std::size_t q) { return search.graph.has_edge(search.at[q], v); });
  };
  const auto go_on = [&](Node v) {
    if (!fits(v)) return;
    search.at[p] = v;
    extend(search, p + 1);
  };
  if (place.joined.empty()) {
    for (Node v = least; v < search.graph.num_nodes(); ++v) go_on(v);
    return;
  }
  const std::size_t from =
      *std::min_element(place.joined.begin(), place.joined.end(), [&](std::size_t a, std::size_t b) {
        return search.graph.degree(search.at[a]) < search.graph.degree(search.at[b]);
      });
  const auto neighbours = search.graph.neighbours(search.at[from]);
  for (auto v = std::lower_bound(neighbours.begin(), neighbours.end(), least); v != neighbours.end(); ++v) go_on(*v);
}

PatternCounts PatternCounter::count(const Graph& graph) const {
  Search search{.graph = graph, .edge_of_arc = graph.edges_of_arcs()};
  search.out.of_nodes.resize(graph.num_nodes());
  search.out.of_edges.resize(graph.num_edges());
  extend(search, 0);
  return std::move(search.out);
}

std::vector<std::vector<PatternCounts>> count_patterns(const Graphs& graphs, std::span<const Pattern> patterns,
                                                       unsigned threads, Progress* progress) {
  std::vector<PatternCounter> counters;
  for (const Pattern& pattern : patterns) counters.emplace_back(pattern.graph);
  std::vector<std::vector<PatternCounts>> out(graphs.size());
  parallel_for(graphs.size(), threads, [&](std::size_t g) {
    if (interrupted()) throw Interrupted("stopped while counting subgraphs");
    const Graph graph = graphs[g];
    for (const PatternCounter& counter : counters) out[g].push_back(counter.count(graph));
    if (progress != nullptr) progress->add(1);
  });
  return out;
}

CountsOf parse_counts_of(std::string_view name) {
  constexpr std::string_view kOf[] = {"graphs", "nodes", "edges"};
  return static_cast<CountsOf>(place_of(kOf, "choice of what to count in", name));
}

void append_rows(std::vector<std::uint64_t>& rows, std::span<const PatternCounts> graph, CountsOf of) {
  if (of == CountsOf::graphs) {
    for (const PatternCounts& one : graph) rows.push_back(one.in_all);
    return;
  }
  const auto column = [&](const PatternCounts& one) -> const std::vector<std::uint64_t>& {
    return of == CountsOf::nodes ? one.of_nodes : one.of_edges;
  };
  for (std::size_t r = 0; !graph.empty() && r < column(graph[0]).size(); ++r) {
    for (const PatternCounts& one : graph) rows.push_back(column(one)[r]);
  }
}

namespace {

/// `dim` columns per row and then those of `more`.
void widen(std::vector<float>& block, std::size_t dim, std::span<const std::uint64_t> more, std::size_t columns) {
  std::vector<float> out;
  out.reserve(block.size() + more.size());
  for (std::size_t row = 0; row < more.size() / columns; ++row) {
    for (std::size_t c = 0; c < dim; ++c) out.push_back(block[row * dim + c]);
    for (std::size_t c = 0; c < columns; ++c) out.push_back(static_cast<float>(more[row * columns + c]));
  }
  block = std::move(out);
}

}  // namespace

void add_counts(GraphSet& set, std::span<const std::vector<PatternCounts>> counts, CountsAs as) {
  const std::size_t patterns = counts.empty() ? 0 : counts[0].size();
  if (patterns == 0) return;
  if (as == CountsAs::targets) {
    std::vector<std::uint64_t> rows;
    for (const std::vector<PatternCounts>& graph : counts) append_rows(rows, graph, CountsOf::graphs);
    widen(set.targets, set.target_dim, rows, patterns);
    set.target_dim += patterns;
    return;
  }
  const bool learned = as == CountsAs::node_targets || as == CountsAs::edge_targets;
  const bool nodes = as == CountsAs::attributes || as == CountsAs::node_targets;
  Ragged<float>& blocks =
      learned ? (nodes ? set.node_targets : set.edge_targets) : (nodes ? set.attributes : set.edge_attributes);
  std::size_t& dim = learned ? (nodes ? set.node_target_dim : set.edge_target_dim)
                             : (nodes ? set.attribute_dim : set.edge_attribute_dim);
  std::vector<std::vector<float>> wider = blocks.all();
  wider.resize(counts.size());
  for (std::size_t g = 0; g < counts.size(); ++g) {
    std::vector<std::uint64_t> rows;
    append_rows(rows, counts[g], nodes ? CountsOf::nodes : CountsOf::edges);
    widen(wider[g], dim, rows, patterns);
  }
  blocks = wider;
  dim += patterns;
}

namespace {

/// Sums over all maps of the nodes of `pattern` (rows of bits) to the graph's that keep edges: a table per set of nodes
/// that still hang together, nodes summed out one after another.
class Homomorphisms {
 public:
  explicit Homomorphisms(const Graph& graph) : nodes_(graph.num_nodes()), joined_(nodes_ * nodes_) {
    for (const auto& [u, v] : graph.edges()) joined_[u * nodes_ + v] = joined_[v * nodes_ + u] = 1;
  }

  [[nodiscard]] std::int64_t count(const std::vector<unsigned>& rows) const {
    std::vector<Table> tables;
    for (unsigned v = 0; v < rows.size(); ++v) {
      for (unsigned u = 0; u < v; ++u) {
        if ((rows[v] >> u & 1U) != 0) tables.push_back({{u, v}, joined_});
      }
    }
    std::int64_t out = 1;
    std::vector<bool> gone(rows.size());
    for (std::size_t left = rows.size(); left > 0; --left) {
      // The node whose removal makes the smallest table.
      unsigned best = 0;
      std::optional<std::vector<unsigned>> around;
      for (unsigned v = 0; v < rows.size(); ++v) {
        if (gone[v]) continue;
        std::vector<unsigned> own = around_of(tables, v);
        if (!around || own.size() < around->size()) {
          best = v;
          around = std::move(own);
        }
      }
      gone[best] = true;
      Table made = sum_out(tables, best, *around);
      std::erase_if(tables, [&](const Table& t) { return has(t, best); });
      if (made.of.empty()) {
        out *= made.values[0];
      } else {
        tables.push_back(std::move(made));
      }
    }
    return out;
  }

 private:
  struct Table {
    std::vector<unsigned> of;  ///< nodes of the pattern, ascending; the last one's value moves fastest
    std::vector<std::int64_t> values;
  };
  static bool has(const Table& table, unsigned v) {
    return std::find(table.of.begin(), table.of.end(), v) != table.of.end();
  }
  static std::vector<unsigned> around_of(const std::vector<Table>& tables, unsigned v) {
    std::set<unsigned> out;
    for (const Table& table : tables) {
      if (has(table, v)) out.insert(table.of.begin(), table.of.end());
    }
    out.erase(v);
    return {out.begin(), out.end()};
  }
  [[nodiscard]] Table sum_out(const std::vector<Table>& tables, unsigned v, const std::vector<unsigned>& around) const {
    Table out{around, {}};
    std::size_t size = 1;
    for (std::size_t i = 0; i < around.size(); ++i) size *= nodes_;
    out.values.resize(size);
    std::array<std::size_t, kMostPatternNodes> at{};
    for (std::size_t place = 0; place < size; ++place) {
      for (std::size_t i = around.size(), rest = place; i-- > 0; rest /= nodes_) at[around[i]] = rest % nodes_;
      for (at[v] = 0; at[v] < nodes_; ++at[v]) {
        std::int64_t product = 1;
        for (const Table& table : tables) {
          if (!has(table, v)) continue;
          std::size_t where = 0;
          for (const unsigned u : table.of) where = where * nodes_ + at[u];
          product *= table.values[where];
          if (product == 0) break;
        }
        out.values[place] += product;
      }
    }
    return out;
  }

  std::size_t nodes_;
  std::vector<std::int64_t> joined_;
};

/// The pattern with its nodes fallen together by `block`, as rows of bits; nothing where an edge becomes a loop, since
/// graphs have none.
std::optional<std::vector<unsigned>> fallen_together(const std::vector<Edge>& edges,
                                                     const std::vector<unsigned>& block) {
  std::vector<unsigned> rows(1 + *std::max_element(block.begin(), block.end()));
  for (const auto& [u, v] : edges) {
    if (block[u] == block[v]) return std::nullopt;
    rows[block[u]] |= 1U << block[v];
    rows[block[v]] |= 1U << block[u];
  }
  return rows;
}

}  // namespace

std::uint64_t count_by_homomorphisms(const Graph& pattern, const Graph& graph) {
  check_pattern(pattern, "to be counted");
  const std::vector<Edge> edges = pattern.edges();
  const Homomorphisms maps(graph);
  std::int64_t one_to_one = 0;
  // Every partition of the nodes, as a string in which a new number is one more than those before.
  std::vector<unsigned> block(pattern.num_nodes());
  for (bool more = true; more;) {
    if (const auto rows = fallen_together(edges, block)) {
      std::vector<int> sizes(rows->size());
      for (const unsigned b : block) ++sizes[b];
      std::int64_t sign = 1;  // Möbius: Π (-1)^(size - 1) (size - 1)!
      for (const int size : sizes) {
        for (int factor = 1; factor < size; ++factor) sign *= -factor;
      }
      one_to_one += sign * maps.count(*rows);
    }
    more = false;
    for (std::size_t i = block.size(); i-- > 1;) {
      if (block[i] > *std::max_element(block.begin(), block.begin() + static_cast<std::ptrdiff_t>(i))) continue;
      ++block[i];
      std::fill(block.begin() + static_cast<std::ptrdiff_t>(i) + 1, block.end(), 0U);
      more = true;
      break;
    }
  }
  return static_cast<std::uint64_t>(one_to_one) / automorphisms(pattern).size();
}

}  // namespace tyche
