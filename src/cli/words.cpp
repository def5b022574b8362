#include "support/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "cli/commands.hpp"
#include "support/error.hpp"
#include "train/fields.hpp"

namespace tyche::cli {

namespace {

bool has(const CLI::App& app, const std::string& option) { return app.get_option_no_throw(option) != nullptr; }

/// What an app calls an option, of which `name` is another name; `name` itself where it knows none.
std::string settled_option(const CLI::App& app, const std::string& name) {
  std::string own = name;
  std::ranges::replace(own, '_', '-');
  if (has(app, own)) return own;
  const train::Field* field = train::field_called(std::string_view(own).substr(2));
  return field != nullptr && has(app, field->option) ? field->option : name;
}

[[noreturn]] void refuse(const CLI::App& app, const std::string& name) {
  std::vector<std::string> known;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& own : option->get_lnames()) known.push_back("--" + own);
  }
  for (const train::Field& field : train::fields()) {
    if (field.option.empty() || !has(app, field.option)) continue;
    for (const std::string& also : field.also) known.push_back("--" + also);
  }
  std::string command = app.get_name();
  for (const CLI::App* above = app.get_parent(); above != nullptr; above = above->get_parent()) {
    command = above->get_name() + " " + command;
  }
  std::string meant = name.starts_with("--") ? name : "-" + name;
  std::ranges::replace(meant, '_', '-');
  const std::string* best = nearest(meant, known);
  const std::string hint = best == nullptr ? "" : fmt::format("; did you mean '{}'?", settled_option(app, *best));
  throw InputError("{} has no option '{}'{}{} '{} --help'", command, name, hint, hint.empty() ? "; see" : " See",
                   command);
}

/// The subcommand of this name, or null.
const CLI::App* command_of(const CLI::App& app, const std::string& name) {
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (command->check_name(name)) return command;
  }
  return nullptr;
}

}  // namespace

std::vector<std::string> settled_words(const CLI::App& app, std::vector<std::string> words) {
  const CLI::App* at = &app;
  for (std::string& word : words) {
    if (word == "--") break;  // arguments alone from here on
    if (const CLI::App* command = command_of(*at, word)) at = command;
    if (word.size() < 2 || word[0] != '-') continue;
    if (word[1] == '-') {
      const std::size_t end = std::min(word.find('='), word.size());
      const std::string name = settled_option(*at, word.substr(0, end));
      if (!has(*at, name)) refuse(*at, name);
      word.replace(0, end, name);
    } else if (std::isalpha(static_cast<unsigned char>(word[1])) != 0 && !has(*at, word.substr(0, 2))) {
      refuse(*at, word);
    }
  }
  std::ranges::reverse(words);
  return words;
}

}  // namespace tyche::cli
