// tyche inspect: what is in a data set, and what can be learned from it at all?
#include <fmt/format.h>

#include <optional>
#include <string>

#include "cli/cli.hpp"
#include "cli/commands.hpp"
#include "datasets/dataset.hpp"
#include "datasets/split.hpp"
#include "inspect/inspection.hpp"
#include "inspect/report.hpp"
#include "report/page.hpp"
#include "support/error.hpp"
#include "support/progress.hpp"

namespace tyche::cli {

namespace inspect_command {

struct InspectCall {
  Common common;
  std::string data;
  std::string format;
  std::string target;
  std::optional<std::uint32_t> folds;
  std::string scheme;  ///< empty: as training would
  double validation = 0.1;
  std::string split;
  bool all = false;
  std::string page;
  bool clean = false;
};

std::optional<inspect::Task> task_of(const InspectCall& a) {
  if (a.target.empty()) return std::nullopt;
  return a.target == "labels" ? inspect::Task::classes : inspect::Task::targets;
}

/// Folds as `tyche train` makes or reads them.
std::vector<datasets::Fold> folds_of(const InspectCall& a, const datasets::Dataset& dataset,
                                     std::vector<std::string>& notes) {
  if (!a.split.empty()) return datasets::read_split(a.split, dataset.set.graphs.size());
  inspect::LeakFolds wanted{
      .task = task_of(a), .folds = a.folds, .scheme = {}, .validation = a.validation, .seed = a.common.seed};
  if (!a.scheme.empty()) wanted.scheme = datasets::parse_fold_scheme(a.scheme);
  return inspect::leak_folds(dataset, wanted, notes);
}

void run(const InspectCall& a) {
  const datasets::Dataset dataset = read_data(a.data, a.format, a.clean);
  inspect::Options options;
  options.task = task_of(a);
  if (!a.page.empty()) (void)report::page_template();  // throws where there is none, before the work
  std::vector<std::string> notes;
  options.folds = folds_of(a, dataset, notes);
  options.threads = a.common.threads;
  if (a.all) options.limits = inspect::Limits::none();
  Progress progress("graphs", inspect::steps(dataset.set), a.common.progress());
  options.progress = &progress;
  inspect::Inspection found = inspect::examine(dataset, options);
  progress.finish();
  found.notes.insert(found.notes.end(), notes.begin(), notes.end());
  if (!a.page.empty()) {
    const std::string call = fmt::format("tyche inspect --data {} --page {}", a.data, a.page);
    report::write_confused_pairs_page(a.page, inspect::confused_pairs(found, dataset.set, call));
  }
  a.common.json ? print(inspect::to_json(found).dump(2) + "\n") : print(inspect::to_text(found));
}

}  // namespace inspect_command

void add_inspect(CLI::App& root) {
  using namespace inspect_command;
  const auto [app, a] =
      add_command<InspectCall>(root, "inspect", "What is in a data set, and what can be learned from it at all?", run);
  app.add_option("data,--data", a->data, "Data set: a file or folder of graphs")->required()->type_name("PATH");
  app.add_option("--format", a->format, "gin, graph6, ... (default: told by content)");
  app.add_flag("--clean", a->clean, kCleanHelp);
  app.add_option("--target", a->target,
                 "What is to be told: labels of graphs, or their attributes (real targets). Default: labels where "
                 "there are any")
      ->check(CLI::IsMember({"labels", "attributes"}));
  app.add_option("--folds", a->folds, "Folds that copies may leak between (default: 10)")
      ->check(CLI::Range(1u, 1000000u));
  app.add_option("--fold-scheme", a->scheme,
                 "contiguous or stratified (default: as 'tyche train', stratified unless tyche made the set)")
      ->check(CLI::IsMember({"contiguous", "stratified"}));
  app.add_option("--validation", a->validation, "Share of a fold's other graphs that is set aside")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 0.99));
  CLI::Option* split =
      app.add_option("--split", a->split, "Folds that come with the data: a JSON file, or a folder of index files")
          ->type_name("PATH");
  for (const char* other : {"--folds", "--fold-scheme", "--validation"}) split->excludes(app.get_option(other));
  app.add_flag("--all", a->all, "Run every test however long it takes (default: what fits a few seconds)");
  app.add_option("--page", a->page, "Also write a page that shows the pairs of graphs that 1-WL confuses")
      ->type_name("FILE");
  a->common.add(app, kSeed | kThreads | kJson | kQuiet);
  app.footer(
      "Examples: tyche inspect --data exp\n"
      "          tyche inspect --data exp --page out.html\n"
      "          tyche inspect --data NCI1 --folds 5 --json\n"
      "Ceilings hold for every network that the test bounds, whatever its size and weights; they are exact, for the\n"
      "graphs at hand. Findings say what the make-up of the data means for training. See docs/inspect.md");
}

}  // namespace tyche::cli
