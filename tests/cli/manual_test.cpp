// Manual pages and completions say what the parser takes: its own --help is the oracle, the library judges the names.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <sstream>

#include "datasets/recipe.hpp"
#include "graph/io.hpp"
#include "support/run_program.hpp"
#include "train/fields.hpp"

namespace tyche {
namespace {

using testing::AllOf;
using testing::HasSubstr;

/// The first words of the lines below a heading of --help.
std::set<std::string> first_words(const std::string& help, const std::string& heading) {
  std::set<std::string> words;
  std::istringstream lines(help);
  bool below = false;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("  ")) {
      below = line == heading;
    } else if (below && line[2] != ' ') {
      words.insert(line.substr(2, line.find_first_of(" ,", 2) - 2));
    }
  }
  return words;
}

/// "train", "theory check", …: all commands that --help lists, and those below them.
const std::vector<std::vector<std::string>>& commands() {
  static const auto all = [] {
    std::vector<std::vector<std::string>> out;
    for (const std::string& name : first_words(run_program({"--help"}).out, "Subcommands:")) {
      out.push_back({name});
      for (const std::string& below : first_words(run_program({name, "--help"}).out, "Subcommands:")) {
        out.push_back({name, below});
      }
    }
    return out;
  }();
  return all;
}

std::string plain(std::string roff) {
  roff = std::regex_replace(roff, std::regex(R"(\\f[BIR])"), "");
  return std::regex_replace(roff, std::regex(R"(\\-)"), "-");
}

TEST(Manual, HasEveryOptionThatHelpHasAndAnExample) {
  ASSERT_GT(commands().size(), 15u);
  for (std::vector<std::string> command : commands()) {
    std::vector<std::string> call = command;
    call.emplace_back("--help");
    const std::string help = run_program(call).out;
    command.insert(command.begin(), "manual");
    const RunResult page = run_program(command);
    ASSERT_EQ(page.exit_code, 0) << command.back() << page.err;
    const std::string text = plain(page.out);
    std::set<std::string> options = first_words(help, "Options:");
    ASSERT_TRUE(options.erase("-h")) << help;
    for (const std::string& option : options) EXPECT_THAT(text, HasSubstr("\n.TP\n" + option)) << command.back();
    EXPECT_THAT(text, AllOf(HasSubstr(".SH SYNOPSIS\ntyche "), HasSubstr(".SH EXAMPLES\n"), HasSubstr("\n.nf\ntyche "),
                            HasSubstr(".SH EXIT STATUS\n"), HasSubstr(".SH SEE ALSO\n")))
        << command.back();
  }
}

TEST(Manual, WritesOnePageForEachCommand) {
  const TemporaryFolder folder;
  const RunResult made = run_program({"manual", "--out", (folder / "man1").string()});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_EQ(list_folder(folder / "man1").size(), commands().size() + 1);
  EXPECT_THAT(read_file(folder / "man1/tyche-theory-check.1"), HasSubstr("tyche\\-theory\\-check \\- "));
  const RunResult unknown = run_program({"manual", "trian"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("did you mean 'tyche train'?"));
}

TEST(Manual, PutsWhatIsSaidOfExitCodesWhereItBelongs) {
  const std::string page = plain(run_program({"manual", "wl"}).out);
  EXPECT_THAT(page, HasSubstr(".SH EXIT STATUS\nExit code 1 if some graphs that were compared are not told apart"));
  EXPECT_THAT(page, HasSubstr("Every pair of a data set.\n.RS 4\n.nf\ntyche wl exp --pairs --dim 2\n.fi"));
}

/// What the script for bash offers for an option or, without one, for a positional argument.
std::vector<std::string> offered(const std::string& script, const std::string& words) {
  const std::string head = "    '" + words + "') echo \"";
  const std::size_t at = script.rfind(head);
  if (at == std::string::npos) return {};
  const std::size_t begin = at + head.size();
  std::istringstream line(script.substr(begin, script.find('"', begin) - begin));
  std::vector<std::string> names;
  std::string name;
  for (line >> name; line >> name;) names.push_back(name);  // the first says the kind
  return names;
}

TEST(Completion, OffersOnlyNamesThatTheLibraryTakes) {
  const std::string script = run_program({"completion", "bash"}).out;
  std::size_t fields = 0;
  for (const train::Field& field : train::fields()) {
    if (field.option.empty() || field.form != train::Field::Form::text) continue;
    if (field.key == "data.format" || field.key == "engine.name") continue;  // judged where they are used
    for (const std::string& name : offered(script, "tyche train " + field.option)) {
      train::RunConfig config;
      EXPECT_NO_THROW(field.assign(config, name, field.option)) << field.option << " " << name;
      EXPECT_EQ(field.value(config), name) << field.option;
      ++fields;
    }
  }
  EXPECT_GT(fields, 30u);
  const auto kinds = offered(script, "tyche generate"), formats = offered(script, "tyche wl --format");
  EXPECT_EQ(kinds.size(), 11u);
  for (const std::string& kind : kinds) EXPECT_NO_THROW((void)datasets::recipe_of(kind)) << kind;
  EXPECT_EQ(formats.size(), 11u);
  for (const std::string& format : formats) EXPECT_NO_THROW((void)parse_format(format)) << format;
}

TEST(Completion, KnowsEveryCommandInEveryShell) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const RunResult script = run_program({"completion", shell});
    ASSERT_EQ(script.exit_code, 0) << shell;
    for (const auto& command : commands()) EXPECT_THAT(script.out, HasSubstr(command.back())) << shell;
  }
  EXPECT_EQ(run_program({"completion", "tcsh"}).exit_code, 2);
}

}  // namespace
}  // namespace tyche
