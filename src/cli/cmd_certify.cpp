#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "cli/cli.hpp"
#include "cli/commands.hpp"
#include "datasets/certificate.hpp"

namespace tyche::cli {

namespace {

struct Arguments {
  Common common;
  std::string path;
  std::string format;
  bool published = false;
};

std::string describe(const datasets::Certificate& c, bool published) {
  const std::uint64_t exp = c.pairs - c.corrupt_pairs;
  const auto line = [](const char* what, std::uint64_t have, std::uint64_t of) {
    return fmt::format("  {:<58} {:>7} of {}{}\n", what, have, of, have == of ? "" : "   <--");
  };
  std::string text = fmt::format("{} pairs\n", c.pairs);
  text += line("labels right (assignment checked; solver says no)", c.labels_ok, c.pairs);
  text += line("  of these, core tried exhaustively", c.unsat_exhaustive, c.pairs);
  text += line("planar (embedding checked by Euler's formula)", c.planar_pairs, exp);
  text += line("equal under 1-WL", c.wl1_equal, exp);
  text += line("different under 2-WL", c.wl2_distinct, c.pairs);
  text += line("not isomorphic", c.non_isomorphic, c.pairs);
  if (c.corrupt_pairs > 0) text += line("CORRUPT: no added edge can be spared", c.corrupt_minimal, c.corrupt_pairs);
  const char* note = published ? " (reported, not failed)" : "";
  text += fmt::format("  {:<58} {:>7}{}\n", "disjunctions of more than 5 literals", c.width_violations,
                      c.width_violations == 0 ? "" : note);
  text += fmt::format("  {:<58} {:>7}{}\n", "planar parts with bridges or in pieces", c.bridge_violations,
                      c.bridge_violations == 0 ? "" : note);
  if (c.failures.empty()) return text + "all pairs pass\n";
  constexpr std::size_t kShown = 20;
  for (std::size_t i = 0; i < std::min(kShown, c.failures.size()); ++i) {
    text += fmt::format("pair {} fails {}: {}\n", c.failures[i].pair, c.failures[i].property, c.failures[i].detail);
  }
  if (c.failures.size() > kShown)
    text += fmt::format("... and {} more; --json lists all\n", c.failures.size() - kShown);
  return text;
}

void run(const Arguments& a) {
  datasets::CertifyOptions options;
  options.threads = a.common.threads;
  options.published = a.published;
  if (!a.format.empty()) options.format = parse_format(a.format);
  options.progress = a.common.progress();
  const datasets::Certificate certificate = datasets::certify(a.path, options);
  if (a.common.json) {
    print_json(datasets::to_json(certificate));
  } else {
    print(describe(certificate, a.published));
  }
  set_exit_code(certificate.failures.empty() ? kGood : kNo);
}

}  // namespace

void add_certify(CLI::App& root) {
  auto a = std::make_shared<Arguments>();
  CLI::App& app =
      *root.add_subcommand("certify", "Check that every pair of a data set has the properties it must have");
  app.add_option("path", a->path, "A data set's folder, or a file of graphs 2i (satisfiable) and 2i + 1")->required();
  app.add_flag(
      "--published", a->published,
      "The data is not ours: disjunctions wider than 5 and planar parts with bridges are reported, not failed");
  app.add_option("--format", a->format, "gin, tu, ... (default: told by content)");
  a->common.add_threads(app);
  a->common.add_json(app);
  a->common.add_quiet(app);
  app.footer(
      "Example: tyche certify exp\n         tyche certify GRAPHSAT.txt --published --json\nExit code 1 if any pair "
      "fails anything.");
  app.callback([a] { run(*a); });
}

}  // namespace tyche::cli
