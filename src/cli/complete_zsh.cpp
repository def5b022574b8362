#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "cli/tree.hpp"

namespace tyche::cli {

namespace {

std::string function_of(const CommandPage& command) {
  std::string name = fmt::format("_{}", man_name(command.name));
  std::ranges::replace(name, '-', '_');
  return name;
}

/// Inside '…[help]…' of _arguments: its own brackets and colons, and the shell's quote, escaped.
std::string inside(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else {
      if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
      out += c;
    }
  }
  return out;
}

/// What follows the last colon: how a value is completed.
std::string action(const Argument& argument) {
  using Takes = Argument::Takes;
  std::string names = fmt::format("{}", fmt::join(argument.names, " "));
  if (argument.list && !names.empty()) return fmt::format("_sequence compadd - {}", names);
  if (argument.takes == Takes::name) return fmt::format("({})", names);
  const char* paths = argument.takes == Takes::folder ? "_files -/" : argument.takes == Takes::file ? "_files" : "";
  if (names.empty()) return paths;
  // The blank keeps _arguments from handing over options of its own, which _alternative does not know.
  return fmt::format(" _alternative \"names\\:name\\:({})\" \"files\\:file\\:{}\"", names, paths);
}

std::string spec(const Argument& argument) {
  if (argument.positional) {
    return fmt::format("'{}{}\\:{}:{}'",
                       argument.several    ? "*:"
                       : argument.required ? ":"
                                           : "::",
                       inside(argument.name), inside(argument.help), action(argument));
  }
  const std::string value = argument.takes == Argument::Takes::nothing
                                ? ""
                                : fmt::format(":{}:{}", inside(argument.placeholder), action(argument));
  const char* sign = argument.takes == Argument::Takes::nothing ? "" : "=";
  return fmt::format("'{}{}{}[{}]{}'", argument.several ? "*" : "", argument.name, sign, inside(argument.help), value);
}

std::string function(const CommandPage& command) {
  std::string out = fmt::format("{}() {{\n", function_of(command));
  if (command.commands.empty()) {
    out += "  _arguments";
    for (const Argument& argument : command.arguments) out += fmt::format(" \\\n    {}", spec(argument));
    return out + "\n}\n\n";
  }
  out += "  local state\n  _arguments -C";
  for (const Argument& argument : command.arguments) out += fmt::format(" \\\n    {}", spec(argument));
  out += " \\\n    '1: :->command' \\\n    '*:: :->rest'\n  case $state in\n    command)\n      local -a commands=(";
  std::string cases;
  for (const CommandPage& below : command.commands) {
    const std::string word = below.name.substr(command.name.size() + 1);
    out += fmt::format("\n        '{}:{}'", word, inside(below.about));
    cases += fmt::format("        {}) {} ;;\n", word, function_of(below));
  }
  return out + ")\n      _describe command commands ;;\n    rest)\n      case $words[1] in\n" + cases +
         "      esac ;;\n  esac\n}\n\n";
}

}  // namespace

std::string zsh_completion(const CommandPage& root) {
  std::string out = "#compdef tyche\n# zsh completion for tyche; made by 'tyche completion zsh'.\n\n";
  for (const CommandPage* command : all_commands(root)) out += function(*command);
  // In a folder of fpath the file is the function's body; read by `source` it only defines.
  return out + "if [ \"$funcstack[1]\" = \"_tyche\" ]; then\n  _tyche \"$@\"\nelse\n  compdef _tyche tyche\nfi\n";
}

}  // namespace tyche::cli
