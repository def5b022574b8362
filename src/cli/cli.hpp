#pragma once
/// What the commands share. Each command is one file, cmd_<name>.cpp, with one function add_<name>(CLI::App&) that
/// declares its options and sets a callback; commands.hpp lists them. Commands are thin: they parse, call the library,
/// and print.
#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

namespace tyche {
class Ranks;
}

namespace tyche::cli {

/// Exit codes of the program.
inline constexpr int kGood = 0;
inline constexpr int kNo = 1;        ///< the question was answered, and the answer is no
inline constexpr int kBadInput = 2;  ///< bad input or a bad call

/// A command sets this to say how the program ends when its callback returns.
void set_exit_code(int code);

/// Options most commands have, declared the same way everywhere.
struct Common {
  std::uint64_t seed = 1;
  unsigned threads = 0;
  bool json = false;
  bool quiet = false;

  void add_seed(CLI::App& app);
  void add_threads(CLI::App& app);
  void add_json(CLI::App& app);
  void add_quiet(CLI::App& app);
  /// Where progress goes: nullptr when --quiet.
  [[nodiscard]] std::FILE* progress() const { return quiet ? nullptr : stderr; }
};

/// Runs body, in which ranks wait for each other; where one of them fails there, it says so and ends them all.
void in_step(const Ranks& ranks, const std::function<void()>& body);

/// Prints JSON on standard output; throws IoError if that fails (a full disk behind a redirection).
void print_json(const nlohmann::json& value);
/// Prints text on standard output, likewise checked.
void print(const std::string& text);

}  // namespace tyche::cli
