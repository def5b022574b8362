#include "train/predict.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/whole_engine.hpp"
#include "support/error.hpp"
#include "support/replaced.hpp"
#include "support/temporary_folder.hpp"
#include "train/golden.hpp"
#include "train/run.hpp"
#include "train/samples.hpp"

namespace tyche::train {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

NpyMatrix golden_features(const TensorFile& golden) {
  const auto& shape = golden.at("in.random_features").shape;
  return {.rows = shape[0], .columns = shape[1], .values = golden.get<float>("in.random_features")};
}

TEST(Predict, ReproducesPyTorchsLogitsWithItsRandomFeatures) {
  for (const char* name : {"gcn_rni50_elu", "gcn_rni100_elu", "gcn_rni100_tanh", "gcn_rni12_paper_size"}) {
    const TensorFile golden = read_golden(name);
    const Checkpoint checkpoint = golden_checkpoint(golden);
    const GraphSet set = golden_graphs(golden);
    const std::vector<float> expected = golden.get<float>("out.logits");
    float largest = 0;
    for (const float z : expected) largest = std::max(largest, std::abs(z));
    for (const char* engine : {"auto", "reference"}) {
      PredictOptions options;
      options.pinned = golden_features(golden);
      const auto predictions = predict(*engine::make_engine(engine, 2), checkpoint, set, options);
      for (std::size_t g = 0; g < predictions.size(); ++g) {
        for (std::size_t c = 0; c < 2; ++c) {
          EXPECT_NEAR(predictions[g].logits[c], expected[2 * g + c], 2e-5 * largest) << name << " graph " << g;
        }
      }
    }
  }
}

TEST(Predict, GivesTheAnswersOfTheLastEvaluation) {
  const TemporaryFolder folder;
  const datasets::Dataset dataset = small_dataset();
  const RunConfig config = small_config(dataset);
  const TrainingData data = prepare(dataset, config);
  const Summary summary = Run::begin(folder / "run", config, data).train(*engine::make_engine("auto", 1), nullptr);
  for (std::uint32_t fold = 0; fold < 3; ++fold) {
    const auto path = folder / ("run/fold-" + std::to_string(fold) + "/last.safetensors");
    const auto predictions = predict(*engine::make_engine("auto", 2), read_checkpoint(path), dataset.set, {});
    double right = 0;
    for (const std::uint32_t g : data.folds[fold].test) right += predictions[g].label == dataset.set.labels[g] ? 1 : 0;
    EXPECT_DOUBLE_EQ(right / static_cast<double>(data.folds[fold].test.size()),
                     *summary.folds[fold].last->metrics.find("test_accuracy"));
  }
}

class PredictTest : public testing::Test {
 protected:
  PredictTest()
      : golden_(read_golden("gcn_rni50_elu")), checkpoint_(golden_checkpoint(golden_)), set_(golden_graphs(golden_)) {}
  std::vector<Prediction> run(const PredictOptions& options, unsigned threads = 1) {
    return predict(*engine::make_engine("auto", threads), checkpoint_, set_, options, "features.npy");
  }
  TensorFile golden_;
  Checkpoint checkpoint_;
  GraphSet set_;
};

TEST_F(PredictTest, AveragesOverDraws) {
  const auto many = run({.draws = 3, .seed = 5, .pinned = {}});
  EXPECT_GT(many[0].spread, 0);
  EXPECT_EQ(run({.draws = 1, .seed = 5, .pinned = {}})[0].spread, 0);
  // Logits of three draws are means over draws: draw 0's alone differ, and another seed's differ.
  EXPECT_NE(run({.draws = 1, .seed = 5, .pinned = {}})[0].logits, many[0].logits);
  EXPECT_NE(run({.draws = 3, .seed = 6, .pinned = {}})[0].logits, many[0].logits);
  EXPECT_EQ(run({.draws = 3, .seed = 5, .pinned = {}}, 3)[0].logits, many[0].logits);
  for (const Prediction& p : many) {
    EXPECT_GE(p.probability, 0.5 - 1e-12);
    EXPECT_LE(p.probability, 1);
  }
}

TEST_F(PredictTest, HasNoSpreadWithoutRandomFeatures) {
  const TensorFile golden = read_golden("gcn_deterministic_elu");
  checkpoint_ = golden_checkpoint(golden);
  set_ = golden_graphs(golden);
  const std::vector<float> expected = golden.get<float>("out.logits");
  const auto predictions = run({.draws = 4, .seed = {}, .pinned = {}});
  for (std::size_t g = 0; g < predictions.size(); ++g) {
    EXPECT_EQ(predictions[g].spread, 0);
    EXPECT_NEAR(predictions[g].logits[0], expected[2 * g], 1e-5);
  }
  EXPECT_THAT([&] { (void)run({.draws = 1, .seed = {}, .pinned = golden_features(golden_)}); },
              ThrowsMessage<InputError>(HasSubstr("this model has none")));
}

/// Counts what it is asked.
class CountingEngine final : public engine::WholeEngine {
 public:
  [[nodiscard]] std::string description() const override { return "counting"; }
  void train(const engine::Job&, std::span<engine::Trial>, engine::Observer&) override {}
  [[nodiscard]] engine::Logits predict(const engine::Job& job, std::span<const float> parameters,
                                       std::span<const std::uint32_t> which, const engine::Draw& draw) override {
    ++asked;
    return own_->predict(job, parameters, which, draw);
  }
  double gradient(const engine::Job&, std::span<const float>, std::span<const std::uint32_t>, const engine::Draw&,
                  std::vector<float>&, engine::Logits&) override {
    return 0;
  }
  std::size_t asked = 0;

