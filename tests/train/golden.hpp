#pragma once
/// The golden cases PyTorch computed, as this room needs them: graphs, weights and what came out.
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "graph/io.hpp"
#include "support/safetensors.hpp"
#include "train/checkpoint.hpp"

namespace tyche::train {

inline TensorFile read_golden(const std::string& name) {
  const char* folder = std::getenv("TYCHE_GOLDEN_DIR");
  const std::filesystem::path from =
      folder != nullptr ? std::filesystem::path(folder) : std::filesystem::path(TYCHE_TEST_DATA) / "golden";
  return TensorFile::read(from / (name + ".safetensors"));
}

/// The batch of a golden file, one Graph each, with labels.
inline GraphSet golden_graphs(const TensorFile& golden) {
  const auto types = golden.get<std::int64_t>("graph.node_type"), batch = golden.get<std::int64_t>("graph.batch"),
             ends = golden.get<std::int64_t>("graph.edge_index"), labels = golden.get<std::int64_t>("graph.y");
  GraphSet set;
  set.name = "golden";
  std::size_t first = 0;
  for (std::size_t g = 0; g < labels.size(); ++g) {
    std::size_t end = first;
    std::vector<NodeType> own;
    for (; end < batch.size() && batch[end] == static_cast<std::int64_t>(g); ++end) {
      own.push_back(static_cast<NodeType>(types[end]));
    }
    std::vector<Edge> edges;
    for (std::size_t e = 0; e < ends.size() / 2; ++e) {
      const auto u = static_cast<std::size_t>(ends[e]), v = static_cast<std::size_t>(ends[ends.size() / 2 + e]);
      if (u < v && u >= first && u < end) {
        edges.emplace_back(static_cast<Node>(u - first), static_cast<Node>(v - first));
      }
    }
    set.graphs.push_back(Graph::from_edges(static_cast<Node>(end - first), edges, own));
    set.labels.push_back(static_cast<int>(labels[g]));
    first = end;
  }
  return set;
}

/// A checkpoint that holds the golden file's initial weights, as if a run had ended there.
inline Checkpoint golden_checkpoint(const TensorFile& golden) {
  Checkpoint checkpoint;
  RunConfig& config = checkpoint.config;
  config.model.width = static_cast<std::uint32_t>(std::stoul(golden.metadata.at("width")));
  config.model.layers = static_cast<std::uint32_t>(std::stoul(golden.metadata.at("layers")));
  config.model.rni = std::stod(golden.metadata.at("random_dims")) / config.model.width;
  config.model.activation = nn::parse<nn::Activation>(golden.metadata.at("activation"));
  config.data.features.types = {0, 1};
  config.data.labels = {0, 1};
  config.training.learning_rate = 1e-3;
  for (const nn::Tensor& tensor : nn::layout(config.model).tensors) {
    const auto values = golden.get<float>("init." + tensor.name, tensor.shape);
    checkpoint.state.parameters.insert(checkpoint.state.parameters.end(), values.begin(), values.end());
  }
  checkpoint.state.adam_m.assign(checkpoint.state.parameters.size(), 0.0f);
  checkpoint.state.adam_v = checkpoint.state.adam_m;
  return checkpoint;
}

}  // namespace tyche::train
