#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/tree.hpp"
#include "support/share.hpp"
#include "support/words.hpp"

namespace tyche::cli {

namespace {

/// "list-name gcn gin", "file", "number": how a value is completed, and the names.
std::string kind_of(const Argument& argument) {
  using Takes = Argument::Takes;
  const char* kind = argument.takes == Takes::file     ? "file"
                     : argument.takes == Takes::folder ? "folder"
                     : argument.takes == Takes::name   ? "name"
                                                       : "other";
  return fmt::format("{}{}{}{}", argument.list ? "list-" : "", kind, argument.names.empty() ? "" : " ",
                     fmt::join(argument.names, " "));
}

}  // namespace

// Three tables by command and word, and (share/completion.bash) the few lines that look things up in them. It needs no
// other package: the functions of bash-completion are there in some shells and not in others.
std::string bash_completion(const CommandPage& root) {
  std::string options, values, positionals;
  for (const CommandPage* command : all_commands(root)) {
    std::vector<std::string> words;
    for (const CommandPage& below : command->commands) words.push_back(below.name.substr(command->name.size() + 1));
    positionals += command->commands.empty()
                       ? ""
                       : fmt::format("    {}) echo \"name {}\" ;;\n", shell_word(command->name), fmt::join(words, " "));
    for (const Argument& argument : command->arguments) {
      if (argument.positional) {
        // Several positionals are of one kind here: the first speaks for all.
        const std::string head = fmt::format("    {}) ", shell_word(command->name));
        if (positionals.find(head) == std::string::npos) {
          positionals += fmt::format("{}echo \"{}\" ;;\n", head, kind_of(argument));
        }
        continue;
      }
      words.push_back(argument.name);
      if (argument.takes != Argument::Takes::nothing) {
        values += fmt::format("    {}) echo \"{}\" ;;\n",
                              shell_word(fmt::format("{} {}", command->name, argument.name)), kind_of(argument));
      }
    }
    options += fmt::format("    {}) echo \"{}\" ;;\n", shell_word(command->name), fmt::join(words, " "));
  }
  return filled("share/completion.bash",
                {{"    # @OPTIONS@\n", options}, {"    # @VALUES@\n", values}, {"    # @POSITIONALS@\n", positionals}});
}

}  // namespace tyche::cli
