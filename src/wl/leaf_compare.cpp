#include "wl/leaf_compare.hpp"

#include <algorithm>
#include <unordered_map>
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
    around.clear();
    for (std::uint64_t arc = graph.offsets()[v]; arc < graph.offsets()[v + 1]; ++arc) {
      around.emplace_back(ranks[graph.adjacency()[arc]], graph.edge_label(arc));
    }
    std::sort(around.begin(), around.end());
    for (const auto& [near, label] : around) {
      out.rows.push_back(near);
      if (out.labelled) out.rows.push_back(label);
    }
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

namespace {

/// A hash of the quotient of a stable colouring: unequal ones are of different quotients. Neighbours enter as a sum, so
/// nothing is sorted.
std::uint64_t quotient_hash(const Graph& graph, const RankRefiner::State& colouring) {
  std::uint64_t hash = graph.num_nodes();
  for (std::size_t p = 0; p < colouring.order.size();) {
    const Node v = colouring.order[p];
    const Node size = colouring.size[colouring.cls[v]];
    std::uint64_t around = 0;
    for (std::uint64_t arc = graph.offsets()[v]; arc < graph.offsets()[v + 1]; ++arc) {
      const Node colour = colouring.start[colouring.cls[graph.adjacency()[arc]]];
      around += mix(std::uint64_t{graph.edge_label(arc)} << 32 | colour);
    }
    hash = mix(hash ^ mix(std::uint64_t{graph.type(v)} << 32 | size) ^ around);
    p += size;
  }
  return hash;
}

LeafGraph leaf_here(const Graph& graph, const Individualiser& walker) {
  std::vector<std::uint32_t> ranks;
  walker.ranks(ranks);
  return leaf_graph(graph, ranks, walker.classes());
}

/// Looks for the first leaf of one graph in the tree of another.
class LeafSearch {
 public:
  LeafSearch(const Graph& a, const Graph& b, const PathOptions& options, std::uint64_t most_work)
      : b_(&b), walker_(b, options.cell), work_left_(most_work), cost_(1 + b.num_nodes() + b.adjacency().size()) {
    Individualiser way(a, options.cell);
    while (true) {
      if (interrupted()) throw Interrupted("stopped while leaves were compared");
      wanted_.push_back(quotient_hash(a, way.colouring()));
      if (way.discrete()) break;
      // A way of thousands of steps has a tree that nobody walks, and places on it are O(n) numbers each.
      if (!pay() || wanted_.size() * 7 * sizeof(Node) * a.num_nodes() > options.tree.bytes) return;
      way.step(way.member(0));
    }
    leaf_ = leaf_here(a, way);
  }

  /// Whether it is there; nothing where the work was spent before that was known.
  std::optional<bool> found() {
    if (!leaf_) return std::nullopt;
    return look(0);
  }
  [[nodiscard]] std::uint64_t places() const { return places_; }

 private:
  bool pay() {
    if (work_left_ < cost_) return false;
    work_left_ -= cost_;
    ++places_;
    return true;
  }

  /// Whether the leaf is at this place or behind it.
  std::optional<bool> look(std::size_t depth) {
    if (interrupted()) throw Interrupted("stopped while leaves were compared");
    if (!pay()) return std::nullopt;
    if (depth >= wanted_.size() || quotient_hash(*b_, walker_.colouring()) != wanted_[depth]) return false;
    // The quotient of a leaf is the whole graph: but for a collision of hashes this leaf is the wanted one. (So there
    // is nothing to learn from equal leaves, as programs do that look for automorphisms: none but this is looked at.)
    if (walker_.discrete()) return leaf_here(*b_, walker_) == *leaf_;
    const std::vector<Node> members = walker_.members();
    const Individualiser::Place here = walker_.place();
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (i != 0) walker_.go_to(here);
      walker_.step(members[i]);
      const std::optional<bool> seen = look(depth + 1);
      if (seen != false) return seen;
    }
    return false;
  }

  const Graph* b_;
  Individualiser walker_;
  std::uint64_t work_left_;
  std::uint64_t cost_;
  std::uint64_t places_ = 0;
  std::vector<std::uint64_t> wanted_;  // quotients on the way to leaf_
  std::optional<LeafGraph> leaf_;
};

// Both trees in full, to a depth; nothing where one is too large.
std::optional<LeafVerdict> compare_trees(const Graph& a, const Graph& b, const PathOptions& options,
                                         std::uint64_t& places) {
  const auto one = make_tree(a, options.depth, options.cell, options.tree);
  if (!one) return std::nullopt;
  const auto other = make_tree(b, options.depth, options.cell, options.tree);
  if (!other) return std::nullopt;
  places = one->forks.size() + other->forks.size();
  std::unordered_map<LeafGraph, std::int64_t, LeafGraphHash> balance;
  const auto add = [&](const Graph& graph, const Tree& tree, std::int64_t each) {
    for (std::uint32_t leaf = 0; leaf < tree.leaves(); ++leaf) {
      balance[leaf_graph(graph, tree.ranks_of(leaf), tree.classes[leaf])] += each;
    }
  };
  add(a, *one, 1);
  add(b, *other, -1);
  bool leaves = false;
  for (const auto& entry : balance) {
    if (entry.second != 0) return LeafVerdict::different;
    leaves |= entry.first.discrete;
  }
  return leaves ? LeafVerdict::isomorphic : LeafVerdict::unknown;
}

bool draws_meet(const Graph& a, const Graph& b, const PathOptions& options, std::uint32_t i, std::uint32_t j) {
  Individualiser of_a(a, options.cell);
  Individualiser of_b(b, options.cell);
  std::unordered_set<LeafGraph, LeafGraphHash> seen;
  Path path;
  for (std::uint32_t draw = 0; draw < 2 * options.draws; ++draw) {
    if (interrupted()) throw Interrupted("stopped while leaves were compared");
    const bool first = draw < options.draws;
    const Choices choices = choices_of(options, first ? draw : draw - options.draws, first ? i : j);
    (first ? of_a : of_b).draw(choices, options.depth, path);
    if (!path.discrete) continue;
    LeafGraph leaf = leaf_graph(first ? a : b, path);
    if (first) {
      seen.insert(std::move(leaf));
    } else if (seen.contains(leaf)) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::string_view name(LeafVerdict verdict) {
  constexpr std::string_view kNames[] = {"isomorphic", "different", "unknown"};
  return kNames[static_cast<std::size_t>(verdict)];
}

LeafComparison compare_leaves(const Graph& a, const Graph& b, const PathOptions& options, std::uint32_t i,
                              std::uint32_t j, std::uint64_t most_work) {
  LeafComparison out;
  if (a.num_nodes() != b.num_nodes() || a.num_edges() != b.num_edges()) return {LeafVerdict::different};
  if (options.depth >= a.num_nodes()) {  // no path is longer: as good as kLeaf
    LeafSearch search(a, b, options, most_work);
    const std::optional<bool> found = search.found();
    out.places = search.places();
    if (found) return {*found ? LeafVerdict::isomorphic : LeafVerdict::different, out.places};
  } else if (const auto verdict = compare_trees(a, b, options, out.places)) {
    return {*verdict, out.places};
  }
  out.draws = options.draws;
  if (draws_meet(a, b, options, i, j)) out.verdict = LeafVerdict::isomorphic;
  return out;
}

}  // namespace tyche::wl
