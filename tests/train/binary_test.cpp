// Several labels per graph: targets of 0 and 1, each column by itself, some missing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/error.hpp"
#include "support/temporary_folder.hpp"
#include "train/checkpoint.hpp"
#include "train/objective.hpp"
#include "train/predict.hpp"
#include "train/run.hpp"
#include "train/samples.hpp"

namespace tyche::train {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

/// Paths of 3 to 8 nodes: column 0 is whether there are more than 5, column 1 whether an end has type 1; of every
/// seventh graph it is missing.
datasets::Dataset long_and_marked(std::size_t count) {
  datasets::Dataset dataset;
  dataset.name = dataset.set.name = "paths";
  dataset.hash = 78;
  dataset.set.target_dim = 2;
  for (std::size_t g = 0; g < count; ++g) {
    const auto nodes = static_cast<Node>(3 + g % 6);
    std::vector<Edge> edges;
    for (Node v = 1; v < nodes; ++v) edges.emplace_back(v - 1, v);
    std::vector<NodeType> types(nodes, 0);
    types[0] = g / 6 % 2 == 0 ? 1 : 0;
    dataset.set.graphs.push_back(Graph::from_edges(nodes, edges, types));
    dataset.set.targets.push_back(nodes > 5 ? 1 : 0);
    dataset.set.targets.push_back(g % 7 == 0 ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(types[0]));
  }
  return dataset;
}

RunConfig binary_config(const datasets::Dataset& dataset) {
  RunConfig config = default_config("gin");
  config.model.width = 16;
  config.model.layers = 2;
  config.model.readout = nn::Readout::sum;
  config.model.dropout = 0;
  config.training.epochs = 40;
  config.training.batch = 10;
  config.training.learning_rate = 5e-3;
  config.training.loss = engine::Loss::binary;
  config.folds.count = 4;
  config.folds.scheme = datasets::FoldScheme::stratified;
  config.folds.validation = 0;
  config.folds.only = 0;
  resolve(config, dataset, "paths");
  return config;
}

TEST(Binary, TargetsAreLearnedByColumnAndAnsweredAsChances) {
  const datasets::Dataset dataset = long_and_marked(120);
  const RunConfig config = binary_config(dataset);
  EXPECT_TRUE(learns_bits(config));
  EXPECT_EQ(config.model.classes, 2u);
  const TemporaryFolder folder;
  const TrainingData data = prepare(dataset, config);
  EXPECT_TRUE(data.standards[0].mean.empty()) << "0 and 1 stay what they are";
  const auto engine = engine::make_engine("cpu", 1);
  const Summary summary = Run::begin(folder / "run", config, data).train(*engine, nullptr);
  EXPECT_GT(summary.find("test_roc_auc")->over.mean, 0.95);
  ASSERT_NE(summary.find("test_roc_auc_1"), nullptr);
  ASSERT_NE(summary.find("test_average_precision_0"), nullptr);
  EXPECT_EQ(summary.find("test_mae"), nullptr);
  const Checkpoint checkpoint = read_checkpoint(folder / "run" / "fold-0" / "last.safetensors");
  const std::vector<Prediction> said = predict(*engine, checkpoint, dataset.set, {});
  for (const Prediction& own : said) {
    ASSERT_EQ(own.values.size(), 2u);
    EXPECT_TRUE(own.binary && own.values[0] >= 0 && own.values[0] <= 1);
  }
  EXPECT_LT(said[0].values[0], 0.5) << "3 nodes";
  EXPECT_GT(said[5].values[0], 0.5) << "8 nodes";
  const auto reference = engine::make_engine("reference", 1);
  const std::vector<Prediction> plain = predict(*reference, checkpoint, dataset.set, {});
  for (std::size_t g = 0; g < said.size(); ++g) EXPECT_NEAR(said[g].values[1], plain[g].values[1], 1e-5);
}

TEST(Binary, OfOneColumnHasFoldsWithItsShareOfOnes) {
  datasets::Dataset dataset = long_and_marked(80);
  std::vector<float> one;
  for (std::size_t g = 0; g < 80; ++g) one.push_back(g < 8 ? 1.0f : 0.0f);  // sorted, and rare
  dataset.set.targets = one;
  dataset.set.target_dim = 1;
  for (const datasets::Fold& fold : folds_of(dataset, binary_config(dataset))) {
    float ones = 0;
    for (const std::uint32_t g : fold.test) ones += one[g];
    EXPECT_EQ(ones, 2);
  }
}

TEST(Binary, RefusesTargetsThatAreNeitherAndLabels) {
  datasets::Dataset dataset = long_and_marked(20);
  dataset.set.targets[5] = 0.5f;
  EXPECT_THAT(
      [&] { (void)binary_config(dataset); },
      ThrowsMessage<InputError>(HasSubstr("graph 2, target 1 is 0.5; the binary loss is for targets that are 0 or "
                                          "1")));
  dataset.set.targets.clear();
  dataset.set.target_dim = 0;
  for (std::size_t g = 0; g < 20; ++g) dataset.set.labels.push_back(static_cast<int>(g % 2));
  EXPECT_THAT([&] { (void)binary_config(dataset); },
              ThrowsMessage<InputError>(HasSubstr("must be cross-entropy where labels are learned")));
}

}  // namespace
}  // namespace tyche::train
