#pragma once
/// The folder of a run of `distinguish`: distinguish.json says what was asked, results.jsonl has one line per pair and
/// seed. A kill loses the chunk of pairs in work, and a run that is taken up again ends with the same bytes.
///
///   Records records("run", settings, resume);
///   if (!records.has(chunk, seed)) records.add(runner.run(chunk, seed, &progress));
#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "distinguish/pairs.hpp"
#include "distinguish/runner.hpp"
#include "distinguish/settings.hpp"
#include "support/file.hpp"
#include "wl/leaf_compare.hpp"

namespace tyche::distinguish {

[[nodiscard]] nlohmann::ordered_json to_json(const PairResult& result, const PairSet& pairs);

/// Whether a folder holds a run of `distinguish`.
[[nodiscard]] bool holds_run(const std::filesystem::path& folder);
/// What was asked of the run in a folder: identity(settings). Throws InputError where that is no JSON.
[[nodiscard]] nlohmann::json read_asked(const std::filesystem::path& folder);
/// The results that the run in a folder has so far, as far as lines are whole. Throws InputError on a damaged one.
[[nodiscard]] std::vector<PairResult> read_results(const std::filesystem::path& folder);

class Records {
 public:
  /// In memory alone.
  Records() = default;
  /// Begins a run in an empty folder (made where there is none), or takes up the one that is there. Throws InputError
  /// where the folder holds something else, or (with `resume` too) a run that was begun differently.
  Records(const std::filesystem::path& folder, const Settings& settings, bool resume);

  /// Whether all pairs of a chunk are there.
  [[nodiscard]] bool has(const Chunk& chunk, std::uint64_t seed) const;
  /// Those that are not there yet, in order.
  void add(const std::vector<PairResult>& results, const PairSet& pairs);
  /// Where a network that is trained for all pairs under a seed is kept; empty in memory.
  [[nodiscard]] std::filesystem::path network(std::uint64_t seed) const;
  /// By seed, then pair, where all were added in this order.
  [[nodiscard]] const std::vector<PairResult>& results() const { return results_; }

 private:
  std::filesystem::path folder_;
  std::unique_ptr<FolderLock> lock_;
  std::unique_ptr<LineLog> log_;
  std::vector<PairResult> results_;
};

/// A pair, and what refinement says of it: printed beside what networks learned, and never counted.
struct KnownPair {
  std::string name;
  std::string category;                             ///< empty where there are none
  bool one = false;                                 ///< told apart by 1-WL
  std::optional<bool> two{};                        ///< by 2-WL; nothing where the graphs are too large for it
  wl::LeafVerdict leaf = wl::LeafVerdict::unknown;  ///< of all paths to the leaf, where they are few enough
};

/// Over the threads (0: all cores). Throws Interrupted when asked to stop.
[[nodiscard]] std::vector<KnownPair> refine(const PairSet& pairs, unsigned threads);

/// A run, as it came out or as its folder tells it. Works while the run is under way: results are those that there are.
///
///   const StoredRun run = load_run("runs/colours");
///   run.settings.level(run.pairs.size())             // of one test
///   run.pairs[0].two                                  // told apart by 2-WL?
///   command(run)                                      // "tyche distinguish brec --random colours"
struct StoredRun {
  Settings settings;                ///< config.data.path is where the pairs came from, absolute
  std::vector<std::string> only{};  ///< files of BREC that were asked for; empty: all
  std::string version{};            ///< of the program that began the run or went on with it last
  std::string engine{};             ///< that trained, as it called itself
  std::vector<KnownPair> pairs{};
  std::vector<PairResult> results{};
  std::vector<nlohmann::ordered_json> log{};  ///< calls that added results, oldest first (log.jsonl)
  double seconds = 0;                         ///< of all calls; of what distinguish() gives, of this one
};

/// Where the pairs of a run came from, and what refinement says of them: RUN/pairs.json, written as a run begins. With
/// it a report needs the data for pictures alone, and refines nothing again.
void write_origin(const std::filesystem::path& folder, const StoredRun& run);
/// Throws InputError where the file is missing (earlier versions wrote none) or damaged.
void read_origin(const std::filesystem::path& folder, StoredRun& run);

/// Throws InputError where the folder holds no such run, or a record is damaged.
[[nodiscard]] StoredRun load_run(const std::filesystem::path& folder);

/// The call that makes the run again, less --out: options that differ from the command's defaults alone.
[[nodiscard]] std::string command(const StoredRun& run);

/// The pairs themselves, for pictures. Throws InputError where the data is gone, or is not what the run was made with.
[[nodiscard]] PairSet load_pairs_of(const StoredRun& run);

}  // namespace tyche::distinguish
