#pragma once
/// What a folder of results holds, as a page or as tables: of `tyche reproduce`, of a training run, or of distinguish.
/// Several, or a folder of such folders, are compared (runs.hpp).
///
///   write_file("report.html", folder_text({"runs/colours"}, {.command = "tyche report runs/colours --out
///   report.html"})); std::cout << folder_text({"runs/colours"}, {.format = "md"});
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace tyche::report {

struct FolderOptions {
  std::string format = "html";  ///< html, md, csv, tex or json
  std::optional<std::size_t> pairs =
      std::nullopt;  ///< of graphs to look at in a page; none: what fits the folder's kind
  unsigned threads = 0;
  std::string command = {};  ///< that makes the page again, as it says itself
};

/// Throws InputError on another format, and where a folder holds no results.
[[nodiscard]] std::string folder_text(const std::vector<std::filesystem::path>& folders, const FolderOptions& options);

}  // namespace tyche::report
