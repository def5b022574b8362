#include "wl/tuple_space.hpp"

#include "support/error.hpp"
#include "support/progress.hpp"

namespace tyche::wl {
namespace {

constexpr std::uint32_t kNoItem = ~0u;

}  // namespace

template <unsigned K>
TupleSpace<K>::TupleSpace(std::span<const Graph* const> graphs, Node symmetric_from) {
  parts_.reserve(graphs.size());
  std::size_t tuples = 0;  // places for all, since doubling would not keep to the memory promised
  for (const Graph* graph : graphs) {
    std::size_t own = 1;
    for (unsigned i = 0; i < K; ++i) own *= graph->num_nodes();
    tuples += own;
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
  const std::uint32_t nodes = part.nodes, none = kNoItem;
  std::vector<std::uint32_t> image(items() - part.first_item, none);
  const auto goes = [&](std::uint32_t from, std::uint32_t to) {
    std::uint32_t& known = image[from - part.first_item];
    if (known == none) known = to;
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
    std::fill(image.begin(), image.end(), none);
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
  std::uint32_t behind = 1;  // how many a first node has behind it
  for (unsigned i = 1; i < K; ++i) behind *= part.nodes;
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
      if (keeping.empty()) {
        weight_.push_back(weight);
        continue;
      }
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

template class TupleSpace<2>;
template class TupleSpace<3>;

}  // namespace tyche::wl
