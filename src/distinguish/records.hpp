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
#include <vector>

#include "distinguish/runner.hpp"
#include "support/file.hpp"

namespace tyche::distinguish {

[[nodiscard]] nlohmann::ordered_json to_json(const PairResult& result, const PairSet& pairs);
/// Throws InputError that begins with `place`.
[[nodiscard]] PairResult result_from_json(const nlohmann::json& json, std::string_view place);

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
  [[nodiscard]] bool has(std::uint32_t pair, std::uint64_t seed) const;

  std::filesystem::path folder_;
  std::unique_ptr<FolderLock> lock_;
  std::unique_ptr<LineLog> log_;
  std::vector<PairResult> results_;
};

}  // namespace tyche::distinguish
