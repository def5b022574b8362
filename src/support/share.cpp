#include "support/share.hpp"

#include <fmt/format.h>

#include <cstdlib>

#include "support/error.hpp"

namespace tyche {

std::filesystem::path share_folder() {
  if (const char* named = std::getenv("TYCHE_SHARE"); named != nullptr && *named != '\0') {
    if (std::filesystem::is_directory(named)) return named;
    throw IoError(fmt::format("TYCHE_SHARE is '{}', which is no folder", named));
  }
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) throw IoError("cannot tell where the program lies; set TYCHE_SHARE to its folder share/tyche");
  std::string looked;
  for (std::filesystem::path base = program.parent_path(); !base.empty(); base = base.parent_path()) {
    std::filesystem::path folder = base / "share" / "tyche";
    if (std::filesystem::is_directory(folder, error)) return folder;
    looked += (looked.empty() ? "" : ", ") + folder.string();
    if (base != program.parent_path()) break;  // the program's folder and the one above it
  }
  throw IoError(
      fmt::format("the files that come with the program are missing: looked for {}; install it again, or set "
                  "TYCHE_SHARE to the folder",
                  looked));
}

}  // namespace tyche
