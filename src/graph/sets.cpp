#include "graph/sets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "support/file.hpp"

namespace tyche {

namespace {

template <class Values>
void add_to(std::uint64_t& hash, const Values& values) {
  hash = hash_bytes({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(values[0])}, hash);
}

}  // namespace

std::span<const float> block_of(const Ragged<float>& blocks, std::size_t g) {
  return blocks.empty() ? std::span<const float>() : blocks[g];
}

SetHash::SetHash(bool edges, bool targets) : edges_(edges), targets_(targets), hash_(hash_bytes("tyche data 1")) {}

void SetHash::add(const Graph& graph, std::span<const float> attributes, std::span<const float> edge_attributes) {
  add_to(hash_, graph.offsets());
  add_to(hash_, graph.adjacency());
  add_to(hash_, graph.types());
  add_to(hash_, attributes);
  // What sets without edge labels and targets do not have adds nothing: their hashes are those of 0.1.0.
  if (!edges_) return;
  add_to(hash_, graph.edge_labels());
  add_to(hash_, edge_attributes);
}

std::uint64_t SetHash::finish(const GraphSet& set) const {
  std::uint64_t hash = hash_;
  add_to(hash, set.labels);
  if (targets_) add_to(hash, set.targets);
  for (const auto& own : set.node_labels) add_to(hash, own);
  for (const auto& own : set.node_targets) add_to(hash, own);
  for (const auto& own : set.edge_targets) add_to(hash, own);
  for (const auto& own : set.node_parts) add_to(hash, own);
  if (set.weighted) hash = hash_bytes("weights", hash);
  if (set.categories + set.edge_categories > 0) {
    hash = hash_bytes(fmt::format("categories {} {}", set.categories, edges_ ? set.edge_categories : 0), hash);
  }
  return hash;
}

std::uint64_t content_hash(const GraphSet& set, bool edges, bool targets) {
  SetHash hash(edges, targets);
  for (std::size_t g = 0; g < set.graphs.size(); ++g) {
    hash.add(set.graphs[g], block_of(set.attributes, g), block_of(set.edge_attributes, g));
  }
  return hash.finish(set);
}

void Folding::fold(std::vector<std::uint32_t>& numbers, std::span<const float> block, std::size_t dim, std::size_t from,
                   std::size_t to) {
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    words_.assign(1, numbers[i]);
    for (std::size_t c = from; c < to; ++c) {
      const float value = block[i * dim + c];
      words_.push_back(std::isnan(value) ? 0x7fc00000u : value == 0 ? 0u : std::bit_cast<std::uint32_t>(value));
    }
    numbers[i] = numbers_.try_emplace(words_, static_cast<std::uint32_t>(numbers_.size())).first->second;
  }
}

void fold_categories(std::span<GraphSet* const> sets) {
  const auto none = [](const GraphSet* set) { return set->categories + set->edge_categories == 0; };
  if (std::all_of(sets.begin(), sets.end(), none)) return;
  Folding types, labels;
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
      types.fold(type, block_of(set->attributes, g), set->attribute_dim, 0, set->categories);
      std::vector<EdgeLabel> label = graph.labels_of_edges();
      label.resize(graph.num_edges(), 0);
      labels.fold(label, block_of(set->edge_attributes, g), set->edge_attribute_dim, 0, set->edge_categories);
      folded.push_back(Graph::from_edges(graph.num_nodes(), graph.edges(), type, label));
    }
    set->graphs = std::move(folded);
    drop(set->attributes, set->attribute_dim, set->categories);
    drop(set->edge_attributes, set->edge_attribute_dim, set->edge_categories);
  }
}

}  // namespace tyche
