#pragma once
/// Files that come with the program: the paper's experiments and numbers, the page a report is made from.
///
///   const std::filesystem::path experiments = share_folder() / "experiments";
#include <filesystem>

namespace tyche {

/// The folder share/tyche beside the program (a build tree) or beside its folder (an installation:
/// PREFIX/bin/tyche and PREFIX/share/tyche); where this code is in a shared library, beside that. The environment's
/// TYCHE_SHARE comes first. Throws IoError that says where it looked where there is none.
[[nodiscard]] std::filesystem::path share_folder();

}  // namespace tyche
