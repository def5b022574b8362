#include "datasets/cubic.hpp"

#include <algorithm>

namespace tyche::datasets {

namespace {

bool simple(std::vector<Edge>& edges) {
  std::sort(edges.begin(), edges.end());
  return std::adjacent_find(edges.begin(), edges.end()) == edges.end() &&
         std::none_of(edges.begin(), edges.end(), [](const Edge& e) { return e.first == e.second; });
}

}  // namespace

Graph random_cubic(Node nodes, Stream& stream) {
  std::vector<Node> stubs;
  for (Node v = 0; v < nodes; ++v) stubs.insert(stubs.end(), 3, v);
  std::vector<Edge> edges(stubs.size() / 2);
  for (;;) {
    shuffle(stubs, stream);
    for (std::size_t e = 0; e < edges.size(); ++e) edges[e] = std::minmax(stubs[2 * e], stubs[2 * e + 1]);
    if (!simple(edges)) continue;
    Graph graph = Graph::from_edges(nodes, edges);
    if (connected_components(graph).count == 1) return graph;
  }
}

}  // namespace tyche::datasets
