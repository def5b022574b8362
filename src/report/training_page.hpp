#pragma once
/// The page of a run of `train`: the curves of every fold for whatever was measured, mean and spread over folds, the
/// values at the end, the configuration and the command.
#include <nlohmann/json.hpp>
#include <string>

#include "report/training_results.hpp"

namespace tyche::report {

/// A curve has at most so many points on the page; of longer ones every second, third, … epoch is shown, and the last.
inline constexpr std::size_t kMostPoints = 600;

/// What the page shows (web/src/training.ts). `command` made the page.
[[nodiscard]] nlohmann::ordered_json training_page_data(const TrainingResults& results, const std::string& command);

}  // namespace tyche::report
