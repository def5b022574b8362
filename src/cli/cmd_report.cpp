// tyche report: results as a page to look at, or as tables for a paper.
#include "cli/cli.hpp"
#include "report/page.hpp"

namespace tyche::cli::report_command {

void run(const Call& call) {
  const std::string out = call.word("out"), format = call.word("format");
  if (format == "html" && out.empty()) {
    throw InputError("--out is required for a page: tyche report DIR --out report.html");
  }
  report::PageOptions how{.pairs = call.whole("pairs"), .threads = call.threads(), .command = "tyche report"};
  std::vector<std::filesystem::path> folders;
  for (const std::string& folder : call.texts("folder")) {
    folders.emplace_back(folder);
    how.command += " " + shell_word(folder);
  }
  how.command += " --out " + shell_word(out);
  if (how.pairs) how.command += fmt::format(" --pairs {}", *how.pairs);
  const std::string text = report::folder_text(folders, format, how);
  if (out.empty()) return print(text);
  write_file(out, text);
  if (!call.quiet()) print(fmt::format("{} ({:.1f} kB)\n", out, static_cast<double>(text.size()) / 1000));
}

const Command command("report", run);

}  // namespace tyche::cli::report_command
