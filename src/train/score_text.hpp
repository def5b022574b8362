#pragma once
/// Scores as people read them: one way to write them for tables, reports, pages and lines of the terminal. Files for
/// programs (JSON, CSV) have the numbers themselves, accuracies as shares.
///
///   score_text("test_accuracy", 0.7421)                 // "74.21": percent, two digits
///   score_text("test_roc_auc", 0.8)                     // "0.8000"
///   score_text("test_mae", 12.3456)                     // "12.35": in the target's unit, four digits
///   score_title("test_accuracy")                        // "test accuracy, %"
#include <optional>
#include <string>
#include <string_view>

#include "support/statistics.hpp"

namespace tyche::train {

/// Accuracies, and the share of draws that agree, are shown in percent.
[[nodiscard]] bool in_percent(std::string_view metric);

/// "–" where there is no value.
[[nodiscard]] std::string score_text(std::string_view metric, const std::optional<double>& value);
/// "74.21 ± 1.10"; a single value has no deviation.
[[nodiscard]] std::string score_text(std::string_view metric, const Spread& over);
/// The same with its unit, for sentences: "74.21 %", "74.21 ± 1.10 %", "0.8000".
[[nodiscard]] std::string score_in_words(std::string_view metric, const std::optional<double>& value);
[[nodiscard]] std::string score_in_words(std::string_view metric, const Spread& over);

/// "test ROC AUC"; `unit`: "test accuracy, %".
[[nodiscard]] std::string score_title(std::string_view metric, bool unit = true);

}  // namespace tyche::train
