#include "wl/pair_classes.hpp"

#include "wl/tuple_refiner.hpp"

namespace tyche::wl {

namespace {

constexpr std::uint32_t kUnnumbered = ~0u;

// Classes in their order, of any numbers for the pairs.
PairClasses ordered(Node n, std::span<const std::uint32_t> colours, std::uint32_t count) {
  PairClasses out;
  out.of.resize(colours.size());
  std::vector<std::uint32_t> number(count, kUnnumbered);
  const auto take = [&](Node x, Node y) {
    std::uint32_t& known = number[colours[std::size_t{x} * n + y]];
    if (known == kUnnumbered) {
      known = static_cast<std::uint32_t>(out.classes.size());
      out.classes.push_back({x, y, 0});
    }
    out.of[std::size_t{x} * n + y] = known;
    ++out.classes[known].size;
  };
  for (Node v = 0; v < n; ++v) take(v, v);
  out.diagonal = static_cast<std::uint32_t>(out.classes.size());
  for (Node x = 0; x < n; ++x) {
    for (Node y = 0; y < n; ++y) {
      if (x != y) take(x, y);
    }
  }
  return out;
}

}  // namespace

PairClasses pair_classes(const Graph& graph, std::span<const NodeType> colours) {
  const Graph coloured = Graph::from_edges(
      graph.num_nodes(), graph.edges(), std::vector<NodeType>(colours.begin(), colours.end()), graph.labels_of_edges());
  const Graph* const only[] = {&coloured};
  return refine_exactly<2>(only, 1, [&](TupleRefiner<2>& refiner) {
    while (refiner.step()) continue;
    return ordered(graph.num_nodes(), refiner.colours(), refiner.classes());
  });
}

PairClasses single_pairs(Node nodes) {
  std::vector<std::uint32_t> each(std::size_t{nodes} * nodes);
  for (std::size_t i = 0; i < each.size(); ++i) each[i] = static_cast<std::uint32_t>(i);
  return ordered(nodes, each, static_cast<std::uint32_t>(each.size()));
}

}  // namespace tyche::wl
