#pragma once
/// The commands as plain data, read off the parser that --help is printed from, for whatever else describes them: the
/// manual and completion in shells.
///
///   const CommandPage tyche = describe(app);
///   for (const CommandPage& command : tyche.commands) ...        // "tyche generate", "tyche certify", …
#include <CLI/CLI.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace tyche::cli {

/// An option or a positional argument.
struct Argument {
  enum class Takes { nothing, name, file, folder, number, text };

  std::string name;    ///< "--rni"; of a positional, "graphs"
  std::string letter;  ///< "-h", or empty
  bool positional = false;
  bool required = false;
  bool several = false;  ///< may be given several times, or takes several words
  bool list = false;     ///< values are separated by commas
  Takes takes = Takes::nothing;
  std::string placeholder;         ///< "FOLDER"; empty where it takes nothing
  std::vector<std::string> names;  ///< that a value can be (there may be others too: Offer)
  std::string help;
  std::string range;  ///< "1 to 3", where the parser knows one
  std::string shown;  ///< the default; may be empty
};

struct Example {
  std::string command;
  std::string what;  ///< may be empty
};

struct CommandPage {
  std::string name;  ///< "tyche theory check"
  std::string about;
  std::vector<Argument> arguments;
  std::vector<CommandPage> commands;
  std::vector<Example> examples;
  std::vector<std::string> notes;  ///< of the text below the options: what is neither an example nor about exit codes
  std::vector<std::string> exits;  ///< "Exit code 1 if …"
};

/// `app` with its commands; what is hidden in --help is left out.
[[nodiscard]] CommandPage describe(CLI::App& app);

/// The text below the options of a command, taken apart. Lines that begin with a call ("tyche …", "mpirun …"), also
/// behind "Example:", are examples; two blanks or more in one set off what it does.
void read_footer(const std::string& footer, CommandPage& page);

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

[[nodiscard]] Offer offer_of(std::string_view command, std::string_view argument);

/// "tyche-theory-check" for "tyche theory check": the name of its manual page.
[[nodiscard]] std::string man_name(std::string_view command);
/// `root` and all below it.
[[nodiscard]] std::vector<const CommandPage*> all_commands(const CommandPage& root);

}  // namespace tyche::cli
