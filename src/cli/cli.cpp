#include "cli/cli.hpp"

#include <fmt/format.h>

#include <cerrno>

#include "support/error.hpp"
#include "support/ranks.hpp"

namespace tyche::cli {

void Common::add_seed(CLI::App& app) {
  app.add_option("--seed", seed, "Seed: the same seed gives the same bits")->capture_default_str();
}
void Common::add_threads(CLI::App& app) {
  app.add_option("--threads", threads, "Threads to use; 0: all cores. Results do not depend on it")
      ->capture_default_str()
      ->check(CLI::Range(0u, 4096u));
}
void Common::add_json(CLI::App& app) { app.add_flag("--json", json, "Answer in JSON on standard output"); }
void Common::add_quiet(CLI::App& app) { app.add_flag("--quiet", quiet, "No progress on standard error"); }

void in_step(const Ranks& ranks, const std::function<void()>& body) {
  try {
    body();
  } catch (const OutOfStep& error) {
    fmt::print(stderr, "tyche: {}; all ranks end: go on with --resume\n", error.what());
    ranks.abandon(kBadInput);
  }
}

void print(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    throw IoError::from_errno("standard output", "write", errno);
  }
}

void print_json(const nlohmann::json& value) { print(value.dump(2) + "\n"); }

}  // namespace tyche::cli
