#include "report/folder.hpp"

#include <fmt/format.h>

#include "distinguish/records.hpp"
#include "report/page.hpp"
#include "report/runs.hpp"
#include "report/tables.hpp"
#include "support/error.hpp"
#include "train/run.hpp"

namespace tyche::report {

namespace {

template <class Results>
std::string shown(const Results& results, const std::string& format, const PageOptions& how) {
  if (format == "md") return to_markdown(results);
  if (format == "csv") return to_csv(results);
  return format == "tex" ? to_latex(results) : fill_page(page_template(), page_data(results, how));
}

}  // namespace

std::string folder_text(const std::vector<std::filesystem::path>& folders, const std::string& format,
                        const PageOptions& how) {
  if (format != "html" && format != "md" && format != "csv" && format != "tex" && format != "json") {
    throw InputError(fmt::format("format: expected html, md, csv, tex or json, found '{}'", format));
  }
  if (folders.empty()) throw InputError("expected a folder of results, found none");
  const std::filesystem::path& folder = folders.front();
  if (format == "json") {
    return to_json(run_lines(folders)).dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  }
  if (folders.size() > 1 || holds_runs(folder)) return shown(run_lines(folders), format, how);
  if (distinguish::holds_run(folder)) return shown(load_distinguish(folder), format, how);
  if (train::holds_run(folder)) return shown(load_training(folder), format, how);
  return shown(load_results(folder), format, how);
}

}  // namespace tyche::report
