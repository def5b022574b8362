#include "theory/coloured_graph.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "support/error.hpp"
#include "theory/formula.hpp"

namespace tyche::theory {

ColouredGraph ColouredGraph::from_types(Graph graph) {
  std::uint32_t colours = 1;
  for (const NodeType type : graph.types()) {
    if (type >= kMaxColour) throw InputError(fmt::format("node type {} is too large for a colour", type));
    colours = std::max(colours, type + 1);
  }
  ColouredGraph out(std::move(graph), colours);
  for (Node v = 0; v < out.num_nodes(); ++v) out.set(v, out.graph_.type(v) + 1);
  return out;
}

}  // namespace tyche::theory
