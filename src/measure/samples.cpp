#include "measure/samples.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "datasets/exp.hpp"
#include "graph/encoding.hpp"
#include "support/error.hpp"
#include "support/random.hpp"

namespace tyche::measure {

namespace {

void add(Sample& sample, Graph graph, std::uint32_t label) {
  auto& block = sample.features.emplace_back();
  for (const NodeType type : graph.types()) {
    block.push_back(type == 0 ? 1.0f : 0.0f);
    block.push_back(type == 1 ? 1.0f : 0.0f);
  }
  sample.graphs.push_back(std::move(graph));
  sample.labels.push_back(label);
}

}  // namespace

Graph random_sparse_graph(Node nodes, std::uint64_t edges, std::uint64_t seed, std::uint32_t index) {
  const std::uint64_t pairs = std::uint64_t{nodes} * (nodes == 0 ? 0 : nodes - 1) / 2;
  if (edges > pairs / 2) {
    throw InputError(
        fmt::format("a sparse graph of {} nodes has at most {} edges, {} were asked for", nodes, pairs / 2, edges));
  }
  Stream stream(derive_key(seed, Purpose::graph_sample, index));
  std::vector<Edge> chosen;
  while (chosen.size() < edges) {
    for (std::uint64_t missing = edges - chosen.size(); missing > 0; --missing) {
      Node u = static_cast<Node>(stream.below(nodes)), v = static_cast<Node>(stream.below(nodes - 1));
      if (v >= u) ++v;
      chosen.emplace_back(std::min(u, v), std::max(u, v));
    }
    std::ranges::sort(chosen);
    chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
  }
  return Graph::from_edges(nodes, chosen);
}

Sample synthetic_exp(std::size_t graphs, std::uint64_t seed) {
  Sample set;
  Stream stream(derive_key(seed, Purpose::graph_sample, 0, 1));
  for (std::size_t g = 0; g < graphs; ++g) {
    const Node nodes = 33 + static_cast<Node>(stream.below(33));
    set.graphs.push_back(random_sparse_graph(nodes, nodes * 6ull / 5, seed, static_cast<std::uint32_t>(g)));
    set.labels.push_back(static_cast<std::uint32_t>(g % 2));
    std::vector<float> block;
    for (Node v = 0; v < nodes; ++v) {
      const bool first = stream.coin();
      block.push_back(first ? 1.0f : 0.0f);
      block.push_back(first ? 0.0f : 1.0f);
    }
    set.features.push_back(std::move(block));
  }
  return set;
}

// A core over 2n variables has 8n nodes, a planar part about 19.
Sample exp_pairs(std::uint32_t nodes, std::uint32_t pairs) {
  datasets::ExpParameters parameters;
  parameters.pairs = pairs;
  parameters.core_min = parameters.core_max = std::max(2u, (nodes - std::min(nodes, 15u)) / 8);
  Sample out;
  for (std::uint32_t p = 0; p < pairs; ++p) {
    const datasets::ExpPair pair = datasets::make_pair(parameters, p);
    add(out, encode(pair.sat), 1);
    add(out, encode(pair.unsat), 0);
  }
  return out;
}

Sample random_graphs(std::uint32_t nodes, std::uint32_t graphs) {
  Sample out;
  for (std::uint32_t g = 0; g < graphs; ++g) add(out, random_sparse_graph(nodes, nodes * 6 / 5, 1, g), g % 2);
  return out;
}

}  // namespace tyche::measure
