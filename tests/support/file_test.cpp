#include "support/file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "support/error.hpp"
#include "support/small_disk.hpp"
#include "support/temporary_folder.hpp"

namespace tyche {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(AtomicFile, ShowsNothingUntilItIsCommitted) {
  const TemporaryFolder folder;
  const auto path = folder / "a.txt";
  {
    AtomicFile file(path);
    file.write("half");
    EXPECT_FALSE(std::filesystem::exists(path));
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  write_file(path, "whole", Durability::system);
  EXPECT_EQ(read_file(path), "whole");
}

TEST(AtomicFile, KeepsTheOldFileWhereTheDiskIsFull) {
  const TemporaryFolder folder;
  const auto path = folder / "a.bin";
  write_file(path, "old");
  {
    const SmallDisk disk(1000);
    EXPECT_THAT([&] { write_file(path, std::string(100000, 'x')); }, ThrowsMessage<IoError>(HasSubstr("cannot write")));
  }
  EXPECT_EQ(read_file(path), "old");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1) << "a temporary file is left";
}

TEST(LineLog, KeepsTheBytesAskedForAndAppends) {
  const TemporaryFolder folder;
  const auto path = folder / "log";
  write_file(path, "one\ntwo\ntor");
  LineLog(path, 4).append("new");
  EXPECT_EQ(read_file(path), "one\nnew\n");
  LineLog(path, 1000).append("more");
  EXPECT_EQ(read_file(path), "one\nnew\nmore\n");
}

TEST(LineLog, TakesBackALineThatDoesNotFitOnTheDisk) {
  const TemporaryFolder folder;
  const auto path = folder / "log";
  {
    LineLog log(path, 0);
    log.append("first");
    const SmallDisk disk(10);
    EXPECT_THAT([&] { log.append("a second line, too long"); }, ThrowsMessage<IoError>(HasSubstr("cannot write")));
  }
  EXPECT_EQ(read_file(path), "first\n");
}

TEST(LineLog, SaysSoWhereTheDeviceIsFull) {
  LineLog log("/dev/full", 0);
  EXPECT_THAT([&] { log.append("x"); }, ThrowsMessage<IoError>(HasSubstr("/dev/full: cannot write")));
}

TEST(FolderLock, IsHeldByOneProcessAtATime) {
  const TemporaryFolder folder;
  const FolderLock mine(folder.path());
  EXPECT_THAT([&] { const FolderLock second(folder.path()); },
              ThrowsMessage<InputError>(HasSubstr("in use by another")));
}

}  // namespace
}  // namespace tyche
