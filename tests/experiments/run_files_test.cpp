// Inputs that fuzzing found (fuzz/run_files_fuzz.cpp), read again: configurations, splits, tensors, experiments.
#include <gtest/gtest.h>

#include <filesystem>

#include "../../fuzz/run_files_entry.hpp"
#include "support/file.hpp"

namespace tyche {
namespace {

TEST(FuzzCorpus, EveryFileOfARunIsReadOrRefused) {
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(TYCHE_TEST_DATA "/fuzz/run_files")) {
    EXPECT_NO_THROW(fuzz::read_run_file(read_file(entry.path()))) << entry.path();
    ++files;
  }
  EXPECT_GE(files, 50u);
}

}  // namespace
}  // namespace tyche
