#pragma once
/// Graphs to measure on where no data set is asked for.
///
///   const Sample sample = synthetic_exp(1092, 1);
///   job.data = sample.data();
#include <cstdint>
#include <vector>

#include "engine/engine.hpp"

namespace tyche::measure {

/// Graphs with labels and two columns of features.
struct Sample {
  std::vector<Graph> graphs;
  std::vector<std::uint32_t> labels;
  std::vector<std::vector<float>> features;

  [[nodiscard]] engine::Data data() const { return {graphs, labels, features}; }
};

/// A random graph with exactly so many edges (at most half of all pairs), from Purpose::graph_sample.
[[nodiscard]] Graph random_sparse_graph(Node nodes, std::uint64_t edges, std::uint64_t seed, std::uint32_t index = 0);

/// As large and as sparse as EXP's: 33 to 65 nodes, 1.2 edges per node; features one-hot at random.
[[nodiscard]] Sample synthetic_exp(std::size_t graphs, std::uint64_t seed);

/// Pairs of EXP with cores so large that a graph has about so many nodes; features are node types, one-hot.
[[nodiscard]] Sample exp_pairs(std::uint32_t nodes, std::uint32_t pairs);
/// As many random graphs of so many nodes, 1.2 edges per node: no regularity to use.
[[nodiscard]] Sample random_graphs(std::uint32_t nodes, std::uint32_t graphs);

}  // namespace tyche::measure
