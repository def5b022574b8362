#include "cli/cli.hpp"

#include <fmt/format.h>

#include <cerrno>

#include "engine/sets/set_data.hpp"
#include "support/progress.hpp"
#include "support/ranks.hpp"
#include "support/words.hpp"

namespace tyche::cli {

namespace {
std::string command_line = "tyche";
}

const std::string& called() { return command_line; }
void set_called(std::span<char* const> words) {
  for (const char* word : words.subspan(1)) command_line += " " + shell_word(word);
}

void Common::add(CLI::App& app, unsigned which) {
  if ((which & kSeed) != 0) {
    app.add_option("--seed", seed, "Seed: the same seed gives the same bits")->capture_default_str();
  }
  if ((which & kThreads) != 0) {
    app.add_option("--threads", threads, "Threads to use; 0: all cores. Results do not depend on it")
        ->capture_default_str()
        ->check(CLI::Range(0u, 4096u));
  }
  if ((which & kJson) != 0) app.add_flag("--json", json, "Answer in JSON on standard output");
  if ((which & kQuiet) != 0) app.add_flag("--quiet", quiet, "No progress on standard error");
}

void DeviceOptions::add(CLI::App& app) {
  app.add_option("--device", asked.device, "cpu, cuda, or auto: a GPU where the build has the engine and one answers")
      ->check(CLI::IsMember(engine::AskedEngine::kDevices))
      ->default_str("auto");
  app.add_option("--engine-path", asked.path, "On a GPU: fused (small graphs, all at once), layerwise, or auto")
      ->check(CLI::IsMember(engine::AskedEngine::kPaths))
      ->default_str("auto");
  app.add_option("--precision", asked.precision, "On a GPU: mixed (half-precision products, fp32 sums) or fp32")
      ->check(CLI::IsMember(engine::AskedEngine::kPrecisions))
      ->default_str("mixed");
}

void say_cleaned(const std::string& path, const Cleaning& cleaning) {
  fmt::print(stderr, "tyche: {}: --clean {}\n", path, cleaning.in_words());
}

std::optional<Format> format_of(const std::string& name) {
  return name.empty() ? std::nullopt : std::optional(parse_format(name));
}

datasets::Dataset read_data(const std::string& path, const std::string& format, bool clean) {
  return read_cleanly(clean, path,
                      [&](Cleaning* cleaning) { return datasets::load_dataset(path, format_of(format), cleaning); });
}

std::shared_ptr<const engine::SetData> prepare_sets_of(const nn::ModelConfig& model, bool compress,
                                                       const engine::Data& data, const std::string& cache,
                                                       const Common& common) {
  Progress progress("sets", data.graphs.size() * nn::levels(model).size(), common.progress());
  engine::SetOptions options;
  options.compress = compress;
  options.threads = common.threads;
  options.progress = &progress;
  options.cache.folder = cache;
  options.cache.say = [&](const std::string& line) {
    progress.finish();
    if (!common.quiet) fmt::print(stderr, "{}\n", line);
  };
  return engine::prepare_sets(model, data, options);
}

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
