#include "cli/tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace tyche::cli {

namespace {

using CLI::detail::split;
using CLI::detail::trim_copy;

/// The parser writes its checks behind the type: "TEXT:{cpu,cuda}", "UINT:INT in [1 - 3]".
void read_type(const std::string& type, Argument& argument) {
  const std::size_t colon = type.find(':');
  std::string base = type.substr(0, colon);
  const std::string check = colon == std::string::npos ? "" : type.substr(colon + 1);
  if (check.starts_with('{')) argument.names = split(check.substr(1, check.find('}') - 1), ',');
  if (const std::size_t open = check.find('['), dash = check.find(" - "); open < dash && dash != std::string::npos) {
    argument.range = fmt::format("{} to {}", check.substr(open + 1, dash - open - 1),
                                 check.substr(dash + 3, check.find(']', dash) - dash - 3));
  }
  using Takes = Argument::Takes;
  static const std::map<std::string, Takes> kTakes = {
      {"FOLDER", Takes::folder}, {"DIR", Takes::folder},    {"RUN", Takes::folder},  {"FILE", Takes::file},
      {"PATH", Takes::file},     {"FILE.npy", Takes::file}, {"GRAPH", Takes::file},  {"PAIRS", Takes::file},
      {"UINT", Takes::number},   {"INT", Takes::number},    {"FLOAT", Takes::number}};
  const auto found = kTakes.find(base);
  argument.takes = !argument.names.empty() ? Takes::name : found == kTakes.end() ? Takes::text : found->second;
  if (argument.takes == Takes::name && base == "TEXT") base = "NAME";
  if (argument.takes == Takes::number) base = base == "FLOAT" ? "X" : "N";
  argument.placeholder = base;
}

// One that goes by place and by name is there twice.
Argument argument_of(CLI::Option& option, const std::string& command, bool positional) {
  Argument argument;
  argument.positional = positional;
  argument.name = positional ? option.get_name(true) : fmt::format("--{}", option.get_lnames().front());
  if (!option.get_snames().empty()) argument.letter = fmt::format("-{}", option.get_snames().front());
  argument.required = option.get_required() && (positional || !option.get_positional());
  argument.help = option.get_description();
  if (option.get_items_expected_max() == 0) return argument;
  argument.several = option.get_items_expected_max() > 1;
  argument.list = option.get_delimiter() != '\0';
  argument.shown = option.get_default_str();
  read_type(option.get_type_name(), argument);
  const Offer offer = offer_of(command, argument.name);
  if (argument.names.empty() && !offer.names.empty()) {
    argument.names = offer.names;
    argument.takes = offer.takes;
  } else if (argument.takes == Argument::Takes::text && offer.takes != Argument::Takes::nothing) {
    argument.takes = offer.takes;
  }
  if (argument.placeholder == "TEXT" && !offer.placeholder.empty()) argument.placeholder = offer.placeholder;
  return argument;
}

void describe_into(CLI::App& app, CommandPage& page) {
  page.about = app.get_description();
  for (CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;
    if (option->get_positional()) page.arguments.push_back(argument_of(*option, page.name, true));
    if (!option->get_lnames().empty()) page.arguments.push_back(argument_of(*option, page.name, false));
  }
  read_footer(app.get_footer(), page);
  for (CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (command->get_group().empty()) continue;
    CommandPage& below = page.commands.emplace_back();
    below.name = fmt::format("{} {}", page.name, command->get_name());
    describe_into(*command, below);
  }
}

}  // namespace

void read_footer(const std::string& footer, CommandPage& page) {
  std::string prose;
  const auto add = [&prose](const std::string& text) {
    if (!prose.empty() && !text.empty()) prose += ' ';
    prose += trim_copy(text);
  };
  for (std::string line : split(footer, '\n')) {
    line = trim_copy(line);
    for (const std::string_view word : {"Examples:", "Example:"}) {
      const std::size_t at = line.find(word);
      if (at == std::string::npos) continue;
      add(line.substr(0, at));
      line = trim_copy(line.substr(at + word.size()));
    }
    if (line.starts_with("tyche ") || line.starts_with("mpirun ")) {
      const std::size_t gap = std::min(line.find("  "), line.size());
      page.examples.push_back({trim_copy(line.substr(0, gap)), trim_copy(line.substr(gap))});
    } else if (!line.empty()) {
      add(line);
    }
  }
  // Sentence by sentence, so that what is said of exit codes finds its place.
  std::string note;
  for (std::size_t begin = 0; begin < prose.size();) {
    std::size_t end = prose.find(". ", begin);
    end = end == std::string::npos ? prose.size() : end + 1;
    const std::string sentence = trim_copy(prose.substr(begin, end - begin));
    begin = end;
    if (sentence.starts_with("Exit code")) {
      page.exits.push_back(sentence);
    } else if (!sentence.empty()) {
      note += (note.empty() ? "" : " ") + sentence;
    }
  }
  if (!note.empty()) page.notes.push_back(note);
}

CommandPage describe(CLI::App& app) {
  CommandPage page;
  page.name = app.get_name();
  describe_into(app, page);
  return page;
}

std::string man_name(std::string_view command) {
  std::string name(command);
  std::ranges::replace(name, ' ', '-');
  return name;
}

std::vector<const CommandPage*> all_commands(const CommandPage& root) {
  std::vector<const CommandPage*> out = {&root};
  for (const CommandPage& command : root.commands) {
    const auto below = all_commands(command);
    out.insert(out.end(), below.begin(), below.end());
  }
  return out;
}

}  // namespace tyche::cli
