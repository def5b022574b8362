#include "graph/planarity.hpp"

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/boyer_myrvold_planar_test.hpp>

namespace tyche {

std::optional<Rotation> planar_embedding(const Graph& graph) {
  using Native = boost::adjacency_list<boost::vecS, boost::vecS, boost::undirectedS, boost::no_property,
                                       boost::property<boost::edge_index_t, int>>;
  using NativeEdge = boost::graph_traits<Native>::edge_descriptor;
  Rotation rotation(graph.num_nodes());
  if (graph.num_nodes() >= 3 && graph.num_edges() > 3 * std::uint64_t{graph.num_nodes()} - 6) return std::nullopt;
  if (graph.num_edges() == 0) return rotation;
  Native native(graph.num_nodes());
  int index = 0;
  for (const auto& [u, v] : graph.edges()) boost::add_edge(u, v, {index++}, native);
  std::vector<std::vector<NativeEdge>> order(graph.num_nodes());
  if (!boost::boyer_myrvold_planarity_test(boost::boyer_myrvold_params::graph = native,
                                           boost::boyer_myrvold_params::embedding = &order[0])) {
    return std::nullopt;
  }
  for (Node v = 0; v < graph.num_nodes(); ++v) {
    for (const NativeEdge& edge : order[v]) {
      const auto s = static_cast<Node>(boost::source(edge, native));
      const auto t = static_cast<Node>(boost::target(edge, native));
      rotation[v].push_back(s == v ? t : s);
    }
  }
  return rotation;
}

bool is_planar_embedding(const Graph& graph, const Rotation& rotation) {
  if (rotation.size() != graph.num_nodes()) return false;
  // A face is followed to its left: arriving at u from v, leave along the neighbour that follows v in u's rotation.
  std::vector<std::uint64_t> after(graph.adjacency().size());  // after[arc (u, v)] = arc (u, successor of v around u)
  for (Node u = 0; u < graph.num_nodes(); ++u) {
    std::vector<Node> sorted = rotation[u];
    std::sort(sorted.begin(), sorted.end());
    if (!std::equal(sorted.begin(), sorted.end(), graph.neighbours(u).begin(), graph.neighbours(u).end())) return false;
    for (std::size_t i = 0; i < rotation[u].size(); ++i) {
      after[graph.arc(u, rotation[u][i])] = graph.arc(u, rotation[u][(i + 1) % rotation[u].size()]);
    }
  }
  const Components components = connected_components(graph);
  std::vector<std::int64_t> euler(components.count, 0);  // nodes - edges + faces of each component
  for (Node v = 0; v < graph.num_nodes(); ++v) {
    ++euler[components.of_node[v]];
    euler[components.of_node[v]] -= static_cast<std::int64_t>(
        std::count_if(graph.neighbours(v).begin(), graph.neighbours(v).end(), [v](Node u) { return v < u; }));
    if (graph.degree(v) == 0) ++euler[components.of_node[v]];  // a lone node has one face
  }
  std::vector<bool> seen(graph.adjacency().size(), false);
  for (Node v = 0; v < graph.num_nodes(); ++v) {
    for (std::uint64_t start = graph.offsets()[v]; start < graph.offsets()[v + 1]; ++start) {
      if (seen[start]) continue;
      ++euler[components.of_node[v]];
      Node from = v;
      std::uint64_t at = start;
      do {
        seen[at] = true;
        const Node to = graph.adjacency()[at];
        at = after[graph.arc(to, from)];
        from = to;
      } while (at != start);
    }
  }
  return std::all_of(euler.begin(), euler.end(), [](std::int64_t value) { return value == 2; });
}

}  // namespace tyche
