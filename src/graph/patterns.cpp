#include "graph/patterns.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <filesystem>
#include <numeric>
#include <optional>
#include <set>

#include "graph/formats.hpp"
#include "support/error.hpp"
#include "support/parallel.hpp"
#include "support/progress.hpp"

namespace tyche {

namespace {

struct Family {
  std::string_view name;
  Node least, most;
  bool (*joined)(Node u, Node v, Node nodes);  ///< requires u < v
};

bool next_on_cycle(Node u, Node v, Node nodes) { return v == u + 1 || v + 1 == u + nodes; }

constexpr Family kFamilies[] = {
    {"cycle", 3, 6, next_on_cycle},
    {"path", 2, 6, [](Node u, Node v, Node) { return v == u + 1; }},
    {"clique", 3, 6, [](Node, Node, Node) { return true; }},
    {"star", 3, 6, [](Node u, Node, Node) { return u == 0; }},
    {"chordal", 4, 5, [](Node u, Node v, Node nodes) { return next_on_cycle(u, v, nodes) || (u == 0 && v == 2); }}};

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
    const auto kept = [&](const Edge& e) { return graph.has_edge(image[e.first], image[e.second]); };
    if (std::ranges::all_of(edges, kept)) out.push_back(image);
  } while (std::next_permutation(image.begin(), image.end()));
  return out;
}

std::optional<Pattern> known_pattern(std::string_view name) {
  for (const Family& family : kFamilies) {
    if (!name.starts_with(family.name)) continue;
    const std::string_view digits = name.substr(family.name.size());
    Node nodes = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), nodes);
    if (error != std::errc() || end != digits.data() + digits.size() || digits.starts_with('0')) break;
    if (nodes < family.least || nodes > family.most) break;
    std::vector<Edge> edges;
    for (Node v = 0; v < nodes; ++v) {
      for (Node u = 0; u < v; ++u) {
        if (family.joined(u, v, nodes)) edges.emplace_back(u, v);
      }
    }
    return Pattern{std::string(name), Graph::from_edges(nodes, edges)};
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
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string one = text.substr(begin, end - begin);
    begin = end + 1;
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
    if (!names.insert(pattern.name).second) throw InputError("patterns '{}': {} is there twice", text, pattern.name);
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
    return std::ranges::count_if(pattern.neighbours(v), [&](Node u) { return place[u] < nodes; });
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
    return std::ranges::all_of(place.joined, [&](std::size_t q) { return search.graph.has_edge(search.at[q], v); });
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
      *std::ranges::min_element(place.joined, {}, [&](std::size_t q) { return search.graph.degree(search.at[q]); });
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

Unit parse_counts_of(std::string_view name) {
  for (const Unit unit : {Unit::graph, Unit::node, Unit::edge}) {
    if (name == fmt::format("{}s", tyche::name(unit))) return unit;
  }
  throw InputError("counts of '{}': expected graphs, nodes or edges", name);
}

void append_rows(std::vector<std::uint64_t>& rows, std::span<const PatternCounts> graph, Unit of) {
  for (std::size_t r = 0; !graph.empty() && r < graph[0].of(of).size(); ++r) {
    for (const PatternCounts& one : graph) rows.push_back(one.of(of)[r]);
  }
}

void add_counts(GraphSet& set, std::span<const std::vector<PatternCounts>> counts, CountsAs as) {
  const std::size_t patterns = counts.empty() ? 0 : counts[0].size();
  if (patterns == 0) return;
  const auto add = [&](std::vector<std::vector<float>> blocks, std::size_t& dim, Unit of) {
    blocks.resize(counts.size());
    for (std::size_t g = 0; g < counts.size(); ++g) {
      std::vector<std::uint64_t> rows;
      append_rows(rows, counts[g], of);
      blocks[g] = side_by_side(std::move(blocks[g]), dim, {rows.begin(), rows.end()}, patterns);
    }
    dim += patterns;
    return blocks;
  };
  if (as == CountsAs::attributes) set.attributes = add(set.attributes.all(), set.attribute_dim, Unit::node);
  if (as == CountsAs::node_targets) set.node_targets = add(set.node_targets.all(), set.node_target_dim, Unit::node);
  if (as == CountsAs::edge_targets) set.edge_targets = add(set.edge_targets.all(), set.edge_target_dim, Unit::edge);
  if (as == CountsAs::edge_attributes) {
    set.edge_attributes = add(set.edge_attributes.all(), set.edge_attribute_dim, Unit::edge);
  }
  if (as != CountsAs::targets) return;
  std::vector<std::uint64_t> rows;
  for (const std::vector<PatternCounts>& graph : counts) append_rows(rows, graph, Unit::graph);
  set.targets = side_by_side(std::move(set.targets), set.target_dim, {rows.begin(), rows.end()}, patterns);
  set.target_dim += patterns;
}

namespace {

/// How many ways there are to go on with a map of the nodes of a pattern (rows of bits) to the graph's that keeps
/// edges; `at`: where those before went, which may be the same place.
std::int64_t count_maps(const std::vector<unsigned>& rows, const Graph& graph, std::vector<Node>& at) {
  if (at.size() == rows.size()) return 1;
  const unsigned before = rows[at.size()] & ((1U << at.size()) - 1);  // that it is joined to
  std::int64_t out = 0;
  const auto go_on = [&](Node v) {
    for (std::size_t u = 0; u < at.size(); ++u) {
      if ((before >> u & 1U) != 0 && !graph.has_edge(at[u], v)) return;
    }
    at.push_back(v);
    out += count_maps(rows, graph, at);
    at.pop_back();
  };
  if (before != 0) {
    std::ranges::for_each(graph.neighbours(at[static_cast<std::size_t>(std::countr_zero(before))]), go_on);
  } else {
    for (Node v = 0; v < graph.num_nodes(); ++v) go_on(v);
  }
  return out;
}

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
      std::vector<Node> at;
      one_to_one += sign * count_maps(*rows, graph, at);
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
