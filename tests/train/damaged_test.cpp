// Files of a run in which a byte changed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/damage.hpp"
#include "support/error.hpp"
#include "support/seal.hpp"
#include "support/temporary_folder.hpp"
#include "train/config.hpp"
#include "train/metrics.hpp"
#include "train/samples.hpp"

namespace tyche::train {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(DamagedRun, AChangedConfigurationIsRefused) {
  const TemporaryFolder folder;
  const RunConfig config = small_config(small_dataset());
  write_config(folder / "config.toml", config);
  EXPECT_TRUE(differences(read_config(folder / "config.toml"), config).empty());
  damage(folder / "config.toml", "width = 8", "width = 9");
  EXPECT_THAT([&] { (void)read_config(folder / "config.toml"); },
              ThrowsMessage<InputError>(HasSubstr("config.toml: is damaged")));
}

TEST(DamagedRun, AChangedRecordIsRefusedByItsLine) {
  const TemporaryFolder folder;
  std::string lines;
  for (std::uint32_t epoch = 1; epoch <= 3; ++epoch) {
    EpochRecord record;
    record.epoch = epoch;
    record.train_loss = 0.25 * epoch;
    lines += seal_json(to_line(record)) + "\n";
  }
  write_file(folder / "metrics.jsonl", lines);
  EXPECT_EQ(read_metrics(folder / "metrics.jsonl", 3).records[1].train_loss, 0.5);
  damage(folder / "metrics.jsonl", "\"train_loss\":0.5", "\"train_loss\":0.4");
  EXPECT_EQ(read_metrics(folder / "metrics.jsonl", 1).records.size(), 1u) << "the first is as it was";
  EXPECT_THAT([&] { (void)read_metrics(folder / "metrics.jsonl", 3); },
              ThrowsMessage<InputError>(HasSubstr("metrics.jsonl: line 2: is damaged")));
  EXPECT_THAT([&] { (void)read_metrics(folder / "metrics.jsonl"); },
              ThrowsMessage<InputError>(HasSubstr("metrics.jsonl: line 2: is damaged")));
}

}  // namespace
}  // namespace tyche::train
