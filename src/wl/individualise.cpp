#include "wl/individualise.hpp"

#include "support/error.hpp"
#include "support/progress.hpp"

namespace tyche::wl {

Individualiser::Individualiser(const Graph& graph, Cell cell) : nodes_(graph.num_nodes()), walker_(graph, cell) {}

Path Individualiser::draw(const Choices& choices, std::uint32_t depth) {
  Path out;
  draw(choices, depth, out);
  return out;
}

void Individualiser::draw(const Choices& choices, std::uint32_t depth, Path& out) {
  out.chosen.clear();
  walker_.to_root();
  for (std::uint32_t level = 0; level < depth && !walker_.discrete(); ++level) {
    if (level % 1024 == 1023 && interrupted()) throw Interrupted("stopped on the way to a leaf");
    const Node v = walker_.member(choices.below(level, walker_.cell_size()));
    out.chosen.push_back(v);
    walker_.step(v);
  }
  finish(out);
}

Path Individualiser::follow(std::span<const Node> chosen) {
  Path out;
  walker_.to_root();
  for (const Node v : chosen) {
    const std::size_t step = out.chosen.size();
    if (v >= nodes_) {
      throw InputError("step {} individualises node {}: the graph has {} nodes", step, v, nodes_);
    }
    if (walker_.discrete()) {
      throw InputError("step {} individualises node {}: every node has a colour of its own by then", step, v);
    }
    if (!walker_.in_cell(v)) {
      throw InputError(
          "step {} individualises node {}, which is not among the {} nodes of the cell picked there, the first of "
          "which is node {}",
          step, v, walker_.cell_size(), walker_.member(0));
    }
    walker_.step(v);
    out.chosen.push_back(v);
  }
  finish(out);
  return out;
}

void Individualiser::finish(Path& path) const {
  walker_.ranks(path.ranks);
  path.classes = walker_.classes();
  path.discrete = walker_.discrete();
}

}  // namespace tyche::wl
