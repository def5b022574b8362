#include "train/checkpoint.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "support/error.hpp"
#include "support/safetensors.hpp"
#include "support/small_disk.hpp"
#include "support/temporary_folder.hpp"
#include "train/golden.hpp"
#include "train/samples.hpp"

namespace tyche::train {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

engine::State some_state(const RunConfig& config, std::uint32_t fold) {
  engine::State state = engine::fresh_state(config.model, config.seed, fold);
  for (std::size_t i = 0; i < state.adam_m.size(); ++i) {
    state.adam_m[i] = static_cast<float>(i) * 1e-3f;
    state.adam_v[i] = static_cast<float>(i) * 1e-30f;
  }
  state.epoch = 7;
  state.step = 1ull << 40;
  return state;
}

TEST(Checkpoint, GivesBackTheStateToTheLastBit) {
  const TemporaryFolder folder;
  const RunConfig config = small_config(small_dataset());
  const engine::State state = some_state(config, 2);
  CheckpointWriter(config, 2).write(folder / "last.safetensors", state);
  const Checkpoint back = read_checkpoint(folder / "last.safetensors");
  EXPECT_EQ(back.fold, 2u);
  EXPECT_EQ(back.state.parameters, state.parameters);
  EXPECT_EQ(back.state.adam_m, state.adam_m);
  EXPECT_EQ(back.state.adam_v, state.adam_v);
  EXPECT_EQ(back.state.epoch, state.epoch);
  EXPECT_EQ(back.state.step, state.step);
  EXPECT_TRUE(differences(back.config, config).empty());
}

TEST(Checkpoint, NamesItsTensorsAsPyTorchDoes) {
  for (const char* name : {"gcn_rni50_elu", "gcn_rni100_tanh", "gcn_deterministic_elu", "gcn_rni12_paper_size"}) {
    const TemporaryFolder folder;
    const TensorFile golden = read_golden(name);
    const Checkpoint checkpoint = golden_checkpoint(golden);
    CheckpointWriter(checkpoint.config, 0).write(folder / "c.safetensors", checkpoint.state);
    const TensorFile file = TensorFile::read(folder / "c.safetensors");
    std::set<std::string> expected, found;
    for (const TensorFile::Entry& entry : golden.entries()) {
      if (!entry.name.starts_with("init.")) continue;
      const std::string parameter = entry.name.substr(5);
      expected.insert(parameter);
      ASSERT_TRUE(file.has(parameter)) << parameter;
      EXPECT_EQ(file.at(parameter).shape, entry.shape) << parameter;
      EXPECT_EQ(file.at(parameter).bytes, entry.bytes) << parameter;
      EXPECT_EQ(file.at("adam.m." + parameter).shape, entry.shape);
      EXPECT_EQ(file.at("adam.v." + parameter).shape, entry.shape);
    }
    for (const TensorFile::Entry& entry : file.entries()) {
      if (!entry.name.starts_with("adam.")) found.insert(entry.name);
    }
    EXPECT_EQ(found, expected) << name;
  }
}

TEST(Checkpoint, SaysInItsMetadataWhereItComesFrom) {
  const TemporaryFolder folder;
  RunConfig config = small_config(small_dataset());
  config.seed = 42;
  CheckpointWriter(config, 1).write(folder / "c.safetensors", some_state(config, 1));
  const auto metadata = TensorFile::read(folder / "c.safetensors").metadata;
  EXPECT_EQ(metadata.at("tyche.seed"), "42");
  EXPECT_EQ(metadata.at("tyche.fold"), "1");
  EXPECT_EQ(metadata.at("tyche.epoch"), "7");
  EXPECT_EQ(metadata.at("tyche.data_hash"), config.data.hash);
  EXPECT_EQ(nlohmann::json::parse(metadata.at("tyche.config"))["model"]["width"], 8);
}

TEST(Checkpoint, KeepsTheEarlierOneWhereTheDiskIsFull) {
  const TemporaryFolder folder;
  const RunConfig config = small_config(small_dataset());
  engine::State state = some_state(config, 0);
  const CheckpointWriter writer(config, 0);
  writer.write(folder / "c.safetensors", state);
  state.epoch = 8;
  for (const Durability durability : {Durability::system, Durability::disk}) {
    const SmallDisk disk(5000);
    EXPECT_THAT([&] { writer.write(folder / "c.safetensors", state, durability); },
                ThrowsMessage<IoError>(HasSubstr("c.safetensors: cannot write")));
  }
  EXPECT_EQ(read_checkpoint(folder / "c.safetensors").state.epoch, 7u);
}

TEST(Checkpoint, ComplainsAboutFilesThatAreNone) {
  const TemporaryFolder folder;
  write_file(folder / "empty", "");
  EXPECT_THROW((void)read_checkpoint(folder / "empty"), InputError);
  EXPECT_THROW((void)read_checkpoint(folder / "missing"), IoError);
  TensorFile plain;
  plain.add<float>("x", {1}, std::vector<float>{1});
  plain.write(folder / "plain");
  EXPECT_THAT([&] { (void)read_checkpoint(folder / "plain"); },
              ThrowsMessage<InputError>(HasSubstr("not a checkpoint of tyche train")));
  // A checkpoint with a tensor of another shape than its configuration makes.
  const RunConfig config = small_config(small_dataset());
  CheckpointWriter(config, 0).write(folder / "good", some_state(config, 0));
  TensorFile bad = TensorFile::read(folder / "good");
  bad.metadata["tyche.config"] = [&] {
    RunConfig wider = config;
    wider.model.width = 9;
    return to_json(wider).dump();
  }();
  bad.write(folder / "bad");
  EXPECT_THROW((void)read_checkpoint(folder / "bad"), InputError);
  bad.metadata["tyche.config"] = "{]";
  bad.write(folder / "bad");
  EXPECT_THROW((void)read_checkpoint(folder / "bad"), InputError);
}

}  // namespace
}  // namespace tyche::train
