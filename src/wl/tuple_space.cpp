#include "wl/tuple_space.hpp"

#include <fmt/format.h>

#include <boost/pending/disjoint_sets.hpp>
#include <numeric>

#include "support/error.hpp"
#include "support/progress.hpp"
#include "support/random.hpp"
#include "wl/individualise.hpp"

namespace tyche::wl {

namespace {

constexpr std::uint32_t kNoItem = ~0u;
constexpr std::size_t kDeepest = 256;  // steps of a path on which automorphisms are looked for

// How two nodes lie to each other: equal, adjacent by an edge of the i-th label that occurs (first_label + i), or apart
// (the last number).
using Relation = std::uint32_t;
constexpr Relation kEqual = 0, kFirstLabel = 1;

std::vector<Relation> relations_of(const Graph& graph, std::span<const EdgeLabel> labels) {
  const std::size_t nodes = graph.num_nodes();
  std::vector<Relation> out(nodes * nodes, kFirstLabel + static_cast<Relation>(labels.size()));
  for (Node v = 0; v < nodes; ++v) {
    out[v * nodes + v] = kEqual;
    for (std::uint64_t arc = graph.offsets()[v]; arc < graph.offsets()[v + 1]; ++arc) {
      const auto at = std::lower_bound(labels.begin(), labels.end(), graph.edge_label(arc));
      out[v * nodes + graph.adjacency()[arc]] = kFirstLabel + static_cast<Relation>(at - labels.begin());
    }
  }
  return out;
}

// Whether types^K · relations^(pairs of positions) is a number of 64 bits.
bool fits(unsigned k, std::uint64_t types, std::uint64_t relations) {
  unsigned __int128 product = 1;
  const unsigned pairs = k * (k - 1) / 2;
  for (unsigned i = 0; i < k + pairs; ++i) {
    product *= i < k ? std::max<std::uint64_t>(1, types) : relations;
    if (product >> 64 != 0) return false;
  }
  return true;
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
  boost::disjoint_sets_with_storage<> alike(
      nodes);  // under what was found at this level or below, all of which keep what was chosen above it
  for (std::size_t level = places.size(); level-- > 0;) {
    const std::vector<Node>& cell = cells[level];
    // Where the first leaves of several members show other graphs, the cell is likely to be of several orbits.
    std::size_t failures_left = 4 + cell.size() / 8;
    for (std::size_t i = 1; i < cell.size() && failures_left != 0; ++i) {
      if (interrupted()) throw Interrupted("stopped while automorphisms were looked for");
      if (alike.find_set(cell[i]) == alike.find_set(cell.front())) continue;
      walker.go_to(places[level]);
      walker.step(cell[i]);
      std::size_t depth = level + 1;
      for (; !walker.discrete() && depth < places.size(); ++depth) walker.step(walker.member(0));
      if (walker.discrete() && depth == places.size()) {
        for (Node r = 0; r < nodes; ++r) map[leaf[r]] = walker.colouring().order[r];
        if (graph.relabelled(map) == graph) {
          for (Node v = 0; v < nodes; ++v) alike.union_set(v, map[v]);
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
  std::fill(home.begin(), home.end(), kNoItem);
  ways.resize(trivial ? nodes : std::size_t{nodes} * nodes);
  std::vector<Permutation> back;  // the generators' inverses
  for (const Permutation& map : generators) {
    Permutation& inverse = back.emplace_back(nodes);
    for (Node v = 0; v < nodes; ++v) inverse[map[v]] = v;
  }
  std::vector<Node> queue;
  for (Node root = 0; root < nodes; ++root) {
    if (home[root] != kNoItem) continue;
    home[root] = static_cast<std::uint32_t>(first.size());
    first.push_back(root);
    std::uint16_t* const own = ways.data() + (trivial ? 0 : std::size_t{root} * nodes);
    for (Node w = 0; w < nodes; ++w) own[w] = static_cast<std::uint16_t>(w);
    queue.assign(1, root);
    for (std::size_t at = 0; at < queue.size(); ++at) {
      for (std::size_t g = 0; g < generators.size(); ++g) {
        const Node v = queue[at], to = generators[g][v];
        if (home[to] != kNoItem) continue;
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
    if (!given) {
      for (Node& to_here : product) to_here = back[to_here];
      back = product;
    }
    const bool identity = std::is_sorted(back.begin(), back.end());
    if (!identity && std::find(out.begin(), out.end(), back) == out.end()) out.push_back(back);
  }
  return out;
}

template <unsigned K>
TupleSpace<K>::TupleSpace(std::span<const Graph* const> graphs, Node symmetric_from) {
  parts_.reserve(graphs.size());
  std::size_t tuples = 0;  // places for all, since doubling would not keep to the memory promised
  for (const Graph* graph : graphs) {
    const std::size_t n = graph->num_nodes();
    tuples += K == 2 ? n * n : n * n * n;
  }
  item_.reserve(tuples);
  cell_.reserve(tuples);
  weight_.reserve(tuples);
  for (const Graph* graph : graphs) {
    const Node nodes = graph->num_nodes();
    auto generators = nodes < symmetric_from ? std::vector<Permutation>() : find_automorphisms(*graph);
    parts_.push_back({nodes, cells(), items(), Symmetry(nodes, generators)});
    const Part& part = parts_.back();
    for (unsigned attempt = 0;; ++attempt) {
      number(part, generators, 4u << 2 * attempt);
      if (generators.empty() || closed(part)) break;
      item_.resize(part.first_cell);
      cell_.resize(part.first_item);
      weight_.resize(part.first_item);
      if (attempt < 2) continue;
      generators.clear();
      parts_.back().symmetry = Symmetry(nodes, generators);
    }
  }
}

// Whether permutations of the positions map items to items. They do where `stabiliser` gave generators of the whole
// stabilisers, so that items are the orbits of a group; that is likely, and this is certain. Two neighbouring positions
// changing places is enough.
template <unsigned K>
bool TupleSpace<K>::closed(const Part& part) const {
  const std::uint32_t nodes = part.nodes;
  std::vector<std::uint32_t> image(items() - part.first_item, kNoItem);
  const auto goes = [&](std::uint32_t from, std::uint32_t to) {
    std::uint32_t& known = image[from - part.first_item];
    if (known == kNoItem) known = to;
    return known == to;
  };
  const std::uint32_t* item = item_.data() + part.first_cell;
  for (Node u = 0; u < nodes; ++u) {
    for (Node v = 0; v < u; ++v) {
      const auto of_u = part.symmetry.way(u), of_v = part.symmetry.way(v);
      const std::uint32_t at_u = part.symmetry.home[u] * nodes + of_u[v],
                          at_v = part.symmetry.home[v] * nodes + of_v[u];
      if constexpr (K == 2) {
        if (!goes(item[at_u], item[at_v]) || !goes(item[at_v], item[at_u])) return false;
      } else {
        for (Node x = 0; x < nodes; ++x) {
          const std::uint32_t uvx = item[at_u * nodes + of_u[x]], vux = item[at_v * nodes + of_v[x]];
          if (!goes(uvx, vux) || !goes(vux, uvx)) return false;
        }
      }
    }
  }
  if constexpr (K == 3) {
    std::fill(image.begin(), image.end(), kNoItem);
    for (std::uint32_t orbit = 0; orbit < part.symmetry.first.size(); ++orbit, item += nodes * nodes) {
      for (Node v = 0; v < nodes; ++v) {
        for (Node x = 0; x < nodes; ++x) {
          if (!goes(item[v * nodes + x], item[x * nodes + v])) return false;
        }
      }
    }
  }
  return true;
}

// The orbits of the positions behind the first, under what keeps it.
template <unsigned K>
void TupleSpace<K>::number(const Part& part, std::span<const Permutation> generators, unsigned extra) {
  const std::uint32_t behind = K == 2 ? part.nodes : part.nodes * part.nodes;  // how many a first node has behind it
  std::vector<std::uint32_t> queue;
  for (std::size_t orbit = 0; orbit < part.symmetry.first.size(); ++orbit) {
    if (interrupted()) throw Interrupted("stopped while tuples were numbered");
    const std::uint32_t begin = cells(), weight = part.symmetry.size[orbit];
    const auto keeping = part.symmetry.stabiliser(orbit, generators, extra);
    item_.resize(item_.size() + behind, kNoItem);
    for (std::uint32_t c = 0; c < behind; ++c) {
      if (item_[begin + c] != kNoItem) continue;
      const std::uint32_t item = items();
      cell_.push_back(begin + c);
      item_[begin + c] = item;
      queue.assign(1, c);
      for (std::size_t at = 0; at < queue.size(); ++at) {
        const std::uint32_t high = queue[at] / part.nodes, low = queue[at] % part.nodes;
        for (const Permutation& map : keeping) {
          const std::uint32_t to = (K == 2 ? 0 : map[high] * part.nodes) + map[low];
          if (item_[begin + to] != kNoItem) continue;
          item_[begin + to] = item;
          queue.push_back(to);
        }
      }
      weight_.push_back(weight * static_cast<std::uint32_t>(queue.size()));
    }
  }
}

// Node types are replaced by their ranks among those that occur, so that k of them and the relations fit a key.
template <unsigned K>
std::vector<std::uint64_t> atomic_types(std::span<const Graph* const> graphs, const TupleSpace<K>& space) {
  std::vector<std::uint32_t> types, labels = {0};  // that occur
  for (const Graph* graph : graphs) {
    types.insert(types.end(), graph->types().begin(), graph->types().end());
    labels.insert(labels.end(), graph->edge_labels().begin(), graph->edge_labels().end());
  }
  types = distinct(std::move(types));
  labels = distinct(std::move(labels));
  constexpr std::size_t kMostTypes =
      K == 2 ? std::size_t{1} << 31 : 800000;  // below (2^64 / 3)^(1/2), (2^64 / 27)^(1/3)
  if (types.size() > kMostTypes) {
    throw InputError(
        fmt::format("{}-WL can deal with {} different node types; the graphs have {}", K, kMostTypes, types.size()));
  }
  const std::uint64_t relations = labels.size() + 2;
  if (labels.size() > 1 && !fits(K, types.size(), relations)) {
    throw InputError(
        fmt::format("{}-WL cannot number the tuples of {} different node types and {} different edge labels in 64 bits",
                    K, types.size(), labels.size()));
  }
  std::vector<std::uint64_t> out;
  out.reserve(space.items());
  for (std::size_t g = 0; g < graphs.size(); ++g) {
    if (interrupted()) throw Interrupted(fmt::format("stopped in round 0 of {}-WL", K));
    const auto& part = space.parts()[g];
    const auto relation = relations_of(*graphs[g], labels);
    std::vector<std::uint64_t> rank;
    for (const NodeType type : graphs[g]->types()) {
      rank.push_back(static_cast<std::uint64_t>(std::lower_bound(types.begin(), types.end(), type) - types.begin()));
    }
    const std::uint32_t end = g + 1 < graphs.size() ? space.parts()[g + 1].first_item : space.items();
    for (std::uint32_t item = part.first_item; item < end; ++item) {
      const auto nodes = space.nodes_of(part, item);
      std::uint64_t key = 0;
      for (unsigned i = 0; i < K; ++i) {
        key = key * types.size() + rank[nodes[i]];
        for (unsigned j = 0; j < i; ++j)
          key = key * relations + relation[std::size_t{nodes[i]} * part.nodes + nodes[j]];
      }
      out.push_back(key);
    }
  }
  return out;
}

template class TupleSpace<2>;
template class TupleSpace<3>;
template std::vector<std::uint64_t> atomic_types<2>(std::span<const Graph* const>, const TupleSpace<2>&);
template std::vector<std::uint64_t> atomic_types<3>(std::span<const Graph* const>, const TupleSpace<3>&);

}  // namespace tyche::wl
