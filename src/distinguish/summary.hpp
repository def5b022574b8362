#pragma once
/// The results of all pairs and seeds, counted, as a table and as JSON.
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "distinguish/records.hpp"

namespace tyche::distinguish {

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
