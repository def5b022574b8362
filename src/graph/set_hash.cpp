#include "graph/set_hash.hpp"

#include <fmt/format.h>

#include "support/file.hpp"

namespace tyche {

SetHash::SetHash(bool edges, bool targets) : edges_(edges), targets_(targets), hash_(hash_bytes("tyche data 1")) {}

void SetHash::add(const Graph& graph, std::span<const float> attributes, std::span<const float> edge_attributes) {
  hash_ = hash_bytes(bytes_of(graph.offsets()), hash_);
  hash_ = hash_bytes(bytes_of(graph.adjacency()), hash_);
  hash_ = hash_bytes(bytes_of(graph.types()), hash_);
  hash_ = hash_bytes(bytes_of(attributes), hash_);
  // What sets without edge labels and targets do not have adds nothing: their hashes are those of 0.1.0.
  if (!edges_) return;
  hash_ = hash_bytes(bytes_of(graph.edge_labels()), hash_);
  hash_ = hash_bytes(bytes_of(edge_attributes), hash_);
}

std::uint64_t SetHash::finish(const GraphSet& set) const {
  std::uint64_t hash = hash_;
  hash = hash_bytes(bytes_of(set.labels), hash);
  if (targets_) hash = hash_bytes(bytes_of(set.targets), hash);
  for (const auto& own : set.node_labels) hash = hash_bytes(bytes_of(own), hash);
  for (const auto& own : set.node_targets) hash = hash_bytes(bytes_of(own), hash);
  for (const auto& own : set.edge_targets) hash = hash_bytes(bytes_of(own), hash);
  for (const auto& own : set.node_parts) hash = hash_bytes(bytes_of(own), hash);
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
