#include "datasets/node_tasks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "datasets/counting.hpp"
#include "graph/isomorphism.hpp"
#include "graph/patterns.hpp"
#include "support/error.hpp"
#include "support/random.hpp"
#include "wl/colour_refinement.hpp"
#include "wl/individualise.hpp"

namespace tyche::datasets {

namespace {

constexpr std::string_view kTaskNames[] = {"triangle", "lcc", "orbits", "matching"};

/// Closed walks of three steps from a node, halved: its triangles by way of the adjacency matrix.
int half_cube(const Graph& graph, Node v) {
  std::vector<std::uint64_t> walks(graph.num_nodes(), 0), next;
  walks[v] = 1;
  for (int step = 0; step < 3; ++step) {
    next.assign(graph.num_nodes(), 0);
    for (Node u = 0; u < graph.num_nodes(); ++u) {
      for (const Node w : graph.neighbours(u)) next[w] += walks[u];
    }
    walks.swap(next);
  }
  return static_cast<int>(walks[v] / 2);
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
  std::vector<Node> different = lengths;
  std::sort(different.begin(), different.end());
  different.erase(std::unique(different.begin(), different.end()), different.end());
  std::vector<Edge> edges;
  std::vector<int> labels;
  for (const Node length : lengths) {
    const auto first = static_cast<Node>(labels.size());
    for (Node i = 0; i < length; ++i) edges.emplace_back(first + i, first + (i + 1) % length);
    const auto rank = std::lower_bound(different.begin(), different.end(), length) - different.begin();
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
/// nodes are matched in their order, with neighbours in their order, along augmenting paths.
class Matcher {
 public:
  Matcher(const Graph& graph, std::span<const std::uint32_t> ranks)
      : graph_(graph), ranks_(ranks), partner_(ranks.size(), kFree), at_(ranks.size()) {
    for (Node v = 0; v < ranks.size(); ++v) at_[ranks[v]] = v;
  }

  std::vector<int> labels() {
    std::vector<int> out(at_.size(), -1);
    for (const Node v : at_) {
      seen_.assign(at_.size(), 0);
      if (partner_[v] == kFree) match(v);
    }
    int next = 0;
    for (const Node v : at_) {
      if (out[v] != -1) continue;
      if (partner_[v] == kFree) throw Error("a circulant graph has no perfect matching");
      out[v] = out[partner_[v]] = next++;
    }
    return out;
  }

 private:
  static constexpr Node kFree = ~Node{0};

  bool match(Node v) {
    std::vector<std::uint32_t> around;
    for (const Node w : graph_.neighbours(v)) around.push_back(ranks_[w]);
    std::sort(around.begin(), around.end());
    for (const std::uint32_t rank : around) {
      const Node w = at_[rank];
      if (seen_[w]++ != 0) continue;
      if (partner_[w] != kFree && !match(partner_[w])) continue;
      partner_[w] = v;
      partner_[v] = w;
      return true;
    }
    return false;
  }

  const Graph& graph_;
  std::span<const std::uint32_t> ranks_;
  std::vector<Node> partner_;
  std::vector<Node> at_;
  std::vector<std::uint32_t> seen_;
};

/// Orbits of the automorphism group: nodes by the canonical form of the graph in which they are marked.
std::vector<std::uint32_t> orbits_by_marks(const Graph& graph) {
  std::vector<std::uint32_t> out;
  std::vector<Graph> forms;
  for (Node v = 0; v < graph.num_nodes(); ++v) {
    std::vector<NodeType> types(graph.num_nodes(), 0);
    types[v] = 1;
    const Graph form = canonical_form(Graph::from_edges(graph.num_nodes(), graph.edges(), types));
    const auto at = std::find(forms.begin(), forms.end(), form);
    out.push_back(static_cast<std::uint32_t>(at - forms.begin()));
    if (at == forms.end()) forms.push_back(form);
  }
  return out;
}

std::string examine_matching(const Graph& graph, const std::vector<int>& labels) {
  std::map<int, std::vector<Node>> edges;
  for (Node v = 0; v < graph.num_nodes(); ++v) edges[labels[v]].push_back(v);
  for (const auto& [label, ends] : edges) {
    if (ends.size() == 2 && graph.has_edge(ends[0], ends[1])) continue;
    return fmt::format("label {} is on {} nodes, expected two that an edge joins", label, ends.size());
  }
  for (const std::uint32_t orbit : orbits_by_marks(graph)) {
    if (orbit != 0) return "not all nodes are in one orbit of the automorphism group";
  }
  return "";
}

std::string examine_orbits(const Graph& graph, const std::vector<int>& labels) {
  const std::vector<std::uint32_t> orbits = orbits_by_marks(graph);
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
    out.labels = Matcher(out.graph, path.ranks).labels();
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
