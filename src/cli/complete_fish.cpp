#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/tree.hpp"

namespace tyche::cli {

namespace {

std::string fish_word(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

/// What a value can be, as options of `complete`.
std::string values(const Argument& argument) {
  using Takes = Argument::Takes;
  std::string names = fmt::format("{}", fmt::join(argument.names, " "));
  if (argument.list && !names.empty()) names = fmt::format("(__fish_append , {})", names);
  if (argument.takes == Takes::folder)
    names += names.empty() ? "(__fish_complete_directories)" : " (__fish_complete_directories)";
  std::string out = argument.takes == Takes::file ? " -F" : " -f";
  if (!names.empty()) out += fmt::format(" -a {}", fish_word(names));
  return out;
}

}  // namespace

std::string fish_completion(const CommandPage& root) {
  std::string groups, lines;
  for (const CommandPage* command : all_commands(root)) {
    const std::string at =
        fmt::format("complete -c tyche -n {}", fish_word(fmt::format("__tyche_at {}", fish_word(command->name))));
    for (const CommandPage& below : command->commands) {
      const std::string word = below.name.substr(command->name.size() + 1);
      groups += fmt::format(" {}", fish_word(below.name));
      lines += fmt::format("{} -f -a {} -d {}\n", at, word, fish_word(below.about));
    }
    for (const Argument& argument : command->arguments) {
      if (argument.positional) {
        lines += fmt::format("{}{}\n", at, values(argument));
        continue;
      }
      lines += fmt::format("{} -l {}", at, argument.name.substr(2));
      if (!argument.letter.empty()) lines += fmt::format(" -s {}", argument.letter.substr(1));
      if (argument.takes != Argument::Takes::nothing) lines += fmt::format(" -r{}", values(argument));
      lines += fmt::format(" -d {}\n", fish_word(argument.help));
    }
  }
  return fmt::format(
      "# fish completion for tyche; made by 'tyche completion fish'.\n"
      "function __tyche_at # whether the command typed so far is this one\n"
      "    set -l at tyche\n"
      "    for word in (commandline -opc)[2..-1]\n"
      "        if contains -- \"$at $word\"{}\n"
      "            set at \"$at $word\"\n"
      "        end\n"
      "    end\n"
      "    test \"$at\" = \"$argv[1]\"\n"
      "end\n"
      "complete -c tyche -f\n{}",
      groups, lines);
}

}  // namespace tyche::cli
