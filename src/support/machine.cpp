#include "support/machine.hpp"

#include <fmt/chrono.h>
#include <sys/sysinfo.h>
#include <sys/utsname.h>

#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>

#include "support/parallel.hpp"

namespace tyche {

namespace {

/// What follows `key` and a separator in the first line of a file that starts with it; empty where there is none.
std::string value_in(const char* path, const std::string& key, char separator) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    const std::size_t at = line.find(separator);
    if (at == std::string::npos) continue;
    const std::size_t begin = line.find_first_not_of(" \t\"", at + 1);
    const std::size_t end = line.find_last_not_of(" \t\"");
    if (begin != std::string::npos && end >= begin) return line.substr(begin, end - begin + 1);
  }
  return {};
}

}  // namespace

nlohmann::ordered_json this_machine() {
  const std::string processor = value_in("/proc/cpuinfo", "model name", ':');
  struct sysinfo info = {};
  const bool known = ::sysinfo(&info) == 0;
  std::string system = value_in("/etc/os-release", "PRETTY_NAME", '=');
  if (struct utsname name = {}; ::uname(&name) == 0) {
    system += (system.empty() ? "" : ", ") + std::string(name.sysname) + " on " + name.machine;
  }
  return {{"processor", processor.empty() ? "unknown" : processor},
          {"threads", resolve_threads(0)},
          {"memory", known ? std::uint64_t{info.totalram} * info.mem_unit : 0},
          {"system", system}};
}

std::string utc_now() { return fmt::format("{:%Y-%m-%d %H:%M:%S} UTC", fmt::gmtime(std::time(nullptr))); }

}  // namespace tyche
