#include "wl/atomic_types.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "support/error.hpp"
#include "support/progress.hpp"

namespace tyche::wl {
namespace {

// How two nodes lie to each other.
enum Relation : std::uint8_t { equal, adjacent, apart, relations };

std::vector<Relation> relations_of(const Graph& graph) {
  const std::size_t nodes = graph.num_nodes();
  std::vector<Relation> out(nodes * nodes, apart);
  for (Node v = 0; v < nodes; ++v) {
    out[v * nodes + v] = equal;
    for (const Node u : graph.neighbours(v)) out[v * nodes + u] = adjacent;
  }
  return out;
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
std::vector<Keyed> atomic_types(std::span<const Graph* const> graphs) {
  const std::vector<NodeType> types = types_that_occur(graphs);
  constexpr std::size_t kMostTypes =
      K == 2 ? std::size_t{1} << 31 : 800000;  // below (2^64 / 3)^(1/2), (2^64 / 27)^(1/3)
  if (types.size() > kMostTypes) {
    throw InputError(
        fmt::format("{}-WL can deal with {} different node types; the graphs have {}", K, kMostTypes, types.size()));
  }
  std::size_t tuples = 0;
  for (const Graph* graph : graphs) {
    std::size_t in_graph = 1;
    for (unsigned i = 0; i < K; ++i) in_graph *= graph->num_nodes();
    tuples += in_graph;
  }
  std::vector<Keyed> out;
  out.reserve(tuples);
  for (const Graph* graph : graphs) {
    if (interrupted()) throw Interrupted(fmt::format("stopped in round 0 of {}-WL", K));
    const std::size_t nodes = graph->num_nodes();
    const auto relation = relations_of(*graph);
    std::vector<std::uint64_t> rank;
    for (const NodeType type : graph->types()) {
      rank.push_back(static_cast<std::uint64_t>(std::lower_bound(types.begin(), types.end(), type) - types.begin()));
    }
    for (Node u = 0; u < nodes; ++u) {
      for (Node v = 0; v < nodes; ++v) {
        const std::uint64_t pair = (rank[u] * types.size() + rank[v]) * relations + relation[u * nodes + v];
        if constexpr (K == 2) {
          out.push_back({pair, static_cast<std::uint32_t>(out.size())});
        } else {
          for (Node x = 0; x < nodes; ++x) {
            const std::uint64_t third = (pair * types.size() + rank[x]) * relations + relation[u * nodes + x];
            out.push_back({third * relations + relation[v * nodes + x], static_cast<std::uint32_t>(out.size())});
          }
        }
      }
    }
  }
  return out;
}

template std::vector<Keyed> atomic_types<2>(std::span<const Graph* const>);
template std::vector<Keyed> atomic_types<3>(std::span<const Graph* const>);

}  // namespace tyche::wl
