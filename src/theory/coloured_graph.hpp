#pragma once
/// A graph together with a set of colours R1, R2, … on every node: what formulas speak of.
///
///   ColouredGraph g(triangle, 2);        // no node has a colour yet
///   g.set(0, 2);                         // node 0 is in R2
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "graph/graph.hpp"
#include "support/error.hpp"
#include "theory/formula.hpp"

namespace tyche::theory {

class ColouredGraph {
 public:
  ColouredGraph(const Graph& graph, std::uint32_t colours)
      : graph_(graph), colours_(colours), has_(static_cast<std::size_t>(graph_.num_nodes()) * colours, 0) {}

  /// Colours from node types: a node of type t is in R<t+1> and in no other; there are as many colours as the largest
  /// type asks for (one where all types are 0).
  static ColouredGraph from_types(const Graph& graph) {
    std::uint32_t colours = 1;
    for (const NodeType type : graph.types()) {
      if (type >= kMaxColour) throw InputError(fmt::format("node type {} is too large for a colour", type));
      colours = std::max(colours, type + 1);
    }
    ColouredGraph out(graph, colours);
    for (Node v = 0; v < out.num_nodes(); ++v) out.set(v, out.graph_.type(v) + 1);
    return out;
  }

  [[nodiscard]] const Graph& graph() const { return graph_; }
  [[nodiscard]] Node num_nodes() const { return graph_.num_nodes(); }
  /// The graph knows R1 to R<num_colours()>.
  [[nodiscard]] std::uint32_t num_colours() const { return colours_; }
  /// Whether node v is in R<colour>. Requires 1 <= colour <= num_colours().
  [[nodiscard]] bool has(Node v, std::uint32_t colour) const {
    return has_[static_cast<std::size_t>(v) * colours_ + colour - 1] != 0;
  }
  void set(Node v, std::uint32_t colour, bool value = true) {
    has_[static_cast<std::size_t>(v) * colours_ + colour - 1] = value ? 1 : 0;
  }

 private:
  Graph graph_;
  std::uint32_t colours_;
  std::vector<std::uint8_t> has_;
};

}  // namespace tyche::theory
