#include "datasets/counting.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "graph/patterns.hpp"
#include "support/error.hpp"

namespace tyche::datasets {

namespace {

struct Size {
  Node nodes, degree;
};
constexpr Size kSizes[] = {{10, 6}, {15, 6}, {20, 5}, {30, 5}};

const std::vector<Pattern>& patterns() {
  static const std::vector<Pattern> all = parse_patterns(kUsualPatterns);
  return all;
}

std::vector<float> targets_of(const Graph& graph) {
  std::vector<float> out;
  for (const Pattern& pattern : patterns()) {
    out.push_back(static_cast<float>(PatternCounter(pattern.graph).count(graph).in_all));
  }
  return out;
}

}  // namespace

void check(const CountingParameters& parameters) {
  if (parameters.graphs == 0 || parameters.graphs > 1000000000) {
    throw InputError("{} graphs are out of range: 1 to 1000000000", parameters.graphs);
  }
}

Graph random_regular(Node nodes, Node degree, Stream& stream) {
  for (;;) {
    std::vector<Node> stubs;
    for (Node v = 0; v < nodes; ++v) stubs.insert(stubs.end(), degree, v);
    std::vector<std::uint8_t> joined(std::size_t{nodes} * nodes);
    std::vector<Edge> edges;
    // So many failures in a row: likely nothing is left that may be joined.
    for (std::size_t failures = 0; !stubs.empty() && failures < 50;) {
      const std::size_t i = stream.below(stubs.size()), j = stream.below(stubs.size());
      const auto [u, v] = std::minmax(stubs[i], stubs[j]);
      if (u == v || joined[u * nodes + v] != 0) {
        ++failures;
        continue;
      }
      failures = 0;
      joined[u * nodes + v] = 1;
      edges.emplace_back(u, v);
      stubs.erase(stubs.begin() + static_cast<std::ptrdiff_t>(std::max(i, j)));
      stubs.erase(stubs.begin() + static_cast<std::ptrdiff_t>(std::min(i, j)));
    }
    if (stubs.empty()) return Graph::from_edges(nodes, edges);
  }
}

CountedGraph make_counting(const CountingParameters& parameters, std::uint64_t index) {
  Stream stream(derive_key(parameters.seed, Purpose::counting, static_cast<std::uint32_t>(index)));
  const Size size = kSizes[stream.below(std::size(kSizes))];
  std::vector<Edge> edges = random_regular(size.nodes, size.degree, stream).edges();
  shuffle(edges, stream);
  edges.resize(edges.size() - size.nodes);
  CountedGraph out{Graph::from_edges(size.nodes, edges), {}};
  out.targets = targets_of(out.graph);
  return out;
}

std::string examine_counting(const Graph& graph, std::span<const float> targets) {
  const std::vector<float> found = targets_of(graph);
  if (targets.size() != found.size()) {
    return fmt::format("{} targets, expected {}: {}", targets.size(), found.size(), kUsualPatterns);
  }
  for (std::size_t p = 0; p < found.size(); ++p) {
    const auto summed = static_cast<float>(count_by_homomorphisms(patterns()[p].graph, graph));
    if (targets[p] == found[p] && found[p] == summed) continue;
    return fmt::format("{}: target {}, {} copies found, {} by homomorphisms", patterns()[p].name, targets[p], found[p],
                       summed);
  }
  return "";
}

}  // namespace tyche::datasets
