#include "cli/tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace tyche::cli {

namespace {

std::string trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t"), end = text.find_last_not_of(" \t");
  return begin == std::string_view::npos ? std::string() : std::string(text.substr(begin, end - begin + 1));
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    parts.push_back(trimmed(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  return parts;
}

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
  constexpr std::array<std::string_view, 3> folders = {"FOLDER", "DIR", "RUN"};
  constexpr std::array<std::string_view, 5> files = {"FILE", "PATH", "FILE.npy", "GRAPH", "PAIRS"};
  using Takes = Argument::Takes;
  if (!argument.names.empty()) {
    argument.takes = Takes::name;
    if (base == "TEXT") base = "NAME";
  } else if (std::ranges::find(folders, base) != folders.end()) {
    argument.takes = Takes::folder;
  } else if (std::ranges::find(files, base) != files.end()) {
    argument.takes = Takes::file;
  } else if (base == "UINT" || base == "INT" || base == "FLOAT") {
    argument.takes = Takes::number;
    base = base == "FLOAT" ? "X" : "N";
  } else {
    argument.takes = Takes::text;
  }
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

bool is_call(std::string_view text) { return text.starts_with("tyche ") || text.starts_with("mpirun "); }

Example example_of(const std::string& line) {
  const std::size_t gap = line.find("  ");
  if (gap == std::string::npos) return {line, ""};
  return {trimmed(line.substr(0, gap)), trimmed(line.substr(gap))};
}

}  // namespace

void read_footer(const std::string& footer, CommandPage& page) {
  std::string prose;
  const auto add = [&prose](const std::string& text) {
    if (!prose.empty() && !text.empty()) prose += ' ';
    prose += trimmed(text);
  };
  for (std::string line : split(footer, '\n')) {
    for (const std::string_view word : {"Examples:", "Example:"}) {
      const std::size_t at = line.find(word);
      if (at == std::string::npos) continue;
      add(line.substr(0, at));
      line = trimmed(line.substr(at + word.size()));
    }
    if (is_call(line)) {
      page.examples.push_back(example_of(line));
    } else if (!line.empty()) {
      add(line);
    }
  }
  // Sentence by sentence, so that what is said of exit codes finds its place.
  std::string note;
  for (std::size_t begin = 0; begin < prose.size();) {
    std::size_t end = prose.find(". ", begin);
    end = end == std::string::npos ? prose.size() : end + 1;
    const std::string sentence = trimmed(prose.substr(begin, end - begin));
    begin = end;
    if (sentence.starts_with("Exit code")) {
      page.exits.push_back(sentence);
    } else if (!sentence.empty()) {
      note += note.empty() ? "" : " ";
      note += sentence;
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

}  // namespace tyche::cli
