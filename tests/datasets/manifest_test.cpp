#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "datasets/dataset.hpp"
#include "support/damage.hpp"
#include "support/error.hpp"
#include "support/seal.hpp"
#include "support/temporary_folder.hpp"

namespace tyche::datasets {
namespace {

TEST(Manifest, IsRefusedWhereAByteChanged) {
  const TemporaryFolder folder;
  write_file(folder / "manifest.json",
             seal_json("{\n  \"content\": \"0123\",\n  \"parameters\": {\"unseen\": 5},\n  \"graphs\": []\n}\n"));
  EXPECT_EQ(read_manifest(folder / "manifest.json").unseen, 5u);
  damage(folder / "manifest.json", "\"unseen\": 5", "\"unseen\": 6");
  EXPECT_THAT([&] { (void)read_manifest(folder / "manifest.json"); },
              testing::ThrowsMessage<InputError>(testing::HasSubstr("manifest.json: is damaged")));
}

}  // namespace
}  // namespace tyche::datasets
