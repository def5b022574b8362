// tyche manual: the pages of man, from the declarations that --help is printed from.
#include <fmt/ranges.h>

#include <boost/algorithm/string/case_conv.hpp>
#include <cctype>
#include <utility>

#include "cli/cli.hpp"
#include "cli/commit.hpp"
#include "cli/tree.hpp"
#include "support/version.hpp"

namespace tyche::cli::manual_command {

/// Text as roff wants it: backslashes and minus signs escaped, what is not ASCII by its number, so that a page reads
/// the same in every locale.
std::string roff(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte == '\\') {
      out += "\\e";
    } else if (byte == '-') {
      out += "\\-";
    } else if (byte == '\'') {
      out += "\\(aq";
    } else if (byte < 0x80) {
      out += static_cast<char>(byte);
    } else {
      const int more = byte >= 0xf0 ? 3 : byte >= 0xe0 ? 2 : 1;
      std::uint32_t code = byte & (0x3fu >> more);
      for (int k = 0; k < more && i + 1 < text.size(); ++k)
        code = code << 6 | (static_cast<unsigned char>(text[++i]) & 0x3f);
      out += fmt::format("\\[u{:04X}]", code);
    }
  }
  if (out.starts_with('.')) out.insert(0, "\\&");
  return out;
}

std::string bold(std::string_view text) { return fmt::format("\\fB{}\\fR", roff(text)); }
std::string italic(std::string_view text) { return fmt::format("\\fI{}\\fR", roff(text)); }

std::string ended(std::string text) {
  if (!text.empty() && !text.ends_with('.') && !text.ends_with('?') && !text.ends_with("…")) text += '.';
  return text;
}

std::string sentence(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return ended(std::move(text));
}

std::string value_of(const Argument& argument) {
  if (argument.takes == Argument::Takes::nothing) return "";
  return fmt::format(" {}", italic(argument.placeholder));
}

/// "Train a model" -> "train a model", but "EXP …" as it is.
std::string lower_first(std::string text) {
  if (text.size() > 1 && std::islower(static_cast<unsigned char>(text[1])) != 0) {
    text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  }
  return text;
}

std::string synopsis(const CommandPage& command) {
  std::string line = bold(command.name);
  for (const Argument& argument : command.arguments) {
    if (argument.positional || !argument.required) continue;
    line += fmt::format(" {}{}", bold(argument.name), value_of(argument));
  }
  const bool options = std::ranges::any_of(
      command.arguments, [](const Argument& argument) { return !argument.positional && !argument.required; });
  if (options) line += fmt::format(" [{}]", italic("options"));
  if (!command.commands.empty()) line += fmt::format(" {} \\&...", italic("command"));
  for (const Argument& argument : command.arguments) {
    if (!argument.positional) continue;
    const std::string name = italic(argument.name) + (argument.several ? " \\&..." : "");
    line += argument.required ? fmt::format(" {}", name) : fmt::format(" [{}]", name);
  }
  return line;
}

std::string entry(const Argument& argument) {
  std::string head = argument.positional ? italic(argument.name) : bold(argument.name) + value_of(argument);
  if (!argument.letter.empty()) head = fmt::format("{}, {}", bold(argument.letter), head);
  std::string text = roff(ended(argument.help));
  if (argument.required && !argument.positional) text += " Required.";
  // Most helps name the values already; where not, they follow.
  const bool named = std::ranges::all_of(
      argument.names, [&](const std::string& name) { return argument.help.find(name) != std::string::npos; });
  if (!named) {
    std::string names;
    for (const std::string& name : argument.names) names += fmt::format("{}{}", names.empty() ? "" : ", ", bold(name));
    text += fmt::format(" Known: {}.", names);
  }
  if (!argument.range.empty()) text += fmt::format(" From {}.", roff(argument.range));
  if (!argument.shown.empty()) text += fmt::format(" Default: {}.", roff(argument.shown));
  return fmt::format(".TP\n{}\n{}\n", head, text);
}

