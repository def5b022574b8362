#pragma once
/// Graphs from files that list every node's neighbours (GIN text, planar_code): the rows must agree with each other.
#include <cstdint>
#include <functional>
#include <vector>

#include "graph/cleaning.hpp"
#include "graph/graph.hpp"
#include "graph/lines.hpp"

namespace tyche {

/// Neighbour lists as they stand in a file: row v is targets[offsets[v]] … targets[offsets[v + 1] - 1], in any order.
struct Rows {
  std::vector<std::uint64_t> offsets{0};
  std::vector<Node> targets;
  std::vector<NodeType> types;  ///< one per row, or none

  void clear() {
    offsets.assign(1, 0);
    targets.clear();
    types.clear();
  }
  void end_row() { offsets.push_back(targets.size()); }
  [[nodiscard]] std::size_t size() const { return offsets.size() - 1; }
};

/// The graph of the rows (sorted on the way, so `rows` is changed). Fails at place_of(v) where row v has a loop, a
/// neighbour twice, or one that does not list v in return; `first` is the file's number of node 0 (0 or 1). With
/// `cleaning` these are mended. Requires targets below the number of rows.
[[nodiscard]] Graph graph_from_rows(Rows& rows, const std::function<Where(Node)>& place_of, Node first = 0,
                                    Cleaning* cleaning = nullptr);

}  // namespace tyche
