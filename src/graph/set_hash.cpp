#include "graph/set_hash.hpp"

#include <fmt/format.h>

#include "support/file.hpp"

namespace tyche {

namespace {

template <class Values>
void add_to(std::uint64_t& hash, const Values& values) {
  hash = hash_bytes({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(values[0])}, hash);
}

}  // namespace

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
    hash.add(set.graphs[g], set.attributes.empty() ? std::span<const float>() : set.attributes[g],
             set.edge_attributes.empty() ? std::span<const float>() : set.edge_attributes[g]);
  }
  return hash.finish(set);
}

}  // namespace tyche
