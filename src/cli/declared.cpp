// Options as share/commands.txt declares them, for the parser; and the commands as plain data, read off the parser.
#include <fmt/ranges.h>

#include <cctype>
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
  std::string help, shown;

  [[nodiscard]] bool has(const std::string& word) const { return how.contains(word); }
  /// "a|b" as {"a", "b"}; nothing where there is no such word.
  [[nodiscard]] std::vector<std::string> list(const std::string& word, char between = '|') const {
    return has(word) ? CLI::detail::split(how.at(word), between) : std::vector<std::string>();
  }
};

struct Section {
  std::string about, footer;
  std::vector<Declared> options;
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

using Sections = std::vector<std::pair<std::string, Section>>;

Sections read_sections() {
  const std::string text =
      filled("share/commands.txt", {{"@GRAPH@", kGraphNameHelp},
                                    {"@GRID@", std::to_string(theory::kWeightGrid)},
                                    {"@MODELS@", fmt::format("{}", fmt::join(nn::model_kinds(), "|"))},
                                    {"@PATTERNS@", kUsualPatterns},
                                    {"@PORTFOLIO@", fmt::format("{}", fmt::join(compare::portfolio(), ", "))}});
  Sections sections;
  Section* at = nullptr;
  bool head = false, footer = false;
  for (const std::string& line : CLI::detail::split(text, '\n')) {
    if (line.starts_with("== ")) {
      at = &sections.emplace_back(line.substr(3), Section{}).second;
      head = std::isalpha(static_cast<unsigned char>(line[3])) != 0;
      footer = false;
    } else if (at == nullptr || (line.empty() && !footer)) {
      continue;  // what the file is, and blank lines
    } else if (std::exchange(head, false)) {
      at->about = line;
    } else if (footer || line == "--") {
      at->footer += footer ? line + "\n" : "";
      footer = true;
    } else if (line.starts_with("    = ")) {
      at->options.back().shown = line.substr(6);
    } else if (line.starts_with("    ")) {
      std::string& help = at->options.back().help;
      help += (help.empty() ? "" : " ") + line.substr(4);
    } else {
      at->options.push_back(declared_in(line));
    }
  }
  return sections;
}

const Sections& sections() {
  static const Sections all = read_sections();
  return all;
}

const Section& section(const std::string& name) {
  return std::ranges::find(sections(), name, &Sections::value_type::first)->second;
}

/// Commands by their names.
struct Registered {
  std::function<void(const Call&)> run;
  train::WhyNot why_not;
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

template <class T>
CLI::Option* take(CLI::App& app, Call& call, const Declared& own) {
  const std::string key = key_of(own.name);
  CLI::Option* option = app.add_option_function<T>(
      own.name, [&call, key](const T& value) { call.set(key, value); }, own.help);
  const auto parsed = [](const std::string& text) {
    T value{};
    (void)CLI::detail::lexical_cast(text, value);
    return value;
  };
  if (own.has("default")) {
    call.set(key, parsed(own.how.at("default")));
    option->default_str(own.how.at("default"));
  }
  if constexpr (std::is_arithmetic_v<T>) {
    if (const auto ends = own.list("range", ':'); !ends.empty())
      option->check(CLI::Range(parsed(ends[0]), parsed(ends[1])));
  }
  return option;
}

template <class T>
CLI::Option* take_list(CLI::App& app, Call& call, const Declared& own) {
  const std::string key = key_of(own.name);
  CLI::Option* option = app.add_option_function<std::vector<T>>(
      own.name, [&call, key](const std::vector<T>& values) { call.set(key, values); }, own.help);
  if (own.has("split")) option->delimiter(',');
  if (const auto ends = own.list("count", ':'); !ends.empty()) {
    ends.size() == 1 ? option->expected(std::stoi(ends[0])) : option->expected(std::stoi(ends[0]), std::stoi(ends[1]));
  }
  return option;
}

CLI::Option* declare(CLI::App& app, Call& call, const Declared& own) {
  const std::string key = key_of(own.name), type = own.has("type") ? own.how.at("type") : "text";
  call.know(key);
  if (type == "flag")
    return app.add_flag_callback(
        own.name, [&call, key] { call.set(key, true); }, own.help);
  if (type == "texts") return take_list<std::string>(app, call, own);
  if (type == "u64s") return take_list<std::uint64_t>(app, call, own);
  if (type == "u32") return take<std::uint32_t>(app, call, own);
  if (type == "u64") return take<std::uint64_t>(app, call, own);
  if (type == "int") return take<int>(app, call, own);
  return type == "number" ? take<double>(app, call, own) : take<std::string>(app, call, own);
}

void declare_all(CLI::App& app, Call& call, const std::string& name, const train::WhyNot& why_not) {
  for (const Declared& own : section(name).options) {
    if (own.name == "@fields") {
      call.fields.add(app, why_not);
      continue;
    }
    if (own.name == "@alias") {
      app.alias(own.how.begin()->first);
      continue;
    }
    if (own.name.starts_with('@')) {
      declare_all(app, call, own.name, why_not);
      continue;
    }
    CLI::Option* option = own.name.starts_with("--") ? app.get_option_no_throw(own.name) : nullptr;
    if (option == nullptr) {
      option = declare(app, call, own);
      if (own.has("required")) option->required();
      if (own.has("shows")) option->type_name(own.how.at("shows"));
      if (own.has("among")) option->check(CLI::IsMember(own.list("among")));
      if (own.has("positive")) option->check(CLI::PositiveNumber);
      for (const std::string& other : own.list("needs")) option->needs(app.get_option(other));
      for (const std::string& other : own.list("excludes")) option->excludes(app.get_option(other));
    } else if (!own.help.empty()) {
      option->description(own.help);
    }
    if (!own.shown.empty()) option->default_str(own.shown);
  }
}

}  // namespace

Command::Command(const char* name, std::function<void(const Call&)> run, const train::WhyNot& why_not) {
  registered()[name] = {std::move(run), why_not};
}

void add_commands(CLI::App& root) {
  std::size_t found = 0;
  for (const auto& [name, own] : sections()) {
    if (own.about.empty()) continue;  // options of several
    const std::size_t space = name.find(' ');
    CLI::App& above = space == std::string::npos ? root : *root.get_subcommand(name.substr(0, space));
    CLI::App& app = *above.add_subcommand(name.substr(space + 1), own.about);  // npos + 1 is 0
    app.footer(own.footer.substr(0, own.footer.find_last_not_of('\n') + 1));
    const auto command = registered().find(name);
    if (command == registered().end()) {  // it has commands of its own
      app.require_subcommand(1);
      continue;
    }
    ++found;
    const auto call = std::make_shared<Call>();
    call->program = &root;
    declare_all(app, *call, name, command->second.why_not);
    app.callback([call, run = command->second.run] { run(*call); });
  }
  if (found != registered().size()) throw std::logic_error("share/commands.txt lacks the section of a command");
}

void FieldOptions::add(CLI::App& app, const train::WhyNot& why_not) {
  using Form = train::Field::Form;
  for (const train::Field& field : train::fields()) {
    if (field.option.empty() || app.get_option_no_throw(field.option) != nullptr) continue;
    const std::string why = why_not ? why_not(field) : "";
    const auto take = [this, &field, why](const auto& value) {
      if (!why.empty() && refused_.empty()) refused_ = fmt::format("{}: {}", field.option, why);
      said_.add(field, value, field.option);
    };
    const auto of_kind = [&]<class T>(T) {
      return app.add_option_function<T>(field.option, take, field.help)->default_str(field.shown);
    };
    const auto flag = [&](const std::string& name, bool value, const std::string& help) {
      return app.add_flag_callback(
          name, [take, value] { take(value); }, help);
    };
    CLI::Option* const option = field.form == Form::flag
                                    ? flag(field.option, !field.value(train::RunConfig{}).get<bool>(), field.help)
                                : why.empty() && field.form == Form::whole  ? of_kind(std::uint64_t{})
                                : why.empty() && field.form == Form::number ? of_kind(double{})
                                                                            : of_kind(std::string());
    if (!why.empty()) option->group("");
    // What is not said is the same as its opposite, which may be said too.
    const bool negated = field.form == Form::flag && field.option.starts_with("--no-");
    const std::string plain = negated ? "--" + field.option.substr(5) : "";
    if (negated && app.get_option_no_throw(plain) == nullptr) flag(plain, true, "")->group("");
  }
}

const train::Edits& FieldOptions::said() const {
  if (!refused_.empty()) throw InputError(refused_);
  return said_;
}

namespace {

using CLI::detail::trim_copy;

/// What the values of options can be, for completion and the manual, where the parser takes any text and the library
/// judges it (so that its errors can name the nearest word): share/commands.txt. Where the parser checks names itself,
/// those count.
///
///   offer_of("tyche train", "--activation").names                // elu, tanh, relu
struct Offer {
  std::vector<std::string> names;
  /// name: one of the names; file, folder: likewise, or a file or folder; nothing: nothing is known of it.
  Argument::Takes takes = Argument::Takes::nothing;
  std::string placeholder{};  ///< instead of the parser's TEXT
};

Offer offer_of(std::string_view command, std::string_view argument) {
  const std::size_t space = command.find(' ');
  for (const std::string& place :
       {std::string(command.substr(space == command.npos ? 0 : space + 1)), std::string("*")}) {
    if (place == "tyche") continue;
    for (const Declared& own : section(place).options) {
      const std::vector<std::string> names = CLI::detail::split(own.name, ',');
      const bool same = std::ranges::find(names, argument) != names.end();
      if (!same || (!own.has("offers") && !own.has("takes"))) continue;
      const std::vector<std::string> takes = own.list("takes", ':');
      Offer offer{own.list("offers"), Argument::Takes::name, takes.empty() ? "NAME" : takes[1]};
      if (!takes.empty()) offer.takes = takes[0] == "file" ? Argument::Takes::file : Argument::Takes::folder;
      if (offer.names == std::vector<std::string>{"@EXPERIMENTS"}) offer.names = experiments::catalogue();
      return offer;
    }
  }
  return {};
}

/// The parser writes its checks behind the type: "TEXT:{cpu,cuda}", "UINT:INT in [1 - 3]".
void read_type(const std::string& type, Argument& argument) {
  const std::size_t colon = type.find(':');
  std::string base = type.substr(0, colon);
  const std::string check = colon == std::string::npos ? "" : type.substr(colon + 1);
  if (check.starts_with('{')) argument.names = CLI::detail::split(check.substr(1, check.find('}') - 1), ',');
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

/// The text below the options of a command, taken apart. Lines that begin with a call ("tyche …", "mpirun …"), also
/// behind "Example:", are examples; two blanks or more in one set off what it does.
void read_footer(const std::string& footer, CommandPage& page) {
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
