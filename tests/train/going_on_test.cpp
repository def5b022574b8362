// Runs that begin with another model's weights, freeze layers, or end with a mean of weights.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <span>

#include "engine/engine.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "support/temporary_folder.hpp"
#include "train/checkpoint.hpp"
#include "train/fields.hpp"
#include "train/run.hpp"
#include "train/samples.hpp"
#include "train/start.hpp"

namespace tyche::train {
namespace {

using testing::HasSubstr;

struct GoingOn : testing::Test {
  const datasets::Dataset dataset = small_dataset();
  TemporaryFolder folder;
  std::unique_ptr<engine::Engine> engine = engine::make_engine("cpu", 1);

  RunConfig config(const std::vector<std::pair<std::string, nlohmann::json>>& said,
                   const datasets::Dataset* other = nullptr) const {
    Edits edits;
    for (const auto& [key, value] : said) edits.add(*find_field(key), value, key);
    RunConfig own = default_config(edits.model(), edits.random());
    own.model.width = 8;
    own.model.layers = 2;
    own.folds.count = 3;
    own.folds.only = 0;
    own.training.epochs = 4;
    edits.apply(own);
    resolve(own, other == nullptr ? dataset : *other, "data");
    return own;
  }
  std::filesystem::path trained(const char* name, const RunConfig& own, const datasets::Dataset* other = nullptr) {
    const TrainingData data = prepare(other == nullptr ? dataset : *other, own);
    train::Run run = train::Run::begin(folder / name, own, data);
    EXPECT_TRUE(run.train(*engine, nullptr).complete);
    return folder / name / "fold-0";
  }
};

TEST_F(GoingOn, AFoldBeginsWithTheWeightsOfACheckpointAndItsNetwork) {
  const auto first = trained("first", config({{"model.width", 12}, {"model.kind", "gin"}}));
  const std::string file = (first / "last.safetensors").string();
  const RunConfig tuned = config({{"training.start_from", file}});
  EXPECT_EQ(tuned.model.kind, "gin");
  EXPECT_EQ(tuned.model.width, 12);
  EXPECT_EQ(start_of(prepare(dataset, tuned), tuned, 0).parameters, read_checkpoint(file).state.parameters);
}

TEST_F(GoingOn, ALastLayerOfAnotherSizeBeginsAnew) {
  datasets::Dataset three = dataset;
  for (std::size_t g = 0; g < three.set.labels.size(); g += 3) three.set.labels[g] = 7;
  const auto first = trained("first", config({}));
  const std::string file = (first / "last.safetensors").string();
  const RunConfig tuned = config({{"training.start_from", file}, {"folds.scheme", "stratified"}}, &three);
  ASSERT_EQ(tuned.model.classes, 3);
  const Checkpoint from = read_checkpoint(file);
  const std::vector<float> begun = start_of(prepare(three, tuned), tuned, 0).parameters;
  const nn::Layout before = nn::layout(from.config.model), now = nn::layout(tuned.model);
  for (const nn::Tensor& tensor : now.tensors) {
    if (tensor.name.starts_with("head.fc3")) continue;
    const nn::Tensor& theirs = before.at(tensor.name);
    EXPECT_TRUE(std::ranges::equal(std::span(begun).subspan(tensor.offset, tensor.size),
                                   std::span(from.state.parameters).subspan(theirs.offset, tensor.size)))
        << tensor.name;
  }
  EXPECT_THROW((void)start_of(prepare(three, tuned), config({{"training.start_from", file}, {"model.width", 16}}), 0),
               InputError);
}

TEST_F(GoingOn, FrozenLayersStayAndOthersMoveOnBothEngines) {
  const RunConfig own = config({{"training.freeze", 2}, {"training.clip_norm", 1.0}});
  const std::size_t end = layer_ends(nn::layout(own.model))[1];
  const std::vector<float> begun = start_of(prepare(dataset, own), own, 0).parameters;
  std::vector<std::vector<float>> ended;
  for (const char* name : {"cpu", "reference"}) {
    engine = engine::make_engine(name, 1);
    ended.push_back(read_checkpoint(trained(name, own) / "last.safetensors").state.parameters);
    EXPECT_TRUE(std::ranges::equal(std::span(begun).first(end), std::span(ended.back()).first(end)));
    EXPECT_NE(begun[end], ended.back()[end]);
  }
  for (std::size_t i = 0; i < begun.size(); ++i) EXPECT_NEAR(ended[0][i], ended[1][i], 1e-4);
  EXPECT_THROW((void)config({{"training.freeze", 99}}), InputError);
}

TEST_F(GoingOn, LayersAreCountedByTheirNames) {
  nn::ModelConfig gcn;
  gcn.layers = 3;
  EXPECT_EQ(layer_ends(nn::layout(gcn)).size(), 2 + 3 + 1) << "pre.0, pre.1, convs.0 to 2, head";
  EXPECT_EQ(layer_ends(nn::layout(gcn)).back(), nn::layout(gcn).size);
}

TEST_F(GoingOn, TheMeanOfTheLastEpochsIsThatOfTheirWeightsAndSurvivesAStop) {
  const RunConfig own = config({{"training.average", 3}});
  EXPECT_EQ(own.selection.test, "end");
  std::vector<std::vector<float>> weights;
  for (const std::uint32_t epochs : {2u, 3u, 4u}) {
    const auto run = trained(("to" + std::to_string(epochs)).c_str(), config({{"training.epochs", epochs}}));
    weights.push_back(read_checkpoint(run / "last.safetensors").state.parameters);
  }
  const auto run = trained("mean", own);
  const std::vector<float> mean = read_checkpoint(run / "average.safetensors").state.parameters;
  for (std::size_t i = 0; i < mean.size(); ++i) {
    EXPECT_NEAR(mean[i], (weights[0][i] + weights[1][i] + weights[2][i]) / 3, 1e-6);
  }
  EXPECT_EQ(checkpoint_in(folder / "mean", 0, "").filename(), "average.safetensors");
  // Stopped after the third epoch, and taken up again.
  const TrainingData data = prepare(dataset, own);
  {
    train::Run first = train::Run::begin(folder / "stopped", own, data);
    first.pause(0, 3);
    EXPECT_FALSE(first.train(*engine, nullptr).complete);
  }
  train::Run second = train::Run::resume(folder / "stopped", own, data);
  EXPECT_TRUE(second.train(*engine, nullptr).complete);
  EXPECT_EQ(read_checkpoint(folder / "stopped" / "fold-0" / "average.safetensors").state.parameters, mean);
  EXPECT_EQ(read_file(folder / "stopped" / "fold-0" / "test.json").substr(0, 60),
            read_file(folder / "mean" / "fold-0" / "test.json").substr(0, 60));
  EXPECT_THROW((void)config({{"training.average", 2}, {"selection.by", "loss"}, {"folds.validation", 0.3}}),
               InputError);
}

}  // namespace
}  // namespace tyche::train
