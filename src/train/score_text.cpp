#include "train/score_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tyche::train {

namespace {

bool has(std::string_view metric, std::string_view word) { return metric.find(word) != std::string_view::npos; }

/// Scores without a unit are compared digit by digit.
bool without_unit(std::string_view metric) {
  return has(metric, "_f1") || has(metric, "_roc_auc") || has(metric, "_average_precision") || has(metric, "_r2") ||
         has(metric, "_spread");
}

std::string unit_of(std::string_view metric) { return in_percent(metric) ? " %" : ""; }

}  // namespace

bool in_percent(std::string_view metric) { return has(metric, "accuracy") || has(metric, "_agreement"); }

std::string score_text(std::string_view metric, const std::optional<double>& value) {
  if (!value) return "–";
  if (in_percent(metric)) return fmt::format("{:.2f}", 100 * *value);
  return without_unit(metric) ? fmt::format("{:.4f}", *value) : fmt::format("{:.4g}", *value);
}

std::string score_text(std::string_view metric, const Spread& over) {
  if (over.count == 0) return "–";
  const std::string mean = score_text(metric, over.mean);
  return over.count == 1 ? mean : fmt::format("{} ± {}", mean, score_text(metric, over.deviation));
}

std::string score_in_words(std::string_view metric, const std::optional<double>& value) {
  return score_text(metric, value) + (value ? unit_of(metric) : "");
}

std::string score_in_words(std::string_view metric, const Spread& over) {
  return score_text(metric, over) + (over.count > 0 ? unit_of(metric) : "");
}

std::string score_title(std::string_view metric, bool unit) {
  std::string text(metric);
  std::ranges::replace(text, '_', ' ');
  // As people write them; of several targets a number stands behind ("test mae 0").
  constexpr std::pair<std::string_view, std::string_view> kShort[] = {
      {" roc auc", " ROC AUC"}, {" f1", " F1"}, {" rmse", " RMSE"}, {" mae", " MAE"}, {" r2", " R²"}};
  for (const auto& [word, written] : kShort) {
    if (const std::size_t at = text.find(word); at != std::string::npos) text.replace(at, word.size(), written);
  }
  return unit && in_percent(metric) ? text + ", %" : text;
}

}  // namespace tyche::train
