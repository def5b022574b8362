#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/completion.hpp"
#include "cli/man.hpp"
#include "support/shell.hpp"

namespace tyche::cli {

namespace {

// Three tables by command and word, and the few lines that look things up in them. It needs no other package: the
// functions of bash-completion are there in some shells and not in others.
constexpr const char* kHead = R"(# bash completion for tyche; made by 'tyche completion bash'.
_tyche_options() { # COMMAND: its options and, of a group, its commands
  case "$1" in
)";
constexpr const char* kValues = R"(  esac
}
_tyche_values() { # COMMAND OPTION: what a value can be; fails where the option takes none or is none
  case "$1 $2" in
)";
constexpr const char* kPositionals = R"(    *) return 1 ;;
  esac
}
_tyche_positionals() { # COMMAND: what its arguments that are no options can be
  case "$1" in
)";
constexpr const char* kTail = R"sh(  esac
}
_tyche() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command=tyche kind words before= i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case " $(_tyche_options "$command") " in
      *" ${COMP_WORDS[i]} "*) [[ ${COMP_WORDS[i]} == -* ]] || command+=" ${COMP_WORDS[i]}" ;;
    esac
  done
  # bash cuts --option=value at the sign
  if [[ $cur == "=" ]]; then
    cur=
  elif [[ $prev == "=" ]]; then
    prev=${COMP_WORDS[COMP_CWORD-2]}
  fi
  COMPREPLY=()
  if ! words=$(_tyche_values "$command" "$prev"); then
    if [[ $cur == -* ]]; then
      COMPREPLY=($(compgen -W "$(_tyche_options "$command")" -- "$cur"))
      return
    fi
    words=$(_tyche_positionals "$command")
  fi
  kind=${words%% *}
  words=${words#"$kind"}
  if [[ $kind == list* && $cur == *,* ]]; then
    before=${cur%,*},
    cur=${cur##*,}
  fi
  COMPREPLY=($(compgen -P "$before" -W "$words" -- "$cur"))
  case $kind in
    *file)
      compopt -o filenames 2>/dev/null
      mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -P "$before" -f -- "$cur") ;;
    *folder)
      compopt -o filenames 2>/dev/null
      mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -P "$before" -d -- "$cur") ;;
  esac
}
complete -F _tyche tyche
)sh";

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
  return fmt::format("{}{}{}{}{}{}{}", kHead, options, kValues, values, kPositionals, positionals, kTail);
}

}  // namespace tyche::cli
