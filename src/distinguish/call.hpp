#pragma once
/// The front door of distinguish: what a call may ask for, and what comes of it. The program and the C interface
/// translate to it and from it, nothing more.
///
///   Request request;
///   request.fields.add(*train::field_called("random"), "colours", "--random");
///   const Settings settings = settings_of(request);
///   const PairSet pairs = load_pairs("brec");
///   const StoredRun run = distinguish(request, settings, pairs, "brec", {});
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "distinguish/records.hpp"
#include "engine/choice.hpp"
#include "support/progress.hpp"
#include "train/fields.hpp"

namespace tyche::distinguish {

struct Request {
  train::Edits fields;  ///< those that why_not() takes
  engine::AskedEngine engine;
  std::string scoring = "exact";
  bool together = false;
  std::uint32_t seeds = 1;
  std::optional<std::uint32_t> draws, train_draws;
  unsigned threads = 0;
  std::filesystem::path out;  ///< folder to keep results in; empty: none
  bool resume = false;
  std::vector<std::string> only;  ///< files of BREC that `pairs` were read from; empty: all
};

/// Whom to tell; nobody where nothing else is said.
struct Listener {
  std::function<void(const std::string&)> say = [](const std::string&) {};   ///< what is about to be run, a line each
  std::function<void(const std::string&)> note = [](const std::string&) {};  ///< what the engine has to say
  std::function<std::unique_ptr<Progress>(std::uint64_t)> progress = [](std::uint64_t) { return nullptr; };  ///< epochs
};

/// Why distinguish does not take a field of the configuration; empty: it does.
[[nodiscard]] std::string why_not(const train::Field& field);

/// Defaults with what the request says laid over them; data.format and data.clean say how pairs are to be read. Throws
/// InputError where parts of the request contradict each other.
[[nodiscard]] Settings settings_of(const Request& request);

/// Trains and judges; `path` is where the pairs came from. Throws Interrupted when asked
/// to stop (what is done is in `out`), and InputError as resolve() and Records do.
[[nodiscard]] StoredRun distinguish(const Request& request, Settings settings, const PairSet& pairs,
                                    const std::filesystem::path& path, const Listener& listener);

/// The pairs of a category, or all of them.
struct CategoryRow {
  std::string name;
  std::size_t pairs = 0;
  std::vector<std::size_t> told;      ///< apart, one number per seed
  std::vector<std::size_t> controls;  ///< that are told apart, which should not be; likewise
  std::size_t one = 0, two = 0;       ///< told apart by 1-WL and by 2-WL
  std::size_t leaves = 0;             ///< without a leaf in common: told apart by individualisation
  std::size_t isomorphic = 0;
};
/// One per category, where there are any, and "all".
[[nodiscard]] std::vector<CategoryRow> count_rows(const StoredRun& run);
/// The categories that published tables of BREC have as one: "Regular, as published".
[[nodiscard]] CategoryRow count_regular(const StoredRun& run);

/// The test that decides, in a line.
[[nodiscard]] std::string test_in_words(const Settings& settings, std::size_t pairs);
/// Whether every pair is told apart in every seed.
[[nodiscard]] bool all_told_apart(const StoredRun& run);
/// One row per category (where there are any) and one for all: pairs, how many are told apart and how many controls are
/// in each seed, what refinement says; then the pairs that are not told apart, and the controls that are, by name.
[[nodiscard]] std::string to_table(const StoredRun& run);
/// pairs, told_apart, controls_failed, categories, seeds, seconds, failed; beside them failed_controls,
/// scoring, and what refinement says; of one network for all pairs also accuracy (one number per seed).
[[nodiscard]] nlohmann::ordered_json to_json(const StoredRun& run);

}  // namespace tyche::distinguish
