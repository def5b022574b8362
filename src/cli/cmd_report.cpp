// tyche report: results as a page to look at, or as tables for a paper.
#include <fmt/format.h>

#include <memory>
#include <optional>

#include "cli/cli.hpp"
#include "cli/commands.hpp"
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
#include "support/shell.hpp"
#include "train/run.hpp"

namespace tyche::cli {

namespace report_command {

struct Arguments {
  Common common;
  std::string folder;
  std::string out;
  std::string format = "html";
  std::optional<std::size_t> pairs;
};

std::string command_line(const Arguments& a) {
  std::string text = fmt::format("tyche report {} --out {}", shell_word(a.folder), shell_word(a.out));
  if (a.pairs) text += fmt::format(" --pairs {}", *a.pairs);
  return text;
}

template <class Results>
std::string table(const Results& results, const std::string& format) {
  if (format == "md") return report::to_markdown(results);
  if (format == "csv") return report::to_csv(results);
  return report::to_latex(results);
}

/// What the folder holds decides what is shown of it.
std::string text_of(const Arguments& a) {
  const bool page = a.format == "html";
  if (distinguish::holds_run(a.folder)) {
    const report::DistinguishResults results = report::load_distinguish(a.folder);
    if (!page) return table(results, a.format);
    return report::fill_page(report::page_template(),
                             report::distinguish_page_data(results, {.pairs = a.pairs, .command = command_line(a)}));
  }
  if (train::holds_run(a.folder)) {
    const report::TrainingResults results = report::load_training(a.folder);
    if (!page) return table(results, a.format);
    return report::fill_page(report::page_template(), report::training_page_data(results, command_line(a)));
  }
  const report::Results results = report::load_results(a.folder);
  if (!page) return table(results, a.format);
  report::PageOptions options;
  options.pairs = a.pairs.value_or(options.pairs);
  options.threads = a.common.threads;
  options.command = command_line(a);
  return report::fill_page(report::page_template(), report::page_data(results, options));
}

void run(const Arguments& a) {
  if (a.format == "html" && a.out.empty()) {
    throw InputError("--out is required for a page: tyche report DIR --out report.html");
  }
  const std::string text = text_of(a);
  if (a.out.empty()) return print(text);
  write_file(a.out, text);
  if (!a.common.quiet) print(fmt::format("{} ({:.1f} kB)\n", a.out, static_cast<double>(text.size()) / 1000));
}

}  // namespace report_command

void add_report(CLI::App& root) {
  using namespace report_command;
  auto a = std::make_shared<Arguments>();
  CLI::App& app = *root.add_subcommand("report", "Show what a folder of results holds: a page, or tables");
  app.add_option("folder", a->folder, "What 'tyche reproduce --out', 'train --out' or 'distinguish --out' wrote")
      ->required()
      ->type_name("DIR");
  app.add_option("--out", a->out, "File to write; tables go to standard output without it")->type_name("FILE");
  app.add_option("--format", a->format, "html (one file, no network needed), md, csv or tex")
      ->capture_default_str()
      ->check(CLI::IsMember({"html", "md", "csv", "tex"}));
  app.add_option("--pairs", a->pairs, "Pairs of graphs to look at in the page, of each data set")
      ->default_str("12; of distinguish as many as fit");
  a->common.add_threads(app);
  a->common.add_quiet(app);
  app.footer(
      "Of reproduce: our accuracies and curves beside the paper's. Of train: the curves of every fold for whatever "
      "was\n"
      "measured. Of distinguish: pairs told apart per category, and each pair to look at, failures first. A run that "
      "is\n"
      "under way is shown as far as it is. Examples:\n"
      "  tyche report out --out report.html\n"
      "  tyche report runs/colours --format tex --out tables.tex");
  app.callback([a] { run(*a); });
}

}  // namespace tyche::cli
