#include "wl/atomic_types.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "support/error.hpp"
#include "support/progress.hpp"

namespace tyche::wl {
namespace {

// How two nodes lie to each other: equal, adjacent by an edge of the i-th label that occurs (first_label + i), or apart
// (the last number).
using Relation = std::uint32_t;
constexpr Relation kEqual = 0, kFirstLabel = 1;

std::vector<EdgeLabel> labels_that_occur(std::span<const Graph* const> graphs) {
  std::vector<EdgeLabel> labels = {0};
  for (const Graph* graph : graphs) {
    labels.insert(labels.end(), graph->edge_labels().begin(), graph->edge_labels().end());
    std::sort(labels.begin(), labels.end());
    labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
  }
  return labels;
}

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

std::vector<NodeType> types_that_occur(std::span<const Graph* const> graphs) {
  std::vector<NodeType> types;
  for (const Graph* graph : graphs) types.insert(types.end(), graph->types().begin(), graph->types().end());
  std::sort(types.begin(), types.end());
  types.erase(std::unique(types.begin(), types.end()), types.end());
  return types;
}

}  // namespace

// Node types are replaced by their ranks among those that occur, so that k of them and the relations fit a key.
template <unsigned K>
std::vector<Keyed> atomic_types(std::span<const Graph* const> graphs, const TupleSpace<K>& space) {
  const std::vector<NodeType> types = types_that_occur(graphs);
  constexpr std::size_t kMostTypes =
      K == 2 ? std::size_t{1} << 31 : 800000;  // below (2^64 / 3)^(1/2), (2^64 / 27)^(1/3)
  if (types.size() > kMostTypes) {
    throw InputError(
        fmt::format("{}-WL can deal with {} different node types; the graphs have {}", K, kMostTypes, types.size()));
  }
  const std::vector<EdgeLabel> labels = labels_that_occur(graphs);
  const std::uint64_t relations = labels.size() + 2;
  if (labels.size() > 1 && !fits(K, types.size(), relations)) {
    throw InputError(
        fmt::format("{}-WL cannot number the tuples of {} different node types and {} different edge labels in 64 bits",
                    K, types.size(), labels.size()));
  }
  std::vector<Keyed> out;
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
      out.push_back({key, item});
    }
  }
  return out;
}

template std::vector<Keyed> atomic_types<2>(std::span<const Graph* const>, const TupleSpace<2>&);
template std::vector<Keyed> atomic_types<3>(std::span<const Graph* const>, const TupleSpace<3>&);

}  // namespace tyche::wl
