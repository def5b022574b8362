#pragma once
/// Small pairs of graphs, and settings that train on them in a moment.
#include "distinguish/pairs.hpp"
#include "distinguish/settings.hpp"
#include "support/temporary_folder.hpp"
#include "wl/sample_graphs.hpp"

namespace tyche::distinguish {

/// Graphs 2i and 2i + 1 in a file, read again.
inline PairSet pairs_of(std::vector<Graph> graphs) {
  const TemporaryFolder folder;
  GraphSet set;
  set.graphs = std::move(graphs);
  write_graphs(folder / "pairs.txt", set, Format::gin);
  return load_pairs(folder / "pairs.txt");
}

inline Graph reversed(const Graph& graph) {
  std::vector<Node> to(graph.num_nodes());
  for (Node v = 0; v < graph.num_nodes(); ++v) to[v] = graph.num_nodes() - 1 - v;
  return graph.relabelled(to);
}

/// Narrow, and few epochs.
inline Settings small_settings(const PairSet& pairs, nn::Random random, double rni = 0) {
  Settings settings;
  settings.config = default_config("gcn", random);
  settings.config.model.width = 16;
  settings.config.model.layers = 2;
  settings.config.model.rni = rni;
  settings.config.training.epochs = 64;
  settings.config.training.learning_rate = 5e-3;
  settings.draws = 64;
  if (settings.random()) settings.per_epoch = 8;
  resolve(settings, pairs, "pairs");
  return settings;
}

}  // namespace tyche::distinguish
