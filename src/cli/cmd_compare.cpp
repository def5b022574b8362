// tyche compare: which network suits these graphs, and is it better than none?
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>

#include "cli/cli.hpp"
#include "cli/commands.hpp"
#include "compare/compare.hpp"
#include "datasets/dataset.hpp"
#include "support/ranks.hpp"

namespace tyche::cli {

namespace compare_command {

struct CompareCall {
  Common common;
  DeviceOptions device;
  compare::Options options;
  std::string data, format, out, budget;
  std::uint64_t epochs = 0;
};

void run(CompareCall& a) {
  compare::Options options = a.options;
  options.out = a.out;
  options.command = called();
  if (a.epochs > 0) {
    options.budget_epochs = a.epochs;
  } else {
    options.budget = compare::seconds_of(a.budget);
  }
  const Ranks ranks;
  options.ranks = &ranks;
  options.seed = a.common.seed;
  options.threads = ranks.size() > 1 && a.common.threads == 0 ? 1 : a.common.threads;  // ranks share cores
  options.engine = a.device.engine_name("auto");
  options.progress = ranks.rank() == 0 ? a.common.progress() : nullptr;
  options.data_format = a.format;
  const datasets::Dataset dataset = read_data(a.data, a.format, options.clean);
  const nlohmann::ordered_json found = compare::compare(dataset, a.data, options);
  if (ranks.rank() != 0) return;
  print(a.common.json ? found.dump(2) + "\n" : compare::to_text(found));
}

}  // namespace compare_command

void add_compare(CLI::App& root) {
  using namespace compare_command;
  const auto [app, a] =
      add_command<CompareCall>(root, "compare", "Which network suits these graphs, and is it better than none?", run);
  app.add_option("data,--data", a->data, "Data set: a file or folder of labelled graphs")
      ->required()
      ->type_name("PATH");
  app.add_option("--out", a->out, "Folder to make: results, page.html, the final model in best/")
      ->required()
      ->type_name("FOLDER");
  CLI::Option* budget =
      app.add_option("--budget", a->budget, "Time for all of it: 10m, 90s, 1h30m")->default_str("10m");
  a->budget = "10m";
  app.add_option("--budget-epochs", a->epochs,
                 "Epochs for all of it, over rows, candidates and folds, instead: the same bits on any machine")
      ->check(CLI::PositiveNumber)
      ->excludes(budget);
  app.add_option("--models", a->options.models,
                 fmt::format("Networks to try: {}", fmt::join(compare::portfolio(), ", ")))
      ->delimiter(',')
      ->default_str("all");
  app.add_option("--metric", a->options.metric, "accuracy, roc_auc or mae")
      ->default_str("accuracy; roc_auc where one of two labels is rare; mae of targets");
  app.add_option("--target", a->options.target, "labels or attributes (default: labels where there are any)")
      ->check(CLI::IsMember({"labels", "attributes"}));
  app.add_option("--target-columns", a->options.target_columns, "Of real targets those to learn, counted from 0: 0,3")
      ->default_str("all");
  CLI::Option* folds = app.add_option("--folds", a->options.folds, "Folds of the cross-validation")
                           ->capture_default_str()
                           ->check(CLI::Range(2u, 1000u));
  app.add_option("--split", a->options.split, "Folds that come with the data: a JSON file, or a folder of index files")
      ->type_name("PATH")
      ->excludes(folds);
  app.add_option("--format", a->format, "Format of --data; told by content unless given");
  app.add_flag("--clean", a->options.clean, kCleanHelp);
  app.add_flag("--ensemble", a->options.ensemble, "The final model is one per fold, whose mean answers");
  app.add_flag("--resume", a->options.resume, "Go on with the comparison in --out");
  a->device.add(app);
  a->common.add(app, kSeed | kThreads | kJson | kQuiet);
  app.footer(
      "Rows: no network (majority or mean; linear models of sizes and degrees, of 1-WL colours), then each network\n"
      "without and with random inputs. A row's candidates (two widths, two rates) are chosen inside every fold by its\n"
      "validation part. The verdict says where nothing beats the baseline.\n"
      "Example:\n"
      "  tyche compare --data mine.jsonl --out cmp --budget 5m\n"
      "  tyche compare --data exp --out cmp --budget-epochs 4000 --models gcn,gin --json\n"
      "  mpirun -n 4 tyche compare --data exp --out cmp --budget-epochs 4000    rows shared out, to the same bits\n"
      "See docs/compare.md");
}

}  // namespace tyche::cli
