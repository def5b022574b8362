#include "wl/pair_refiner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>

#include "support/error.hpp"
#include "support/progress.hpp"

namespace tyche::wl {
namespace {

/// How nodes lie to a root: 0 itself, 1 + label next to it, kApart else; or the distance, cut.
constexpr std::uint64_t kApart = std::numeric_limits<std::uint64_t>::max();

void relations_to(const Graph& graph, Node root, const std::optional<std::uint32_t>& cut,
                  std::vector<std::uint64_t>& out) {
  out.assign(graph.num_nodes(), kApart);
  out[root] = 0;
  if (!cut) {
    for (std::uint64_t arc = graph.offsets()[root]; arc < graph.offsets()[root + 1]; ++arc) {
      out[graph.adjacency()[arc]] = 1 + std::uint64_t{graph.edge_label(arc)};
    }
    return;
  }
  std::vector<Node> reached = {root};
  for (std::size_t at = 0; at < reached.size() && out[reached[at]] < *cut; ++at) {
    for (const Node w : graph.neighbours(reached[at])) {
      if (out[w] != kApart) continue;
      out[w] = out[reached[at]] + 1;
      reached.push_back(w);
    }
  }
}

using PairType = std::array<std::uint64_t, 3>;

/// The graph whose nodes are the pairs (u, v), at u · n + v. Labels keep the two places apart.
Graph pairs_of(const Graph& graph, bool both, std::vector<NodeType> types) {
  const Node n = graph.num_nodes();
  std::vector<Edge> edges;
  std::vector<EdgeLabel> labels;
  const std::vector<Edge> own = graph.edges();
  const std::vector<EdgeLabel> label = graph.labels_of_edges();
  edges.reserve(own.size() * n * (both ? 2 : 1));
  for (std::size_t e = 0; e < own.size(); ++e) {
    const auto [a, b] = own[e];
    const EdgeLabel l = label.empty() ? 0 : label[e];
    for (Node u = 0; u < n; ++u) {
      edges.emplace_back(u * n + a, u * n + b);
      labels.push_back(both ? 2 * l : l);
      if (!both) continue;
      edges.emplace_back(a * n + u, b * n + u);
      labels.push_back(2 * l + 1);
    }
  }
  return Graph::from_edges(n * n, edges, std::move(types), labels);
}

std::vector<Graph> graphs_of_pairs(std::span<const Graph* const> graphs, const Options& options) {
  const bool both = options.space == Space::pairs;
  // Beside types and keys of pairs: edges with labels while a graph of pairs is made, its arcs, and those that
  // ColourRefiner keeps of all graphs with its lists.
  double pairs = 0, bytes = 0;
  for (const Graph* graph : graphs) {
    const double n = graph->num_nodes();
    pairs += n * n;
    bytes += 100 * n * n + (both ? 2 : 1) * 68 * n * static_cast<double>(graph->num_edges());
  }
  const double limit = memory_limit(options);
  if (pairs > std::numeric_limits<std::uint32_t>::max() - 1.0 || bytes > limit) {
    throw InputError(fmt::format(
        "refinement of {:.0f} pairs of nodes needs about {:.1f} GiB of memory; the limit is {:.1f} GiB and 2^32 - 2 "
        "pairs",
        pairs, bytes / 0x1p30, limit / 0x1p30));
  }
  for (const Graph* graph : graphs) {
    const auto labels = graph->edge_labels();
    if (both && !labels.empty() && *std::max_element(labels.begin(), labels.end()) >> 31 != 0) {
      throw InputError("refinement of pairs can deal with labels of edges below 2^31");
    }
  }
  std::vector<PairType> keys;
  std::vector<std::uint64_t> relation;
  for (const Graph* graph : graphs) {
    if (interrupted()) throw Interrupted("stopped in round 0 of pairs");
    for (Node u = 0; u < graph->num_nodes(); ++u) {
      relations_to(*graph, u, options.distance_cut, relation);
      for (Node v = 0; v < graph->num_nodes(); ++v) keys.push_back({graph->type(u), graph->type(v), relation[v]});
    }
  }
  std::vector<PairType> different = keys;
  std::sort(different.begin(), different.end());
  different.erase(std::unique(different.begin(), different.end()), different.end());
  std::vector<Graph> out;
  auto key = keys.begin();
  for (const Graph* graph : graphs) {
    std::vector<NodeType> types(std::size_t{graph->num_nodes()} * graph->num_nodes());
    for (NodeType& type : types) {
      type = static_cast<NodeType>(std::ranges::lower_bound(different, *key++) - different.begin());
    }
    out.push_back(pairs_of(*graph, both, std::move(types)));
  }
  return out;
}

std::vector<const Graph*> pointers_to(std::span<const Graph> graphs) {
  std::vector<const Graph*> out;
  for (const Graph& graph : graphs) out.push_back(&graph);
  return out;
}

}  // namespace

PairRefiner::PairRefiner(std::span<const Graph* const> graphs, const Options& options)
    : graphs_(graphs_of_pairs(graphs, options)), refiner_(pointers_to(graphs_), options.threads) {
  for (const Graph* graph : graphs) nodes_.push_back(graph->num_nodes());
  look();
}

bool PairRefiner::step() {
  if (!refiner_.step()) return false;
  look();
  return true;
}

void PairRefiner::look() {
  // Finer colours of pairs tell apart what coarser ones do.
  if (nodes_.size() != 2 || told_apart_) return;
  std::vector<std::uint32_t> roots = colours();
  const auto second = roots.begin() + nodes_[0];
  std::sort(roots.begin(), second);
  std::sort(second, roots.end());
  told_apart_ = !std::equal(roots.begin(), second, second, roots.end());
}

std::vector<std::uint32_t> PairRefiner::colours() const {
  std::vector<std::uint32_t> pairs = refiner_.colours(), out;
  std::map<std::vector<std::uint32_t>, std::uint32_t> numbers;
  auto row = pairs.begin();
  for (const Node n : nodes_) {
    for (Node u = 0; u < n; ++u, row += n) {
      std::sort(row, row + n);
      const auto number = static_cast<std::uint32_t>(numbers.size());
      out.push_back(numbers.try_emplace({row, row + n}, number).first->second);
    }
  }
  return out;
}

}  // namespace tyche::wl
