#pragma once
/// The word a user may have meant.
///
///   throw InputError(fmt::format("unknown key '{}'{}", key, did_you_mean(key, known)));
#include <span>
#include <string>
#include <string_view>

namespace tyche {

/// The fewest insertions, deletions, replacements and swaps of neighbours that turn a into b.
[[nodiscard]] std::size_t edit_distance(std::string_view a, std::string_view b);

/// The nearest known word, or null where none is near: more than a third of the letters differ, and none begins with
/// it.
[[nodiscard]] const std::string* nearest(std::string_view word, std::span<const std::string> known);

/// "; did you mean 'epochs'?" for the nearest known word, or "; expected one of a, b, c" where none is near.
[[nodiscard]] std::string did_you_mean(std::string_view word, std::span<const std::string> known);

}  // namespace tyche
