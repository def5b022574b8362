#pragma once
/// Small data for tests of training: graphs whose label can be seen in their shape, made from a seed.
#include <cstdint>
#include <string>
#include <vector>

#include "datasets/dataset.hpp"
#include "support/random.hpp"
#include "train/config.hpp"
#include "train/data.hpp"

namespace tyche::train {

/// `count` graphs of 5 to 9 nodes with labels 3, 5, 9, 3, 5, 9, … (only 3 and 5 for two classes): paths, cycles, stars.
/// Two node types at random; two attributes per node where asked for. Pairs and subsets are left out.
inline datasets::Dataset small_dataset(std::uint32_t count = 24, std::uint32_t classes = 2, bool attributes = false,
                                       std::uint64_t seed = 1) {
  Stream stream(derive_key(seed, Purpose::test, count, classes));
  datasets::Dataset dataset;
  dataset.name = dataset.set.name = "small";
  dataset.hash = 0x1234567890abcdefull + seed;
  const int labels[] = {3, 5, 9};
  for (std::uint32_t g = 0; g < count; ++g) {
    const auto nodes = static_cast<Node>(5 + stream.below(5));
    const std::uint32_t kind = g % classes;
    std::vector<Edge> edges;
    for (Node v = 1; v < nodes; ++v) edges.emplace_back(kind == 2 ? 0 : v - 1, v);
    if (kind == 1) edges.emplace_back(0, nodes - 1);
    std::vector<NodeType> types(nodes);
    for (NodeType& type : types) type = stream.coin() ? 1 : 0;
    dataset.set.graphs.push_back(Graph::from_edges(nodes, edges, types));
    dataset.set.labels.push_back(labels[kind]);
    if (attributes) {
      std::vector<float> block;
      for (Node v = 0; v < 2 * nodes; ++v) block.push_back(static_cast<float>(stream.uniform() - 0.5));
      dataset.set.attributes.push_back(block);
      dataset.set.attribute_dim = 2;
    }
  }
  return dataset;
}

/// A model small enough for a test: width 8, two layers, half of it random, three folds, batches of four.
inline RunConfig small_config(const datasets::Dataset& dataset, std::uint32_t epochs = 4) {
  RunConfig config;
  config.model.width = 8;
  config.model.layers = 2;
  config.model.rni = 0.5;
  config.training.epochs = epochs;
  config.training.batch = 4;
  config.training.learning_rate = 5e-3;
  config.folds.count = 3;
  resolve(config, dataset, "small");
  return config;
}

}  // namespace tyche::train
