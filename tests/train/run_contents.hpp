#pragma once
/// What two runs are compared by.
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "support/file.hpp"

namespace tyche::train {

/// Everything under a run folder that must be equal between two runs: lines without their times, checkpoints whole.
inline std::map<std::string, std::string> run_contents(const std::filesystem::path& run) {
  namespace fs = std::filesystem;
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(run)) {
    if (!entry.is_regular_file()) continue;
    const std::string name = fs::relative(entry.path(), run).string();
    std::string bytes = read_file(entry.path());
    if (name == "summary.json") {
      bytes = nlohmann::json::parse(bytes)["test_accuracy_mean"].dump();
    } else if (entry.path().filename() == "metrics.jsonl") {
      std::string lines;
      for (std::size_t at = 0; at < bytes.size(); at = bytes.find('\n', at) + 1) {
        lines += bytes.substr(at, bytes.find(",\"seconds\"", at) - at) + "\n";
      }
      bytes = lines;
    }
    files[name] = bytes;
  }
  return files;
}

}  // namespace tyche::train
