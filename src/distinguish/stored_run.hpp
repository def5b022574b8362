#pragma once
/// A run of `distinguish` as its folder tells it, for reports. Works while the run is under way: results are those that
/// there are.
///
///   const StoredRun run = load_run("runs/colours");
///   run.settings.level(run.origin.pairs.size())      // of one test
///   command(run)                                      // "tyche distinguish brec --random colours"
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "distinguish/pairs.hpp"
#include "distinguish/runner.hpp"
#include "distinguish/settings.hpp"
#include "wl/leaf_compare.hpp"

namespace tyche::distinguish {

/// What refinement says of a pair: printed beside what networks learned, and never counted.
struct Refined {
  bool one = false;                                 ///< told apart by 1-WL
  std::optional<bool> two;                          ///< by 2-WL; nothing where the graphs are too large for it
  wl::LeafVerdict leaf = wl::LeafVerdict::unknown;  ///< of all paths to the leaf, where they are few enough
};

/// One per pair, over the threads (0: all cores). Throws Interrupted when asked to stop.
[[nodiscard]] std::vector<Refined> refine(const PairSet& pairs, unsigned threads);

/// Where the pairs of a run came from, and what refinement says of them: RUN/pairs.json, written as a run begins. With
/// it a report needs the data for pictures alone, and refines nothing again.
///
///   write_origin("run", origin_of(pairs, refined, settings, {"basic"}));
///   read_origin("run").pairs[0].refined.two            // told apart by 2-WL?
struct KnownPair {
  std::string name;
  std::string category;  ///< empty where there are none
  Refined refined;
};

struct Origin {
  std::string path;               ///< of the data, absolute
  std::string format;             ///< empty: told by content
  std::vector<std::string> only;  ///< files of BREC that were asked for; empty: all
  std::string version;            ///< of the program that began the run or went on with it last
  std::string engine;             ///< that trained, as it called itself
  std::vector<KnownPair> pairs;
};

/// Requires resolved settings and one entry of `refined` per pair.
[[nodiscard]] Origin origin_of(const PairSet& pairs, const std::vector<Refined>& refined, const Settings& settings,
                               const std::vector<std::string>& only);
void write_origin(const std::filesystem::path& folder, const Origin& origin);
/// Throws InputError where the file is missing (earlier versions wrote none) or damaged.
[[nodiscard]] Origin read_origin(const std::filesystem::path& folder);

struct StoredRun {
  Settings settings;
  Origin origin;
  std::vector<PairResult> results;
  std::vector<nlohmann::ordered_json> log;  ///< calls that added results, oldest first
};

/// Throws InputError where the folder holds no such run, or a record is damaged.
[[nodiscard]] StoredRun load_run(const std::filesystem::path& folder);

/// The call that makes the run again, less --out: options that differ from the command's defaults alone.
[[nodiscard]] std::string command(const StoredRun& run);

/// The pairs themselves, for pictures. Throws InputError where the data is gone, or is not what the run was made with.
[[nodiscard]] PairSet load_pairs_of(const StoredRun& run);

/// Adds a line to the run's log.jsonl.
void write_log(const std::filesystem::path& folder, const nlohmann::ordered_json& entry);

}  // namespace tyche::distinguish
