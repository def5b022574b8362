#pragma once
/// The commands as plain data, from the declarations that the parser and --help come from, for whatever else describes
/// them: the manual and completion in shells.
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

  std::string name;      ///< "--rni"; of a positional, "graphs"
  std::string letter{};  ///< "-h", or empty
  bool positional = false;
  bool required = false;
  bool several = false;  ///< may be given several times, or takes several words
  bool list = false;     ///< values are separated by commas
  Takes takes = Takes::nothing;
  std::string placeholder{};         ///< "FOLDER"; empty where it takes nothing
  std::vector<std::string> names{};  ///< that a value can be; there may be others too, where the parser checks none
  std::string help{};
  std::string range{};  ///< "1 to 3", where the parser knows one
  std::string shown{};  ///< the default; may be empty
};

struct Example {
  std::string command;
  std::string what;  ///< may be empty
};

struct CommandPage {
  std::string name;  ///< "tyche theory check"
  std::string about;
  std::vector<Argument> arguments{};
  std::vector<CommandPage> commands{};
  std::vector<Example> examples{};
  std::string note{};                ///< of the text below the options: what is neither an example nor about exit codes
  std::vector<std::string> exits{};  ///< "Exit code 1 if …"
};

/// `root` with its commands, once add_commands() has run; what is hidden in --help is left out.
[[nodiscard]] CommandPage describe(const CLI::App& root);

/// "tyche-theory-check" for "tyche theory check": the name of its manual page.
[[nodiscard]] std::string man_name(std::string_view command);
/// `root` and all below it.
[[nodiscard]] std::vector<const CommandPage*> all_commands(const CommandPage& root);

}  // namespace tyche::cli
