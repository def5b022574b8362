#pragma once
/// What has a target: every graph of a set, or every node or edge of its graphs, numbered through all graphs in order.
/// Folds, targets and predictions go by these numbers.
///
///   const Units nodes(set.graphs, Unit::node);            // graphs of 3 and 2 nodes
///   nodes.place(4)                                        // node 1 of graph 1
///   nodes.graphs_of(std::vector<std::uint32_t>{0, 1, 4})  // 0, 1
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "graph/graphs.hpp"

namespace tyche {

enum class Unit : std::uint8_t { graph, node, edge };

/// "graph", "node" or "edge"; throws InputError on any other.
[[nodiscard]] Unit parse_unit(std::string_view name);
[[nodiscard]] std::string_view name(Unit unit);
/// How many of them a graph has.
[[nodiscard]] std::uint64_t units_in(const Graph& graph, Unit unit);

class Units {
 public:
  Units() = default;
  /// So many graphs themselves.
  Units(std::size_t graphs) : graphs_(graphs) {}  // NOLINT: a number of graphs is as good
  /// Throws InputError where there are more than 2^32 - 2 of them.
  Units(const Graphs& graphs, Unit unit);

  [[nodiscard]] Unit unit() const { return unit_; }
  [[nodiscard]] std::size_t size() const { return unit_ == Unit::graph ? graphs_ : first_.back(); }
  [[nodiscard]] std::size_t graphs() const { return graphs_; }
  /// Those of graph g are first(g) … first(g + 1) - 1.
  [[nodiscard]] std::uint32_t first(std::size_t g) const {
    return unit_ == Unit::graph ? static_cast<std::uint32_t>(g) : first_[g];
  }
  [[nodiscard]] std::size_t count(std::size_t g) const { return first(g + 1) - first(g); }
  struct Place {
    std::uint32_t graph = 0;
    std::uint32_t index = 0;  ///< of the node or edge in its graph
  };
  [[nodiscard]] Place place(std::uint32_t unit) const;
  /// The graphs that these are of, each once, ascending; where graphs are the units, these themselves as they stand.
  [[nodiscard]] std::vector<std::uint32_t> graphs_of(std::span<const std::uint32_t> units) const;
  /// All of these graphs.
  [[nodiscard]] std::vector<std::uint32_t> units_of(std::span<const std::uint32_t> graphs) const;

 private:
  Unit unit_ = Unit::graph;
  std::size_t graphs_ = 0;
  std::vector<std::uint32_t> first_{0};  ///< of nodes and edges
};

}  // namespace tyche
