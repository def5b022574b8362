#include "graph/rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "graph/listed_edges.hpp"

namespace tyche {

namespace {

Graph cleaned(const Rows& rows, Cleaning& cleaning) {
  ListedEdges listed;
  listed.ends.reserve(rows.targets.size());
  for (Node v = 0; v < rows.size(); ++v) {
    for (std::uint64_t i = rows.offsets[v]; i < rows.offsets[v + 1]; ++i) listed.ends.emplace_back(v, rows.targets[i]);
  }
  return Graph::from_edges(static_cast<Node>(rows.size()), settle_edges(listed, Directions::both, {}, &cleaning).ends,
                           rows.types);
}

}  // namespace

Graph graph_from_rows(Rows& rows, const std::function<Where(Node)>& place_of, Node first, Cleaning* cleaning) {
  if (cleaning != nullptr) return cleaned(rows, *cleaning);
  const auto nodes = static_cast<Node>(rows.size());
  const auto row = [&rows](Node v) {
    return std::span(rows.targets).subspan(rows.offsets[v], rows.offsets[v + 1] - rows.offsets[v]);
  };
  for (Node v = 0; v < nodes; ++v) {
    const auto mine = row(v);
    std::sort(mine.begin(), mine.end());
    const auto twin = std::adjacent_find(mine.begin(), mine.end());
    if (twin != mine.end()) {
      fail_unclean(place_of(v),
                   fmt::format("node {} lists neighbour {} twice; graphs here are simple", v + first, *twin + first));
    }
    if (std::binary_search(mine.begin(), mine.end(), v)) {
      fail_unclean(place_of(v),
                   fmt::format("node {} lists itself as a neighbour; graphs here have no loops", v + first));
    }
  }

  // Sources arrive in ascending order, so in symmetric rows the edge (u, v) finds u at the front of what is left of row
  // v: one pass, no search.
  std::vector<std::uint64_t> met(rows.offsets.begin(), rows.offsets.end() - 1);
  std::vector<Edge> edges;
  edges.reserve(rows.targets.size() / 2);
  for (Node u = 0; u < nodes; ++u) {
    for (const Node v : row(u)) {
      const auto back = row(v);
      if (met[v] < rows.offsets[v + 1] && rows.targets[met[v]] == u) {
        ++met[v];
        if (u < v) edges.emplace_back(u, v);
      } else {
        // Either v does not list u, or v lists some node before u that does not list v.
        const bool returned = std::binary_search(back.begin(), back.end(), u);
        const Node lists = returned ? v : u;
        const Node listed = returned ? rows.targets[met[v]] : v;
        fail_unclean(place_of(lists), fmt::format("node {0} lists neighbour {1}, but node {1} does not list {0}",
                                                  lists + first, listed + first));
      }
    }
  }
  return Graph::from_edges(nodes, edges, rows.types);
}

}  // namespace tyche
