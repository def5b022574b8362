// tyche report: results as a page to look at, or as tables for a paper.
#include <fmt/format.h>

#include <optional>

#include "cli/cli.hpp"
#include "cli/commands.hpp"
#include "report/runs.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "support/words.hpp"

namespace tyche::cli {

namespace report_command {

struct ReportCall {
  Common common;
  std::vector<std::string> folders;
  std::string out;
  std::string format = "html";
  std::optional<std::size_t> pairs;
};

std::string command_line(const ReportCall& a) {
  std::string text = "tyche report";
  for (const std::string& folder : a.folders) text += " " + shell_word(folder);
  text += " --out " + shell_word(a.out);
  if (a.pairs) text += fmt::format(" --pairs {}", *a.pairs);
  return text;
}

void run(const ReportCall& a) {
  if (a.format == "html" && a.out.empty()) {
    throw InputError("--out is required for a page: tyche report DIR --out report.html");
  }
  const std::string text =
      report::folder_text({a.folders.begin(), a.folders.end()}, a.format,
                          {.pairs = a.pairs, .threads = a.common.threads, .command = command_line(a)});
  if (a.out.empty()) return print(text);
  write_file(a.out, text);
  if (!a.common.quiet) print(fmt::format("{} ({:.1f} kB)\n", a.out, static_cast<double>(text.size()) / 1000));
}

}  // namespace report_command

void add_report(CLI::App& root) {
  using namespace report_command;
  const auto [app, a] = add_command<ReportCall>(
      root, "report", "Show what a folder of results holds, or compare several: a page, or tables", run);
  app.add_option("folder", a->folders,
                 "What 'tyche reproduce --out', 'train --out' or 'distinguish --out' wrote; several, or a folder of\n"
                 "such folders, are compared")
      ->required()
      ->type_name("DIR");
  app.add_option("--out", a->out, "File to write; tables go to standard output without it")->type_name("FILE");
  app.add_option("--format", a->format, "html (one file, no network needed), md, csv, tex or json")
      ->capture_default_str()
      ->check(CLI::IsMember({"html", "md", "csv", "tex", "json"}));
  app.add_option("--pairs", a->pairs, "Pairs of graphs to look at in the page, of each data set")
      ->default_str("12; of distinguish as many as fit");
  a->common.add(app, kThreads | kQuiet);
  app.footer(
      "Of reproduce: our accuracies and curves beside the paper's. Of train: the curves of every fold for whatever "
      "was\n"
      "measured. Of distinguish: pairs told apart per category, and each pair to look at, failures first. A run that "
      "is\n"
      "under way is shown as far as it is. Several side by side: a line for each, with the test results that its\n"
      "summary reports, metric by metric. Examples:\n"
      "  tyche report out --out report.html\n"
      "  tyche report runs/colours --format tex --out tables.tex\n"
      "  tyche report runs/gcn runs/gin --format md");
}

}  // namespace tyche::cli
