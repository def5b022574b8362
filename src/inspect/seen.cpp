#include "inspect/seen.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <span>
#include <unordered_map>

namespace tyche::inspect {
namespace {

using Words = std::vector<std::uint32_t>;

struct WordsHash {
  std::size_t operator()(const Words& words) const {
    std::uint64_t hash = words.size();
    for (const std::uint32_t word : words) hash = (hash ^ word) * 0x9e3779b97f4a7c15ull, hash ^= hash >> 29;
    return static_cast<std::size_t>(hash);
  }
};

/// Numbers (number, attributes) by first occurrence.
class Folding {
 public:
  std::uint32_t operator()(std::uint32_t own, std::span<const float> attributes) {
    words_.assign(1, own);
    for (const float value : attributes) words_.push_back(bits(value));
    return numbers_.try_emplace(words_, static_cast<std::uint32_t>(numbers_.size())).first->second;
  }

 private:
  static std::uint32_t bits(float value) {
    if (std::isnan(value)) return 0x7fc00000u;
    return value == 0 ? 0u : std::bit_cast<std::uint32_t>(value);
  }
  Words words_;
  std::unordered_map<Words, std::uint32_t, WordsHash> numbers_;
};

std::span<const float> row(const std::vector<std::vector<float>>& blocks, std::size_t g, std::size_t dim,
                           std::size_t i) {
  return std::span(blocks[g]).subspan(i * dim, dim);
}

}  // namespace

std::vector<Graph> seen(const GraphSet& set, const Look& look) {
  const bool on_nodes = look.node_attributes && !set.attributes.empty();
  const bool on_edges = look.edge_attributes && !set.edge_attributes.empty();
  Folding types, labels;
  std::vector<Graph> out;
  out.reserve(set.graphs.size());
  for (std::size_t g = 0; g < set.graphs.size(); ++g) {
    const Graph& graph = set.graphs[g];
    std::vector<NodeType> type(graph.num_nodes(), 0);
    for (Node v = 0; v < graph.num_nodes(); ++v) {
      if (look.node_types) type[v] = graph.type(v);
      if (on_nodes) type[v] = types(type[v], row(set.attributes, g, set.attribute_dim, v));
    }
    std::vector<EdgeLabel> label;
    if (look.edge_labels) label = graph.labels_of_edges();
    if (on_edges) {
      label.resize(graph.num_edges(), 0);
      for (std::size_t e = 0; e < label.size(); ++e) {
        label[e] = labels(label[e], row(set.edge_attributes, g, set.edge_attribute_dim, e));
      }
    }
    out.push_back(Graph::from_edges(graph.num_nodes(), graph.edges(), std::move(type), label));
  }
  return out;
}

}  // namespace tyche::inspect
