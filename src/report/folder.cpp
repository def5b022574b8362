#include "report/folder.hpp"

#include <fmt/format.h>

#include "distinguish/records.hpp"
#include "report/distinguish_page.hpp"
#include "report/distinguish_tables.hpp"
#include "report/page.hpp"
#include "report/results.hpp"
#include "report/runs.hpp"
#include "report/tables.hpp"
#include "report/training_page.hpp"
#include "report/training_tables.hpp"
#include "support/error.hpp"
#include "train/run.hpp"

namespace tyche::report {

namespace {

template <class Results>
std::string table(const Results& results, const std::string& format) {
  if (format == "md") return to_markdown(results);
  if (format == "csv") return to_csv(results);
  return to_latex(results);
}

}  // namespace

std::string folder_text(const std::vector<std::filesystem::path>& folders, const FolderOptions& options) {
  const std::string& format = options.format;
  if (format != "html" && format != "md" && format != "csv" && format != "tex" && format != "json") {
    throw InputError(fmt::format("format: expected html, md, csv, tex or json, found '{}'", format));
  }
  if (folders.empty()) throw InputError("expected a folder of results, found none");
  const bool page = format == "html";
  const std::filesystem::path& folder = folders.front();
  if (folders.size() > 1 || format == "json" || holds_runs(folder)) {
    const std::vector<RunLine> lines = run_lines(folders);
    if (format == "json") {
      return to_json(lines).dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
    }
    return page ? fill_page(page_template(), runs_page_data(lines, options.command)) : table(lines, format);
  }
  if (distinguish::holds_run(folder)) {
    const DistinguishResults results = load_distinguish(folder);
    if (!page) return table(results, format);
    return fill_page(page_template(),
                     distinguish_page_data(results, {.pairs = options.pairs, .command = options.command}));
  }
  if (train::holds_run(folder)) {
    const TrainingResults results = load_training(folder);
    if (!page) return table(results, format);
    return fill_page(page_template(), training_page_data(results, options.command));
  }
  const Results results = load_results(folder);
  if (!page) return table(results, format);
  PageOptions how;
  how.pairs = options.pairs.value_or(how.pairs);
  how.threads = options.threads;
  how.command = options.command;
  return fill_page(page_template(), page_data(results, how));
}

}  // namespace tyche::report
