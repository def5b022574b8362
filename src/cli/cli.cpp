#include "cli/cli.hpp"

#include <cerrno>

#include "engine/sets/set_data.hpp"
#include "support/ranks.hpp"
#include "support/remedy.hpp"
#include "wl/quotient_cache.hpp"

namespace tyche::cli {

namespace {

std::string command_line = "tyche";

/// The options of this program that help against an error of the library, in the order of Remedy.
constexpr std::string_view kWords[] = {
    "; --format names it",
    "; train, predict, inspect, wl and distinguish mend that with --clean",
    "; name another folder, or say --force to replace it",
    "; add --resume to go on with it, or name another folder",
    "; add --resume to go on with them, or name another folder",
    "; 'tyche reproduce', 'train' and 'distinguish' make some with --out FOLDER",
    "; --fold names it",
    "; --device cpu works everywhere",
    "; --no-edge-features leaves them out",
    "; --fold-scheme stratified spreads labels evenly",
    "; reduce --width or --layers",
    "; --data-folder names it",
    "; reduce --batch, --width or --layers, or train on the CPU (--device cpu)",
};

}  // namespace

std::string with_remedy(const Error& error) { return tyche::with_remedy(error, kWords); }

const std::string& called() { return command_line; }
void set_called(std::span<char* const> words) {
  for (const char* word : words.subspan(1)) command_line += " " + shell_word(word);
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

const train::Edits& Call::fields() const {
  if (!refused_.empty()) throw InputError(refused_);
  return fields_;
}

void Call::say_field(const train::Field& field, const nlohmann::json& value, const std::string& why) {
  if (!why.empty() && refused_.empty()) refused_ = fmt::format("{}: {}", field.option, why);
  fields_.add(field, value, field.option);
}

datasets::Dataset Call::data() const { return read_data(word("data"), word("format"), flag("clean")); }

std::string Call::cache() const { return text("cache").value_or(wl::default_cache_folder().string()); }

std::shared_ptr<const engine::SetData> prepare_sets_of(const nn::ModelConfig& model, bool compress,
                                                       const engine::Data& data, const std::string& cache,
                                                       unsigned threads, bool quiet) {
  Progress progress("sets", data.graphs.size() * nn::levels(model).size(), quiet ? nullptr : stderr);
  engine::SetOptions options;
  options.compress = compress;
  options.threads = threads;
  options.progress = &progress;
  options.cache.folder = cache;
  options.cache.say = [&](const std::string& line) {
    progress.finish();
    if (!quiet) fmt::print(stderr, "{}\n", line);
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
