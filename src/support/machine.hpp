#pragma once
/// The machine a result was made on, for records.
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace tyche {

struct Machine {
  std::string processor;     ///< "AMD EPYC 7763 64-Core Processor"; "unknown" where the system does not say
  unsigned threads = 0;      ///< hardware threads this process may use
  std::uint64_t memory = 0;  ///< bytes; 0: unknown
  std::string system;        ///< "Debian GNU/Linux 12 (bookworm)"
};

[[nodiscard]] Machine this_machine();
[[nodiscard]] nlohmann::ordered_json to_json(const Machine& machine);

/// Now, in UTC, as "2026-11-15 04:12:09 UTC".
[[nodiscard]] std::string utc_now();

}  // namespace tyche
