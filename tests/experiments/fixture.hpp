#pragma once
/// A small experiment that runs in a second, and what two results folders must share.
#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "support/file.hpp"

namespace tyche::experiments {

/// Three models (two of them the same under other names), 2 of 4 folds.
inline std::string small_experiment(unsigned epochs = 3) {
  return R"toml(title = "Small <script>alert(1)</script> & more"
paper_data = "EXP"
show = ["table", "curves", "deviation"]
[data]
generate = "cexp"
pairs = 12
[defaults]
model.width = 8
model.layers = 2
training.batch = 4
folds.count = 4
folds.run = 2
training.epochs = )toml" +
         std::to_string(epochs) + R"toml(
[[models]]
name = "GCN"
[[models]]
name = "GCN-50%RNI"
model.rni = 0.5
[[models]]
name = "the same again"
model.rni = 0.5
[[models]]
name = "GCN-RNI(N)"
model.rni = 1.0
)toml";
}

/// Every file of a results folder but the log; of metrics and summaries all but the times. Files name the folder (the
/// path of the data): that name is masked, so give folders that are compared names of one length that occur nowhere
/// else.
inline std::map<std::string, std::string> records_of(const std::filesystem::path& out) {
  std::map<std::string, std::string> records;
  const std::string name = out.filename().string();
  for (const auto& entry : std::filesystem::recursive_directory_iterator(out)) {
    if (!entry.is_regular_file() || entry.path().filename() == "log.jsonl") continue;
    const std::string text = read_file(entry.path());
    std::string kept;
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      std::string line = text.substr(begin, end - begin);
      // Checksums are of times and paths, too; those of checkpoints stand inside their metadata.
      const std::string inside = "\"tyche.check\":\"";
      if (const std::size_t at = line.find(inside); at != std::string::npos) line.erase(at + inside.size(), 16);
      const bool seal = line.find("\"check\": ") != std::string::npos || line.starts_with("# check ");
      // metrics.jsonl has its times last; summary.json on lines of their own.
      const bool time = line.find("\"seconds\": ") != std::string::npos;
      if (!time && !seal) kept += line.substr(0, line.find(",\"seconds\"")) + "\n";
      begin = end + 1;
    }
    for (std::size_t at = kept.find(name); at != std::string::npos; at = kept.find(name, at)) {
      kept.replace(at, name.size(), std::string(name.size(), '*'));
    }
    records[std::filesystem::relative(entry.path(), out).string()] = kept;
  }
  return records;
}

/// The files that only one of two results folders has, or whose records differ.
inline std::vector<std::string> differing(const std::filesystem::path& a, const std::filesystem::path& b) {
  const auto left = records_of(a), right = records_of(b);
  std::vector<std::string> names;
  for (const auto& [name, text] : left) {
    const auto at = right.find(name);
    if (at == right.end() || at->second != text) names.push_back(name);
  }
  for (const auto& [name, text] : right) {
    if (!left.contains(name)) names.push_back(name);
  }
  return names;
}

}  // namespace tyche::experiments
