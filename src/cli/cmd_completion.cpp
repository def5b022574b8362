// tyche completion: scripts that complete commands, options and the names of values in a shell: what is in share/,
// filled in.
#include <fmt/ranges.h>

#include <boost/algorithm/string/replace.hpp>

#include "cli/cli.hpp"
#include "cli/tree.hpp"
#include "support/share.hpp"

namespace tyche::cli::completion_command {

/// "check" of "tyche theory check".
std::string last_word(const CommandPage& command) { return command.name.substr(command.name.rfind(' ') + 1); }

/// Each of the characters with a backslash before it.
std::string escaped(std::string_view text, std::string_view characters) {
  std::string out;
  for (const char c : text) {
    if (characters.find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

/// "list-name gcn gin", "file", "number": how a value is completed, and the names.
std::string kind_of(const Argument& argument) {
  const char* kind = argument.takes == Argument::Takes::file     ? "file"
                     : argument.takes == Argument::Takes::folder ? "folder"
                     : argument.takes == Argument::Takes::name   ? "name"
                                                                 : "other";
  return fmt::format("{}{}{}{}", argument.list ? "list-" : "", kind, argument.names.empty() ? "" : " ",
                     fmt::join(argument.names, " "));
}

std::string fish_word(std::string_view text) { return fmt::format("'{}'", escaped(text, "'\\")); }

/// What a value can be, as options of `complete`.
std::string values(const Argument& argument) {
  std::string names = fmt::format("{}", fmt::join(argument.names, " "));
  if (argument.list && !names.empty()) names = fmt::format("(__fish_append , {})", names);
  if (argument.takes == Argument::Takes::folder)
    names += names.empty() ? "(__fish_complete_directories)" : " (__fish_complete_directories)";
  std::string out = argument.takes == Argument::Takes::file ? " -F" : " -f";
  if (!names.empty()) out += fmt::format(" -a {}", fish_word(names));
  return out;
}

std::string function_of(const CommandPage& command) {
  return fmt::format("_{}", Said::spelled(man_name(command.name)));
}

/// Inside '…[help]…' of _arguments: its own brackets and colons, and the shell's quote, escaped.
std::string inside(std::string_view text) { return boost::replace_all_copy(escaped(text, "[]:\\"), "'", "'\\''"); }

/// What follows the last colon: how a value is completed.
std::string action(const Argument& argument) {
  std::string names = fmt::format("{}", fmt::join(argument.names, " "));
  if (argument.list && !names.empty()) return fmt::format("_sequence compadd - {}", names);
  if (argument.takes == Argument::Takes::name) return fmt::format("({})", names);
  const char* paths = argument.takes == Argument::Takes::folder ? "_files -/"
                      : argument.takes == Argument::Takes::file ? "_files"
                                                                : "";
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
    const std::string word = last_word(below);
    out += fmt::format("\n        '{}:{}'", word, inside(below.about));
    cases += fmt::format("        {}) {} ;;\n", word, function_of(below));
  }
  return out + ")\n      _describe command commands ;;\n    rest)\n      case $words[1] in\n" + cases +
         "      esac ;;\n  esac\n}\n\n";
}

// Three tables by command and word, and (share/completion.bash) the few lines that look things up in them. It needs no
// other package: the functions of bash-completion are there in some shells and not in others.
std::string bash_completion(const CommandPage& root) {
  std::string options, values, positionals;
  for (const CommandPage* command : all_commands(root)) {
    std::vector<std::string> words;
    for (const CommandPage& below : command->commands) words.push_back(last_word(below));
    // Several positionals are of one kind here: the first speaks for all.
    const auto first = std::ranges::find(command->arguments, true, &Argument::positional);
    if (!words.empty() || first != command->arguments.end()) {
      const std::string kind = words.empty() ? kind_of(*first) : fmt::format("name {}", fmt::join(words, " "));
      positionals += fmt::format("    {}) echo \"{}\" ;;\n", shell_word(command->name), kind);
    }
    for (const Argument& argument : command->arguments) {
      if (argument.positional) continue;
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

std::string fish_completion(const CommandPage& root) {
  std::string groups, lines;
  for (const CommandPage* command : all_commands(root)) {
    const std::string at =
        fmt::format("complete -c tyche -n {}", fish_word(fmt::format("__tyche_at {}", fish_word(command->name))));
    for (const CommandPage& below : command->commands) {
      const std::string word = last_word(below);
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
  lines.pop_back();
  return filled("share/completion.fish", {{"@COMMANDS@", groups}, {"@LINES@", lines}});
}

// In a folder of fpath the file is the function's body; read by `source` it only defines.
std::string zsh_completion(const CommandPage& root) {
  std::string functions;
  for (const CommandPage* command : all_commands(root)) functions += function(*command);
  functions.pop_back();
  return filled("share/completion.zsh", {{"@FUNCTIONS@", functions}});
}

const Command command("completion", [](const Call& call) {
  const CommandPage tyche = describe(*call.program);
  const std::string shell = call.word("shell");
  print(shell == "bash" ? bash_completion(tyche) : shell == "zsh" ? zsh_completion(tyche) : fish_completion(tyche));
});

}  // namespace tyche::cli::completion_command
