// tyche manual: the pages of man, from the declarations that --help is printed from.
#include <fmt/format.h>

#include <filesystem>

#include "cli/cli.hpp"
#include "cli/tree.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "support/words.hpp"

namespace tyche::cli {

namespace manual_command {

void run(const Call& call) {
  const CommandPage tyche = describe(*call.program);
  const std::vector<std::string> words = call.texts("command");
  if (const std::filesystem::path out = call.word("out"); !out.empty()) {
    if (!words.empty()) throw InputError("--out takes all pages: name no command");
    make_folder(out);
    for (const CommandPage* command : all_commands(tyche)) {
      write_file(out / (man_name(command->name) + ".1"), man_page(*command, tyche));
    }
    return;
  }
  std::string name = tyche.name;
  for (const std::string& word : words) name += fmt::format(" {}", word);
  const CommandPage* command = find_command(tyche, name);
  if (command == nullptr) {
    std::vector<std::string> known;
    for (const CommandPage* other : all_commands(tyche)) known.push_back(other->name);
    throw InputError("no command '{}'{}", name, did_you_mean(name, known));
  }
  print(man_page(*command, tyche));
}

const Command command("manual", run);

}  // namespace manual_command

}  // namespace tyche::cli
