#pragma once
/// A run of `distinguish` as its folder tells it, for reports. Works while the run is under way: results are those that
/// there are.
///
///   const StoredRun run = load_run("runs/colours");
///   run.settings.level(run.origin.pairs.size())      // of one test
///   command(run)                                      // "tyche distinguish brec --random colours"
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "distinguish/origin.hpp"
#include "distinguish/runner.hpp"

namespace tyche::distinguish {

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
