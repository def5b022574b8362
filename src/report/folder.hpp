#pragma once
/// What a folder of results holds, as a page or as tables: of `tyche reproduce`, of a training run, or of distinguish.
/// Several, or a folder of such folders, are compared (runs.hpp).
///
///   write_file("report.html", folder_text({"runs/colours"}, "html", {.command = "tyche report runs/colours --out
///   report.html"})); std::cout << folder_text({"runs/colours"}, "md", {});
#include <filesystem>
#include <string>
#include <vector>

#include "report/page.hpp"

namespace tyche::report {

/// `format`: html, md, csv, tex or json. Throws InputError on another, and where a folder holds no results.
[[nodiscard]] std::string folder_text(const std::vector<std::filesystem::path>& folders, const std::string& format,
                                      const PageOptions& how);

}  // namespace tyche::report
