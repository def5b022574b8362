#pragma once
/// What a folder of `distinguish` holds, counted for a report: told apart per category and seed, beside what refinement
/// says and, where the pairs are BREC's 400, beside the totals that others have published.
///
///   const DistinguishResults results = load_distinguish("runs/colours");
///   results.rows.back().told                            // pairs of all categories told apart, one number per seed
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "distinguish/call.hpp"

namespace tyche::report {

using distinguish::CategoryRow;

/// experiments/published/brec.csv
struct PublishedTotal {
  std::string model;
  std::size_t total = 0;
  bool random = false;  ///< has random inputs
  std::string note;
};

struct DistinguishResults {
  std::filesystem::path folder;
  distinguish::StoredRun run;
  std::vector<std::uint64_t> seeds;
  std::size_t begun = 0;  ///< seeds that have results; at least one, so that there is something to count
  /// One per category where there are any, "Regular, as published" for BREC, "all"; of the seeds that have begun.
  std::vector<CategoryRow> rows;
  std::vector<std::vector<std::optional<distinguish::PairResult>>> of_pair;  ///< by pair and seed, as far as there
  bool brec = false;                                                         ///< all 400 pairs, and no others
  std::vector<PublishedTotal> published;                                     ///< the best first; empty unless brec
  std::string test;                                                          ///< that decides, in words

  [[nodiscard]] std::size_t pairs() const { return run.origin.pairs.size(); }
  [[nodiscard]] std::size_t asked() const { return pairs() * seeds.size(); }
  [[nodiscard]] std::size_t done() const { return run.results.size(); }
  [[nodiscard]] const CategoryRow& all() const { return rows.back(); }
  /// Pairs that failed in some seed or whose control did, then those with missing results, then the others; each part
  /// in order.
  [[nodiscard]] std::vector<std::size_t> failures_first() const;
};

/// What published totals rest on, and what this run's does.
[[nodiscard]] std::string beside_published(const DistinguishResults& results);

/// Throws InputError where the folder holds no run of distinguish, or a record is damaged.
[[nodiscard]] DistinguishResults load_distinguish(const std::filesystem::path& folder);

}  // namespace tyche::report
