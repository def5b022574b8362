// tyche report: results as a page to look at, or as tables for a paper.
#include <fmt/format.h>

#include <memory>

#include "cli/cli.hpp"
#include "cli/commands.hpp"
#include "report/page.hpp"
#include "report/results.hpp"
#include "report/tables.hpp"
#include "support/error.hpp"
#include "support/file.hpp"

namespace tyche::cli {

namespace {

struct Arguments {
  Common common;
  std::string folder;
  std::string out;
  std::string format = "html";
  std::size_t pairs = 12;
};

void run(const Arguments& a) {
  const report::Results results = report::load_results(a.folder);
  std::string text;
  if (a.format == "html") {
    if (a.out.empty()) throw InputError("--out is required for a page: tyche report DIR --out report.html");
    const std::string page = report::page_template();
    report::PageOptions options;
    options.pairs = a.pairs;
    options.threads = a.common.threads;
    options.command = fmt::format("tyche report {} --out {}", a.folder, a.out);
    text = report::fill_page(page, report::page_data(results, options));
  } else if (a.format == "md") {
    text = report::to_markdown(results);
  } else if (a.format == "csv") {
    text = report::to_csv(results);
  } else {
    text = report::to_latex(results);
  }
  if (a.out.empty()) return print(text);
  write_file(a.out, text);
  if (!a.common.quiet) print(fmt::format("{} ({:.1f} kB)\n", a.out, static_cast<double>(text.size()) / 1000));
}

}  // namespace

void add_report(CLI::App& root) {
  auto a = std::make_shared<Arguments>();
  CLI::App& app = *root.add_subcommand("report", "Show results beside the paper's: a page, or tables");
  app.add_option("folder", a->folder, "What 'tyche reproduce --out' wrote")->required()->type_name("DIR");
  app.add_option("--out", a->out, "File to write; tables go to standard output without it")->type_name("FILE");
  app.add_option("--format", a->format, "html (one file, no network needed), md, csv or tex")
      ->capture_default_str()
      ->check(CLI::IsMember({"html", "md", "csv", "tex"}));
  app.add_option("--pairs", a->pairs, "Pairs of each data set to look at in the page")->capture_default_str();
  a->common.add_threads(app);
  a->common.add_quiet(app);
  app.footer(
      "Example: tyche report out --out report.html\n"
      "         tyche report out --format tex --out tables.tex");
  app.callback([a] { run(*a); });
}

}  // namespace tyche::cli
