// The program: parse, run one command, turn errors into one line on standard error and an exit code. And what it says
// of itself.
#include <fmt/ranges.h>

#include <exception>
#include <new>

#include "cli/cli.hpp"
#include "cli/commit.hpp"
#include "engine/cpu/kernels.hpp"
#include "engine/engine.hpp"
#include "support/peers.hpp"
#include "support/ranks.hpp"
#include "support/share.hpp"
#include "support/version.hpp"

namespace tyche::cli {

namespace {

int exit_code = kGood;

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
    command = fmt::format("{} {}", above->get_name(), command);
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
  for (const CLI::App* command : app.get_subcommands({})) {
    if (command->check_name(name)) return command;
  }
  return nullptr;
}

/// The words of a call as the parser knows them. Long options may have '_' for '-', and a field of a configuration may
/// be called as others call it (train/fields.hpp): "--learning_rate 1e-3" is "--lr 1e-3" wherever there is a --lr. An
/// option that there is none of is refused with the nearest there is.
///
///   app.parse(settled_words(app, {argv + 1, argv + argc}));
///
/// Last word first, as CLI::App::parse takes them. Throws InputError on an unknown option.
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

std::string compiler() {
#ifdef __clang__
  return fmt::format("clang {}.{}.{}", __clang_major__, __clang_minor__, __clang_patchlevel__);
#else
  return fmt::format("g++ {}.{}.{}", __GNUC__, __GNUC_MINOR__, __GNUC_PATCHLEVEL__);
#endif
}

/// What `tyche --version` says: what was built, and what of it this machine uses. The first line is "tyche 0.3.0"; no
/// newline ends the last. The same for programs: --version --json.
std::string version(bool json) {
  const engine::GpuState gpu = engine::gpu_state();
  const std::string engine = engine::make_engine("auto", 0)->description(), date = kCommitDate;
  const std::vector<std::string> built = engine::cpu::built_kernels();
  const std::string_view kernels = engine::cpu::kernels_for("auto").name;
  const bool page = has_shared_file("report.html");
  if (json) {
    return nlohmann::ordered_json{{"version", kVersion},
                                  {"commit", kCommit},
                                  {"date", date},
                                  {"engine", engine},
                                  {"engines", engine::engine_names()},
                                  {"kernels_built", built},
                                  {"kernels", kernels},
                                  {"gpu", {{"usable", gpu.usable}, {"text", gpu.text}}},
                                  {"mpi", built_with_mpi()},
                                  {"page", page},
                                  {"compiler", compiler()}}
        .dump(2);
  }
  return fmt::format(
      "tyche {}\n"
      "commit    {}{}\n"
      "engine    {}\n"
      "kernels   built for {}; here {}\n"
      "gpu       {}{}\n"
      "mpi       {}\n"
      "page      {}\n"
      "compiler  {}",
      kVersion, kCommit, date.empty() ? "" : ", " + date, engine, fmt::join(built, ", "), kernels,
      gpu.usable ? "" : "none: ", gpu.text, built_with_mpi() ? "yes" : "no: built without it",
      page ? "yes" : "no: built without Node", compiler());
}

}  // namespace

void set_exit_code(int code) { exit_code = code; }

/// What main() does, and its exit code.
int run_program(int argc, char** argv) {
  CLI::App app("tyche: graph neural networks with random node initialisation", "tyche");
  bool json = false;
  CLI::Option* in_json = app.add_flag("--json", json, "With --version: in JSON");
  in_json->needs(app.set_version_flag(
      "--version", [&json] { return version(json); }, "Say what was built and what of it this machine uses, and exit"));
  app.require_subcommand(1);
  app.footer(
      "Each command has its own --help with an example. Exit codes: 0 good, 1 the answer is no, 2 bad input or call.\n"
      "Examples:\n"
      "  tyche generate exp --seed 1 --out exp\n"
      "  tyche train --data exp --rni 0.5 --fold 0 --epochs 100 --out runs/rni50\n"
      "  tyche report runs/rni50 --out report.html");

  const auto fail = [](const char* what, int code) {
    std::fprintf(stderr, "tyche: %s\n", what);
    return code;
  };
  add_commands(app);
  if (argc > 1 && argv[1][0] != '-' && command_of(app, argv[1]) == nullptr) {
    std::vector<std::string> names;
    for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
    return fail(fmt::format("unknown command '{}'; the commands are {}", argv[1], fmt::join(names, ", ")).c_str(),
                kBadInput);
  }
  try {
    catch_interrupts();
    set_called({argv, static_cast<std::size_t>(argc)});
    app.parse(settled_words(app, {argv + 1, argv + argc}));
    return exit_code;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success))
      return app.exit(error);  // --help, --version
    std::string what = error.what();
    constexpr std::string_view kNoNumber = "Could not convert: ";  // CLI11's words
    if (what.starts_with(kNoNumber)) what = what.substr(kNoNumber.size()) + ": expected a number";
    const std::vector<CLI::App*> chosen = app.get_subcommands();
    what += fmt::format("; see 'tyche {}--help'", chosen.size() == 1 ? chosen.front()->get_name() + " " : "");
    return fail(what.c_str(), kBadInput);
  } catch (const Interrupted& stop) {
    return fail(stop.what(), 130);
  } catch (const FailedElsewhere&) {
    return kBadInput;
  } catch (const Error& error) {
    return fail(with_remedy(error).c_str(), kBadInput);
  } catch (const std::bad_alloc&) {
    return fail("out of memory; try smaller input or fewer threads", kBadInput);
  } catch (const std::exception& error) {
    return fail((std::string("internal error, please report it: ") + error.what()).c_str(), kBadInput);
  }
}

}  // namespace tyche::cli

int main(int argc, char** argv) { return tyche::cli::run_program(argc, argv); }
