#pragma once
/// What the commands share. Each command is one file, cmd_<name>.cpp, and a section of share/commands.txt that declares
/// its options. Commands are thin: they call the library, and print.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>

#include "datasets/dataset.hpp"
#include "engine/choice.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "support/progress.hpp"
#include "support/said.hpp"
#include "support/stopwatch.hpp"
#include "support/words.hpp"
#include "train/fields.hpp"

namespace tyche::engine {
class SetData;
struct Data;
}  // namespace tyche::engine

namespace tyche {
class Ranks;
}

namespace tyche::cli {

/// What a call names: nothing where it is told by content.
[[nodiscard]] std::optional<Format> format_of(const std::string& name);

/// Exit codes of the program.
inline constexpr int kGood = 0;
inline constexpr int kNo = 1;        ///< the question was answered, and the answer is no
inline constexpr int kBadInput = 2;  ///< bad input or a bad call

/// The command line, as one would type it again.
[[nodiscard]] const std::string& called();
void set_called(std::span<char* const> words);

/// A command sets this to say how the program ends when its callback returns.
void set_exit_code(int code);

/// A call of a command: what was said of the options that share/commands.txt declares, by their names, and of the
/// configuration's fields (train/fields.hpp), whose options are the same in every command that takes @fields.
///
///   RunConfig config = train::default_config(call.fields().model(), call.fields().random());
///   call.fields().apply(config);
class Call : public Said {
 public:
  const CLI::App* program = nullptr;  ///< all of it, for what describes it

  /// Throws InputError where the call says what the command does not take.
  [[nodiscard]] const train::Edits& fields() const;
  /// `why`: the command does not take it; empty: it does.
  void say_field(const train::Field& field, const nlohmann::json& value, const std::string& why);

  [[nodiscard]] bool json() const { return flag("json"); }
  [[nodiscard]] bool quiet() const { return knows("quiet") && flag("quiet"); }
  /// Where progress goes: nullptr when --quiet.
  [[nodiscard]] std::FILE* progress() const { return quiet() ? nullptr : stderr; }
  [[nodiscard]] std::uint64_t seed() const { return *whole("seed"); }
  /// --device, --engine-path and --precision.
  [[nodiscard]] engine::AskedEngine engine() const { return {text("device"), text("engine_path"), text("precision")}; }
  /// --format: nothing where it is told by content.
  [[nodiscard]] std::optional<Format> format() const { return format_of(word("format")); }
  /// The data set by --data, --format and --clean.
  [[nodiscard]] datasets::Dataset data() const;
  /// Of models on sets: where colour classes are kept between runs.
  [[nodiscard]] std::string cache() const;

 private:
  train::Edits fields_;
  std::string refused_;
};

/// A command of share/commands.txt ("theory check"), and what a call of it does; a file has one for each of its own.
/// `why_not`: why it does not take a field, where it takes @fields.
///
///   const Command command("count", [](const Call& call) { ... call.word("of") ... });
class Command {
 public:
  Command(const char* name, std::function<void(const Call&)> run, const train::WhyNot& why_not = {});
};
/// All of them, as share/commands.txt declares them and in its order.
void add_commands(CLI::App& root);

/// "tyche: FILE: --clean dropped 3 loops"
void say_cleaned(const std::string& path, const Cleaning& cleaning);

/// What `read` gives, called with a Cleaning where `clean` and with null where not.
///
///   const GraphSet set = read_cleanly(clean, path,
///                                     [&](Cleaning* cleaning) { return read_graphs(path, format, cleaning); });
template <class Read>
auto read_cleanly(bool clean, const std::string& path, Read read) {
  Cleaning cleaning;
  auto out = read(clean ? &cleaning : nullptr);
  if (clean) say_cleaned(path, cleaning);
  return out;
}

/// A data set by path, format (empty: told by content) and whether it is cleaned.
[[nodiscard]] datasets::Dataset read_data(const std::string& path, const std::string& format, bool clean);

/// The sets of a data set for models on sets, with a bar unless `quiet`; `cache`: a folder, or empty for none.
[[nodiscard]] std::shared_ptr<const engine::SetData> prepare_sets_of(const nn::ModelConfig& model, bool compress,
                                                                     const engine::Data& data, const std::string& cache,
                                                                     unsigned threads, bool quiet);

/// The error's text, with what a user can do about it here .
[[nodiscard]] std::string with_remedy(const Error& error);

/// Runs body, in which ranks wait for each other; where one of them fails there, it says so and ends them all.
void in_step(const Ranks& ranks, const std::function<void()>& body);

/// Prints JSON on standard output; throws IoError if that fails (a full disk behind a redirection).
void print_json(const nlohmann::json& value);
/// Prints text on standard output, likewise checked.
void print(const std::string& text);

}  // namespace tyche::cli
