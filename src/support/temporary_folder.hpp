#pragma once
/// A folder of its own under $TMPDIR (or /tmp), gone with everything in it when the object goes.
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "support/error.hpp"

namespace tyche {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "tyche-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw IoError::from_errno(name, "make a folder", errno);
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

}  // namespace tyche
