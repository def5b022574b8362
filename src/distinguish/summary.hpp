#pragma once
/// The results of all pairs and seeds as a table and as JSON.
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "distinguish/runner.hpp"
#include "distinguish/stored_run.hpp"

namespace tyche::distinguish {

struct Summary {
  const PairSet* pairs = nullptr;
  Settings settings;
  std::vector<PairResult> results;
  std::vector<Refined> refined;
  double seconds = 0;
};

/// The test that decides, in a line.
[[nodiscard]] std::string test_in_words(const Settings& settings, std::size_t pairs);
/// Whether every pair is told apart in every seed.
[[nodiscard]] bool all_told_apart(const Summary& summary);
/// One row per category (where there are any) and one for all: pairs, how many are told apart and how many controls are
/// in each seed, what refinement says; then the pairs that are not told apart, and the controls that are, by name.
[[nodiscard]] std::string to_table(const Summary& summary);
/// pairs, told_apart, controls_failed, categories, seeds, seconds, failed; beside them failed_controls,
/// scoring, and what refinement says; of one network for all pairs also accuracy (one number per seed).
[[nodiscard]] nlohmann::ordered_json to_json(const Summary& summary);

}  // namespace tyche::distinguish
