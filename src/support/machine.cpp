#include "support/machine.hpp"

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

Machine this_machine() {
  Machine machine;
  machine.processor = value_in("/proc/cpuinfo", "model name", ':');
  if (machine.processor.empty()) machine.processor = "unknown";
  machine.threads = resolve_threads(0);
  struct sysinfo info = {};
  if (::sysinfo(&info) == 0) machine.memory = std::uint64_t{info.totalram} * info.mem_unit;
  machine.system = value_in("/etc/os-release", "PRETTY_NAME", '=');
  if (struct utsname name = {}; ::uname(&name) == 0) {
    machine.system += (machine.system.empty() ? "" : ", ") + std::string(name.sysname) + " on " + name.machine;
  }
  return machine;
}

nlohmann::ordered_json to_json(const Machine& machine) {
  return {{"processor", machine.processor},
          {"threads", machine.threads},
          {"memory", machine.memory},
          {"system", machine.system}};
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts = {};
  ::gmtime_r(&now, &parts);
  char text[40];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &parts);
  return text;
}

}  // namespace tyche
