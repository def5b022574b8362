#pragma once
/// A number of things for people.
///
///   counted(1, "fold"), counted(10, "fold")  // "1 fold", "10 folds"
#include <cstdint>
#include <string>
#include <string_view>

namespace tyche {

/// The number and the word, with an s where it is not one.
[[nodiscard]] inline std::string counted(std::uint64_t count, std::string_view what) {
  return std::to_string(count) + " " + std::string(what) + (count == 1 ? "" : "s");
}

}  // namespace tyche