std::string entries(const CommandPage& command, bool positional) {
  std::string out;
  for (const Argument& argument : command.arguments) {
    if (argument.positional == positional) out += entry(argument);
  }
  return out;
}

std::string reference(std::string_view command) { return fmt::format(".BR {} (1)", roff(man_name(command))); }

/// Null where there is none of that name.
const CommandPage* find_command(const CommandPage& root, std::string_view name) {
  const std::vector<const CommandPage*> all = all_commands(root);
  const auto found = std::ranges::find(all, name, &CommandPage::name);
  return found == all.end() ? nullptr : *found;
}

std::string see_also(const CommandPage& command, const CommandPage& root) {
  std::vector<std::string> names;
  if (&command != &root) names.push_back(root.name);
  const std::string above = command.name.substr(0, command.name.rfind(' '));
  if (above != root.name && above != command.name) names.push_back(above);
  const CommandPage* parent = find_command(root, above);
  for (const CommandPage& other : command.commands.empty() && parent != nullptr ? parent->commands : command.commands) {
    if (other.name != command.name) names.push_back(other.name);
  }
  std::ranges::transform(names, names.begin(), reference);
  return fmt::format(".SH SEE ALSO\n{}\n", fmt::join(names, " ,\n"));
}

/// The page of `command`, which is `root` or one below it, in the macros of man(7).
std::string man_page(const CommandPage& command, const CommandPage& root) {
  const std::string name = man_name(command.name);
  std::string about = command.about;
  if (about.starts_with("tyche: ")) about = about.substr(7);
  std::string out = fmt::format(
      ".\\\" Made by 'tyche manual' from the declarations of the commands.\n"
      ".TH {} 1 \"{}\" \"tyche {}\" \"tyche\"\n.nh\n.ad l\n.SH NAME\n{} \\- {}\n.SH SYNOPSIS\n{}\n",
      roff(boost::to_upper_copy(name)), kCommitDate, kVersion, roff(name), roff(lower_first(about)), synopsis(command));
  out += fmt::format(".SH DESCRIPTION\n{}\n", roff(sentence(about)));
  if (!command.note.empty()) out += fmt::format(".PP\n{}\n", roff(ended(command.note)));
  if (!command.commands.empty()) {
    out += ".SH COMMANDS\n";
    for (const CommandPage& below : command.commands) {
      out +=
          fmt::format(".TP\n{}\n{}\n", bold(below.name.substr(command.name.size() + 1)), roff(sentence(below.about)));
    }
  }
  if (const std::string positional = entries(command, true); !positional.empty())
    out += fmt::format(".SH ARGUMENTS\n{}", positional);
  out += fmt::format(".SH OPTIONS\n{}", entries(command, false));
  if (!command.examples.empty()) {
    out += ".SH EXAMPLES\n";
    bool first = true;
    for (const Example& example : command.examples) {
      if (!std::exchange(first, false)) out += ".PP\n";
      if (!example.what.empty()) out += fmt::format("{}\n", roff(sentence(example.what)));
      out += fmt::format(".RS 4\n.nf\n{}\n.fi\n.RE\n", roff(example.command));
    }
  }
  out += ".SH EXIT STATUS\n";
  for (const std::string& exit : command.exits) {
    if (&command != &root) out += roff(sentence(exit)) + "\n.PP\n";
  }
  out +=
      "0 good, 1 the answer is no, 2 bad input or call, 130 interrupted.\n"
      ".SH ENVIRONMENT\n"
      ".TP\n.B TYCHE_CACHE_DIR\n"
      "Folder where colour classes of sets of nodes are kept between runs. Default: ~/.cache/tyche.\n"
      ".TP\n.B TYCHE_SHARE\n"
      "Folder to take the paper\\(aqs experiments and numbers and the page of reports from, instead of those inside "
      "the\n"
      "program.\n";
  return out + see_also(command, root);
}

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

}  // namespace tyche::cli::manual_command
