// Data whose answer stands on its edges, from a TUDataset's folder to a trained model.
#include <gtest/gtest.h>

#include "support/temporary_folder.hpp"
#include "train/checkpoint.hpp"
#include "train/predict.hpp"
#include "train/run.hpp"

namespace tyche::train {
namespace {

namespace fs = std::filesystem;

/// Pairs of rings that differ in the labels of their edges alone: two edges in five are of kind 3, or three in five.
void write_rings(const fs::path& folder) {
  GraphSet set;
  set.name = "rings";
  for (std::size_t pair = 0; pair < 40; ++pair) {
    const Node nodes = 10 + 5 * static_cast<Node>(pair % 2);
    std::vector<Edge> edges;
    for (Node v = 0; v < nodes; ++v) edges.emplace_back(v, (v + 1) % nodes);
    for (const std::size_t share : {2u, 3u}) {
      std::vector<EdgeLabel> labels;
      for (std::size_t e = 0; e < edges.size(); ++e) labels.push_back((e + pair) % 5 < share ? 3 : 1);
      set.graphs.push_back(Graph::from_edges(nodes, edges, {}, labels));
      set.labels.push_back(share == 2 ? -1 : 1);
    }
  }
  write_graphs(folder, set, Format::tu);
}

/// A run on the rings to `epochs`, begun or taken up in `folder`.
Summary run_rings(const datasets::Dataset& rings, bool edges, std::uint32_t epochs, const fs::path& folder,
                  unsigned threads) {
  RunConfig config = default_config("gin");
  config.model.width = 16;
  config.model.layers = 2;
  config.model.dropout = 0;
  config.model.readout = nn::Readout::sum;
  config.training.epochs = epochs;
  config.training.eval_every = 30;
  config.training.learning_rate = 3e-3;
  config.folds.count = 4;
  config.folds.only = 0;
  config.data.features.edges = edges;
  resolve(config, rings, "rings");
  const TrainingData data = prepare(rings, config);
  Run run = holds_run(folder) ? Run::resume(folder, config, data) : Run::begin(folder, config, data);
  return run.train(*engine::make_engine("cpu", threads), nullptr);
}

Checkpoint checkpoint_of(const fs::path& folder) { return read_checkpoint(folder / "fold-0" / kCheckpointFile); }

TEST(EdgesOfAFile, AreLearnedFromUnlessTheyAreLeftOut) {
  const TemporaryFolder folder;
  write_rings(folder.path() / "rings");
  const datasets::Dataset rings = datasets::load_dataset(folder.path() / "rings");
  EXPECT_GE(run_rings(rings, true, 30, folder.path() / "with", 1).find("test_accuracy")->over.mean, 0.95);
  // Both rings of a pair look the same.
  EXPECT_EQ(run_rings(rings, false, 30, folder.path() / "without", 1).find("test_accuracy")->over.mean, 0.5);

  const Checkpoint with = checkpoint_of(folder.path() / "with"), without = checkpoint_of(folder.path() / "without");
  EXPECT_EQ(with.config.model.edge_features, 2u);
  EXPECT_EQ(without.config.model.edge_features, 0u);
  const auto engine = engine::make_engine("cpu", 1);
  const auto right = [&](const Checkpoint& checkpoint) {
    const std::vector<Prediction> said = predict(*engine, checkpoint, rings.set, {}, "rings");
    std::size_t count = 0;
    for (std::size_t g = 0; g < said.size(); ++g) count += said[g].label == rings.set.labels[g] ? 1 : 0;
    return static_cast<double>(count) / static_cast<double>(said.size());
  };
  EXPECT_GE(right(with), 0.95);
  EXPECT_EQ(right(without), 0.5);
}

TEST(EdgesOfAFile, GiveTheSameBitsAfterAStopAndOnOtherThreads) {
  const TemporaryFolder folder;
  write_rings(folder.path() / "rings");
  const datasets::Dataset rings = datasets::load_dataset(folder.path() / "rings");
  (void)run_rings(rings, true, 4, folder.path() / "whole", 1);
  (void)run_rings(rings, true, 2, folder.path() / "stopped", 3);
  (void)run_rings(rings, true, 4, folder.path() / "stopped", 2);
  EXPECT_EQ(checkpoint_of(folder.path() / "stopped").state.parameters,
            checkpoint_of(folder.path() / "whole").state.parameters);
}

}  // namespace
}  // namespace tyche::train
