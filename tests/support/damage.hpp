#pragma once
/// A byte that changed on a disk.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "support/file.hpp"

namespace tyche {

/// Puts `to` in the place of the first `from` in a file, whose checksum stays what it was.
inline void damage(const std::filesystem::path& path, const std::string& from, const std::string& to) {
  std::string text = read_file(path);
  const std::size_t at = text.find(from);
  ASSERT_NE(at, std::string::npos) << path << " has no " << from;
  write_file(path, text.replace(at, from.size(), to));
}

}  // namespace tyche
