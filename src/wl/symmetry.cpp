#include "wl/symmetry.hpp"

#include <algorithm>
#include <numeric>

#include "support/error.hpp"
#include "support/progress.hpp"
#include "support/random.hpp"
#include "wl/individualise.hpp"

namespace tyche::wl {
namespace {

constexpr std::size_t kDeepest = 256;  // steps of a path on which automorphisms are looked for

bool is_automorphism(const Graph& graph, const Permutation& map) {
  for (Node v = 0; v < graph.num_nodes(); ++v) {
    if (graph.type(v) != graph.type(map[v]) || graph.degree(v) != graph.degree(map[v])) return false;
    for (std::uint64_t arc = graph.offsets()[v]; arc < graph.offsets()[v + 1]; ++arc) {
      const Node to = map[graph.adjacency()[arc]];
      if (!graph.has_edge(map[v], to)) return false;
      if (graph.has_edge_labels() && graph.edge_label(arc) != graph.edge_label(graph.arc(map[v], to))) return false;
    }
  }
  return true;
}

bool is_identity(const Permutation& map) {
  for (Node v = 0; v < map.size(); ++v) {
    if (map[v] != v) return false;
  }
  return true;
}

/// Orbits as a forest: nodes that are known to be alike.
class Alike {
 public:
  explicit Alike(Node nodes) : parent_(nodes) { std::iota(parent_.begin(), parent_.end(), 0u); }
  Node find(Node v) {
    while (parent_[v] != v) v = parent_[v] = parent_[parent_[v]];
    return v;
  }
  void add(const Permutation& map) {
    for (Node v = 0; v < map.size(); ++v) {
      const Node a = find(v), b = find(map[v]);
      parent_[std::max(a, b)] = std::min(a, b);
    }
  }

 private:
  std::vector<Node> parent_;
};

/// first, then second.
Permutation then(const Permutation& first, const Permutation& second) {
  Permutation out(first.size());
  for (Node v = 0; v < out.size(); ++v) out[v] = second[first[v]];
  return out;
}

}  // namespace

std::vector<Permutation> find_automorphisms(const Graph& graph) {
  const Node nodes = graph.num_nodes();
  std::vector<Permutation> out;
  Individualiser walker(graph, Cell::first_largest);
  std::vector<Individualiser::Place> places;
  std::vector<std::vector<Node>> cells;
  while (!walker.discrete()) {
    // Graphs of many twins have ways of thousands of steps, and places on them are O(n) numbers each.
    if (places.size() == kDeepest) return out;
    places.push_back(walker.place());
    cells.push_back(walker.members());
    walker.step(cells.back().front());
  }
  const std::vector<Node> leaf = walker.colouring().order;  // rank -> node
  Permutation map(nodes);
  Alike alike(nodes);  // under what was found at this level or below, all of which keep what was chosen above it
  for (std::size_t level = places.size(); level-- > 0;) {
    const std::vector<Node>& cell = cells[level];
    // Where the first leaves of several members show other graphs, the cell is likely to be of several orbits.
    std::size_t failures_left = 4 + cell.size() / 8;
    for (std::size_t i = 1; i < cell.size() && failures_left != 0; ++i) {
      if (interrupted()) throw Interrupted("stopped while automorphisms were looked for");
      if (alike.find(cell[i]) == alike.find(cell.front())) continue;
      walker.go_to(places[level]);
      walker.step(cell[i]);
      std::size_t depth = level + 1;
      for (; !walker.discrete() && depth < places.size(); ++depth) walker.step(walker.member(0));
      if (walker.discrete() && depth == places.size()) {
        for (Node r = 0; r < nodes; ++r) map[leaf[r]] = walker.colouring().order[r];
        if (is_automorphism(graph, map)) {
          alike.add(map);
          out.push_back(map);
          continue;
        }
      }
      --failures_left;
    }
  }
  return out;
}

Symmetry::Symmetry(Node count, std::span<const Permutation> generators)
    : nodes(count), trivial(generators.empty()), home(count) {
  constexpr std::uint32_t kNone = ~0u;
  std::fill(home.begin(), home.end(), kNone);
  ways.resize(trivial ? nodes : std::size_t{nodes} * nodes);
  std::vector<Permutation> back;  // the generators' inverses
  for (const Permutation& map : generators) {
    Permutation& inverse = back.emplace_back(nodes);
    for (Node v = 0; v < nodes; ++v) inverse[map[v]] = v;
  }
  std::vector<Node> queue;
  for (Node root = 0; root < nodes; ++root) {
    if (home[root] != kNone) continue;
    home[root] = static_cast<std::uint32_t>(first.size());
    first.push_back(root);
    std::uint16_t* const own = ways.data() + (trivial ? 0 : std::size_t{root} * nodes);
    for (Node w = 0; w < nodes; ++w) own[w] = static_cast<std::uint16_t>(w);
    queue.assign(1, root);
    for (std::size_t at = 0; at < queue.size(); ++at) {
      for (std::size_t g = 0; g < generators.size(); ++g) {
        const Node v = queue[at], to = generators[g][v];
        if (home[to] != kNone) continue;
        home[to] = home[root];
        queue.push_back(to);
        for (Node w = 0; w < nodes; ++w) ways[std::size_t{to} * nodes + w] = way(v)[back[g][w]];
      }
    }
    size.push_back(static_cast<std::uint32_t>(queue.size()));
  }
}

// Schreier's lemma: generators g of the group and ways t make generators t(g(v)) after g after t(v)'s inverse of what
// keeps the first node u, for all v of its orbit. They are drawn at random, and products of them.
std::vector<Permutation> Symmetry::stabiliser(std::size_t orbit, std::span<const Permutation> generators,
                                              unsigned extra) const {
  std::vector<Permutation> out;
  std::vector<Node> members;
  for (Node v = 0; v < nodes; ++v) {
    if (home[v] == orbit) members.push_back(v);
  }
  Stream stream(derive_key(1, Purpose::graph_sample, static_cast<std::uint32_t>(orbit)));
  Permutation back(nodes), product(nodes);
  std::iota(product.begin(), product.end(), 0u);
  const std::size_t draws = generators.empty() ? 0 : 2 * generators.size() + extra;
  for (std::size_t i = 0; i < draws; ++i) {
    const bool given = i < generators.size();  // these first, as they are
    const Node v = given ? first[orbit] : members[stream.below(members.size())];
    const Permutation& g = generators[given ? i : stream.below(generators.size())];
    const auto from = way(v), to = way(g[v]);
    for (Node w = 0; w < nodes; ++w) back[from[w]] = to[g[w]];
    if (!given) back = product = then(product, back);
    if (!is_identity(back) && std::find(out.begin(), out.end(), back) == out.end()) out.push_back(back);
  }
  return out;
}

}  // namespace tyche::wl
