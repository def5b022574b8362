#pragma once
/// Text from a file made fit for an error line.
///
///   shown("a\tb")  // 'a\x09b'
#include <string>
#include <string_view>

namespace tyche {

/// In quotes, odd bytes as \xNN, cut where it is long.
[[nodiscard]] std::string shown(std::string_view text);

}  // namespace tyche
