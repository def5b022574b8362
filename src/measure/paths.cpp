#include "measure/paths.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "support/error.hpp"
#include "wl/colour_refinement.hpp"

namespace tyche::measure {

using namespace wl;  // this measures its words

namespace {

constexpr std::uint64_t kSeed = 1;

/// Processor time: everything here runs on one core, and the machine may be busy with other things.
double now() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

/// Calls body(i) for i = 0, 1, … over all graphs again and again until the time is up; calls per second.
template <class Body>
double rate(std::size_t graphs, double seconds, const Body& body) {
  const double start = now();
  std::uint64_t done = 0;
  double spent = 0;
  for (std::uint32_t draw = 0; spent < seconds; ++draw) {
    for (std::size_t g = 0; g < graphs; ++g) body(g, draw);
    done += graphs;
    spent = now() - start;
  }
  return static_cast<double>(done) / spent;
}

Choices choices_of(std::size_t graph, std::uint32_t draw) {
  return {derive_key(kSeed, Purpose::individualise, draw), static_cast<std::uint32_t>(graph)};
}

void check(const Graph& graph, std::size_t index, Cell cell, std::uint32_t depth, const Path& path,
           const std::optional<Tree>& tree) {
  const auto expect = [&](bool holds, const char* what) {
    if (!holds) throw Error(fmt::format("the paths of graph {} are wrong: {}", index, what));
  };
  const Colouring colouring = refine(std::span(&graph, 1));
  expect(Individualiser(graph, cell).draw({}, 0).classes == colouring.classes, "the root is not the stable colouring");
  std::vector<Node> names(graph.num_nodes());
  std::iota(names.begin(), names.end(), 0u);
  Stream stream(derive_key(kSeed, Purpose::graph_sample, static_cast<std::uint32_t>(index)));
  shuffle(names, stream);
  const Graph renamed = graph.relabelled(names);
  std::vector<Node> chosen;
  for (const Node v : path.chosen) chosen.push_back(names[v]);
  const Path other = Individualiser(renamed, cell).follow(chosen);
  for (Node v = 0; v < graph.num_nodes(); ++v) {
    expect(path.ranks[v] == other.ranks[names[v]], "a renumbered copy has other ranks");
  }
  expect(path.discrete || path.chosen.size() == depth, "a path ends too early");
  if (tree) expect(tree->path(tree->leaf(choices_of(index, 0))) == path, "the tree leads elsewhere");
}

Graph ring(Node nodes, bool closed) {
  std::vector<Edge> edges;
  for (Node v = 0; v + 1 < nodes; ++v) edges.emplace_back(v, v + 1);
  if (closed) edges.emplace_back(nodes - 1, 0);
  return Graph::from_edges(nodes, edges);
}

Graph star(Node nodes) {
  std::vector<Edge> edges;
  for (Node v = 1; v < nodes; ++v) edges.emplace_back(0, v);
  return Graph::from_edges(nodes, edges);
}

}  // namespace

PathBench bench_paths(std::span<const Graph> graphs, std::uint32_t depth, Cell cell, double seconds) {
  if (graphs.empty()) throw InputError("there are no graphs to draw paths from");
  PathBench out;
  out.graphs = graphs.size();
  std::vector<Individualiser> paths;
  std::vector<std::pair<std::size_t, Tree>> trees;
  paths.reserve(graphs.size());
  double steps = 0;
  for (std::size_t g = 0; g < graphs.size(); ++g) {
    out.nodes += graphs[g].num_nodes();
    paths.emplace_back(graphs[g], cell);
    const Path path = paths.back().draw(choices_of(g, 0), depth);
    steps += static_cast<double>(path.chosen.size());
    auto tree = make_tree(graphs[g], depth, cell);
    check(graphs[g], g, cell, depth, path, tree);
    if (tree) {
      out.table_bytes += static_cast<double>(tree->bytes());
      trees.emplace_back(g, std::move(*tree));
    }
  }
  out.mean_depth = steps / static_cast<double>(graphs.size());
  out.tables = trees.size();
  Path path;
  std::uint64_t sum = 0;  // so that nothing is left out as unused
  out.refinements_per_second =
      rate(graphs.size(), seconds, [&](std::size_t g, std::uint32_t) { sum += refine(graphs.subspan(g, 1)).classes; });
  out.draws_per_second = rate(graphs.size(), seconds, [&](std::size_t g, std::uint32_t draw) {
    paths[g].draw(choices_of(g, draw), depth, path);
    sum += path.classes;
  });
  if (!trees.empty()) {
    out.table_draws_per_second = rate(trees.size(), seconds, [&](std::size_t t, std::uint32_t draw) {
      sum += trees[t].second.leaf(choices_of(trees[t].first, draw));
    });
  }
  if (sum == 0 && out.nodes != 0) throw Error("paths of graphs with nodes have no classes");
  return out;
}

std::vector<LargePath> bench_large_paths(Node nodes) {
  const std::pair<const char*, Graph> cases[] = {{"cycle", ring(nodes, true)},
                                                 {"path", ring(nodes, false)},
                                                 {"cubic", random_cubic_graph(nodes + nodes % 2, kSeed)},
                                                 {"star", star(nodes)}};
  std::vector<LargePath> out;
  for (const auto& entry : cases) {
    const Graph& graph = entry.second;
    LargePath row;
    row.kind = entry.first;
    row.nodes = graph.num_nodes();
    row.edges = graph.num_edges();
    const double start = now();
    const Colouring plain = refine(std::span(&graph, 1));
    const double refined = now();
    Individualiser paths(graph);
    const Path path = paths.draw(choices_of(0, 0));
    row.leaf_seconds = now() - refined;
    row.refine_seconds = refined - start;
    row.depth = path.chosen.size();
    if (!path.discrete || paths.draw({}, 0).classes != plain.classes) {
      throw Error(fmt::format("the leaf of a {} of {} nodes is wrong", row.kind, row.nodes));
    }
    out.push_back(row);
  }
  return out;
}

// Three stubs per node, joined at random; loops and repeated edges are taken apart again by switching them with other
// edges drawn at random until there are none.
Graph random_cubic_graph(Node nodes, std::uint64_t seed) {
  std::vector<Node> stubs(3 * std::size_t{nodes});
  for (std::size_t i = 0; i < stubs.size(); ++i) stubs[i] = static_cast<Node>(i / 3);
  Stream stream(derive_key(seed, Purpose::graph_sample, nodes, 3));
  shuffle(stubs, stream);
  for (;;) {
    std::vector<std::pair<Edge, std::size_t>> edges;
    for (std::size_t i = 0; i < stubs.size(); i += 2) edges.push_back({std::minmax(stubs[i], stubs[i + 1]), i});
    std::ranges::sort(edges);
    std::vector<std::size_t> bad;
    for (std::size_t e = 0; e < edges.size(); ++e) {
      const bool loop = edges[e].first.first == edges[e].first.second;
      if (loop || (e > 0 && edges[e].first == edges[e - 1].first)) bad.push_back(edges[e].second);
    }
    if (bad.empty()) break;
    for (const std::size_t i : bad) std::swap(stubs[i], stubs[static_cast<std::size_t>(stream.below(stubs.size()))]);
  }
  std::vector<Edge> edges;
  for (std::size_t i = 0; i < stubs.size(); i += 2) edges.emplace_back(stubs[i], stubs[i + 1]);
  return Graph::from_edges(nodes, edges);
}

}  // namespace tyche::measure
