#pragma once
/// The inputs of a fuzz target (tests/data/fuzz), read again by an ordinary test: none may throw.
///
///   replay_corpus("readers", [](const std::string& input) { fuzz::read_anything(input); });
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "support/file.hpp"

namespace tyche {

template <class Read>
void replay_corpus(const std::string& target, const Read& read) {
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(TYCHE_TEST_DATA "/fuzz/" + target)) {
    EXPECT_NO_THROW(read(read_file(entry.path()))) << entry.path();
    ++files;
  }
  EXPECT_GE(files, 50u);
}

}  // namespace tyche
