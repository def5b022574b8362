#include "support/share.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>

#include "support/error.hpp"

namespace tyche {

namespace {

/// The program, or the shared library that this function is in.
std::filesystem::path own_file(std::error_code& error) {
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  Dl_info info{};
  if (::dladdr(reinterpret_cast<const void*>(&own_file), &info) == 0 || info.dli_fname == nullptr) return program;
  const std::filesystem::path file = std::filesystem::canonical(info.dli_fname, error);
  // A program may be named by what it was called as, found on PATH; a library is named by its path.
  if (!error && file.filename().string().find(".so") != std::string::npos) return file;
  error.clear();
  return program;
}

}  // namespace

std::filesystem::path share_folder() {
  if (const char* named = std::getenv("TYCHE_SHARE"); named != nullptr && *named != '\0') {
    if (std::filesystem::is_directory(named)) return named;
    throw IoError(fmt::format("TYCHE_SHARE is '{}', which is no folder", named));
  }
  std::error_code error;
  const std::filesystem::path program = own_file(error);
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
