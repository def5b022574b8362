// Options as share/commands.txt declares them, for the parser and as plain data.
#include <fmt/ranges.h>

#include <cctype>
#include <deque>
#include <functional>
#include <map>
#include <stdexcept>
#include <utility>

#include "cli/cli.hpp"
#include "cli/tree.hpp"
#include "compare/compare.hpp"
#include "experiments/experiment.hpp"
#include "graph/named.hpp"
#include "graph/patterns.hpp"
#include "nn/kinds.hpp"
#include "support/share.hpp"
#include "theory/universal.hpp"

namespace tyche::cli {

namespace {

/// An option, or "@NAME": those of that section in its place.
struct Declared {
  std::string name;
  std::map<std::string, std::string> how;  ///< "range" -> "1:3", "required" -> "", "type" -> "u32", "shows" -> "FILE"
  std::string help{}, shown{};
  const train::Field* field = nullptr;  ///< whose option it is, where it is one of @fields
  std::string why_not{};                ///< and why the command does not take it: it stands in no help, and is refused

  [[nodiscard]] bool has(const std::string& word) const { return how.contains(word); }
  /// What a word says; empty where it is not there.
  [[nodiscard]] std::string said(const std::string& word) const { return has(word) ? how.at(word) : ""; }
  /// "a|b" as {"a", "b"}; nothing where there is no such word.
  [[nodiscard]] std::vector<std::string> list(const std::string& word, char between = '|') const {
    return has(word) ? CLI::detail::split(how.at(word), between) : std::vector<std::string>();
  }
  /// Whether an option has this name, alone or behind the one that it has by place.
  [[nodiscard]] bool called(std::string_view word) const {
    return name == word || (name.ends_with(word) && name[name.size() - word.size() - 1] == ',');
  }
};

struct Section {
  std::string name, about{}, footer{};
  std::vector<Declared> options{};
};

Declared declared_in(const std::string& line) {
  Declared own;
  for (const std::string& word : CLI::detail::split(line, ' ')) {
    static const std::vector<std::string> types = {"flag", "texts", "u32", "u64", "u64s", "int", "number"};
    const std::size_t equals = word.find('=');
    if (own.name.empty()) {
      own.name = word;
    } else if (std::ranges::find(types, word) != types.end()) {
      own.how["type"] = word;
    } else if (std::isupper(static_cast<unsigned char>(word[0])) != 0) {
      own.how["shows"] = word;
    } else {
      own.how[word.substr(0, equals)] = equals == std::string::npos ? "" : word.substr(equals + 1);
    }
  }
  return own;
}

std::vector<Section> read_sections() {
  const std::string text =
      filled("share/commands.txt", {{"@GRAPH@", kGraphNameHelp},
                                    {"@GRID@", std::to_string(theory::kWeightGrid)},
                                    {"@MODELS@", fmt::format("{}", fmt::join(nn::model_kinds(), "|"))},
                                    {"@PATTERNS@", kUsualPatterns},
                                    {"@PORTFOLIO@", fmt::format("{}", fmt::join(compare::portfolio(), ", "))}});
  std::vector<Section> sections;
  bool head = false, footer = false;
  for (const std::string& line : CLI::detail::split(text, '\n')) {
    if (line.starts_with("== ")) {
      sections.push_back({.name = line.substr(3)});
      head = std::isalpha(static_cast<unsigned char>(line[3])) != 0;
      footer = false;
      continue;
    }
    if (sections.empty() || (line.empty() && !footer)) continue;  // what the file is, and blank lines
    Section& at = sections.back();
    if (std::exchange(head, false)) {
      at.about = line;
    } else if (footer || line == "--") {
      at.footer += footer ? line + "\n" : "";
      footer = true;
    } else if (line.starts_with("    = ")) {
      at.options.back().shown = line.substr(6);
    } else if (line.starts_with("    ")) {
      std::string& help = at.options.back().help;
      help += (help.empty() ? "" : " ") + line.substr(4);
    } else {
      at.options.push_back(declared_in(line));
    }
  }
  return sections;
}

const std::vector<Section>& sections() {
  static const std::vector<Section> all = read_sections();
  return all;
}

const Section& section(const std::string& name) { return *std::ranges::find(sections(), name, &Section::name); }

/// The options of a command in their order: those of sections that it names in their place, and all as they are changed
/// further on.
void settle(const std::string& name, const train::WhyNot& why_not, std::deque<Declared>& options) {
  using Form = train::Field::Form;
  const auto find = [&](const std::string& word) {
    return std::ranges::find_if(options, [&](const Declared& option) { return option.called(word); });
  };
  for (const Declared& own : section(name).options) {
    const auto there = find(own.name);
    if (own.name == "@fields") {
      for (const train::Field& field : train::fields()) {
        if (field.option.empty() || find(field.option) != options.end()) continue;  // the command's own is there
        const std::string why = why_not ? why_not(field) : "";
        const char* type = field.form == Form::flag                    ? "flag"
                           : field.form == Form::whole && why.empty()  ? "u64"
                           : field.form == Form::number && why.empty() ? "number"
                                                                       : "";
        options.push_back({field.option, {{"type", type}}, field.help, field.shown, &field, why});
      }
    } else if (own.name.starts_with('@') && own.name != "@alias") {
      settle(own.name, why_not, options);
    } else if (there == options.end()) {
      options.push_back(own);
    } else {
      if (!own.help.empty()) there->help = own.help;
      if (!own.shown.empty()) there->shown = own.shown;
    }
  }
}

/// All of a command's, with what is offered where any command has an option of the name.
std::deque<Declared> settled(const std::string& name, const train::WhyNot& why_not) {
  std::deque<Declared> options;
  settle(name, why_not, options);
  for (Declared& option : options) {
    if (option.has("offers") || option.has("takes")) continue;
    const std::vector<Declared>& any = section("*").options;
    const auto offer = std::ranges::find_if(any, [&](const Declared& own) { return option.called(own.name); });
    if (offer != any.end()) option.how.insert(offer->how.begin(), offer->how.end());
  }
  return options;
}

/// Commands by their names.
struct Registered {
  std::function<void(const Call&)> run;
  train::WhyNot why_not;
  std::deque<Declared> options{};
};
std::map<std::string, Registered>& registered() {
  static std::map<std::string, Registered> all;
  return all;
}

/// "two_sets" of "--two-sets", "data" of "data,--data".
std::string key_of(const std::string& name) {
  const std::size_t dashes = name.find("--");
  return dashes == std::string::npos ? name : name.substr(dashes + 2);
}

// ---- for the parser

/// What is done with a value.
using Say = std::function<void(const nlohmann::json& value)>;

template <class T>
CLI::Option* take(CLI::App& app, const Declared& own, const Say& say) {
  CLI::Option* option = app.add_option_function<T>(own.name, say, own.help);
  if (own.has("default")) option->run_callback_for_default()->default_val(own.how.at("default"));
  if (own.has("split")) option->delimiter(',');
  if (const auto ends = own.list("count", ':'); !ends.empty())
    option->expected(std::stoi(ends[0]), std::stoi(ends.back()));
  if constexpr (std::is_arithmetic_v<T>) {
    if (const auto ends = own.list("range", ':'); !ends.empty()) {
      T least{}, most{};
      (void)CLI::detail::lexical_cast(ends[0], least);
      (void)CLI::detail::lexical_cast(ends[1], most);
      option->check(CLI::Range(least, most));
    }
  }
  return option;
}

CLI::Option* declare(CLI::App& app, const Declared& own, const Say& say) {
  const std::string type = own.said("type");
  if (type == "flag") return app.add_flag_callback(own.name, std::bind_front(say, true), own.help);
  if (type == "texts") return take<std::vector<std::string>>(app, own, say);
  if (type == "u64s") return take<std::vector<std::uint64_t>>(app, own, say);
  if (type == "u32") return take<std::uint32_t>(app, own, say);
  if (type == "u64") return take<std::uint64_t>(app, own, say);
  if (type == "int") return take<int>(app, own, say);
  return type == "number" ? take<double>(app, own, say) : take<std::string>(app, own, say);
}

void declare_all(CLI::App& app, Call& call, const std::deque<Declared>& options) {
  for (const Declared& own : options) {
    if (own.name == "@alias") {
      app.alias(own.how.begin()->first);
      continue;
    }
    const bool flag = own.said("type") == "flag";
    CLI::Option* option = nullptr;
    if (const train::Field* field = own.field) {
      const Say say = [&call, field, why = own.why_not](const nlohmann::json& value) {
        call.say_field(*field, value, why);
      };
      const bool other = flag && !field->value(train::RunConfig{}).get<bool>();
      option = declare(app, own, flag ? [say, other](const auto&) { say(other); } : say);
      // What is not said is the same as its opposite, which may be said too.
      const std::string plain = flag && own.name.starts_with("--no-") ? "--" + own.name.substr(5) : "";
      if (!plain.empty() && app.get_option_no_throw(plain) == nullptr) declare(app, {plain, own.how}, say)->group("");
    } else {
      const std::string key = key_of(own.name);
      call.know(key);
      option = declare(app, own, [&call, key](const nlohmann::json& value) { call.set(key, value); });
    }
    if (own.has("required")) option->required();
    if (own.has("shows")) option->type_name(own.how.at("shows"));
    if (own.has("among")) option->check(CLI::IsMember(own.list("among")));
    if (own.has("positive")) option->check(CLI::PositiveNumber);
    for (const std::string& other : own.list("needs")) option->needs(app.get_option(other));
    for (const std::string& other : own.list("excludes")) option->excludes(app.get_option(other));
    if (!own.shown.empty() && !flag) option->default_str(own.shown);
    if (!own.why_not.empty()) option->group("");
  }
}

// ---- as plain data, for completion and the manual

/// `name`: one of those it has. One that goes by place and by name is there twice.
Argument argument_of(const Declared& own, const std::string& name) {
  using Takes = Argument::Takes;
  static const std::map<std::string, Takes> kPaths = {
      {"FOLDER", Takes::folder}, {"DIR", Takes::folder},    {"RUN", Takes::folder}, {"FILE", Takes::file},
      {"PATH", Takes::file},     {"FILE.npy", Takes::file}, {"GRAPH", Takes::file}, {"PAIRS", Takes::file}};
  const std::string type = own.said("type");
  Argument argument{.name = name, .positional = !name.starts_with("--"), .help = own.help};
  argument.required = own.has("required") && (argument.positional || name == own.name);
  if (type == "flag") return argument;
  argument.several = type == "texts" || type == "u64s";
  argument.list = own.has("split");
  argument.shown = own.shown.empty() ? own.said("default") : own.shown;
  argument.range = fmt::format("{}", fmt::join(own.list("range", ':'), " to "));
  // Where the parser takes any text the library judges it, so that its errors can name the nearest word.
  const bool checked = own.has("among");
  argument.names = own.list(checked ? "among" : "offers");
  if (own.said("offers") == "@EXPERIMENTS") argument.names = experiments::catalogue();
  const std::vector<std::string> path = own.list("takes", ':');
  const Takes offer = path.empty() ? Takes::name : path[0] == "file" ? Takes::file : Takes::folder;
  const bool number = !type.empty() && type != "texts" && !own.has("shows");
  argument.placeholder = own.has("shows")                                 ? own.said("shows")
                         : number                                         ? (type == "number" ? "X" : "N")
                         : checked || (own.has("offers") && path.empty()) ? "NAME"
                         : path.empty()                                   ? "TEXT"
                                                                          : path[1];
  const auto known = kPaths.find(argument.placeholder);
  argument.takes = checked                 ? Takes::name
                   : own.has("offers")     ? offer
                   : known != kPaths.end() ? known->second
                   : number                ? Takes::number
                   : path.empty()          ? Takes::text
                                           : offer;
  return argument;
}

/// The text below the options of a command, taken apart. Lines that begin with a call ("tyche …", "mpirun …"), also
/// behind "Example:", are examples; two blanks or more in one set off what it does.
void read_footer(const std::string& footer, CommandPage& page) {
  using CLI::detail::trim_copy;
  std::string prose;
  const auto add = [&prose](const std::string& text) {
    if (!prose.empty() && !text.empty()) prose += ' ';
    prose += trim_copy(text);
  };
  for (std::string line : CLI::detail::split(footer, '\n')) {
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
  for (std::size_t begin = 0; begin < prose.size();) {
    std::size_t end = prose.find(". ", begin);
    end = end == std::string::npos ? prose.size() : end + 1;
    const std::string sentence = trim_copy(prose.substr(begin, end - begin));
    begin = end;
    if (sentence.starts_with("Exit code")) {
      page.exits.push_back(sentence);
    } else if (!sentence.empty()) {
      page.note += (page.note.empty() ? "" : " ") + sentence;
    }
  }
}

}  // namespace

Command::Command(const char* name, std::function<void(const Call&)> run, const train::WhyNot& why_not) {
  registered()[name] = {std::move(run), why_not};
}

void add_commands(CLI::App& root) {
  std::size_t found = 0;
  for (const Section& own : sections()) {
    if (own.about.empty()) continue;  // options of several
    const std::size_t space = own.name.find(' ');
    CLI::App& above = space == std::string::npos ? root : *root.get_subcommand(own.name.substr(0, space));
    CLI::App& app = *above.add_subcommand(own.name.substr(space + 1), own.about);  // npos + 1 is 0
    app.footer(own.footer.substr(0, own.footer.find_last_not_of('\n') + 1));
    const auto command = registered().find(own.name);
    if (command == registered().end()) {  // it has commands of its own
      app.require_subcommand(1);
      continue;
    }
    ++found;
    const auto call = std::make_shared<Call>();
    call->program = &root;
    command->second.options = settled(own.name, command->second.why_not);
    declare_all(app, *call, command->second.options);
    app.callback([call, run = command->second.run] { run(*call); });
  }
  if (found != registered().size()) throw std::logic_error("share/commands.txt lacks the section of a command");
}

CommandPage describe(const CLI::App& root) {
  CommandPage program{.name = root.get_name(), .about = root.get_description()};
  for (const CLI::Option* option : root.get_options()) {  // --help and its kin
    const std::vector<std::string>& letters = option->get_snames();
    program.arguments.push_back({.name = "--" + option->get_lnames().front(),
                                 .letter = letters.empty() ? "" : "-" + letters.front(),
                                 .help = option->get_description()});
  }
  read_footer(root.get_footer(), program);
  for (const Section& own : sections()) {
    if (own.about.empty()) continue;
    const bool below = own.name.find(' ') != std::string::npos;  // it stands behind that which it belongs to
    CommandPage& page = (below ? program.commands.back() : program)
                            .commands.emplace_back(CommandPage{.name = fmt::format("{} {}", program.name, own.name),
                                                               .about = own.about,
                                                               .arguments = {program.arguments.front()}});
    read_footer(own.footer, page);
    for (const Declared& option : registered()[own.name].options) {
      if (option.name == "@alias" || !option.why_not.empty()) continue;
      for (const std::string& name : CLI::detail::split(option.name, ',')) {
        page.arguments.push_back(argument_of(option, name));
      }
    }
  }
  return program;
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
