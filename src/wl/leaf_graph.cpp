#include "wl/leaf_graph.hpp"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "support/error.hpp"
#include "support/intern.hpp"
#include "support/progress.hpp"

namespace tyche::wl {

LeafGraph leaf_graph(const Graph& graph, std::span<const std::uint32_t> ranks, std::uint32_t classes) {
  LeafGraph out;
  out.discrete = classes == graph.num_nodes();
  out.labelled = graph.has_edge_labels();
  std::vector<Node> representative(classes);
  std::vector<std::uint32_t> sizes(classes, 0);
  for (Node v = 0; v < graph.num_nodes(); ++v) {
    representative[ranks[v]] = v;
    ++sizes[ranks[v]];
  }
  std::size_t words = 1 + 3 * std::size_t{classes};
  for (const Node v : representative) words += std::size_t{graph.degree(v)} * (out.labelled ? 2 : 1);
  out.rows.reserve(words);
  out.rows.push_back(graph.num_nodes());
  std::vector<std::pair<std::uint32_t, EdgeLabel>> around;
  for (std::uint32_t rank = 0; rank < classes; ++rank) {
    const Node v = representative[rank];
    out.rows.insert(out.rows.end(), {graph.type(v), sizes[rank], graph.degree(v)});
    if (out.labelled) {
      around.clear();
      for (std::uint64_t arc = graph.offsets()[v]; arc < graph.offsets()[v + 1]; ++arc) {
        around.emplace_back(ranks[graph.adjacency()[arc]], graph.edge_label(arc));
      }
      std::sort(around.begin(), around.end());
      for (const auto& entry : around) out.rows.insert(out.rows.end(), {entry.first, entry.second});
      continue;
    }
    const auto begin = static_cast<std::ptrdiff_t>(out.rows.size());
    for (const Node u : graph.neighbours(v)) out.rows.push_back(ranks[u]);
    std::sort(out.rows.begin() + begin, out.rows.end());
  }
  return out;
}

LeafGraph leaf_graph(const Graph& graph, const Path& path) { return leaf_graph(graph, path.ranks, path.classes); }

std::size_t LeafGraphHash::operator()(const LeafGraph& leaf) const {
  std::uint64_t hash = leaf.rows.size();
  for (const std::uint32_t word : leaf.rows) hash = mix(hash ^ word);
  return static_cast<std::size_t>(hash);
}

Choices choices_of(const PathOptions& options, std::uint32_t draw, std::uint32_t graph) {
  return {derive_key(options.seed, Purpose::individualise, draw), graph};
}

Survey survey(const Graph& graph, std::uint32_t index, const PathOptions& options) {
  using Seen = std::unordered_set<LeafGraph, LeafGraphHash>;
  Survey out;
  out.draws = options.draws;
  Seen seen;
  Individualiser paths(graph, options.cell);
  Path path;
  std::uint64_t steps = 0;
  for (std::uint32_t draw = 0; draw < options.draws; ++draw) {
    if (interrupted()) throw Interrupted("stopped before all paths were drawn");
    paths.draw(choices_of(options, draw, index), options.depth, path);
    const auto depth = static_cast<std::uint32_t>(path.chosen.size());
    out.least_depth = draw == 0 ? depth : std::min(out.least_depth, depth);
    out.most_depth = std::max(out.most_depth, depth);
    steps += depth;
    out.discrete += path.discrete;
    seen.insert(leaf_graph(graph, path));
  }
  out.distinct = static_cast<std::uint32_t>(seen.size());
  out.mean_depth = static_cast<double>(steps) / std::max(1u, options.draws);
  if (const auto tree = make_tree(graph, options.depth, options.cell, options.tree)) {
    Seen all;
    for (std::uint32_t leaf = 0; leaf < tree->leaves(); ++leaf) {
      all.insert(leaf_graph(graph, tree->ranks_of(leaf), tree->classes[leaf]));
    }
    out.tree = {tree->leaves(), static_cast<std::uint32_t>(all.size())};
  }
  return out;
}

}  // namespace tyche::wl