 private:
  std::unique_ptr<engine::Engine> own_ = engine::make_engine("cpu", 1);
};

TEST_F(PredictTest, AsksOnceWhereNothingIsDrawnAndOnceADrawElsewhere) {
  PredictOptions options;
  options.draws = 16;
  CountingEngine engine;
  (void)predict(engine, checkpoint_, set_, options);
  EXPECT_EQ(engine.asked, 16u);
  EXPECT_EQ(engine.opened, 1u);
  const TensorFile plain = read_golden("gcn_deterministic_elu");
  CountingEngine once;
  EXPECT_EQ(predict(once, golden_checkpoint(plain), golden_graphs(plain), options)[0].spread, 0);
  EXPECT_EQ(once.asked, 1u);
}

TEST_F(PredictTest, RefusesPinnedFeaturesThatDoNotFit) {
  const NpyMatrix good = golden_features(golden_);
  const auto with = [&](auto change) {
    return [this, good, change] {
      PredictOptions options;
      options.pinned = good;
      change(options);
      (void)run(options);
    };
  };
  EXPECT_THAT(with([](PredictOptions& o) { o.pinned->rows = 47; }),
              ThrowsMessage<InputError>(HasSubstr("features.npy: has the shape 47 × 8; expected 48 × 8")));
  EXPECT_THAT(with([](PredictOptions& o) { o.pinned->values[9] = std::numeric_limits<float>::quiet_NaN(); }),
              ThrowsMessage<InputError>(HasSubstr("row 1, column 1: is nan")));
  EXPECT_THAT(with([](PredictOptions& o) { o.draws = 2; }), ThrowsMessage<InputError>(HasSubstr("are one draw")));
}

TEST_F(PredictTest, RefusesDataThatDoesNotFitTheModel) {
  set_.labels.clear();
  EXPECT_EQ(run({}).size(), 6u) << "labels are not needed";
  set_.graphs = replaced(set_.graphs, 0, Graph());
  EXPECT_THAT([&] { (void)run({}); }, ThrowsMessage<InputError>(HasSubstr("graph 0 has no nodes")));
}

TEST_F(PredictTest, AnswersInTheLabelsOfTheTrainingData) {
  checkpoint_.config.data.labels = {-4, 12};
  set_.labels = {-4, -4, 12, 12, 12, -4};
  for (const Prediction& own : run({})) EXPECT_TRUE(own.label == -4 || own.label == 12);
}

TEST_F(PredictTest, AnswersForTheGraphsThatAreAskedAbout) {
  const auto all = run({}), some = run({.graphs = {{4, 1}}});
  ASSERT_EQ(some.size(), 2u);
  EXPECT_EQ(some[0].logits, all[4].logits);
  EXPECT_EQ(some[1].logits, all[1].logits);
  EXPECT_TRUE(run({.graphs = std::vector<std::uint32_t>{}}).empty());
}

}  // namespace
}  // namespace tyche::train
