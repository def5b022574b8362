#include "report/folder.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "distinguish/records.hpp"
#include "report/distinguish_page.hpp"
#include "report/distinguish_tables.hpp"
#include "report/page.hpp"
#include "report/results.hpp"
#include "report/tables.hpp"
#include "report/training_page.hpp"
#include "report/training_tables.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "train/run.hpp"

namespace tyche::report {

namespace {

template <class Results>
std::string table(const Results& results, const std::string& format) {
  if (format == "md") return to_markdown(results);
  if (format == "csv") return to_csv(results);
  return to_latex(results);
}

/// A folder whose folders are runs is no run: say which are.
void refuse_folder_of_runs(const std::filesystem::path& folder) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(folder, ignored) || std::filesystem::exists(folder / "experiments", ignored))
    return;
  std::vector<std::string> runs;
  for (const std::string& name : list_folder(folder)) {
    if (train::holds_run(folder / name) || distinguish::holds_run(folder / name))
      runs.push_back((folder / name).string());
  }
  if (runs.empty()) return;
  constexpr std::size_t kNamed = 5;
  const std::size_t more = runs.size() - std::min(kNamed, runs.size());
  runs.resize(runs.size() - more);
  throw InputError::at(folder.string(), "",
                       fmt::format("holds runs, and a report is of one: name {}{}", fmt::join(runs, ", or "),
                                   more > 0 ? fmt::format(", or one of {} more", more) : ""));
}

}  // namespace

std::string folder_text(const std::filesystem::path& folder, const FolderOptions& options) {
  const std::string& format = options.format;
  if (format != "html" && format != "md" && format != "csv" && format != "tex") {
    throw InputError(fmt::format("format: expected html, md, csv or tex, found '{}'", format));
  }
  const bool page = format == "html";
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
  refuse_folder_of_runs(folder);
  const Results results = load_results(folder);
  if (!page) return table(results, format);
  PageOptions how;
  how.pairs = options.pairs.value_or(how.pairs);
  how.threads = options.threads;
  how.command = options.command;
  return fill_page(page_template(), page_data(results, how));
}

}  // namespace tyche::report
