#pragma once
/// Files that the build put into the program (cmake/TycheEmbed.cmake writes the other side of this header). Ask for
/// them through support/share.hpp, which lets a folder stand in for them.
#include <span>
#include <string_view>

namespace tyche {

struct EmbeddedFile {
  std::string_view name;  ///< "experiments/table1.toml"
  std::string_view text;
};

[[nodiscard]] std::span<const EmbeddedFile> embedded_files();

}  // namespace tyche
