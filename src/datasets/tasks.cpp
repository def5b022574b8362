#include "datasets/tasks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <numeric>
#include <set>

#include "graph/isomorphism.hpp"
#include "graph/patterns.hpp"
#include "support/error.hpp"
#include "wl/colour_refinement.hpp"
#include "wl/individualise.hpp"

namespace tyche::datasets {

namespace {

struct Size {
  Node nodes, degree;
};
constexpr Size kSizes[] = {{10, 6}, {15, 6}, {20, 5}, {30, 5}};

const std::vector<Pattern>& patterns() {
  static const std::vector<Pattern> all = parse_patterns(kUsualPatterns);
  return all;
}

std::vector<float> targets_of(const Graph& graph) {
  std::vector<float> out;
  for (const Pattern& pattern : patterns()) {
    out.push_back(static_cast<float>(PatternCounter(pattern.graph).count(graph).in_all));
  }
  return out;
}

constexpr std::string_view kTaskNames[] = {"triangle", "lcc", "orbits", "matching"};

/// Closed walks of three steps from a node, halved: its triangles by way of the adjacency matrix.
int half_cube(const Graph& graph, Node v) {
  int walks = 0;
  for (const Node u : graph.neighbours(v)) {
    for (const Node w : graph.neighbours(u)) walks += graph.has_edge(w, v) ? 1 : 0;
  }
  return walks / 2;
}

/// Cycles of different lengths from 3 nodes on, as many of each as fit, until all nodes are used.
NodeLabelled disjoint_cycles(Node nodes, Stream& stream) {
  std::vector<Node> lengths;
  for (Node left = nodes; left > 0;) {
    // What is left must be a cycle too; the first is never all of it, so that there are two lengths or more below.
    const Node most = left - (lengths.empty() ? 4 : 3);
    const bool last = left < 6 || (!lengths.empty() && stream.below(4) == 0);
    lengths.push_back(last ? left : 3 + static_cast<Node>(stream.below(most - 2)));
    left -= lengths.back();
  }
  const std::set<Node> different(lengths.begin(), lengths.end());
  std::vector<Edge> edges;
  std::vector<int> labels;
  for (const Node length : lengths) {
    const auto first = static_cast<Node>(labels.size());
    for (Node i = 0; i < length; ++i) edges.emplace_back(first + i, first + (i + 1) % length);
    const auto rank = std::distance(different.begin(), different.find(length));
    labels.insert(labels.end(), length, static_cast<int>(rank));
  }
  return {Graph::from_edges(nodes, edges), labels};
}

/// Every node joined to those `jump` places on, for 1 and a few other odd numbers: bipartite where nodes are even, so
/// that paths find its matchings.
Graph circulant(Node nodes, Stream& stream) {
  std::vector<Edge> edges;
  for (Node jump = 1; 2 * jump < nodes; jump += 2) {
    if (jump > 1 && stream.below(4) != 0) continue;
    for (Node v = 0; v < nodes; ++v) edges.emplace_back(v, (v + jump) % nodes);
  }
  return Graph::from_edges(nodes, edges);
}

/// A perfect matching of a regular bipartite graph whose nodes are told apart by their ranks, by a look at these alone:
/// nodes are matched in their order, with neighbours in their order, along augmenting paths. Labels are its edges.
std::vector<int> matching_by_ranks(const Graph& graph, std::span<const std::uint32_t> ranks) {
  constexpr Node kFree = ~Node{0};
  std::vector<Node> at(ranks.size()), partner(ranks.size(), kFree);
  for (Node v = 0; v < ranks.size(); ++v) at[ranks[v]] = v;
  std::vector<bool> seen;
  const std::function<bool(Node)> match = [&](Node v) {
    std::vector<std::uint32_t> around;
    for (const Node w : graph.neighbours(v)) around.push_back(ranks[w]);
    std::ranges::sort(around);
    for (const std::uint32_t rank : around) {
      const Node w = at[rank];
      if (seen[w]) continue;
      seen[w] = true;
      if (partner[w] != kFree && !match(partner[w])) continue;
      partner[w] = v;
      partner[v] = w;
      return true;
    }
    return false;
  };
  std::vector<int> labels(ranks.size(), -1);
  for (const Node v : at) {
    seen.assign(ranks.size(), false);
    if (partner[v] == kFree) match(v);
  }
  int next = 0;
  for (const Node v : at) {
    if (partner[v] == kFree) throw Error("a circulant graph has no perfect matching");
    if (labels[v] == -1) labels[v] = labels[partner[v]] = next++;
  }
  return labels;
}

std::string examine_matching(const Graph& graph, const std::vector<int>& labels) {
  std::map<int, std::vector<Node>> edges;
  for (Node v = 0; v < graph.num_nodes(); ++v) edges[labels[v]].push_back(v);
  for (const auto& [label, ends] : edges) {
    if (ends.size() == 2 && graph.has_edge(ends[0], ends[1])) continue;
    return fmt::format("label {} is on {} nodes, expected two that an edge joins", label, ends.size());
  }
  const std::vector<Node> orbits = canonical_orbits(graph);
  const bool one = std::ranges::all_of(orbits, [&](Node orbit) { return orbit == orbits[0]; });
  return one ? "" : "not all nodes are in one orbit of the automorphism group";
}

std::string examine_orbits(const Graph& graph, const std::vector<int>& labels) {
  const std::vector<Node> orbits = canonical_orbits(graph);
  std::map<std::uint32_t, int> of_orbit;
  std::map<int, std::uint32_t> of_label;
  for (Node v = 0; v < graph.num_nodes(); ++v) {
    const auto label = of_orbit.emplace(orbits[v], labels[v]).first->second;
    const auto orbit = of_label.emplace(labels[v], orbits[v]).first->second;
    if (label != labels[v] || orbit != orbits[v]) {
      return fmt::format("node {} has label {}, and its orbit has label {}", v, labels[v], label);
    }
  }
  return of_orbit.size() < 2 ? "all nodes are in one orbit: there is nothing to tell" : "";
}

}  // namespace

void check(const CountingParameters& parameters) {
  if (parameters.graphs == 0 || parameters.graphs > 1000000000) {
    throw InputError("{} graphs are out of range: 1 to 1000000000", parameters.graphs);
  }
}

Graph random_regular(Node nodes, Node degree, Stream& stream) {
  for (;;) {
    std::vector<Node> stubs;
    for (Node v = 0; v < nodes; ++v) stubs.insert(stubs.end(), degree, v);
    std::vector<std::uint8_t> joined(std::size_t{nodes} * nodes);
    std::vector<Edge> edges;
    // So many failures in a row: likely nothing is left that may be joined.
    for (std::size_t failures = 0; !stubs.empty() && failures < 50;) {
      const std::size_t i = stream.below(stubs.size()), j = stream.below(stubs.size());
      const auto [u, v] = std::minmax(stubs[i], stubs[j]);
      if (u == v || joined[u * nodes + v] != 0) {
        ++failures;
        continue;
      }
      failures = 0;
      joined[u * nodes + v] = 1;
      edges.emplace_back(u, v);
      stubs.erase(stubs.begin() + static_cast<std::ptrdiff_t>(std::max(i, j)));
      stubs.erase(stubs.begin() + static_cast<std::ptrdiff_t>(std::min(i, j)));
    }
    if (stubs.empty()) return Graph::from_edges(nodes, edges);
  }
}

CountedGraph make_counting(const CountingParameters& parameters, std::uint64_t index) {
  Stream stream(derive_key(parameters.seed, Purpose::counting, static_cast<std::uint32_t>(index)));
  const Size size = kSizes[stream.below(std::size(kSizes))];
  std::vector<Edge> edges = random_regular(size.nodes, size.degree, stream).edges();
  shuffle(edges, stream);
  edges.resize(edges.size() - size.nodes);
  CountedGraph out{Graph::from_edges(size.nodes, edges), {}};
  out.targets = targets_of(out.graph);
  return out;
}

std::string examine_counting(const Graph& graph, std::span<const float> targets) {
  const std::vector<float> found = targets_of(graph);
  if (targets.size() != found.size()) {
    return fmt::format("{} targets, expected {}: {}", targets.size(), found.size(), kUsualPatterns);
  }
  for (std::size_t p = 0; p < found.size(); ++p) {
    const auto summed = static_cast<float>(count_by_homomorphisms(patterns()[p].graph, graph));
    if (targets[p] == found[p] && found[p] == summed) continue;
    return fmt::format("{}: target {}, {} copies found, {} by homomorphisms", patterns()[p].name, targets[p], found[p],
                       summed);
  }
  return "";
}

std::string_view name(NodeTask task) { return kTaskNames[static_cast<std::size_t>(task)]; }

void check(const NodeTaskParameters& p) {
  const auto refuse = [&](const std::string& what) { throw InputError("{}: {}", name(p.task), what); };
  if (p.graphs == 0 || p.graphs > 1000000000)
    refuse(fmt::format("{} graphs are out of range: 1 to 1000000000", p.graphs));
  const std::uint32_t least = p.task == NodeTask::orbits ? 7 : p.task == NodeTask::matching ? 6 : 4;
  if (p.nodes < least || p.nodes > 10000) refuse(fmt::format("{} nodes are out of range: {} to 10000", p.nodes, least));
  if (p.task == NodeTask::matching && p.nodes % 2 != 0) {
    refuse(fmt::format("expected an even number of nodes, found {}", p.nodes));
  }
  if (p.task > NodeTask::lcc) return;
  if (p.degree < 2 || p.degree >= p.nodes || p.nodes * p.degree % 2 != 0) {
    refuse(fmt::format("expected a degree from 2 to {} that makes nodes times degree even, found {}", p.nodes - 1,
                       p.degree));
  }
}

NodeLabelled make_node_task(const NodeTaskParameters& p, std::uint64_t index) {
  const auto own = static_cast<std::uint32_t>(index);
  Stream stream(derive_key(p.seed, Purpose::counting, own, 1 + static_cast<std::uint32_t>(p.task)));
  NodeLabelled made;
  if (p.task == NodeTask::orbits) {
    do {
      made = disjoint_cycles(p.nodes, stream);
    } while (*std::max_element(made.labels.begin(), made.labels.end()) == 0);
  } else {
    made.graph = p.task == NodeTask::matching ? circulant(p.nodes, stream) : random_regular(p.nodes, p.degree, stream);
  }
  std::vector<Node> names(p.nodes);
  std::iota(names.begin(), names.end(), 0u);
  shuffle(names, stream);
  NodeLabelled out{made.graph.relabelled(names), std::vector<int>(p.nodes)};
  if (p.task == NodeTask::matching) {
    wl::Individualiser paths(out.graph);
    const wl::Path path = paths.draw({derive_key(p.seed, Purpose::individualise, own), own});
    out.labels = matching_by_ranks(out.graph, path.ranks);
  }
  // Edges among the neighbours of a node are its triangles.
  static const PatternCounter triangles(named_pattern("cycle3").graph);
  const PatternCounts closed = p.task <= NodeTask::lcc ? triangles.count(out.graph) : PatternCounts{};
  for (Node v = 0; v < p.nodes; ++v) {
    if (p.task == NodeTask::orbits) out.labels[names[v]] = made.labels[v];
    if (p.task == NodeTask::lcc) out.labels[v] = static_cast<int>(closed.of_nodes[v]);
    if (p.task == NodeTask::triangle) out.labels[v] = closed.of_nodes[v] > 0 ? 1 : 0;
  }
  return out;
}

std::string examine_node_task(NodeTask task, const Graph& graph, const std::vector<int>& labels) {
  if (labels.size() != graph.num_nodes()) {
    return fmt::format("{} labels for {} nodes", labels.size(), graph.num_nodes());
  }
  if (wl::refine(std::span(&graph, 1)).classes > 1) return "1-WL tells some of its nodes apart";
  if (task == NodeTask::orbits) return examine_orbits(graph, labels);
  if (task == NodeTask::matching) return examine_matching(graph, labels);
  for (Node v = 0; v < graph.num_nodes(); ++v) {
    const int triangles = half_cube(graph, v);
    const int expected = task == NodeTask::lcc ? triangles : triangles > 0 ? 1 : 0;
    if (labels[v] != expected) {
      return fmt::format("node {} has label {}, and is in {} triangles", v, labels[v], triangles);
    }
  }
  return "";
}

}  // namespace tyche::datasets
