#pragma once
/// What `tyche --version` says: what was built, and what of it this machine uses. The first line is "tyche 0.3.0"; no
/// newline ends the last.
#include <string>

namespace tyche::cli {

[[nodiscard]] std::string version_text();
/// The same for programs: --version --json.
[[nodiscard]] std::string version_json();

}  // namespace tyche::cli
