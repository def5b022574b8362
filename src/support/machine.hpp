#pragma once
/// The machine a result was made on, for records.
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace tyche {

/// Its "processor" ("AMD EPYC 7763 64-Core Processor"; "unknown" where the system does not say), "threads" that this
/// process may use, "memory" in bytes (0: unknown) and "system" ("Debian GNU/Linux 12 (bookworm)").
[[nodiscard]] nlohmann::ordered_json this_machine();

/// Now, in UTC, as "2026-11-15 04:12:09 UTC".
[[nodiscard]] std::string utc_now();

}  // namespace tyche
