#include "graph/folding.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace tyche {

std::size_t Folding::Hash::operator()(const Words& words) const {
  std::uint64_t hash = words.size();
  for (const std::uint32_t word : words) hash = (hash ^ word) * 0x9e3779b97f4a7c15ull, hash ^= hash >> 29;
  return static_cast<std::size_t>(hash);
}

std::uint32_t Folding::operator()(std::uint32_t own, std::span<const float> row) {
  words_.assign(1, own);
  for (const float value : row) {
    words_.push_back(std::isnan(value) ? 0x7fc00000u : value == 0 ? 0u : std::bit_cast<std::uint32_t>(value));
  }
  return numbers_.try_emplace(words_, static_cast<std::uint32_t>(numbers_.size())).first->second;
}

void fold_categories(std::span<GraphSet* const> sets) {
  const auto none = [](const GraphSet* set) { return set->categories + set->edge_categories == 0; };
  if (std::all_of(sets.begin(), sets.end(), none)) return;
  Folding types, labels;
  const auto take = [](Folding& folding, std::uint32_t own, const Ragged<float>& blocks, std::size_t g, std::size_t row,
                       std::size_t dim, std::size_t categories) {
    return folding(own, categories == 0 ? std::span<const float>() : blocks[g].subspan(row * dim, categories));
  };
  const auto drop = [](Ragged<float>& blocks, std::size_t& dim, std::size_t& categories) {
    Ragged<float> left;
    for (std::size_t g = 0; g < blocks.size() && dim > categories; ++g) {
      std::vector<float> kept;
      for (std::size_t i = 0; i < blocks[g].size(); ++i) {
        if (i % dim >= categories) kept.push_back(blocks[g][i]);
      }
      left.push_back(kept);
    }
    blocks = std::move(left);
    dim -= categories;
    categories = 0;
  };
  for (GraphSet* const set : sets) {
    Graphs folded;
    for (std::size_t g = 0; g < set->graphs.size(); ++g) {
      const Graph graph = set->graphs[g];
      std::vector<NodeType> type(graph.types().begin(), graph.types().end());
      for (std::size_t v = 0; v < type.size(); ++v) {
        type[v] = take(types, type[v], set->attributes, g, v, set->attribute_dim, set->categories);
      }
      std::vector<EdgeLabel> label = graph.labels_of_edges();
      label.resize(graph.num_edges(), 0);
      for (std::size_t e = 0; e < label.size(); ++e) {
        label[e] = take(labels, label[e], set->edge_attributes, g, e, set->edge_attribute_dim, set->edge_categories);
      }
      folded.push_back(Graph::from_edges(graph.num_nodes(), graph.edges(), type, label));
    }
    set->graphs = std::move(folded);
    drop(set->attributes, set->attribute_dim, set->categories);
    drop(set->edge_attributes, set->edge_attribute_dim, set->edge_categories);
  }
}

}  // namespace tyche
