// tyche manual: the pages of man, from the declarations that --help is printed from.
#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "cli/cli.hpp"
#include "cli/commands.hpp"
#include "cli/tree.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "support/words.hpp"

namespace tyche::cli {

namespace manual_command {

struct ManualCall {
  std::vector<std::string> words;
  std::string out;
};

void run(const ManualCall& a, CLI::App& root) {
  const CommandPage tyche = describe(root);
  if (!a.out.empty()) {
    if (!a.words.empty()) throw InputError("--out takes all pages: name no command");
    make_folder(a.out);
    for (const CommandPage* command : all_commands(tyche)) {
      write_file(std::filesystem::path(a.out) / (man_name(command->name) + ".1"), man_page(*command, tyche));
    }
    return;
  }
  std::string name = tyche.name;
  for (const std::string& word : a.words) name += fmt::format(" {}", word);
  const CommandPage* command = find_command(tyche, name);
  if (command == nullptr) {
    std::vector<std::string> known;
    for (const CommandPage* other : all_commands(tyche)) known.push_back(other->name);
    throw InputError(fmt::format("no command '{}'{}", name, did_you_mean(name, known)));
  }
  print(man_page(*command, tyche));
}

}  // namespace manual_command

void add_manual(CLI::App& root) {
  using namespace manual_command;
  const auto a = std::make_shared<ManualCall>();
  CLI::App& app = *root.add_subcommand("manual", "Print the manual page of a command, or write them all");
  app.add_option("command", a->words, "A command, as \"train\" or \"theory check\"; none: the program's own page");
  app.add_option("--out", a->out, "Write all pages into this folder")->type_name("FOLDER");
  app.footer(
      "Where tyche was installed 'man tyche-train' does the same. Examples:\n"
      "  tyche manual train | man -l -\n"
      "  tyche manual --out man1");
  app.callback([a, &root] { run(*a, root); });
}

}  // namespace tyche::cli
