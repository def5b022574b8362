#pragma once
/// Scripts that complete commands, options and the names of values in a shell, from the same declarations as --help.
///
///   write_file("tyche.fish", fish_completion(describe(app)));
#include <string>

#include "cli/tree.hpp"

namespace tyche::cli {

[[nodiscard]] std::string bash_completion(const CommandPage& root);
[[nodiscard]] std::string zsh_completion(const CommandPage& root);
[[nodiscard]] std::string fish_completion(const CommandPage& root);

}  // namespace tyche::cli
