#pragma once
/// Words for people: what an error or a report says of a text, a number, a command.
///
///   throw InputError("unknown key '{}'{}", key, did_you_mean(key, known));
///   counted(1, "fold"), counted(10, "fold")               // "1 fold", "10 folds"
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace tyche {

/// Text from a file made fit for an error line: in quotes, odd bytes as \xNN, cut where it is long.
[[nodiscard]] std::string shown(std::string_view text);

/// The number and the word, with an s where it is not one.
[[nodiscard]] inline std::string counted(std::uint64_t count, std::string_view what) {
  return std::to_string(count) + " " + std::string(what) + (count == 1 ? "" : "s");
}

/// A word of a command line, quoted where a shell needs it: 'my graphs.g6'.
[[nodiscard]] std::string shell_word(std::string_view word);

/// The fewest insertions, deletions, replacements and swaps of neighbours that turn a into b.
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

/// The nearest known word, or null where none is near: more than a third of the letters differ, and none begins with
/// it.
[[nodiscard]] const std::string* nearest(std::string_view word, std::span<const std::string> known);

/// "; did you mean 'epochs'?" for the nearest known word, or "; expected one of a, b, c" where none is near.
[[nodiscard]] std::string did_you_mean(std::string_view word, std::span<const std::string> known);

}  // namespace tyche
