#pragma once
/// What the commands share. Each command is one file, cmd_<name>.cpp, with one function add_<name>(CLI::App&) that
/// declares its options and sets a callback; commands.hpp lists them. Commands are thin: they parse, call the library,
/// and print.
#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "datasets/dataset.hpp"
#include "engine/choice.hpp"
#include "support/error.hpp"

namespace tyche::engine {
class SetData;
struct Data;
}  // namespace tyche::engine

namespace tyche {
class Ranks;
}

namespace tyche::cli {

/// Exit codes of the program.
inline constexpr int kGood = 0;
inline constexpr int kNo = 1;        ///< the question was answered, and the answer is no
inline constexpr int kBadInput = 2;  ///< bad input or a bad call

/// The command line, as one would type it again.
[[nodiscard]] const std::string& called();
void set_called(std::span<char* const> words);

/// A command sets this to say how the program ends when its callback returns.
void set_exit_code(int code);

/// Options most commands have, declared the same way everywhere.
enum : unsigned { kSeed = 1, kThreads = 2, kJson = 4, kQuiet = 8 };
struct Common {
  std::uint64_t seed = 1;
  unsigned threads = 0;
  bool json = false;
  bool quiet = false;

  /// `which`: kThreads | kJson, say.
  void add(CLI::App& app, unsigned which);
  /// Where progress goes: nullptr when --quiet.
  [[nodiscard]] std::FILE* progress() const { return quiet ? nullptr : stderr; }
};

/// Runs body, in which ranks wait for each other; where one of them fails there, it says so and ends them all.
void in_step(const Ranks& ranks, const std::function<void()>& body);

/// A command, and where its options go: what `run` is called with.
///
///   const auto [app, a] = add_command<CountCall>(root, "count", "How often are small graphs in these?", run);
///   app.add_option("--out", a->out, "Write the graphs as JSON lines");
template <class Call, class Run>
std::pair<CLI::App&, std::shared_ptr<Call>> add_command(CLI::App& root, const char* name, const char* about, Run run) {
  CLI::App& app = *root.add_subcommand(name, about);
  const auto call = std::make_shared<Call>();
  app.callback([call, run] { run(*call); });
  return {app, call};
}

/// --device, --engine-path and --precision, the same in every command that runs models.
struct DeviceOptions {
  engine::AskedEngine asked;

  void add(CLI::App& app);
  [[nodiscard]] std::string engine_name(const std::string& otherwise) const { return asked.name(otherwise); }
};

/// --clean of the commands that read graphs: loops, repeated edges and edges in one direction only are mended, and said
/// on standard error. The help of the option, where a command declares it itself:
inline constexpr const char* kCleanHelp =
    "Drop loops and repeated edges of the data and add missing directions, and say how many; without it such files "
    "are refused";

/// "tyche: FILE: --clean dropped 3 loops"
void say_cleaned(const std::string& path, const Cleaning& cleaning);

/// What `read` gives, called with a Cleaning where `clean` and with null where not.
///
///   const GraphSet set = read_cleanly(call.clean, call.data,
///                                     [&](Cleaning* cleaning) { return read_graphs(call.data, format, cleaning); });
template <class Read>
auto read_cleanly(bool clean, const std::string& path, Read read) {
  Cleaning cleaning;
  auto out = read(clean ? &cleaning : nullptr);
  if (clean) say_cleaned(path, cleaning);
  return out;
}

/// What a call names: nothing where it is told by content.
[[nodiscard]] std::optional<Format> format_of(const std::string& name);
/// A data set by --data, --format and --clean.
[[nodiscard]] datasets::Dataset read_data(const std::string& path, const std::string& format, bool clean);

/// The sets of a data set for models on sets, with a bar; `cache`: a folder, or empty for none.
[[nodiscard]] std::shared_ptr<const engine::SetData> prepare_sets_of(const nn::ModelConfig& model, bool compress,
                                                                     const engine::Data& data, const std::string& cache,
                                                                     const Common& common);

/// The error's text, with what a user can do about it here (cli/remedies.cpp).
[[nodiscard]] std::string with_remedy(const Error& error);

/// Prints JSON on standard output; throws IoError if that fails (a full disk behind a redirection).
void print_json(const nlohmann::json& value);
/// Prints text on standard output, likewise checked.
void print(const std::string& text);

}  // namespace tyche::cli
