#pragma once
/// Commands that a report prints, to be pasted into a shell.
///
///   shell_word("my graphs.g6") == "'my graphs.g6'"
#include <string>
#include <string_view>

namespace tyche {

/// A word of a command line, quoted where a shell needs it.
[[nodiscard]] std::string shell_word(std::string_view word);

}  // namespace tyche
