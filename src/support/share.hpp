#pragma once
/// Files that come with the program: the paper's experiments and numbers, the page a report is made from. They are
/// inside the program and the libraries (cmake/TycheEmbed.cmake), so that a copy of one file is whole; TYCHE_SHARE in
/// the environment names a folder that they are taken from instead, all of them.
///
///   const SharedFile table = shared_file("experiments/table1.toml");
///   parse(table.text, table.name);
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tyche {

struct SharedFile {
  std::string name;  ///< for errors: as asked for, or the path in TYCHE_SHARE
  std::string text;
};

/// Throws IoError where there is no such file, or TYCHE_SHARE is no folder.
[[nodiscard]] SharedFile shared_file(const std::string& name);
/// A text of share/ with values in the place of its marks ("@FOLD@"): the one inside the program, whatever TYCHE_SHARE
/// says.
[[nodiscard]] std::string filled(std::string_view name, const std::map<std::string, std::string>& values);
[[nodiscard]] bool has_shared_file(const std::string& name);
/// The names of the files right below a folder ("experiments"), ascending, without the folder.
[[nodiscard]] std::vector<std::string> shared_files(const std::string& folder);

/// What the build put into the program; ask for it through the functions above.
struct EmbeddedFile {
  std::string_view name;  ///< "experiments/table1.toml"
  std::string_view text;
};
[[nodiscard]] std::span<const EmbeddedFile> embedded_files();

}  // namespace tyche
