// The program: parse, run one command, turn errors into one line on standard error and an exit code.
#include <cstdio>
#include <exception>
#include <new>
#include <string>
#include <string_view>

#include "cli/cli.hpp"
#include "cli/commands.hpp"
#include "support/error.hpp"
#include "support/peers.hpp"
#include "support/progress.hpp"

namespace tyche::cli {
namespace {
int exit_code = kGood;
}
void set_exit_code(int code) { exit_code = code; }
}  // namespace tyche::cli

int main(int argc, char** argv) {
  using namespace tyche;
  using namespace tyche::cli;
  CLI::App app("tyche: graph neural networks with random node initialisation", "tyche");
  bool json = false;
  CLI::Option* in_json = app.add_flag("--json", json, "With --version: in JSON");
  in_json->needs(app.set_version_flag(
      "--version", [&json] { return json ? version_json() : version_text(); },
      "Say what was built and what of it this machine uses, and exit"));
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
  std::string names;
  bool known = false;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names += (names.empty() ? "" : ", ") + command->get_name();
    known = known || (argc > 1 && command->get_name() == argv[1]);
  }
  if (argc > 1 && argv[1][0] != '-' && !known) {
    return fail(("unknown command '" + std::string(argv[1]) + "'; the commands are " + names).c_str(), kBadInput);
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
    if (argc > 1 && app.get_subcommands().size() == 1) {
      what += "; see 'tyche " + app.get_subcommands().front()->get_name() + " --help'";
    } else {
      what += "; see 'tyche --help'";
    }
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
